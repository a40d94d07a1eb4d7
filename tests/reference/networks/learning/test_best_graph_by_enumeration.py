"""The exact search against all graphs there are, and never behind a climb."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayeswise import _kernels
from bayeswise.foundation.errors import TooLargeError
from bayeswise.networks.learning import Constraints, Scores, best_graph, hill_climbing
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.search.dynamic_programming import memory_needed
from bayeswise.tables.schema.labels import Vocabulary
from tests.cases.network_cases import asia, random_network

EVERY_SCORE = pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2"])


def best_of_all(scores: Scores, allowed: np.ndarray, required: np.ndarray, most: int) -> float:
    """The greatest score of all acyclic graphs: each of the 2^(n (n - 1)) choices of edges is looked at."""
    n = len(scores.names)
    pairs = [(parent, child) for child in range(n) for parent in range(n) if parent != child]
    graphs = np.arange(1 << len(pairs), dtype=np.int64)
    total = np.zeros(len(graphs))
    above = np.zeros((n, len(graphs)), dtype=np.int64)
    for place, (parent, child) in enumerate(pairs):
        above[child] |= (graphs >> place & 1) << parent
    for child in range(n):
        table = np.full(1 << n, -np.inf)
        others = [k for k in range(n) if k != child and allowed[k, child]]
        for size in range(min(most, len(others)) + 1):
            for parents in itertools.combinations(others, size):
                if set(np.flatnonzero(required[:, child])) <= set(parents):
                    table[sum(1 << p for p in parents)] = scores.family(child, parents)
        total += table[above[child]]
    left = np.full(len(graphs), (1 << n) - 1)  # nodes that are not yet taken away, one without parents at a time
    for _ in range(n):
        free = np.zeros(len(graphs), dtype=np.int64)
        for child in range(n):
            free |= ((above[child] & left) == 0).astype(np.int64) << child
        left &= ~free
    return float(total[left == 0].max())


@EVERY_SCORE
@pytest.mark.parametrize("n_nodes", [1, 2, 3, 4])
def test_no_graph_is_better(score: str, n_nodes: int) -> None:
    for seed in range(3):
        rows = CodedRows.of(random_network(seed + 10 * n_nodes, n_nodes=n_nodes, zeros=0.1).sample(150, seed=seed))
        scores = Scores(rows, score, smoothing=2.0)
        every = ~np.eye(n_nodes, dtype=bool)
        best = best_of_all(scores, every, np.zeros_like(every), n_nodes)
        found = best_graph(scores)
        assert found.score == pytest.approx(best, rel=1e-11)
        assert found.score == pytest.approx(scores.total(found.parents), rel=1e-12)


def test_no_graph_of_five_nodes_is_better() -> None:
    scores = Scores(CodedRows.of(random_network(4, n_nodes=5, zeros=0.1).sample(200, seed=1)), "bdeu")
    every = ~np.eye(5, dtype=bool)
    assert best_graph(scores).score == pytest.approx(best_of_all(scores, every, np.zeros_like(every), 5), rel=1e-11)


@pytest.mark.parametrize("score", ["bic", "bdeu"])
@pytest.mark.parametrize("by_lists", [False, True])
def test_rules_hold_and_no_graph_within_them_is_better(
    score: str, by_lists: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayeswise.networks.learning.search.dynamic_programming._by_lists", lambda n, most: by_lists)
    rows = CodedRows.of(random_network(21, n_nodes=4, zeros=0.1).sample(200, seed=2))
    scores = Scores(rows, score)
    a, b, c, d = rows.names
    rules = Constraints(required=((a, b),), forbidden=((c, d),), tiers=((a, b), (c,)), max_parents=2)
    required = np.zeros((4, 4), dtype=bool)
    required[0, 1] = True
    found = best_graph(scores, rules)
    edges = {(rows.names[p], rows.names[k]) for k, above in enumerate(found.parents) for p in above}
    assert (a, b) in edges
    assert not edges & {(c, d), (c, a), (c, b)}
    assert max(map(len, found.parents)) <= 2
    assert found.score == pytest.approx(best_of_all(scores, rules.allowed(rows.names), required, 2), rel=1e-11)


@EVERY_SCORE
def test_the_exact_search_is_never_behind_a_climb_and_both_ways_to_it_agree(
    score: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = CodedRows.of(random_network(5, n_nodes=10, zeros=0.1).sample(300, seed=3))
    scores, rules = Scores(rows, score), Constraints(max_parents=3)
    by_tables = best_graph(scores, rules)
    assert by_tables.score >= hill_climbing(scores, rules, restarts=3).score - 1e-9
    monkeypatch.setattr("bayeswise.networks.learning.search.dynamic_programming._by_lists", lambda n, most: True)
    assert best_graph(scores, rules).score == pytest.approx(by_tables.score, rel=1e-12)


def test_ctrl_c_gives_the_graph_of_a_climb() -> None:
    rows = CodedRows.of(asia().sample(400, seed=5))

    def interrupt(what: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    found = best_graph(Scores(rows, "bic"), progress=interrupt)
    assert found.interrupted
    assert found.score == hill_climbing(Scores(rows, "bic")).score


def test_what_does_not_fit_is_refused_before_it_is_tried() -> None:
    rows = CodedRows(tuple(f"c{k}" for k in range(26)), (Vocabulary("ab"),) * 26, np.zeros((3, 26), dtype=np.int32))
    with pytest.raises(TooLargeError, match=r"26 columns needs about 8.* GB; it goes up to 20 columns"):
        best_graph(Scores(rows, "bic"))
    with pytest.raises(TooLargeError, match="up to 25 columns with a limit on parents"):
        best_graph(Scores(rows, "bic"), Constraints(max_parents=2))
    assert memory_needed(25, 3) < 600_000_000


@pytest.mark.parametrize("pseudo_counts", [[], [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("strength", [0.0, 4.0])
def test_sums_of_sets_are_sums_over_their_cells(pseudo_counts: list[float], strength: float) -> None:
    from scipy.special import gammaln

    generator = np.random.default_rng(0)
    sizes = [2, 3, 2, 4]
    columns = np.ascontiguousarray(generator.integers(0, sizes, (60, 4)).astype(np.uint8).T)
    weights = generator.integers(1, 4, 60)
    sums = np.zeros((max(len(pseudo_counts), 1), 16))
    for chosen in range(4):
        _kernels.subset_sums(columns, sizes, weights, pseudo_counts, strength, chosen, 2, 3, 24.0, sums)
    for subset in range(16):
        members = [k for k in range(4) if subset >> k & 1]
        cells = int(np.prod([sizes[k] for k in members], dtype=int))
        if len(members) > 3 or cells > 24:
            assert (sums[:, subset] == 0.0).all()
            continue
        cell = np.ravel_multi_index([columns[k] for k in members], [sizes[k] for k in members]) if members else None
        counts = np.bincount(cell, weights, cells) if members else np.array([weights.sum()])
        counts = counts[counts > 0]
        if pseudo_counts:
            expected = [(gammaln(counts + a) - gammaln(a)).sum() for a in pseudo_counts]
        elif strength:
            expected = [(gammaln(counts + strength / cells) - gammaln(strength / cells)).sum()]
        else:
            expected = [(counts * np.log(counts)).sum()]
        assert sums[:, subset] == pytest.approx(np.array(expected), rel=1e-12)
