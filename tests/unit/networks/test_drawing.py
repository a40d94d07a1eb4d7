"""Pictures of networks: nothing overlaps, beliefs are in the nodes, names cannot break out."""

from __future__ import annotations

import itertools
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from bayeswise.foundation.errors import NetworkError, ParameterError, TooLargeError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.render.graph.boxes import Box
from bayeswise.render.graph.layers import layers_of, with_bends
from bayeswise.render.graph.layout import Layout, Route, crossings, layout_of, ordered
from bayeswise.render.graph.picture import Bar, DrawnNode, Kind, Picture
from tests.cases.network_cases import asia, random_network
from tests.paths import PUBLIC_NETWORKS, ROOT

HOSTILE = ['<script>alert("x")</script>', "a&b", "nul\0\ud800", "two\nlines", "\U0001f525", "x" * 10_000, "'", "\\"]


def random_picture(seed: int, n_nodes: int) -> Picture:
    generator = np.random.default_rng(seed)
    kinds = list(Kind)
    nodes = [
        DrawnNode(
            f"node {k} " + "x" * int(generator.integers(0, 30)),
            tuple(Bar(f"s{j}", 0.5, "50 %") for j in range(generator.integers(0, 12))),
            kind=kinds[generator.integers(0, 3)],
        )
        for k in range(n_nodes)
    ]
    pairs = [(a, b) for a in range(n_nodes) for b in range(a + 1, n_nodes)]
    edges = [(nodes[a].name, nodes[b].name) for a, b in pairs if generator.random() < 2.0 / n_nodes]
    return Picture.of(nodes, edges)


def overlap(a: Box, b: Box) -> bool:
    beside = a.left + a.width <= b.left or b.left + b.width <= a.left
    return not (beside or a.top + a.height <= b.top or b.top + b.height <= a.top)


def points(route: Route) -> list[tuple[float, float]]:
    """The edge as it is drawn: straight passages, and cubic curves between them."""
    found = []
    for (x, _, y), (to_x, to_y, _) in itertools.pairwise(route.passages):
        for t in np.linspace(0, 1, 20):
            weight = 3 * (1 - t) * t**2 + t**3
            found.append(
                (x + (to_x - x) * weight, y + (to_y - y) * (1.5 * (1 - t) ** 2 * t + 1.5 * (1 - t) * t**2 + t**3))
            )
    for x, start, end in route.passages:
        found += [(x, y) for y in np.linspace(start, end, 10)]
    return found


def check(layout: Layout) -> None:
    for a, b in itertools.combinations(layout.boxes, 2):
        assert not overlap(a, b), (a.node.name, b.node.name)
    for box in layout.boxes:
        assert box.left >= -1e-9
        assert box.left + box.width <= layout.width + 1e-9
        assert box.top + box.height <= layout.height + 1e-9
    for route in layout.routes:
        others = [box for box in layout.boxes if box.node.name not in route.edge]
        for x, y in points(route):
            inside = [b for b in others if b.left < x < b.left + b.width and b.top < y < b.top + b.height]
            assert not inside, (route.edge, inside[0].node.name)
        ends = [round(y, 6) for _, *part in route.passages for y in part]
        assert ends == sorted(ends), route.edge  # always downwards


@pytest.mark.parametrize("seed", range(12))
def test_no_box_touches_another_and_no_edge_runs_through_one(seed: int) -> None:
    check(layout_of(random_picture(seed, 3 + 3 * seed)))


def test_public_networks_are_drawn_without_overlaps() -> None:
    if not PUBLIC_NETWORKS.is_dir():
        pytest.skip("the public networks are not here")
    for name, most_crossings in (("asia", 0), ("alarm", 7), ("insurance", 22)):
        network = BeliefNetwork.read(PUBLIC_NETWORKS / f"{name}.bif")
        check(layout_of(network.picture()))
        lines = with_bends(network._parents, layers_of(network._parents, network.names))
        assert crossings(lines, ordered(lines)) <= most_crossings


@pytest.mark.parametrize("seed", range(20))
def test_no_assignment_of_lines_has_shorter_edges(seed: int) -> None:
    """Every assignment of five nodes to five lines, tried out."""
    network = random_network(seed, n_nodes=5)
    edges = [(network.place(a), network.place(b)) for a, b in network.edges]
    if not edges or len(reached(edges)) < 5:
        return
    found = layers_of(network._parents, network.names)
    assert all(found[b] > found[a] for a, b in edges)
    lines = itertools.product(range(5), repeat=5)
    best = min(sum(line[b] - line[a] for a, b in edges) for line in lines if all(line[b] > line[a] for a, b in edges))
    assert sum(found[b] - found[a] for a, b in edges) == best


def reached(edges: list[tuple[int, int]]) -> set[int]:
    found = {edges[0][0]}
    while True:
        more = found | {end for edge in edges for end in edge if found & set(edge)}
        if more == found:
            return found
        found = more


def test_beliefs_are_in_the_nodes_and_evidence_is_marked() -> None:
    picture = asia().picture({"visit": "yes", "dyspnoea": "yes"}, soft={"x-ray": {"yes": 0.5, "no": 1.0}})
    nodes = {node.name: node for node in picture.nodes}
    belief = asia().query("cancer", {"visit": "yes", "dyspnoea": "yes"}, soft={"x-ray": {"yes": 0.5, "no": 1.0}})
    assert [bar.share for bar in nodes["cancer"].bars] == pytest.approx(list(belief.values()))
    assert [node.name for node in picture.nodes if node.marked] == ["visit", "x-ray", "dyspnoea"]
    assert [bar.marked for bar in nodes["visit"].bars] == [True, False]
    svg = picture.svg()
    assert f"{belief['yes'] * 100:.1f} %" in svg
    assert svg.count("<path d=") >= 2 * len(asia().edges)


def test_a_drawing_of_hostile_names_is_whole_and_harmless() -> None:
    nodes = [Node(name, HOSTILE, [1 / len(HOSTILE)] * len(HOSTILE)) for name in HOSTILE]
    picture = BeliefNetwork(nodes).picture(title="</title><script>")
    root = ET.fromstring(picture.svg())
    assert {each.tag.rpartition("}")[2] for each in root.iter()} == {"svg", "title", "rect", "g", "text", "path"}
    assert "<script" not in picture.html()
    picture.dot().encode("utf-8")
    assert "<script" not in BeliefNetwork(nodes)._repr_html_()


def test_very_long_names_are_cut_soon() -> None:
    nodes = [DrawnNode(f"{k} " + "ab" * 5_000, (Bar("state " * 2_000, 0.5, "50 %"),)) for k in range(100)]
    start = time.process_time()
    drawn = Picture.of(nodes, []).svg()
    assert time.process_time() - start < 3.0
    assert "0 abababa" in drawn
    assert "\u2026" in drawn


def test_decisions_are_square_and_utilities_are_diamonds() -> None:
    nodes = [
        DrawnNode("Oil", (Bar("dry", 0.5, "50 %"), Bar("wet", 0.5, "50 %"))),
        DrawnNode("Drill", kind=Kind.decision),
        DrawnNode("Payoff", kind=Kind.utility, notes=("expected 20",)),
    ]
    edges = [("Oil", "Payoff"), ("Drill", "Payoff"), ("Oil", "Drill")]
    picture = Picture.of(nodes, edges, dashed=[("Oil", "Drill")])
    assert "stroke-dasharray" in picture.svg()
    assert 'rx="0"' in picture.svg()
    assert "expected 20" in picture.svg()
    assert '"Payoff" [shape=diamond, label="Payoff\\nexpected 20"];' in picture.dot()
    assert '"Oil" -> "Drill" [style=dashed];' in picture.dot()


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(NetworkError, match="not a node"):
        Picture.of([DrawnNode("a")], [("a", "b")])
    with pytest.raises(NetworkError, match="cycle: a -> b -> a"):
        Picture.of([DrawnNode("a"), DrawnNode("b")], [("a", "b"), ("b", "a")]).svg()
    with pytest.raises(TooLargeError, match="401 nodes"):
        Picture.of([DrawnNode(str(k)) for k in range(401)], [])
    with pytest.raises(ParameterError, match="suffix"):
        asia().picture().save("asia.png")
    assert "2,000 nodes" in BeliefNetwork([Node(str(k), ["a", "b"], 0.5) for k in range(2000)])._repr_html_()


def test_a_notebook_does_not_wait_for_beliefs_that_take_long() -> None:
    names = [f"n{k}" for k in range(30)]
    nodes = [Node(name, ["a", "b"], 0.5) for name in names]
    chosen = np.random.default_rng(0).permutation(30 * 29 // 2)[:250]
    pairs = [list(itertools.combinations(names, 2))[k] for k in chosen]
    nodes += [Node(f"{a}{b}", ["a", "b"], [0.1, 0.9, 0.8, 0.4], [a, b]) for a, b in pairs]
    network = BeliefNetwork(nodes)
    start = time.process_time()
    shown = network._repr_html_()
    assert time.process_time() - start < 8.0
    assert " %" not in shown
    network = BeliefNetwork(nodes)
    network.engine.memory_limit = 1 << 20
    assert "50.0 %" in network.picture(nodes=names[:3]).svg()  # one by one they fit
    observed = {f"{a}{b}": "a" for a, b in pairs}
    assert "too large for exact beliefs" in network.picture(observed, nodes=names[:3]).svg()


def test_an_answer_draws_itself_in_a_notebook() -> None:
    assert "10.0 %" in asia().query("cancer", {"visit": "yes", "dyspnoea": "yes"})._repr_html_()
    assert "yes/no" in asia().query(["cancer", "smoking"])._repr_html_()


def test_only_some_nodes_are_drawn_with_the_edges_between_them() -> None:
    picture = asia().picture(nodes=["cancer", *asia().markov_blanket("cancer")])
    assert {node.name for node in picture.nodes} == {"cancer", "smoking", "either", "tuberculosis"}
    assert set(picture.edges) == {("smoking", "cancer"), ("tuberculosis", "either"), ("cancer", "either")}


def test_four_hundred_nodes_are_drawn_in_seconds() -> None:
    generator = np.random.default_rng(0)
    names = [f"n{k}" for k in range(400)]
    edges = [(names[int(generator.integers(max(0, k - 30), k))], names[k]) for k in range(1, 400) for _ in range(2)]
    start = time.process_time()
    Picture.of([DrawnNode(name) for name in names], edges).svg()
    assert time.process_time() - start < 8.0


def test_pictures_are_saved_by_their_suffix(tmp_path: Path) -> None:
    for suffix, start in (("svg", "<svg"), ("html", "<!doctype html>"), ("dot", "digraph")):
        asia().picture().save(tmp_path / f"asia.{suffix}")
        assert (tmp_path / f"asia.{suffix}").read_text(encoding="utf-8").startswith(start)


def test_the_picture_in_the_documents_is_the_one_that_is_drawn() -> None:
    forest = BeliefNetwork(
        [
            Node("Storm", ["yes", "no"], 0.2),
            Node("BusTourGroup", ["yes", "no"], 0.5),
            Node("Lightning", ["yes", "no"], {"yes": 0.7, "no": 0.01}, ["Storm"]),
            Node("CampFire", ["yes", "no"], [0.4, 0.1, 0.8, 0.2], ["Storm", "BusTourGroup"]),
            Node("Thunder", ["yes", "no"], {"yes": 0.9, "no": 0.05}, ["Lightning"]),
        ]
    )
    shown = ROOT / "docs" / "forest-fire.svg"
    assert shown.read_text(encoding="utf-8") == forest.picture({"Thunder": "yes"}).svg()
