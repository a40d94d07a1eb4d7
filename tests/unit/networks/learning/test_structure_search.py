"""Searches for graphs: restarts repeat themselves, Ctrl-C keeps the best so far, the rules hold everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise.foundation.errors import BayeswiseError, ParameterError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.learning import Constraints, Scores, best_graph, chow_liu, climb, k2, learn
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.search.chow_liu_tree import mutual_information, pair_counts, spanning_tree
from bayeswise.networks.learning.search.climbing import hill_climbing, patience
from bayeswise.statistics import PairCounts
from tests.cases.network_cases import asia, random_network


def skeleton(parents: list[tuple[int, ...]], names: tuple[str, ...]) -> set[frozenset[str]]:
    return {frozenset((names[child], names[parent])) for child, above in enumerate(parents) for parent in above}


def test_the_skeleton_of_asia_is_found_in_rows_of_it() -> None:
    network = asia()
    rows = CodedRows.of(network.sample(50_000, seed=3))
    found = skeleton(hill_climbing(Scores(rows, "bic"), restarts=3).parents, rows.names)
    made = {frozenset(edge) for edge in network.edges}
    # "either" is true or false by its parents: what depends on one may stand beside the other
    assert made - found <= {frozenset(("visit", "tuberculosis"))}
    assert len(found - made) <= 1


def test_restarts_never_lose_and_the_same_seed_finds_the_same_graph() -> None:
    rows = CodedRows.of(random_network(11, n_nodes=9, zeros=0.1).sample(600, seed=0))
    scores = Scores(rows, "bdeu")
    once = hill_climbing(scores)
    again = [hill_climbing(Scores(rows, "bdeu"), restarts=8, seed=4) for _ in range(2)]
    assert again[0] == again[1]
    assert again[0].score >= once.score == pytest.approx(scores.total(climb(scores)), rel=1e-12)
    assert again[0].score == pytest.approx(scores.total(again[0].parents), rel=1e-12)


def test_restarts_keep_to_the_rules() -> None:
    rows = CodedRows.of(asia().sample(800, seed=5))
    rules = Constraints(
        required=(("visit", "x-ray"),),
        forbidden=(("either", "x-ray"),),
        tiers=(("smoking",), ("cancer",)),
        max_parents=1,
    )
    found = hill_climbing(Scores(rows, "aic"), rules, restarts=10, seed=1).parents
    edges = {(rows.names[p], rows.names[k]) for k, above in enumerate(found) for p in above}
    assert ("visit", "x-ray") in edges
    assert not edges & {("either", "x-ray"), ("cancer", "smoking")}
    assert max(map(len, found)) == 1


def test_ctrl_c_gives_the_best_graph_so_far() -> None:
    rows = CodedRows.of(asia().sample(2_000, seed=5))
    scores = Scores(rows, "bic")

    def interrupt(what: str, done: int, total: int | None) -> None:
        if what == "edges changed" and done == 3:
            raise KeyboardInterrupt

    found = hill_climbing(scores, progress=interrupt)
    assert found.interrupted
    assert sum(map(len, found.parents)) == 3
    assert scores.total([()] * 8) < found.score < hill_climbing(scores).score


def test_rules_that_cannot_hold_are_refused() -> None:
    rows = CodedRows.of({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    scores = Scores(rows, "bic")
    crowded = Constraints(required=(("a", "c"), ("b", "c")), max_parents=1)
    with pytest.raises(ParameterError, match="c has 2 required parents and may have 1"):
        climb(scores, crowded)
    with pytest.raises(ParameterError, match="required, but c comes later"):
        k2(scores, ["a", "b", "c"], Constraints(required=(("c", "a"),)))
    with pytest.raises(ParameterError, match="from 0 on"):
        hill_climbing(scores, restarts=-1)
    with pytest.raises(ParameterError, match="smoothing above 0"):
        Scores(rows, "bdeu", smoothing=0.0)


def test_mutual_information_is_its_formula_given_a_class_and_with_missing_values() -> None:
    generator = np.random.default_rng(3)
    codes = generator.integers(-1, [2, 3, 2], (400, 3)).astype(np.int32)
    groups = generator.integers(0, 2, 400).astype(np.int32)
    rows = CodedRows.of({name: codes[:, k].tolist() for k, name in enumerate("abc")})
    levels = [rows.states[k].__class__(range(size)) for k, size in enumerate((2, 3, 2))]
    found = mutual_information(PairCounts.of(codes, levels, groups, 2))
    expected, present = 0.0, (codes[:, 0] >= 0) & (codes[:, 1] >= 0)
    for g in range(2):
        table = np.zeros((2, 3))
        np.add.at(table, tuple(codes[present & (groups == g)][:, :2].T), 1.0)
        share = table / table.sum()
        outer = share.sum(1, keepdims=True) * share.sum(0)
        expected += (share * np.log(share / outer)).sum() * table.sum() / present.sum()
    assert found[0, 1] == pytest.approx(expected, rel=1e-10)
    assert np.array_equal(found, found.T)


def test_halves_of_many_rows_are_counted_like_the_whole() -> None:
    codes = np.random.default_rng(0).integers(0, 3, (140_000, 4))
    rows = CodedRows.of({name: codes[:, k] for k, name in enumerate("abcd")})
    assert pair_counts(rows) == PairCounts.of(rows.codes, rows.states, declared=rows.states)


def test_a_tree_hangs_from_its_root() -> None:
    rows = CodedRows.of(asia().sample(500, seed=0))
    found = chow_liu(rows, "either")
    assert [len(above) for above in found].count(0) == 1
    assert found[rows.names.index("either")] == ()
    assert spanning_tree(np.zeros((0, 0))) == []
    with pytest.raises(ParameterError, match="did you mean 'either'"):
        chow_liu(rows, "eiter")


@pytest.mark.parametrize(
    ("table", "overrides", "message"),
    [
        ({"a": [], "b": []}, {}, "column 'a' has no cell"),
        ({"a": [None, 1], "b": [1, None]}, {"missing": "drop"}, "none of the 2 rows has every cell"),
        ({"a": [1, 2], "b": [1, 2]}, {"seed": -1}, "the seed is -1"),
        ({"a": [1, 2], "b": [1, 2]}, {"max_parents": -1}, "max_parents is -1"),
        ({"a": [1, 2], "b": [1, 2]}, {"required": [("a", "b"), ("b", "a")]}, "the edges form a cycle"),
        ({"a": [1, 2], "b": [1, 2]}, {"order": ["a", "b"]}, "method 'auto' does not use order"),
        ({"a": [1, 2], "b": [1, 2]}, {"root": "a", "method": "exact"}, "does not use root"),
        ({"a": [1, 2], "b": [1, 2]}, {"method": "chow-liu", "max_parents": 2}, "does not use required, forbidden"),
        ({"a": [1, 2], "b": [1, 2]}, {"parents": {}, "max_parents": 2}, "a given graph does not use"),
        ({"a": [1, 2], "b": [1, 2]}, {"method": "exakt"}, "there is no method 'exakt'. Fix: did you mean 'exact'"),
    ],
)
def test_what_cannot_be_learned_is_refused(
    table: dict[str, list[object]], overrides: dict[str, object], message: str
) -> None:
    with pytest.raises(BayeswiseError, match=message):
        BeliefNetwork.learn(table, **overrides)


def test_a_climb_is_restarted_until_nothing_improves_for_a_while() -> None:
    """Ten restarts are not enough for 600 rows of 35 nodes with three parents each."""
    generator, names = np.random.default_rng(4), [f"n{k}" for k in range(35)]
    nodes = []
    for k, name in enumerate(names):
        above = [names[j] for j in sorted(generator.permutation(k)[:3].tolist())]
        nodes.append(Node(name, ["a", "b", "c"], generator.dirichlet([0.5, 0.5, 0.5], 3 ** len(above)), above))
    scores = Scores(CodedRows.of(BeliefNetwork(nodes).sample(600, seed=1)), "bic")
    found = hill_climbing(scores, restarts=None).score
    assert found >= hill_climbing(scores, restarts=patience(35)).score
    assert found > hill_climbing(scores, restarts=10).score


def test_few_columns_are_searched_exactly_by_default() -> None:
    network = random_network(5, n_nodes=10, zeros=0.0, most_states=3)
    rows = CodedRows.of(network.sample(500, seed=5))
    learned = learn(rows)
    places = {name: place for place, name in enumerate(rows.names)}
    parents = [tuple(places[above] for above in learned.parents(name)) for name in rows.names]
    scores = Scores(rows, "bic")
    assert scores.total(parents) == pytest.approx(best_graph(scores).score)
