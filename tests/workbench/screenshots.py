"""Pictures of every page at three widths in both themes, to be looked at: `make screenshots`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

import bayeswise as bw
from tests.workbench.conftest import Served, chromium, filled

WIDTHS = (360, 1280, 3840)
PAGES = {
    "data": "/data?table=credit.csv&target=repaid",
    "model": "/model?table=credit.csv&target=repaid&model=credit.bayeswise",
    "costs": "/costs?model=credit.bayeswise&table=credit-test.csv&at_most=ask%3D20&decision=plain.toml",
    "costs-of-rows": "/costs?model=credit.bayeswise&table=credit-test.csv&decision=credit.toml",
    "explain": "/explain?model=credit.bayeswise&table=credit-test.csv&row=1&decision=credit.toml",
    "trust": "/trust?model=credit.bayeswise&table=credit-test.csv&decision=credit.toml",
    "label": "/label?table=credit-test.csv&target=risk&classes=low,high&session=risks",
    "network": "/network?network=asia.bif&evidence=xray:yes&soft=smoke:yes:0.4&node=lung",
    "network-edit": "/network?network=asia.bif&view=edit&node=either",
    "network-learn": "/network?view=learn&table=credit.csv",
    "network-solve": "/network?network=oil.toml",
    "reference": "/reference?find=decide",
    **{
        f"learn-{lesson}": f"/learn?lesson={lesson}"
        for lesson in ("bayes-rule", "boundary", "coin", "smoothing", "shapes", "counted-twice")
    },
}
PLAIN = "[costs]\nrefuse = 0\nlend = { no = 600, yes = -120 }\nask = { no = 100, yes = -80 }\n"


def prepared(place: Path) -> Path:
    """A folder in which every page has something to show."""
    folder = filled(place)
    bw.fit(str(folder / "credit.csv"), target="repaid", model="naive-bayes").save(folder / "credit.bayeswise")
    (folder / "plain.toml").write_text(PLAIN)
    return folder


def settle(page: Page, name: str) -> None:
    """Wait until the page shows what it is about; open what is closed at first."""
    expect(page.locator("[aria-busy=true]")).to_have_count(0, timeout=60_000)
    if name == "reference":
        page.locator("details.operation summary").first.click()
    if name == "label" and (start := page.get_by_role("button", name="start")).count():
        start.click()
        expect(page.get_by_role("region", name="Case")).to_be_visible(timeout=60_000)
    if name.startswith("costs"):
        expect(page.locator(".certified:not(.stale) b")).to_be_visible(timeout=60_000)


def taken(browser: Browser, served: Served, place: Path, names: list[str], widths: list[int]) -> None:
    for theme in ("light", "dark"):
        for width in widths:
            context = browser.new_context(viewport={"width": width, "height": 2160 if width > 2000 else 900})
            page = context.new_page()
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            page.goto(served.url)
            for name in names:
                page.goto(served.home + PAGES[name])
                settle(page, name)
                page.screenshot(path=place / f"{name}-{width}-{theme}.png", full_page=True)
            context.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.workbench.screenshots", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PAGE", help=", ".join(PAGES))
    parser.add_argument("--to", type=Path, default=Path(tempfile.gettempdir()) / "bayeswise-screenshots")
    parser.add_argument("--width", type=int, action="append", help="pixels (360, 1280 and 3840)")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        served = Served.started(prepared(Path(folder) / "work"))
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            taken(browser, served, options.to, options.names or list(PAGES), options.width or list(WIDTHS))
        finally:
            browser.close()
            served.end()
    print(f"Saved pictures in {options.to}.")


if __name__ == "__main__":
    main()
