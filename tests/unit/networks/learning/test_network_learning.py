"""Networks from rows: exact counts, scores against their formulas, and graphs that keep to the rules."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import MissingCellError, NotMergedError, ParameterError, SchemaError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.learning import Constraints, FamilyCounts, Scores, chow_liu, climb, fit_tables, k2
from bayeswise.networks.learning.coded_rows import CodedRows
from tests.cases.network_cases import YES_NO, asia, random_network

GRAPH = {"dyspnoea": ["either", "bronchitis"], "either": ["tuberculosis", "cancer"], "cancer": ["smoking"]}


def test_counts_of_parts_are_the_counts_of_the_whole_and_can_be_forgotten() -> None:
    rows = asia().sample(300, seed=1)
    part = {name: column[:100] for name, column in rows.items()}
    rest = {name: column[100:] for name, column in rows.items()}
    whole, first, second = (FamilyCounts.of(each, GRAPH) for each in (rows, part, rest))
    assert first.merge(second) == whole
    assert whole.forget(rest) == first
    with pytest.raises(NotMergedError):
        first.forget(rows)


def test_new_rows_may_bring_new_states() -> None:
    counts = FamilyCounts.of({"a": ["x", "y"], "b": [1, 2]}, {"b": ["a"]}).learn({"a": ["z"], "b": [3]})
    network = counts.network(prior="none")
    assert network.states("a") == ("x", "y", "z")
    assert network.table("b").tolist() == np.eye(3).tolist()


@pytest.mark.parametrize(("prior", "pseudo"), [("bdeu", 2.0 / 4), ("m-estimate", 2.0 / 2), ("none", 0.0)])
def test_tables_are_counts_plus_pseudo_counts(prior: str, pseudo: float) -> None:
    rows = {"a": ["u", "u", "u", "v"], "b": ["p", "p", "q", "q"]}
    network = BeliefNetwork.learn(rows, parents={"b": ["a"]}, prior=prior, smoothing=2.0)
    expected = [[(n + pseudo) / (sum(row) + 2 * pseudo) for n in row] for row in ([2, 1], [0, 1])]
    assert network.table("b") == pytest.approx(np.array(expected), abs=1e-15)


def test_weights_count_as_so_many_rows() -> None:
    once = FamilyCounts.of({"a": ["x", "y"], "b": ["p", "q"]}, {"b": ["a"]}, weights=[3.0, 1.0])
    often = FamilyCounts.of({"a": ["x", "x", "x", "y"], "b": ["p", "p", "p", "q"]}, {"b": ["a"]})
    assert once.network() == often.network()


def test_scores_are_their_formulas() -> None:
    codes = np.random.default_rng(0).integers(0, [2, 3, 2], (50, 3))
    rows = CodedRows.of({name: codes[:, k].tolist() for k, name in enumerate("abc")})
    cells = dict.fromkeys(itertools.product(range(2), range(3), range(2)), 0)
    for row in codes.tolist():
        cells[tuple(row)] += 1
    by_parents = [[cells[a, b, c] for c in range(2)] for a in range(2) for b in range(3)]
    likelihood = sum(n * math.log(n / sum(row)) for row in by_parents for n in row if n)
    assert Scores(rows, "bic").family(2, [0, 1]) == pytest.approx(likelihood - 6 * math.log(50) / 2, rel=1e-12)
    assert Scores(rows, "aic").family(2, [1, 0]) == pytest.approx(likelihood - 6, rel=1e-12)
    for score, pseudo in (("k2", 1.0), ("bdeu", 5.0 / 12)):
        evidence = sum(
            math.lgamma(2 * pseudo)
            - math.lgamma(2 * pseudo + sum(row))
            + sum(math.lgamma(pseudo + n) - math.lgamma(pseudo) for n in row)
            for row in by_parents
        )
        assert Scores(rows, score, smoothing=5.0).family(2, [0, 1]) == pytest.approx(evidence, rel=1e-12)


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2"])
def test_climbing_ends_where_no_single_edge_helps(score: str) -> None:
    rows = CodedRows.of(random_network(3, n_nodes=6, zeros=0.0).sample(400, seed=0))
    scores = Scores(rows, score)
    found = [set(above) for above in climb(scores)]
    best = scores.total(found)
    for child, parent in itertools.permutations(range(len(found)), 2):
        changed = [set(above) for above in found]
        changed[child] ^= {parent}
        try:
            BeliefNetwork(
                [Node(f"n{k}", ["x"], np.ones((1, 1)), [f"n{p}" for p in above]) for k, above in enumerate(changed)]
            )
        except bw.DataError:
            continue
        assert scores.total(changed) <= best + 1e-9


def test_the_graph_that_made_many_rows_scores_no_better_than_the_one_found() -> None:
    made = BeliefNetwork(
        [
            Node("a", YES_NO, 0.4),
            Node("b", YES_NO, [0.9, 0.2], ["a"]),
            Node("c", YES_NO, [0.8, 0.1], ["b"]),
            Node("d", YES_NO, [0.9, 0.5, 0.6, 0.1], ["a", "c"]),
        ]
    )
    rows = CodedRows.of(made.sample(5_000, seed=2))
    scores = Scores(rows, "bic")
    assert scores.total(climb(scores)) >= scores.total([(), (0,), (1,), (0, 2)]) - 1e-9
    assert k2(scores, ["a", "b", "c", "d"])[3] == (0, 2)


def test_constraints_are_kept() -> None:
    rows = CodedRows.of(asia().sample(2_000, seed=5))
    rules = Constraints(
        required=(("visit", "x-ray"),),
        forbidden=(("either", "x-ray"),),
        tiers=(("visit", "smoking"), ("cancer",)),
        max_parents=1,
    )
    found = climb(Scores(rows, "bic"), rules)
    edges = {(rows.names[p], rows.names[k]) for k, above in enumerate(found) for p in above}
    assert ("visit", "x-ray") in edges
    assert ("either", "x-ray") not in edges
    assert ("cancer", "smoking") not in edges
    assert max(map(len, found)) == 1
    with pytest.raises(ParameterError, match="required and not allowed"):
        climb(
            Scores(rows, "bic"),
            Constraints(required=(("a", "b"),) and (("visit", "x-ray"),), forbidden=(("visit", "x-ray"),)),
        )
    with pytest.raises(ParameterError, match="did you mean 'smoking'"):
        climb(Scores(rows, "bic"), Constraints(required=(("smokin", "x-ray"),)))


def test_a_chow_liu_tree_is_the_best_of_all_trees() -> None:
    rows = CodedRows.of(random_network(8, n_nodes=4, zeros=0.0).sample(300, seed=0))
    scores = Scores(rows, "aic")
    found = chow_liu(rows)

    def likelihood(parents) -> float:  # type: ignore[no-untyped-def]
        counts = [scores.counts(k, tuple(above)) for k, above in enumerate(parents)]
        return sum(
            float(np.sum(c[c > 0] * np.log((c / np.maximum(c.sum(1, keepdims=True), 1))[c > 0]))) for c in counts
        )

    best = max(
        likelihood([(), *((p,) for p in choice)])
        for choice in itertools.product(range(4), repeat=3)
        if all(_reaches_root(k, choice) for k in range(1, 4))
    )
    assert likelihood(found) == pytest.approx(best, rel=1e-12)


def _reaches_root(node: int, choice: tuple[int, ...]) -> bool:
    for _ in range(4):
        if node == 0:
            return True
        node = choice[node - 1]
    return node == 0


def test_missing_values_and_numbers_are_reported_and_not_ignored() -> None:
    rows = {"a": ["x", None, "y"], "b": ["p", "q", "p"]}
    with pytest.raises(MissingCellError, match="1 of 3 rows have a missing cell, the first in row 2, column 'a'"):
        BeliefNetwork.learn(rows)
    assert BeliefNetwork.learn(rows, missing="drop").states("a") == ("x", "y")
    assert BeliefNetwork.learn(rows, parents={}, prior="none").table("b").tolist() == [[2 / 3, 1 / 3]]
    for numbers in (range(300), np.arange(300) / 7):
        assert len(BeliefNetwork.learn({"a": list(numbers)}).states("a")) == 5
    with pytest.raises(SchemaError, match=r"more than 255 different numbers.* Fix: cut it into a few states"):
        BeliefNetwork.learn({"a": list(map(str, range(300)))})
    assert len(BeliefNetwork.learn({"a": list(range(300))}, states={"a": range(300)}).states("a")) == 300
    with pytest.raises(ParameterError, match="K2 needs an order"):
        BeliefNetwork.learn({"a": [1, 2]}, method="k2")


def test_states_keep_the_order_in_which_they_are_given_or_declared() -> None:
    pd = pytest.importorskip("pandas")
    sizes, table = ["S", "M", "L", "XL"], {"size": ["L", "S", "M", "S"], "price": ["high", "low", "low", "low"]}
    frame = pd.DataFrame({**table, "size": pd.Categorical(table["size"], sizes)})
    graph = {"price": ["size"]}
    given = BeliefNetwork.learn(table, parents=graph, states={"size": sizes}, smoothing=4.0)
    assert given.states("size") == tuple(sizes)
    assert given.table("size").tolist() == [[3 / 8, 2 / 8, 2 / 8, 1 / 8]]
    assert given.table("price")[:, 0].tolist() == [0.5 / 3, 0.5 / 2, 1.5 / 2, 0.5]  # (0 or 1 + 1/2) / (n + 1)
    assert BeliefNetwork.learn(frame, parents=graph, smoothing=4.0) == given
    by_em = BeliefNetwork.learn(frame, parents=graph, smoothing=4.0, missing="em")
    assert by_em.states("size") == given.states("size")
    assert by_em.table("price") == pytest.approx(given.table("price"))


def test_the_earlier_name_of_smoothing_means_the_same_and_warns() -> None:
    rows = {"a": ["x", "y", "y", "x"] * 4, "b": ["u", "v", "v", "v"] * 4}
    graph = {"b": ["a"]}
    counts = FamilyCounts.of_rows(CodedRows.of(rows), graph)
    found = BeliefNetwork.learn(rows, parents=graph, smoothing=4.0)
    calls = (
        lambda: BeliefNetwork.learn(rows, parents=graph, strength=4.0),
        lambda: counts.network(strength=4.0),
        lambda: fit_tables(CodedRows.of(rows), graph, strength=4.0).network,
    )
    for call in calls:
        with pytest.warns(DeprecationWarning, match="strength is now called smoothing"):
            assert call().table("b") == pytest.approx(found.table("b"))
    with pytest.raises(ParameterError, match="strength and smoothing are the same setting"):
        BeliefNetwork.learn(rows, strength=1.0, smoothing=1.0)
