"""The Network page in a real browser: findings and their paths, drawn edges, learning, diagrams; by mouse and keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

import bayeswise as bw
from bayeswise.foundation.atomic import write_bytes
from tests.workbench.conftest import Tab
from tests.workbench.test_browser import LAWN, PAGE

SCROLLED = "scrollY + document.querySelector('.graph').scrollTop"


def drag(page: Page, source: Locator, target: Locator) -> None:
    """Press on one thing, let go on another."""
    source.scroll_into_view_if_needed()
    start, end = source.bounding_box(), target.bounding_box()
    assert start is not None and end is not None
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=6)
    page.mouse.up()


def dot(page: Page, node: str) -> Locator:
    """Where an edge from a node begins."""
    return page.locator(".draw-dot").filter(has=page.locator("title", has_text=f"edge from {node}"))


def test_findings_are_explained_by_paths_and_nodes_can_be_set_from_outside(tab: Tab) -> None:
    asia = bw.BeliefNetwork.read(tab.served.folder / "asia.bif")
    page = tab.open("/network?network=asia.bif&node=lung")
    lung = page.get_by_role("checkbox", name="lung is yes")
    page.get_by_role("checkbox", name="xray is yes").click()
    page.get_by_role("checkbox", name="dysp is no").click()
    seen = {"xray": "yes", "dysp": "no"}
    expect(lung).to_contain_text(f"{asia.query('lung', seen)['yes']:.3f}")
    why = page.get_by_role("region", name="Why lung")
    account = asia.explain("lung", seen)
    for finding in account.findings:
        assert finding.beside is not None
        expect(why.get_by_role("row", name=finding.node).first).to_contain_text(f"{abs(finding.beside):.3f}")
    expect(page.locator(".arc.path")).to_have_count(6)
    strongest = account.paths()[0]
    why.get_by_role("button", name=" – ".join(strongest.nodes), exact=True).click()
    expect(page.locator(".arc.path")).to_have_count(len(strongest.nodes) - 1)
    expect(page.get_by_text("The findings conflict by")).to_be_visible()
    page.go_back()
    expect(page.locator(".arc.path")).to_have_count(6)

    page.get_by_role("button", name="retract all").click()
    page.get_by_role("button", name="Node either").click()
    page.get_by_label("Intervene").select_option("yes")
    expect(page.get_by_text("either is set to yes")).to_be_visible()
    expect(lung).to_contain_text("0.055")  # as before: what is set says nothing about its causes
    expect(page.locator(".arc.cut")).to_have_count(2)
    expect(page.get_by_label("Equivalent code")).to_contain_text("--do either=yes")
    effect = page.get_by_role("region", name="Effect on either")
    effect.get_by_role("combobox").select_option("smoke")
    done = asia.causal_effect("smoke", "either").done["yes"]["yes"]
    expect(effect.get_by_role("row", name="yes").last).to_contain_text(f"{done:.3f}")
    page.go_back()
    page.go_back()
    expect(page.get_by_text("Nothing is observed.")).to_be_visible()


def test_edges_are_drawn_undone_kept_over_a_reload_and_saved(tab: Tab) -> None:
    file = tab.served.folder / "lawn.bif"
    file.write_text(LAWN)
    page = tab.open("/network?network=lawn.bif&view=edit")
    drag(page, dot(page, "wet"), page.get_by_role("button", name="Node rain"))
    expect(page.get_by_role("alert")).to_contain_text("the edges form a cycle: rain -> wet -> rain")
    expect(page.get_by_role("alert")).to_contain_text("Fix:")
    page.get_by_label("New node").fill("slip")
    page.get_by_role("button", name="add node").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    drag(page, dot(page, "wet"), page.get_by_role("button", name="Node slip"))
    edge = page.get_by_role("button", name="Edge wet → slip", exact=True)
    expect(edge).to_have_count(1)
    page.get_by_role("button", name="undo", exact=True).click()
    expect(edge).to_have_count(0)
    page.get_by_role("button", name="redo").click()
    expect(edge).to_have_count(1)
    page.get_by_label("P(slip = yes), row 1").fill("0.4")
    page.get_by_label("P(slip = yes), row 1").press("Enter")
    expect(page.get_by_text("sums to 0.9")).to_be_visible()
    page.get_by_label("P(slip = no), row 1").fill("0.6")
    page.get_by_label("P(slip = no), row 1").press("Enter")
    page.get_by_role("button", name="use this table").click()
    expect(page.get_by_text("the last: table of slip")).to_be_visible()
    page.reload()  # what is not saved is kept
    page.get_by_role("textbox", name="State no").fill("never")
    page.get_by_role("textbox", name="State no").press("Enter")
    expect(page.get_by_text("4 unsaved changes")).to_be_visible()
    page.get_by_role("button", name="Edge rain → wet").press("Enter")
    page.get_by_role("button", name="remove the edge rain → wet").click()
    expect(page.get_by_text("5 unsaved changes")).to_be_visible()

    write_bytes(file, LAWN.replace("0.2, 0.8", "0.3, 0.7").encode())  # another tab, whole: this one may read it now
    page.get_by_role("button", name="save and replace").click()
    expect(page.get_by_role("alert")).to_contain_text("has changed since it was read")
    page.get_by_role("button", name="reload the file and keep my changes").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator("article")).to_have_attribute("aria-busy", "false")
    page.get_by_role("button", name="save and replace").click()
    expect(page.get_by_text("No changes.")).to_be_visible()
    saved = bw.BeliefNetwork.read(file)
    assert saved.edges == (("wet", "slip"),)
    assert saved.states("slip") == ("never", "yes")
    assert saved.query("slip", {"wet": "yes"})["yes"] == pytest.approx(0.4)
    assert saved.query("wet")["yes"] == pytest.approx(0.3 * 0.9 + 0.7 * 0.1)  # what it was on average
    tab.complaints = [line for line in tab.complaints if "422" not in line and "409" not in line]  # refused requests


def test_a_table_waits_for_the_answer_to_a_change_of_the_graph_which_keys_undo(tab: Tab) -> None:
    (tab.served.folder / "waiting.bif").write_text(LAWN)
    page = tab.open("/network?network=waiting.bif&view=edit&node=rain")
    edge = page.get_by_role("button", name="Edge rain → wet", exact=True)
    rain = page.get_by_label("P(rain = yes), row 1")
    first, second = (page.get_by_label(f"P(wet = yes), row {row}") for row in (1, 2))
    rain.fill("0.5")
    rain.press("Enter")
    edge.press("Delete")
    expect(edge).to_have_count(0)
    expect(rain).to_be_editable()
    expect(rain).to_have_value("0.5")  # its table is as before, and so is what is typed
    page.keyboard.press("Control+z")
    expect(edge).to_have_count(1)

    held: list[Route] = []

    def asks_for_a_table(request: Request) -> bool:
        return '"table"' in (request.post_data or "")

    def hold(route: Route) -> None:
        if asks_for_a_table(route.request):
            held.append(route)
        else:
            route.continue_()

    page.get_by_role("button", name="Node wet").click()
    expect(first).to_be_editable()
    page.route("**/api/network/edit", hold)
    with page.expect_request(asks_for_a_table):
        page.get_by_role("button", name="Remove the edge rain → wet").click()
    expect(edge).to_have_count(0)
    expect(first).not_to_be_editable()  # it is still the table with a parent
    for route in held:
        route.continue_()
    page.unroute("**/api/network/edit")
    expect(first).to_be_editable()
    expect(first).to_have_value("0.26")  # .2 x .9 + .8 x .1
    expect(second).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(second).to_have_value("0.1")
    page.keyboard.press("Control+Shift+Z")
    expect(second).to_have_count(0)


def test_a_network_is_learned_with_drawn_edges_and_can_be_cancelled(tab: Tab) -> None:
    folder = tab.served.folder
    page = tab.open("/network?view=learn&table=golf.csv&ignore=temperature&resamples=1000")
    page.get_by_role("button", name="learn", exact=True).click()
    page.wait_for_url("**learn=*")
    page.get_by_role("button", name="cancel").click()
    expect(page.get_by_text("Cancelled: nothing was written.")).to_be_visible(timeout=60_000)
    assert not (folder / "golf.bif").exists()

    page.get_by_label("Resampled tables").fill("10")
    page.get_by_label("Resampled tables").press("Enter")
    drag(page, dot(page, "wind"), page.locator(".node", has_text="play"))
    page.get_by_role("radio", name="forbids the edge").check()
    drag(page, page.locator(".node", has_text="outlook"), page.locator(".node", has_text="play"))
    rules = page.get_by_role("list", name="Required and forbidden edges")
    expect(rules.get_by_role("listitem")).to_have_text([re.compile("wind → play"), re.compile("outlook → play")])
    drag(page, dot(page, "humidity"), page.locator(".node", has_text="wind"))
    rules.get_by_role("button", name="Remove: forbid humidity → wind").click()
    expect(rules.get_by_role("listitem")).to_have_count(2)
    expect(page.get_by_label("Equivalent code")).to_contain_text("--forbid 'outlook -> play'")
    page.get_by_role("button", name="learn", exact=True).click()
    expect(page.get_by_text("Saved golf.bif")).to_be_visible(timeout=60_000)
    learned = bw.BeliefNetwork.read(folder / "golf.bif")
    assert ("wind", "play") in learned.edges and ("outlook", "play") not in learned.edges
    assert "temperature" not in learned
    page.get_by_text("table", exact=True).click()
    expect(page.get_by_role("table").get_by_role("row", name="wind → play")).to_contain_text("100 %")
    page.get_by_role("link", name="Ask it").click()
    belief = learned.query("play")["yes"]
    expect(page.get_by_role("checkbox", name="play is yes")).to_contain_text(f"{belief:.3f}")


def test_a_diagram_is_solved_again_when_a_report_is_seen(tab: Tab) -> None:
    oil = bw.InfluenceDiagram.read(tab.served.folder / "oil.toml")
    page = tab.open("/network?network=asia.bif")
    page.get_by_role("combobox", name="Network").select_option("oil.toml")
    said = page.get_by_role("status")
    expect(said).to_have_text("Expected utility 22.5")
    expect(
        page.get_by_role("region", name="Value of information").get_by_role("row", name="oil drill")
    ).to_contain_text("32.5")
    expect(page.get_by_role("img", name="Tornado of the expected utility 22.5")).to_be_visible()
    expect(page.get_by_role("region", name="Policy of drill")).to_contain_text(
        "yes if report is closed or open, else no"
    )
    page.get_by_role("checkbox", name="test is yes").click()
    page.get_by_role("checkbox", name="report is closed").click()
    seen = oil.solve({"test": "yes", "report": "closed"})
    expect(said).to_have_text(f"Expected utility {seen.utility:.4g}")
    expect(page.get_by_role("checkbox", name="oil is soaking")).to_contain_text(f"{seen.query('oil')['soaking']:.3f}")
    expect(page.get_by_label("Equivalent code")).to_contain_text("--given test=yes --given report=closed")
    page.go_back()
    page.go_back()
    expect(said).to_have_text("Expected utility 22.5")


def test_a_finger_across_a_bar_makes_a_likelihood_and_one_along_the_page_scrolls(tab: Tab) -> None:
    page = tab.open("/network?network=asia.bif")
    page.set_viewport_size({"width": 360, "height": 500})
    fingers = page.context.new_cdp_session(page)
    fingers.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def touch(kind: str, *points: tuple[float, float]) -> None:
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    def swipe(across: float, down: float) -> None:
        state.scroll_into_view_if_needed()
        box = state.bounding_box()
        assert box is not None
        x, y = box["x"] + 100, box["y"] + box["height"] / 2
        touch("touchStart", (x, y))
        for step in range(1, 11):
            touch("touchMove", (x + across * step / 10, y + down * step / 10))
        touch("touchEnd")

    state = page.get_by_role("checkbox", name="tub is yes")
    swipe(-60, 0)
    page.wait_for_url("**soft=tub%3Ayes%3A0.01")  # to the left end of the bar
    dragged = page.url
    before = page.evaluate(SCROLLED)
    swipe(3, -150)
    page.wait_for_function(f"before => {SCROLLED} > before", arg=before)
    assert page.url == dragged  # neither observed nor moved


def test_a_network_is_queried_and_drawn_by_keys_alone(tab: Tab) -> None:
    page = tab.open("/network?network=asia.bif")
    state = page.get_by_role("checkbox", name="smoke is yes")
    state.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**soft=smoke%3Ayes%3A0.95")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**soft=smoke%3Ayes%3A0.9")
    expect(state).to_contain_text(f"{0.9 / 1.9:.3f}")
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_role("checkbox", name="smoke is no")).to_contain_text("1.000")
    page.keyboard.press("Enter")
    expect(state).to_have_attribute("aria-checked", "true")

    page.get_by_role("button", name="Node bronc").press("Enter")
    page.get_by_label("Likelihood of no", exact=True).fill("0.5")
    page.get_by_label("Likelihood of no", exact=True).press("Enter")
    expect(page.get_by_role("checkbox", name="bronc is yes")).to_contain_text("0.750")  # .6 against .4 / 2

    page.get_by_role("link", name="New", exact=True).focus()
    page.keyboard.press("Enter")
    for name in ("rain", "wet"):
        page.get_by_label("New node").focus()
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name=f"Node {name}")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("New parent").select_option("rain")
    edge = page.get_by_role("button", name="Edge rain → wet", exact=True)
    edge.focus()
    page.keyboard.press("Delete")
    expect(edge).to_have_count(0)
    page.get_by_label("New parent").select_option("rain")
    expect(edge).to_have_count(1)
    page.get_by_label("Save as").fill("drawn.bif")
    page.get_by_label("Save as").press("Enter")
    page.wait_for_url("**network=drawn.bif*")
    expect(page.get_by_text("No changes.")).to_be_visible()
    assert bw.BeliefNetwork.read(tab.served.folder / "drawn.bif").edges == (("rain", "wet"),)


def test_no_view_of_a_network_breaks_a_rule_or_a_narrow_screen(tab: Tab) -> None:
    hostile = "<img src=x onerror=\"document.title='hacked'\">"
    bw.BeliefNetwork({hostile: {"states": [hostile, "no"], "table": [0.5, 0.5]}}).write(tab.served.folder / "odd.xdsl")
    rules = (PAGE / "node_modules" / "axe-core" / "axe.min.js").read_text()
    found: list[str] = []
    for path in (
        "/network?network=asia.bif&node=lung&cause=smoke&evidence=xray%3Ayes&evidence=dysp%3Ano",
        "/network?network=asia.bif&node=dysp&view=edit",
        "/network?network=oil.toml",
        "/network?view=learn&table=golf.csv&require=wind%3Aplay&forbid=outlook%3Aplay",
        "/network?view=new",
        "/network?network=odd.xdsl",
    ):
        tab.page.emulate_media(color_scheme="light")
        page = tab.open(path)
        expect(page.get_by_label("Equivalent code")).to_be_visible()
        page.evaluate(rules)
        findings = page.evaluate("axe.run().then((answer) => answer.violations)")
        page.emulate_media(color_scheme="dark")
        findings += page.evaluate("axe.run({ runOnly: ['color-contrast'] }).then((answer) => answer.violations)")
        for finding in findings:
            if finding["impact"] in ("serious", "critical"):
                found += [f"{path}: {finding['id']}: {node['html'][:120]}" for node in finding["nodes"][:3]]
        page.set_viewport_size({"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        page.set_viewport_size({"width": 1200, "height": 900})
    assert found == []
    page.set_viewport_size({"width": 360, "height": 740})
    tab.open("/network?network=asia.bif").get_by_role("button", name="whole").click()
    page.wait_for_url("**zoom=whole")
    assert page.locator(".graph").evaluate("frame => frame.scrollWidth <= frame.clientWidth")
    tab.open("/network?network=odd.xdsl")
    expect(page.get_by_role("checkbox", name=f"{hostile} is no")).to_contain_text("0.500")
    assert "hacked" not in page.title() and page.locator("main img").count() == 0
