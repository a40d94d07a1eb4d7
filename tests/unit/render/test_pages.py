"""What notebooks show of each object, through one shell that no label escapes from."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.diagrams import Chance, Decision, Utility
from bayeswise.networks import Node
from bayeswise.render.page import STYLE, page

SOURCE = Path(bw.__file__).parent
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</bdi></td></style>", "a&lt;b\n\x00"]


class Tags(HTMLParser):
    """Which tags a page has, and which are open at its end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        if tag not in ("meta", "col"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def objects(name: str) -> dict[str, Any]:
    """One of each kind, made of this name."""
    table = {name: [1.0, 2.0, 3.0, 4.0], "other": ["u", name, "u", name], "target": [name, name, "b", "b"]}
    model = bw.fit(table, target="target", model="naive-bayes")
    costs = bw.Costs({name: {name: 0, "b": 3}, "wait": {name: 1, "b": 0}})
    network = bw.BeliefNetwork([Node(name, [name, "b"], 0.3), Node("wet", ["yes", name], [0.1, 0.2], [name])])
    gain = Utility("gain", [[1.0, 2.0], [0.0, 5.0]], ["act", name])
    diagram = bw.InfluenceDiagram([Chance(name, [name, "b"], 0.3), Decision("act", ["yes", name]), gain])
    return {
        "costs": costs,
        "decisions": bw.decide(np.array([[0.4, 0.6]]), costs, states=[name, "b"]),
        "evaluation": bw.evaluate(model, table, costs),
        "model": model,
        "account": model.explain({name: 1.0, "other": name}),
        "joint table": bw.JointTable([name, "y"], {(name, "a"): 0.5, ("b", "a"): 0.5}),
        "hypotheses": bw.HypothesisSpace({name: 0.5, "b": 0.5}, lambda h, d: 0.5).observe(1),
        "network": network,
        "network account": network.explain(name, {"wet": name}),
        "distribution": network.query(name),
        "diagram": diagram,
        "solution": diagram.solve(),
    }


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_name_becomes_markup_in_a_notebook(hostile: str) -> None:
    for kind, each in objects(hostile).items():
        shown = each._repr_html_()
        tags = Tags(shown)
        assert tags.open == [], kind
        assert tags.names.isdisjoint({"script", "img", "link", "iframe"}), kind
        assert shown.startswith('<div class="bw"><style>'), kind
        assert STYLE in shown, kind


def test_a_notebook_shows_names_and_numbers() -> None:
    shown = {kind: each._repr_html_() for kind, each in objects("rain").items()}
    assert all("rain" in text for text in shown.values())
    assert '<td class="n"><bdi>3</bdi></td>' in shown["costs"]
    assert "NaiveBayes model of <bdi>target</bdi>" in shown["model"]


def test_a_page_has_one_style_and_may_load_nothing() -> None:
    text = page("a <b> title", "<p>body</p>")
    assert text.count("<style>") == 1
    assert "default-src 'none'" in text
    assert "<title>a &lt;b&gt; title</title>" in text
    assert re.findall(r"https?://|url\(|@import|<script", text) == []


def sources() -> dict[str, str]:
    return {str(file.relative_to(SOURCE)): file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py")}


@pytest.mark.parametrize(
    ("pattern", "where"),
    [
        (r"<style|<html|<!doctype", {"render/page.py"}),
        (r"[\"']#[0-9a-fA-F]{6}\b", {"render/theme.py"}),
        (r"from html import escape", {"render/labels.py"}),
        (r"\.subplots\(|import pyplot", {"render/display.py"}),
        (r"\.[lr]just\(", {"render/terminal.py"}),
        (r"Table\(.*box=None", {"render/terminal.py"}),
    ],
)
def test_there_is_one_place_for_each_matter_of_style(pattern: str, where: set[str]) -> None:
    assert {name for name, text in sources().items() if re.search(pattern, text)} == where
