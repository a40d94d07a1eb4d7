"""EM along sequences beside hmmlearn's Baum-Welch, and beside enumeration of all hidden states of unrolled networks."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from bayeswise.foundation.errors import BayeswiseError
from bayeswise.networks import Node
from bayeswise.networks.dynamic import DynamicNetwork, before
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.em.sequences import Sequences, fit_sequences, order_of
from bayeswise.tables.source import open_source

HMM: dict[str, list[str]] = {"mood": ["mood[-1]"], "sign": ["mood"]}


def signs(seed: int, lengths: list[int], n_states: int = 2, n_signs: int = 3) -> dict[str, list[Any]]:
    """Signs of a hidden chain that stays where it is four times out of five."""
    generator = np.random.default_rng(seed)
    move = np.full((n_states, n_states), 0.2 / (n_states - 1)) + (0.8 - 0.2 / (n_states - 1)) * np.eye(n_states)
    show = generator.dirichlet(np.full(n_signs, 0.4), n_states)
    table: dict[str, list[Any]] = {"who": [], "t": [], "sign": []}
    for who, length in enumerate(lengths):
        state = generator.integers(n_states)
        for t in range(length):
            state = generator.choice(n_states, p=move[state]) if t else state
            table["who"].append(f"s{who}")
            table["t"].append(t)
            table["sign"].append(f"v{generator.choice(n_signs, p=show[state])}")
    return table


@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_that_of_hmmlearn(seed: int) -> None:
    """The same start, the same number of plain EM steps: log-likelihoods and tables agree."""
    hmm = pytest.importorskip("hmmlearn.hmm")
    lengths = [7, 30, 1, 12]
    table = signs(seed, lengths)
    rows = CodedRows.of({"sign": table["sign"]}, states={"mood": ["a", "b"]}, may_be_hidden={"mood"}, in_order=True)
    source = open_source(table)
    order, begins = order_of(source, "who", "t")
    # nodes: sign 0, mood 1; later slice: sign 2, mood 3
    seen = Sequences.of(rows, order, begins, [(1,), (), (3,), (1,)], shared=[0])
    generator = np.random.default_rng(seed)
    start, move = generator.dirichlet(np.ones(2)), generator.dirichlet(np.ones(2), 2)
    show = generator.dirichlet(np.ones(3), 2)
    peer = hmm.CategoricalHMM(2, n_iter=1, tol=-math.inf, init_params="", implementation="log")
    peer.startprob_, peer.transmat_, peer.emissionprob_ = start, move, show
    coded = rows.codes[order][:, :1]
    tables = np.concatenate([show.ravel(), start, show.ravel(), move.ravel()])
    none = np.zeros_like(tables)
    for _ in range(4):
        point = seen.at(tables, none)
        assert point.log_likelihood == pytest.approx(peer.score(coded, lengths), rel=1e-10)
        tables = seen.layout.normalised(point.counts)
        peer.fit(coded, lengths)
        expected = [peer.emissionprob_.ravel(), peer.startprob_, peer.emissionprob_.ravel(), peer.transmat_.ravel()]
        assert tables == pytest.approx(np.concatenate(expected), abs=1e-9)


def test_the_best_of_several_starts_is_at_least_as_good_as_hmmlearns() -> None:
    hmm = pytest.importorskip("hmmlearn.hmm")
    lengths = [40] * 5
    table = signs(5, lengths, n_states=3, n_signs=5)
    found = DynamicNetwork.learn(
        table, sequence="who", time="t", later=HMM, hidden={"mood": 3}, prior="none", starts=3, seed=1
    )
    codes = np.array([int(sign[1:]) for sign in table["sign"]])[:, None]
    best = max(
        hmm.CategoricalHMM(3, n_iter=100, tol=1e-4, random_state=k).fit(codes, lengths).score(codes, lengths)
        for k in range(3)
    )
    total = sum(found.log_evidence([{"sign": sign} for sign in table["sign"][40 * k : 40 * k + 40]]) for k in range(5))
    assert total > best - 0.5
    assert f"log-likelihood {total:.3f}" in found.notes[0].replace(f"{total:.6f}", f"{total:.3f}")


def expected_by_enumeration(
    network: DynamicNetwork, steps: list[dict[str, Any]]
) -> tuple[dict[tuple[bool, str], np.ndarray], float]:
    """Every assignment of every cell that is not there, weighted by its share of P(cells)."""
    flat = network.unrolled(max(2, len(steps)))
    given = {f"{name}[{t}]": state for t, step in enumerate(steps) for name, state in step.items() if state is not None}
    free = [f"{name}[{t}]" for t in range(len(steps)) for name in network.names if f"{name}[{t}]" not in given]
    slices = {(t, name): f"{name}[{t}]" for t in range(len(steps)) for name in network.names}
    tables = {
        (later, name): np.zeros_like(flat.table(f"{name}[{int(later)}]"))
        for later in (False, True)
        for name in network.names
    }
    total = 0.0
    for assigned in itertools.product(*(flat.states(name) for name in free)):
        codes = {
            name: flat.code(name, state) for name, state in {**given, **dict(zip(free, assigned, strict=True))}.items()
        }
        cells, p = [], 1.0
        for (t, name), node in slices.items():
            row = 0
            for parent in flat.parents(node):
                row = row * len(flat.states(parent)) + codes[parent]
            p *= flat.table(node)[row, codes[node]]
            cells.append(((t > 0, name), row, codes[node]))
        total += p
        for key, row, code in cells:
            tables[key][row, code] += p
    return {key: table / total for key, table in tables.items()}, math.log(total)


@pytest.mark.parametrize("seed", range(4))
def test_expected_counts_are_those_of_enumeration(seed: int) -> None:
    """Two chains that act on each other, one hidden, cells missing at random; an interface that is seen in part."""
    generator = np.random.default_rng(seed)
    first_graph = {"a": [], "h": ["a"], "o": ["a", "h"]}
    later_graph = {"a": ["a[-1]", "h[-1]"], "h": ["h[-1]", "a"], "o": ["a", "h"]}
    steps = [
        [{"a": _cell(generator, "xy"), "o": _cell(generator, "uv"), "h": None} for _ in range(length)]
        for length in (4, 1, 3)
    ]
    table = {
        "who": [k for k, each in enumerate(steps) for _ in each],
        "t": [t for each in steps for t in range(len(each))],
        "a": [step["a"] for each in steps for step in each],
        "o": [step["o"] for each in steps for step in each],
    }
    states = {"a": ["x", "y"], "o": ["u", "v"], "h": ["p", "q"]}
    draw = generator.dirichlet
    network = DynamicNetwork(
        [Node(name, states[name], draw([1, 1], 2 ** len(above)), above) for name, above in first_graph.items()],
        [Node(name, states[name], draw([1, 1], 2 ** len(above)), above) for name, above in later_graph.items()],
    )
    rows = CodedRows.of({k: table[k] for k in "ao"}, states=states, may_be_hidden={"h"}, in_order=True)
    assert rows.names == ("a", "o", "h")
    order, begins = order_of(open_source(table), "who", "t")
    seen = Sequences.of(rows, order, begins, [(), (0, 2), (0,), (0, 2), (3, 5), (2, 3)], shared=[])
    tables = np.concatenate(
        [
            *(network.first.table(name).ravel() for name in rows.names),
            *(next(node for node in network._later if node.name == name).table.ravel() for name in rows.names),
        ]
    )
    found = seen.at(tables, np.zeros_like(tables))
    answers = [expected_by_enumeration(network, each) for each in steps]
    assert found.log_likelihood == pytest.approx(sum(log_p for _, log_p in answers), rel=1e-10)
    summed = [sum(counts[later, name] for counts, _ in answers) for later in (False, True) for name in rows.names]
    for mine, expected in zip(seen.layout.tables(found.counts), summed, strict=True):
        assert mine == pytest.approx(expected, abs=1e-10)


def _cell(generator: np.random.Generator, states: str) -> str | None:
    return None if generator.random() < 0.3 else str(generator.choice(list(states)))


@pytest.mark.parametrize("prior", ["none", "bdeu"])
def test_no_step_lowers_the_objective(prior: str) -> None:
    table = signs(2, [25] * 8)
    rows = CodedRows.of({"sign": table["sign"]}, states={"mood": range(3)}, may_be_hidden={"mood"}, in_order=True)
    order, begins = order_of(open_source(table), "who", "t")
    for seed in range(3):
        found = fit_sequences(rows, order, begins, [(1,), (), (3,), (1,)], shared=[0], prior=prior, starts=1, seed=seed)
        assert found.converged and len(found.trace) > 3
        assert (np.diff(found.trace) >= 0.0).all()


def test_complete_sequences_with_shared_tables_are_counted() -> None:
    table = {"who": list("aaabb"), "t": [0, 1, 2, 0, 1], "x": list("ppqqp"), "y": list("uuvvv")}
    graph = {"x": ["x[-1]"], "y": ["x"]}
    found = DynamicNetwork.learn(table, sequence="who", time="t", later=graph, shared=["y"], prior="none")
    assert found.first.table("y").tolist() == [[2 / 3, 1 / 3], [0.0, 1.0]]
    assert found.first.table("y") == pytest.approx(found._later[1].table)
    assert found._later[0].table.tolist() == [[0.5, 0.5], [1.0, 0.0]]


def test_missing_cells_are_learned_around() -> None:
    """A tenth of the cells is gone; the transition is still found."""
    truth = DynamicNetwork([Node("x", ["p", "q"], 0.5)], [Node("x", ["p", "q"], [0.9, 0.3], [before("x")])])
    table = truth.sample(200, 20, seed=3)
    generator = np.random.default_rng(0)
    table["x"] = [None if generator.random() < 0.1 else cell for cell in table["x"]]
    found = DynamicNetwork.learn(table, sequence="sequence", time="time", later={"x": ["x[-1]"]})
    assert found._later[0].table[:, 0] == pytest.approx([0.9, 0.3], abs=0.03)
    assert "converged" in found.notes[0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"hidden": {"mood": 2}}, "a node is hidden, and no graph is given"),
        ({"hidden": {"mood": 0}, "later": HMM}, "the states of 'mood' is 0"),
        ({"hidden": {"sign": 2}, "later": HMM}, "a column of the table"),
        ({"hidden": ["mood"], "later": HMM}, "hidden takes"),
        ({"hidden": {"mood": 2}, "later": {"mood": ["mod[-1]"]}}, "did you mean 'mood"),
        ({"hidden": {"mood": 2}, "later": HMM, "shared": ["mood"]}, "other parents in the first slice"),
        ({"hidden": {"mood": 2}, "later": HMM, "starts": 0}, "0 starts"),
        ({"hidden": {"mood": 2}, "later": HMM, "method": "k2"}, "method is not a setting of EM"),
        ({"hidden": {"mood": 2}, "later": HMM, "seed": "x"}, "the seed is 'x'"),
        ({"hidden": {"mood": 3000}, "later": HMM}, "pairs of hidden states"),
    ],
)
def test_mistakes_are_named(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BayeswiseError, match=said.replace("[", r"\[")):
        DynamicNetwork.learn(signs(0, [5, 5]), sequence="who", time="t", **settings)


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(BayeswiseError, match="has no cell"):
        DynamicNetwork.learn({"who": [], "t": [], "x": []}, sequence="who", time="t", later={"x": ["x[-1]"]})
