"""Missing cells and hidden variables: found again where they were, refused where nothing can be said."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayeswise.foundation.errors import BayeswiseError, FitError, MissingColumnError, ParameterError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.learning import FamilyCounts
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.em.fitted_tables import fit_tables
from bayeswise.networks.learning.em.incomplete import IncompleteRows
from bayeswise.networks.learning.em.structural import drawn_cells
from tests.cases.network_cases import YES_NO, asia

CLUSTERS = BeliefNetwork(
    [
        Node("kind", ["one", "two"], 0.3),
        *(Node(name, YES_NO, {"one": 0.9, "two": 0.15}, ["kind"]) for name in "abcde"),
    ]
)
FROM_KIND = {name: ["kind"] for name in "abcde"}


def without(rows: dict[str, list[object]], share: float, seed: int = 0) -> dict[str, list[object]]:
    generator = np.random.default_rng(seed)
    return {
        name: [None if lost else cell for cell, lost in zip(column, generator.random(len(column)) < share, strict=True)]
        for name, column in rows.items()
    }


@pytest.mark.parametrize("way", ["em", "gradient"])
def test_a_hidden_variable_is_found_again(way: str) -> None:
    rows = CLUSTERS.sample(4_000, seed=1)
    del rows["kind"]
    learned = BeliefNetwork.learn(rows, parents=FROM_KIND, states={"kind": ["one", "two"]}, missing=way)
    share = learned.table("kind").ravel()
    assert sorted(share) == pytest.approx([0.3, 0.7], abs=0.03)
    for name in "abcde":
        yes = learned.states(name).index("yes")
        assert sorted(learned.table(name)[:, yes]) == pytest.approx([0.15, 0.9], abs=0.04)
    assert any("log-likelihood" in note for note in learned.notes)


def test_missing_values_at_random_cost_little_and_dropping_rows_costs_nearly_all() -> None:
    rows = without(asia().sample(4_000, seed=2), 0.2)
    graph = {name: list(asia().parents(name)) for name in asia()}
    whole = sum(all(cell is not None for cell in row) for row in zip(*rows.values(), strict=True))
    assert whole < 900
    learned = BeliefNetwork.learn(rows, parents=graph, missing="em")
    order = [learned.states("bronchitis").index(state) for state in YES_NO]
    found = learned.table("bronchitis")[[learned.states("smoking").index(state) for state in YES_NO]][:, order]
    assert found == pytest.approx(np.array([[0.6, 0.4], [0.3, 0.7]]), abs=0.04)


def test_a_graph_is_found_in_whole_rows_and_its_tables_in_all_of_them() -> None:
    rows = without(CLUSTERS.sample(3_000, seed=4), 0.05)
    learned = BeliefNetwork.learn(rows, missing="em")
    assert ("kind", "a") in learned.edges or ("a", "kind") in learned.edges
    dropped = BeliefNetwork.learn(rows, missing="drop")
    assert set(dropped.edges) == set(learned.edges)
    assert dropped != learned


def test_rows_none_of_which_is_whole_are_learned_from() -> None:
    assert BeliefNetwork.learn({"a": [None, 1], "b": [1, None]}, missing="em").edges == ()


def test_structural_em_uses_rows_with_missing_cells() -> None:
    """Eight columns with a third of the cells missing: one row in thirty is whole."""
    network = asia()
    rows = without(network.sample(3_000, seed=3), 0.35)
    by_all, by_whole = (BeliefNetwork.learn(rows, missing=each, score="bic") for each in ("em", "drop"))
    known = {frozenset(edge) for edge in network.edges}
    lost = [len(known ^ {frozenset(edge) for edge in found.edges}) for found in (by_all, by_whole)]
    assert lost[0] < lost[1] and lost[0] <= 3
    assert any(note.startswith("structural EM took") for note in by_all.notes)
    assert by_all == BeliefNetwork.learn(rows, missing="em", score="bic")


def test_cells_are_drawn_from_their_posterior() -> None:
    """Against enumeration: the joint distribution of three missing cells of one row, drawn many times."""
    network = asia()
    seen = {"visit": "yes", "smoking": "no", "x-ray": "yes", "either": "yes", "dyspnoea": "yes"}
    row = {name: [seen.get(name)] for name in network}
    rows = CodedRows.of(row, states={name: network.states(name) for name in network})
    codes = np.repeat(rows.codes, 40_000, axis=0)
    drawn = drawn_cells(network, rows, codes, np.random.default_rng(1))
    hidden = ["tuberculosis", "cancer", "bronchitis"]
    exact = network.query(hidden, seen)
    places = [rows.names.index(name) for name in hidden]
    labels = [tuple(network.states(n)[c] for n, c in zip(hidden, cells, strict=True)) for cells in drawn[:, places]]
    for states, p in exact.items():
        error = np.sqrt(max(p * (1 - p), 1e-12) / len(labels))
        assert abs(labels.count(states) / len(labels) - p) < 5 * error + 1e-9


def test_more_starts_are_never_worse_and_repeat_themselves() -> None:
    rows = CLUSTERS.sample(300, seed=7)
    del rows["kind"]
    coded = CodedRows.of(rows, states={"kind": ["one", "two", "three"]}, may_be_hidden={"kind"})
    few, many, again = (fit_tables(coded, FROM_KIND, starts=n, seed=3) for n in (1, 5, 5))
    assert many.trace[-1] >= few.trace[-1]
    assert many.network == again.network
    assert many.converged


@pytest.mark.parametrize("way", ["em", "gradient"])
def test_where_it_ends_counting_what_is_expected_changes_nothing(way: str) -> None:
    rows = CLUSTERS.sample(500, seed=9)
    del rows["kind"]
    coded = CodedRows.of(rows, states={"kind": ["one", "two"]}, may_be_hidden={"kind"})
    found = fit_tables(coded, FROM_KIND, way=way, tolerance=1e-13, prior="m-estimate", smoothing=2.0)
    seen = IncompleteRows.of(coded, [tuple(coded.names.index(p) for p in FROM_KIND.get(n, ())) for n in coded.names])
    pseudo_counts = seen.layout.pseudo_counts("m-estimate", 2.0)
    tables = np.concatenate([found.network.table(name).ravel() for name in coded.names])
    counted = seen.layout.normalised(seen.at(tables, pseudo_counts).counts + pseudo_counts)
    assert counted == pytest.approx(tables, abs=1e-4)


def test_ctrl_c_keeps_the_best_tables_so_far() -> None:
    rows = CLUSTERS.sample(300, seed=7)
    del rows["kind"]
    coded = CodedRows.of(rows, states={"kind": ["one", "two"]}, may_be_hidden={"kind"})

    def interrupt(what: str, done: int, total: int | None) -> None:
        if done == 4:
            raise KeyboardInterrupt

    found = fit_tables(coded, FROM_KIND, progress=interrupt)
    assert found.interrupted
    assert 3 <= len(found.trace) <= 5


def test_rows_that_nearly_cannot_be_are_still_expected_exactly() -> None:
    nodes = [f"n{k}" for k in range(60)]
    rows = CodedRows.of({name: ["yes", None, "no"] for name in nodes}, states=dict.fromkeys(nodes, YES_NO))
    found = fit_tables(rows, {b: [a] for a, b in itertools.pairwise(nodes)}, prior="none", starts=2)
    assert found.log_likelihood == pytest.approx(2 * np.log(0.5), abs=1e-6)


def test_mistakes_about_hidden_columns_are_reported() -> None:
    rows = {"a": ["x", "y"], "b": ["p", "q"]}
    with pytest.raises(ParameterError, match="hidden has no cell to count"):
        BeliefNetwork.learn(rows, parents={"a": ["hidden"]}, states={"hidden": [0, 1]})
    with pytest.raises(ParameterError, match="no column 'hidden'"):
        BeliefNetwork.learn(rows, parents={"a": ["hidden"]}, missing="em")
    with pytest.raises(MissingColumnError):
        BeliefNetwork.learn(rows, states={"hidden": [0, 1]}, missing="em")
    with pytest.raises(ParameterError, match="choose one of 'error', 'drop', 'em', 'gradient'"):
        BeliefNetwork.learn(rows, missing="ignore")
    with pytest.raises(ParameterError, match="at least one"):
        BeliefNetwork.learn(rows, parents={}, missing="em", starts=0)


def test_a_state_that_shows_only_beside_a_missing_value_is_a_state() -> None:
    rows = {"a": ["u", None, "u"], "b": [None, "p", "q"]}
    learned = BeliefNetwork.learn(rows, parents={"b": ["a"]}, prior="m-estimate", smoothing=2.0)
    assert learned.states("b") == ("p", "q")
    assert learned.table("b").tolist() == [[1 / 3, 2 / 3]]


def test_columns_without_cells_and_wrong_weights_are_reported() -> None:
    rows = {"a": ["u", "v"], "b": [None, None]}
    for missing in ("error", "em"):
        with pytest.raises(FitError, match="column 'b' has no cell"):
            BeliefNetwork.learn(rows, parents={}, missing=missing)
    coded = CodedRows.of({"a": ["u", "v"]})
    for weights in ([1.0], [1.0, -1.0], [1.0, float("nan")]):
        with pytest.raises(BayeswiseError, match="weight"):
            FamilyCounts.of_rows(coded, {}, weights)
        with pytest.raises(BayeswiseError, match="weight"):
            fit_tables(coded, {}, weights=weights)
