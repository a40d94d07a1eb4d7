"""Columns of more levels than fit into a byte: searches beside sums written out, and beside pyAgrum."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

from bayeswise import _kernels
from bayeswise.foundation.errors import SchemaError
from bayeswise.networks import BeliefNetwork
from bayeswise.networks.learning import Scores, best_graph, fit_tables, hill_climbing
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.column_states import MOST_LEVELS
from bayeswise.tables.schema.labels import Vocabulary
from tests.cases.network_cases import pyagrum_learner

EVERY_SCORE = pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2"])


def wide_rows(seed: int, n_levels: int = 700, n_rows: int = 4_000) -> CodedRows:
    """A wide column, one that follows it, and two narrow ones."""
    generator = np.random.default_rng(seed)
    wide = generator.integers(0, n_levels, n_rows)
    region = wide % 3
    sign = np.where(generator.random(n_rows) < 0.9, region == 0, region == 1).astype(int)
    codes = np.column_stack([wide, region, sign, generator.integers(0, 300, n_rows)]).astype(np.int32)
    sizes = (n_levels, 3, 2, 300)
    return CodedRows(("place", "region", "sign", "noise"), tuple(Vocabulary(range(size)) for size in sizes), codes)


def written_out(rows: CodedRows, score: str, node: int, parents: tuple[int, ...], weights: Any = None) -> float:
    """The score of a family from a dictionary of its cells."""
    cells: Counter[tuple[int, ...]] = Counter()
    tops: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows.codes.tolist(), itertools.repeat(1) if weights is None else weights, strict=False):
        above = tuple(row[parent] for parent in parents)
        cells[(*above, row[node])] += weight
        tops[above] += weight
    n_above, size = math.prod(rows.sizes[parent] for parent in parents), rows.sizes[node]
    if score in ("bic", "aic"):
        price = 1.0 if score == "aic" else 0.5 * math.log(sum(cells.values()))
        likelihood = sum(n * math.log(n) for n in cells.values()) - sum(n * math.log(n) for n in tops.values())
        return likelihood - price * n_above * (size - 1)
    a = 1.0 if score == "k2" else 2.0 / (n_above * size)
    gained = sum(gammaln(n + a) - gammaln(a) for n in cells.values())
    return float(gained - sum(gammaln(n + a * size) - gammaln(a * size) for n in tops.values()))


@EVERY_SCORE
@pytest.mark.parametrize("weighted", [False, True])
def test_families_of_wide_columns_have_the_score_of_their_table(score: str, weighted: bool) -> None:
    rows = wide_rows(0)
    weights = np.random.default_rng(1).integers(1, 40, 4_000) if weighted else None
    scores = Scores(rows.weighted(weights), score, smoothing=2.0)
    assert scores.columns.dtype == np.uint16
    for node, parents in (
        (0, ()), (0, (1,)), (1, (0,)), (1, (0, 2)), (2, (0, 1)), (2, (1, 3)), (3, (1, 2)), (0, (3,)), (2, (1,))
    ):  # fmt: skip
        expected = written_out(rows, score, node, parents, weights)
        assert scores.family(node, parents) == pytest.approx(expected, rel=1e-11)


def test_the_best_graph_is_the_best_of_all_graphs_of_wide_columns() -> None:
    rows = wide_rows(2, n_levels=300, n_rows=600)
    names = rows.names[:3]
    rows = CodedRows(names, rows.states[:3], rows.codes[:, :3])
    scores = Scores(rows, "aic")
    pairs = [(0, 1), (0, 2), (1, 2)]
    best = -math.inf
    for ways in itertools.product((0, 1, -1), repeat=3):
        parents: list[list[int]] = [[], [], []]
        for (one, other), way in zip(pairs, ways, strict=True):
            if way:
                parents[other if way > 0 else one].append(one if way > 0 else other)
        if ways not in ((1, -1, 1), (-1, 1, -1)):  # these are circles
            best = max(best, sum(written_out(rows, "aic", node, tuple(parents[node])) for node in range(3)))
    assert best_graph(scores).score == pytest.approx(best, rel=1e-12)
    assert hill_climbing(scores, restarts=5).score == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("method", ["hill-climbing", "exact", "chow-liu", "k2"])
def test_a_wide_column_is_learned_by_every_method(method: str) -> None:
    generator = np.random.default_rng(3)
    shop = generator.integers(0, 400, 30_000)
    table = {"shop": [f"s{k}" for k in shop], "open": np.where(shop < 200, "yes", "no").tolist()}
    order = list(table) if method == "k2" else None
    learned = BeliefNetwork.learn(table, method=method, order=order)
    assert set(map(frozenset, learned.edges)) == {frozenset(("shop", "open"))}
    assert len(learned.states("shop")) == 400
    assert learned.query("open", {"shop": "s7"})["yes"] > 0.95


def test_em_takes_wide_columns() -> None:
    rows = wide_rows(4, n_levels=300, n_rows=500)
    codes = rows.codes.copy()
    codes[::5, 1] = -1
    with_missing = CodedRows(rows.names, rows.states, codes)
    graph = {"region": ["place"], "sign": ["region"]}
    found = fit_tables(with_missing, graph, prior="m-estimate", smoothing=1.0, starts=1, tolerance=1e-12).network
    region, sign = found.table("region"), found.table("sign")
    counts = np.full(region.shape, 1.0 / 3.0)  # pseudo-counts, then the expected counts of each row
    for place, seen, reported, _ in codes.tolist():
        share = region[place] * sign[:, reported]
        counts[place] += np.eye(3)[seen] if seen >= 0 else share / share.sum()
    assert region == pytest.approx(counts / counts.sum(axis=1, keepdims=True), abs=1e-4)


def test_scores_of_wide_columns_are_those_of_pyagrum() -> None:
    pytest.importorskip("pyagrum")
    pd: Any = pytest.importorskip("pandas")
    rows = wide_rows(5, n_levels=400, n_rows=3_000)
    frame = pd.DataFrame({name: [f"x{code}" for code in rows.codes[:, k]] for k, name in enumerate(rows.names[:3])})
    coded = CodedRows.of(frame)
    learner = pyagrum_learner(frame)
    learner.useScoreBIC()
    scores = Scores(coded, "bic")
    for node, parents in (("region", ["place"]), ("sign", ["place", "region"]), ("place", [])):
        ours = scores.family(coded.names.index(node), [coded.names.index(parent) for parent in parents])
        assert learner.score(node, parents) * math.log(2) == pytest.approx(ours, rel=1e-12)


def test_more_levels_than_two_bytes_hold_are_refused_with_a_way_out() -> None:
    names = [f"n{k}" for k in range(MOST_LEVELS + 1)]
    with pytest.raises(SchemaError, match=r"'id' has more than 65,535 different values. Fix: put values together, or"):
        BeliefNetwork.learn({"id": names})
    most = {"id": names[:MOST_LEVELS], "x": [0, 1, 0] * (MOST_LEVELS // 3)}
    assert BeliefNetwork.learn(most).edges == ()


def test_codes_of_other_types_are_refused() -> None:
    with pytest.raises(TypeError):
        _kernels.FamilyScores(np.zeros((1, 3), dtype=np.int64), [2], False, 1.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="beyond the size"):
        _kernels.FamilyScores(np.full((1, 3), 300, dtype=np.uint16), [300], False, 1.0, 1.0)
