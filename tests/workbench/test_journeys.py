"""Ways through the workbench without a mouse, in two tabs, with a page loaded again, and with a server that dies."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bayeswise.decisions import Costs
from tests.workbench.conftest import Served, Tab, opened

AWAY = "The server is not responding. Everything that was saved is on disk"
FOCUSED = """() => {
  const element = document.activeElement, style = getComputedStyle(element);
  const text = (element.labels?.[0] ?? element).textContent.trim();
  const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
  const seen = element === document.body || (element.matches(':focus-visible') && outlined);
  return { name: element.getAttribute('aria-label') ?? text, role: element.tagName, seen };
}"""


def cost_in(file: Path) -> object:
    """What it costs to say yes to a no."""
    return Costs.read(file).to_dict()["yes"]["no"]


def tab_to(page: Page, name: str, most: int = 200) -> None:
    """Press Tab until the control with this name has the focus; wherever it stops on the way, that must be seen."""
    for _ in range(most):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        assert found["seen"], f"the focus on {found['role']} {found['name']!r} is not visible"
        if found["name"].startswith(name):
            return
    raise AssertionError(f"Tab does not come to {name!r}")


def test_from_a_table_to_a_saved_decision_with_the_keyboard_alone(tab: Tab) -> None:
    folder = tab.served.folder
    page = tab.open("/data?table=golf.csv")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)["name"] == "Skip to the page"
    page.keyboard.press("Enter")  # past the rail
    expect(page.get_by_label("Target")).to_be_visible()
    tab_to(page, "Target")
    page.keyboard.type("play")
    expect(page.get_by_label("Target")).to_have_value("play")
    tab_to(page, "Model")  # round the page, to the rail
    page.keyboard.press("Enter")
    expect(page.get_by_label("Save as")).to_have_value("golf-auto.bayeswise")
    tab_to(page, "Save as")
    page.keyboard.press("Control+a")
    page.keyboard.type("keys.bayeswise")
    tab_to(page, "fit")
    page.keyboard.press("Space")
    expect(page.get_by_text("Saved keys.bayeswise")).to_be_visible(timeout=60_000)

    tab_to(page, "Costs")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Cost of yes if no", exact=True)).to_be_visible()
    expect(page.get_by_label("Model")).to_have_value("keys.bayeswise")
    tab_to(page, "Cost of yes if no")
    page.keyboard.press("Control+a")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    tab_to(page, "File")
    page.keyboard.press("Control+a")
    page.keyboard.type("keys.toml")
    page.keyboard.press("Enter")  # in the form
    expect(page.get_by_label("Decision")).to_have_value("keys.toml")
    assert cost_in(folder / "keys.toml") == 7


def test_of_two_tabs_that_change_one_decision_the_slower_one_loses_nothing(
    tab: Tab, browser: Browser, shared: Served
) -> None:
    file = tab.served.folder / "two.toml"
    file.write_text("[costs]\nno = { no = 0, yes = 1 }\nyes = { no = 5, yes = 0 }\n")
    path = "/costs?model=golf.bayeswise&table=golf.csv&decision=two.toml"

    def change(page: Page, value: str) -> None:
        page.get_by_label("Cost of yes if no", exact=True).fill(value)
        page.get_by_label("Cost of yes if no", exact=True).press("Enter")

    with opened(browser, shared) as other:
        first, second = tab.open(path), other.open(path)
        for page, value in ((first, "3"), (second, "4")):
            change(page, value)
            expect(page.get_by_text("not saved yet")).to_be_visible()
        first.get_by_role("button", name="save as two.toml").click()
        expect(first.get_by_text("saved two.toml")).to_be_visible()
        second.get_by_role("button", name="save as two.toml").click()
        note = second.get_by_role("alert")
        expect(note).to_contain_text("your costs are still here")
        assert cost_in(file) == 3
        expect(second.get_by_label("Cost of yes if no", exact=True)).to_have_value("4")

        note.get_by_role("button", name="show the costs of the file").click()
        expect(second.get_by_label("Cost of yes if no", exact=True)).to_have_value("3")
        second.get_by_role("button", name="undo").click()
        expect(second.get_by_label("Cost of yes if no", exact=True)).to_have_value("4")
        second.get_by_role("button", name="save as two.toml").click()
        expect(second.get_by_text("saved two.toml")).to_be_visible()
        assert cost_in(file) == 4

        change(first, "6")  # which does not know of the 4
        first.get_by_role("button", name="save as two.toml").click()
        first.get_by_role("alert").get_by_role("button", name="replace the file").click()
        expect(first.get_by_text("saved two.toml")).to_be_visible()
        assert cost_in(file) == 6
        for each in (tab, other):
            each.forgive("409")


def test_costs_that_are_not_saved_outlive_a_reload(tab: Tab) -> None:
    page = tab.open("/costs?model=golf.bayeswise&table=golf.csv")
    cell = page.get_by_label("Cost of no if yes", exact=True)
    cell.fill("2.5")
    cell.press("Enter")
    expect(page.get_by_text("not saved yet")).to_be_visible()
    page.reload()
    expect(cell).to_have_value("2.5")
    page.get_by_role("button", name="undo").click()
    expect(cell).to_have_value("1")
    page.reload()
    expect(cell).to_have_value("1")


def test_nothing_confirmed_is_lost_when_the_server_is_killed(browser: Browser, folder: Path) -> None:
    (folder / "pool.csv").write_text("x,colour\n" + "".join(f"{n},{'red' if n % 3 else 'blue'}\n" for n in range(40)))
    token = "a-token-that-stays-the-same"
    served = Served.started(folder, token=token)
    with opened(browser, served) as labelling, opened(browser, served) as deciding:
        page = labelling.open("/label?table=pool.csv&target=size&classes=small,large&session=sizes")
        page.get_by_role("button", name="start").click()
        said = page.get_by_role("status")
        expect(said).to_contain_text("0 labelled", timeout=60_000)
        for place, label in enumerate(("small", "large", "small"), 1):
            page.get_by_role("region", name="Answers").get_by_role("button", name=label).click()
            expect(said).to_contain_text(f"{place} labelled", timeout=60_000)
        costs = deciding.open("/costs?model=golf.bayeswise&table=golf.csv")
        cell = costs.get_by_label("Cost of yes if no", exact=True)
        cell.fill("3")
        cell.press("Enter")
        costs.get_by_role("button", name="save as decision.toml").click()
        expect(costs.get_by_label("Decision")).to_have_value("decision.toml")
        expect(cell).to_have_value("3")

        served.kill()
        page.get_by_role("region", name="Answers").get_by_role("button", name="large").click()
        away = page.get_by_text(AWAY)
        expect(away).to_be_visible()
        cell.fill("4")
        cell.press("Enter")
        expect(costs.get_by_text(AWAY)).to_be_visible()
        costs.get_by_role("button", name="save as decision.toml").click()
        expect(costs.get_by_text("the server is not responding", exact=True)).to_be_visible()

        again = Served.started(folder, served.port, token)
        expect(away).to_be_hidden(timeout=60_000)
        page.get_by_role("region", name="Answers").get_by_role("button", name="large").click()
        expect(page.get_by_role("alert")).to_contain_text("is not open")
        page.get_by_role("button", name="resume").click()
        expect(said).to_contain_text("3 labelled", timeout=60_000)
        assert cost_in(folder / "decision.toml") == 3
        expect(costs.get_by_text(AWAY)).to_be_hidden(timeout=60_000)
        expect(cell).to_have_value("4")  # what was not saved is still on the page
        costs.get_by_role("button", name="save as decision.toml").click()
        expect(costs.get_by_text("saved decision.toml")).to_be_visible()
        assert cost_in(folder / "decision.toml") == 4
        for each in (labelling, deciding):
            each.forgive("ERR_CONNECTION_REFUSED")
            each.forgive("404")
            each.forgive("ERR_CONNECTION_RESET")
            each.forgive("ERR_SOCKET_NOT_CONNECTED")  # of a connection that was kept open
            each.forgive("ERR_EMPTY_RESPONSE")
    again.end()


BUSY = """
import sys, time
from bayeswise.workbench import app as server
from bayeswise.workbench.workspace import Workspace

def files(self):
    print("busy", file=sys.stderr, flush=True)
    time.sleep(600)

Workspace.files = files  # an answer that takes long
server._GRACE = 1
server.serve(sys.argv[1], server.Address(port=0), browser=False, token="a-token-of-a-busy-server")
"""


@pytest.mark.parametrize("ask", [signal.SIGTERM, signal.SIGINT])
def test_a_busy_server_stops_soon_after_a_signal(tmp_path: Path, ask: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-c", BUSY, str(tmp_path)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    url = next(line.strip() for line in process.stderr if "http://" in line).partition("/?")[0]
    request = urllib.request.Request(f"{url}/api/files", headers={"authorization": "Bearer a-token-of-a-busy-server"})

    def wait_for_it() -> None:
        with pytest.raises(OSError):
            urllib.request.urlopen(request, timeout=60)

    waiting = threading.Thread(target=wait_for_it)
    waiting.start()
    assert next(process.stderr) == "End it with Ctrl-C.\n"
    assert next(process.stderr) == "busy\n"
    process.send_signal(ask)
    began = time.monotonic()
    process.wait(60)
    waiting.join()
    process.stderr.close()
    assert time.monotonic() - began < 20  # and not 600
