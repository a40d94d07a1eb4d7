"""Dynamic networks beside the forward-backward and Viterbi recursions of hidden Markov models, and unrolled ones."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bayeswise.foundation.errors import (
    BayeswiseError,
    ImpossibleEvidenceError,
    NetworkError,
    ParameterError,
    TooLargeError,
)
from bayeswise.networks import Node
from bayeswise.networks.dynamic import DynamicNetwork, before


def hidden_markov(
    seed: int, n_states: int = 3, n_signs: int = 4
) -> tuple[DynamicNetwork, np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    start = generator.dirichlet(np.ones(n_states))
    move = generator.dirichlet(np.ones(n_states), n_states)
    show = generator.dirichlet(np.ones(n_signs), n_states)
    states, signs = range(n_states), range(n_signs)
    first = [Node("h", states, [start]), Node("o", signs, show, ["h"])]
    later = [Node("h", states, move, [before("h")]), Node("o", signs, show, ["h"])]
    return DynamicNetwork(first, later), start, move, show


def two_chains(seed: int) -> DynamicNetwork:
    """Two hidden chains that act on each other and share a sign; both are in the interface."""
    generator = np.random.default_rng(seed)
    table = {n: generator.dirichlet(np.ones(2), n) for n in (1, 2, 4)}
    first = [
        Node("a", ["x", "y"], table[1]),
        Node("b", ["x", "y"], table[2], ["a"]),
        Node("o", ["u", "v"], table[4], ["a", "b"]),
    ]
    later = [
        Node("a", ["x", "y"], generator.dirichlet(np.ones(2), 4), [before("a"), before("b")]),
        Node("b", ["x", "y"], generator.dirichlet(np.ones(2), 4), [before("b"), "a"]),
        Node("o", ["u", "v"], generator.dirichlet(np.ones(2), 4), ["a", "b"]),
    ]
    return DynamicNetwork(first, later)


@pytest.mark.parametrize("seed", range(6))
def test_a_hidden_markov_model_is_filtered_and_smoothed_as_by_the_recursions(seed: int) -> None:
    network, start, move, show = hidden_markov(seed)
    signs = np.random.default_rng(seed).integers(0, 4, 30).tolist()
    forward, scales = [], []
    alpha = start * show[:, signs[0]]
    for step, sign in enumerate(signs):
        if step:
            alpha = (forward[-1] @ move) * show[:, sign]
        scales.append(alpha.sum())
        forward.append(alpha / alpha.sum())
    beta, smooth = np.ones(3), [None] * 30
    for step in reversed(range(30)):
        gamma = forward[step] * beta
        smooth[step] = gamma / gamma.sum()
        beta = move @ (show[:, signs[step]] * beta)
        beta = beta / beta.sum()
    evidence = [{"o": sign} for sign in signs]
    for step, found in enumerate(network.filtered(evidence)):
        assert [*found["h"].values()] == pytest.approx(forward[step].tolist(), rel=1e-10)
        assert found.log_evidence == pytest.approx(np.log(scales[: step + 1]).sum(), rel=1e-10)
    for step, found in enumerate(network.smoothed(evidence)):
        assert [*found["h"].values()] == pytest.approx(smooth[step].tolist(), rel=1e-10)  # type: ignore[union-attr]
    assert network.log_evidence(evidence) == pytest.approx(np.log(scales).sum(), rel=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_the_most_probable_path_is_viterbis(seed: int) -> None:
    network, start, move, show = hidden_markov(seed)
    signs = np.random.default_rng(seed).integers(0, 4, 12).tolist()
    best, back = np.log(start * show[:, signs[0]]), []
    for sign in signs[1:]:
        scores = best[:, None] + np.log(move)
        back.append(scores.argmax(axis=0))
        best = scores.max(axis=0) + np.log(show[:, sign])
    path = [int(best.argmax())]
    for choice in reversed(back):
        path.append(int(choice[path[-1]]))
    found = network.most_probable([{"o": sign} for sign in signs])
    assert [each["h"] for each in found] == path[::-1]


@pytest.mark.parametrize("seed", range(6))
def test_several_chains_answer_as_the_unrolled_network_does(seed: int) -> None:
    """Evidence at some steps only, on any node."""
    network = two_chains(seed)
    evidence = [{"o": "u"}, {}, {"o": "v", "b": "x"}, {"o": "u"}, {}, {"a": "y"}]
    flat = {f"{name}[{step}]": state for step, given in enumerate(evidence) for name, state in given.items()}
    whole = network.unrolled(6)
    expected = whole.marginals(flat)
    for found in network.smoothed(evidence):
        for name in network.names:
            assert [*found[name].values()] == pytest.approx([*expected[f"{name}[{found.step}]"].values()], abs=1e-12)
    assert network.log_evidence(evidence) == pytest.approx(whole.log_evidence(flat), rel=1e-12)
    ahead = network.predicted(evidence[:4], 2)
    known = {node: state for node, state in flat.items() if int(node[2:-1]) < 4}
    for found in ahead:
        expected_ahead = whole.query(f"a[{found.step}]", known)
        assert [*found["a"].values()] == pytest.approx([*expected_ahead.values()], abs=1e-12)


def test_filtering_takes_the_memory_of_one_step_and_time_in_proportion_to_the_length() -> None:
    network = two_chains(0)

    def peak(length: int) -> int:
        tracemalloc.start()
        for _ in network.filtered({"o": "u"} for _ in range(length)):
            pass
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)
    assert peak(400) < 2 * peak(40) + 50_000


def test_a_long_sequence_does_not_underflow() -> None:
    network, *_ = hidden_markov(1)
    found = network.log_evidence({"o": k % 4} for k in range(5_000))
    assert -math.inf < found < -2_000


def test_tables_and_the_graph_between_slices_are_learned_from_sequences() -> None:
    network = DynamicNetwork(
        [Node("a", ["x", "y"], 0.6), Node("b", ["x", "y"], 0.5)],
        [Node("a", ["x", "y"], [0.9, 0.2], [before("a")]), Node("b", ["x", "y"], [0.8, 0.1], [before("a")])],
    )
    table = network.sample(300, 30, seed=1)
    graph = {"a": ["a[-1]"], "b": ["a[-1]"]}
    given = DynamicNetwork.learn(table, sequence="sequence", time="time", first={}, later=graph)
    searched = DynamicNetwork.learn(table, sequence="sequence", time="time", first={})
    for learned in (given, searched):
        step = {node.name: node for node in learned._later}
        assert step["a"].parents == ("a[-1]",)
        assert step["b"].parents == ("a[-1]",)
        assert step["a"].table[:, 0] == pytest.approx([0.9, 0.2], abs=0.03)
        assert step["b"].table[:, 0] == pytest.approx([0.8, 0.1], abs=0.03)
    shuffled = np.random.default_rng(0).permutation(9_000)
    mixed = {name: [column[k] for k in shuffled] for name, column in table.items()}
    again = DynamicNetwork.learn(mixed, sequence="sequence", time="time", first={}, later=graph)
    assert again._later[0].table.tolist() == given._later[0].table.tolist()


def test_what_cannot_be_a_dynamic_network_is_said() -> None:
    yes = Node("a", ["x", "y"], 0.5)
    with pytest.raises(NetworkError, match="different nodes: b"):
        DynamicNetwork([yes], [yes, Node("b", ["x"], [1.0])])
    with pytest.raises(NetworkError, match="other states in later slices"):
        DynamicNetwork([yes], [Node("a", ["x", "z"], 0.5)])
    with pytest.raises(NetworkError, match="unknown parent 'c\\[-1\\]'"):
        DynamicNetwork([yes], [Node("a", ["x", "y"], [0.5, 0.5], ["c[-1]"])])
    big = [Node(f"n{k}", list(range(9)), np.full(9, 1 / 9)) for k in range(4)]
    with pytest.raises(TooLargeError, match="6,561 joint states"):
        DynamicNetwork(big, [Node(n.name, n.states, np.full((9, 9), 1 / 9), [before(n.name)]) for n in big])
    network, *_ = hidden_markov(0)
    with pytest.raises(ParameterError, match="no node 'x'"):
        list(network.filtered([{"x": 1}]))
    certain = DynamicNetwork([yes], [Node("a", ["x", "y"], [1.0, 0.0], [before("a")])])
    with pytest.raises(ImpossibleEvidenceError, match="step 1 is impossible"):
        list(certain.filtered([{"a": "x"}, {"a": "y"}]))


def test_sequences_are_learned_from_files_and_frames_alike(tmp_path: Path) -> None:
    table = two_chains(0).sample(20, 12, seed=2)
    frame = pl.DataFrame(table)
    frame.write_csv(tmp_path / "steps.csv")
    found = [
        DynamicNetwork.learn(each, sequence="sequence", time="time", first={}, later={"a": ["a[-1]"]})
        for each in (table, frame, tmp_path / "steps.csv")
    ]
    tables = [[node.table.tolist() for node in each._later] for each in found]
    assert tables[0] == tables[1] == tables[2]
    with pytest.raises(ParameterError, match="'a' is missing in row 2"):
        DynamicNetwork.learn({"s": [1, 1], "t": [0, 1], "a": ["x", None]}, sequence="s", time="t")
    with pytest.raises(BayeswiseError, match="'day'"):
        DynamicNetwork.learn(table, sequence="sequence", time="day")
