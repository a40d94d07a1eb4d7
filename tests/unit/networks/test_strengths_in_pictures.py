"""Edges are drawn as wide as they are strong, and a legend says what that means."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest

from bayeswise.foundation.errors import ParameterError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.learning import EdgeStrengths, strengths_in_table
from bayeswise.render.graph.layout import layout_of
from tests.cases.network_cases import asia

CHAIN = BeliefNetwork(
    [
        Node("a", [0, 1], 0.5),
        Node("b", [0, 1], [0.1, 0.9], ["a"]),
        Node("c", [0, 1], [0.4, 0.6], ["b"]),
        Node("d", [0, 1], [0.5, 0.5], ["c"]),
    ]
)
GIVEN = {("a", "b"): 16.0, ("b", "c"): 4.0, ("c", "d"): -3.0}


def widths_in(svg: str) -> dict[str, float]:
    """The width of each line by its tooltip."""
    paths = [each for each in ET.fromstring(svg).iter() if each.tag.endswith("path") and len(each)]
    return {str(path[0].text): float(path.attrib["stroke-width"]) for path in paths}


@pytest.fixture(scope="module")
def learned() -> tuple[BeliefNetwork, EdgeStrengths]:
    rows = asia().sample(1_000, seed=3)
    network = BeliefNetwork.learn(rows)
    return network, strengths_in_table(rows, network, resamples=8, averaged=True)


def test_a_line_is_as_wide_as_the_root_of_its_share_of_the_strongest() -> None:
    assert widths_in(CHAIN.picture(strengths=GIVEN).svg()) == {
        "a \N{RIGHTWARDS ARROW} b: 16": 6.0,
        "b \N{RIGHTWARDS ARROW} c: 4": 1.0 + 5.0 * math.sqrt(4 / 16),
        "c \N{RIGHTWARDS ARROW} d: -3": 1.0,
    }


def test_the_score_gain_of_each_edge_is_its_width(learned: tuple[BeliefNetwork, EdgeStrengths]) -> None:
    network, found = learned
    gains = {f"{edge.parent} \N{RIGHTWARDS ARROW} {edge.child}": edge.score_gain for edge in found if edge.in_graph}
    drawn = widths_in(network.picture(strengths=found, by="score_gain").svg())
    assert len(drawn) == len(network.edges)
    for said, width in drawn.items():
        gain = gains[said.partition(":")[0]]
        assert width == pytest.approx(1.0 + 5.0 * math.sqrt(gain / max(gains.values())), abs=0.006)


@pytest.mark.parametrize(
    ("by", "words"),
    [(None, "probability of the edge"), ("support", "this way round"), ("score_gain", "what the score loses")],
)
def test_the_legend_says_what_widths_mean_and_shows_some(
    learned: tuple[BeliefNetwork, EdgeStrengths], by: str | None, words: str
) -> None:
    network, found = learned
    picture = network.picture(strengths=found, by=by)
    root = ET.fromstring(picture.svg())
    texts = [str(each.text) for each in root.iter() if each.tag.endswith("text")]
    assert any(words in text for text in texts)
    assert picture.legend is not None
    samples = [sample.value for sample in picture.legend.samples]
    assert len(samples) == 3
    assert texts[-3:] == samples
    bottom = max(box.top + box.height for box in layout_of(picture).boxes)
    legend = next(each for each in root.iter() if str(each.text).startswith("width of an edge"))
    assert bottom + 20 < float(legend.attrib["y"]) < float(root.attrib["height"])
    assert words in picture.dot()


def test_graphviz_gets_the_same_widths() -> None:
    text = CHAIN.picture(strengths=GIVEN, beliefs=False, title="chain").dot()
    assert re.findall(r"penwidth=([\d.]+)", text) == ["6.00", "3.50", "1.00"]
    assert 'tooltip="-3"' in text
    assert 'label="chain\\nwidth: the strength of the edge' in text


def test_a_picture_without_strengths_is_what_it_was() -> None:
    plain = CHAIN.picture()
    assert "legend" not in plain.svg()
    assert "width of an edge" not in plain.svg()
    assert "penwidth" not in plain.dot()
    assert hash(plain) == hash(CHAIN.picture())


def test_strengths_of_a_part_are_drawn_beside_the_strongest_of_that_part() -> None:
    drawn = widths_in(CHAIN.picture(strengths=GIVEN, nodes=["b", "c", "d"]).svg())
    assert drawn["b \N{RIGHTWARDS ARROW} c: 4"] == 6.0


def test_missing_strengths_are_requested(learned: tuple[BeliefNetwork, EdgeStrengths]) -> None:
    network, found = learned
    with pytest.raises(ParameterError, match=r"no strength of the edge c -> d. Fix: measure them in this network"):
        CHAIN.picture(strengths={edge: GIVEN[edge] for edge in list(GIVEN)[:2]})
    with pytest.raises(ParameterError, match="there is no strength of the edge a -> b"):
        CHAIN.picture(strengths=found)
    with pytest.raises(ParameterError, match=r"no measure 'suport'. Fix: did you mean 'support'"):
        network.picture(strengths=found, by="suport")
    bare = strengths_in_table(asia().sample(100, seed=0), asia())
    with pytest.raises(ParameterError, match=r"posterior was not measured. Fix: .*averaged=True"):
        asia().picture(strengths=bare, by="posterior")
    with pytest.raises(ParameterError, match=r"support was not measured. Fix: .*resamples=100"):
        asia().picture(strengths=bare, by="support")
    with pytest.raises(ParameterError, match=r"one measure. Fix: leave out"):
        CHAIN.picture(strengths=GIVEN, by="support")


def test_no_strength_at_all_is_drawn_thin() -> None:
    drawn = CHAIN.picture(strengths=dict.fromkeys(GIVEN, 0.0))
    assert set(widths_in(drawn.svg()).values()) == {1.0}


def test_no_edges_need_no_legend() -> None:
    alone = BeliefNetwork([Node("alone", [0, 1], 0.5)])
    assert alone.picture(strengths={}) == alone.picture()
