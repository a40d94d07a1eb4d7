"""Pages that need nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from cases import NEVER, ODD, golf, random_account

from bayeswise.explanations import Account, Contribution

VOID = {"meta", "col"}


class Page(HTMLParser):
    """Reads a page and notes what it is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [str(value) for name, value in attrs if name in ("src", "href", "srcset", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_a_page_shows_prior_columns_and_posterior() -> None:
    words = Page(golf().to_html()).words
    for word in ("outlook", "sunny", "prior", "posterior", "P = 0.7954", "× 2.7", "+0.99"):
        assert word in words


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</bdi></td>", "&lt;b&gt;"]
)
def test_no_label_becomes_markup(hostile: str) -> None:
    account = Account(
        (hostile, "other"),
        np.log([0.5, 0.5]),
        (Contribution(hostile, hostile, np.log([0.7, 0.3]), hostile),),
        hostile,
        title=hostile,
    )
    page = Page(account.to_html())
    assert page.open == []
    assert {"script", "img"} & page.tags == set()
    assert hostile in page.words


def test_a_page_loads_nothing() -> None:
    for account in (golf(), random_account(12, names=ODD)):
        text = account.to_html()
        assert Page(text).links == []
        assert "default-src 'none'" in text
        assert re.findall(r"https?://|url\(|@import", text) == []


def test_long_labels_are_cut_and_kept_as_tooltip() -> None:
    text = random_account(2, names=ODD).to_html()
    assert max(map(len, Page(text).words[1:])) < 2_000
    assert f'title="{"x" * 1000}"' in text


def test_infinite_weights_stay_inside_of_their_drawing() -> None:
    account = Account(("a", "b"), np.log([0.5, 0.5]), (Contribution("x", 1, np.array([-1.0, NEVER])),))
    widths = [float(width) for width in re.findall(r'<rect[^>]* width="([^"]+)"', account.to_html())]
    assert max(widths) <= 240.0
    assert "+∞" in account.to_html()


def test_a_notebook_gets_a_fragment() -> None:
    fragment = golf()._repr_html_()
    assert fragment.startswith('<div class="bw">')
    assert Page(fragment).open == []
