"""The workbench in a real browser: journeys, no request that leaves the machine, no error in the console."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.workbench.conftest import Served, chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None and not os.environ.get("CI"):
        pytest.skip("there is no Chromium on this machine: apt install chromium")
    with sync_playwright() as playwright:
        yield (started := playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]))
        started.close()


@dataclass
class Tab:
    """A page, and what it did."""

    page: Page
    served: Served
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(self.served.home + path)
        return self.page


@pytest.fixture
def tab(browser: Browser, serve: Callable[..., Served]) -> Iterator[Tab]:
    """A tab that has opened the printed URL; it must stay without errors, and ask nobody else."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(15_000)
    tab = Tab(context.new_page(), serve())
    tab.page.on("console", lambda message: message.type == "error" and tab.complaints.append(message.text))
    tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.page.on("request", lambda request: tab.asked.append(request.url))
    tab.page.goto(tab.served.url)
    expect(tab.page.get_by_role("heading", level=1)).to_be_visible()
    yield tab
    context.close()
    assert tab.complaints == []
    assert [url for url in tab.asked if not url.startswith((tab.served.home, "data:"))] == []


def test_the_first_page_shows_a_table_and_the_url_keeps_what_was_chosen(tab: Tab) -> None:
    page = tab.open("/data?table=golf.csv")
    page.get_by_label("Target").select_option("play")
    expect(page.get_by_role("list", name="Classes of play")).to_contain_text("yes 9 · 64 %")
    assert page.url.endswith("/data?table=golf.csv&target=play")
    page.get_by_label("Kind of wind").select_option("ignore")
    expect(page.get_by_label("The same without this page")).to_contain_text("look golf.csv --target play --ignore wind")
    page.go_back()
    expect(page.get_by_label("The same without this page")).not_to_contain_text("--ignore")
    page.reload()
    expect(page.get_by_role("list", name="Classes of play")).to_be_visible()
    assert "token" not in page.url


def test_hostile_names_are_text(tab: Tab) -> None:
    hostile = "<img src=x onerror=\"document.title='hacked'\">"
    cells = hostile.replace('"', '""')
    (tab.served.folder / "hostile.csv").write_text(f'"{cells}",y\n' + f'"{cells}",no\n' * 3 + '"b",yes\n' * 3)
    page = tab.open("/data?table=hostile.csv&target=y")
    expect(page.get_by_role("rowheader", name=hostile, exact=True).first).to_be_visible()
    assert "hacked" not in page.title()
    assert page.locator("main img").count() == 0


def test_the_page_is_there_within_a_second(tab: Tab) -> None:
    page = tab.open("/data?table=credit.csv&target=repaid")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert painted < 1_000


def test_the_bundle_is_small(folder: Path) -> None:
    import gzip

    from bayeswise.workbench.app import BUNDLE

    files = [path for path in BUNDLE.rglob("*") if path.is_file()]
    assert files, "the page is not built: make page"
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < 200_000
