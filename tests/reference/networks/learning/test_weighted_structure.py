"""Rows with weights: beside copies of rows to the last bit, beside sums written out, and beside pyAgrum."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

from bayeswise.foundation.errors import BayeswiseError
from bayeswise.networks import BeliefNetwork
from bayeswise.networks.learning import FamilyCounts, Scores, best_graph, edge_strengths, fit_tables, hill_climbing
from bayeswise.networks.learning.coded_rows import CodedRows, in_units
from bayeswise.networks.learning.search.orders import edge_posteriors
from tests.cases.network_cases import asia, pyagrum_learner, random_network

EVERY_SCORE = pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2"])
Table = dict[str, list[Any]]


def case(seed: int, heaviest: int = 6, n_rows: int = 300) -> tuple[Table, np.ndarray[Any, Any], Table]:
    """A table, whole weights from 0 on for its rows, and the table with as many copies of each."""
    network = random_network(seed, n_nodes=7, zeros=0.0, most_states=4)
    rows = network.sample(n_rows, seed=seed)
    times = np.random.default_rng(seed).integers(0, heaviest, n_rows)
    copies = {name: [cell for cell, k in zip(column, times, strict=True) for _ in range(k)]
              for name, column in rows.items()}  # fmt: skip
    return rows, times, copies


@EVERY_SCORE
@pytest.mark.parametrize(("seed", "heaviest"), [(0, 6), (1, 60)])
def test_weights_of_rows_are_copies_of_them_to_the_last_bit_of_every_search(
    score: str, seed: int, heaviest: int
) -> None:
    rows, times, copies = case(seed, heaviest)
    weighted, repeated = CodedRows.of(rows, weights=times), CodedRows.of(copies)
    one, other = Scores(weighted, score, smoothing=2.0), Scores(repeated, score, smoothing=2.0)
    assert one.family(0, []) == other.family(0, [])
    assert one.additions(0, [1, 2], [3, 4, 5, 6]).tolist() == other.additions(0, [1, 2], [3, 4, 5, 6]).tolist()
    assert hill_climbing(one, restarts=3) == hill_climbing(other, restarts=3)
    assert best_graph(one) == best_graph(other)
    if score != "aic":
        assert edge_posteriors(one).tolist() == edge_posteriors(other).tolist()
    graph = best_graph(one).parents
    gains = [edge_strengths(each, graph, score=score).columns()["score_gain"] for each in (weighted, repeated)]
    assert gains[0] == gains[1]
    overrides: dict[str, Any] = {"method": "k2", "order": list(rows), "score": score}
    assert BeliefNetwork.learn(rows, weights=times, **overrides) == BeliefNetwork.learn(copies, **overrides)


@pytest.mark.parametrize("method", ["hill-climbing", "exact", "chow-liu"])
def test_weights_of_rows_are_copies_of_them_in_networks(method: str) -> None:
    rows, times, copies = case(5)
    with_column = {**rows, "times": times.tolist()}
    learned = BeliefNetwork.learn(with_column, method=method, weight="times")
    assert learned == BeliefNetwork.learn(copies, method=method)
    assert learned == BeliefNetwork.learn(rows, method=method, weights=times)
    assert learned != BeliefNetwork.learn(rows, method=method)


@pytest.mark.parametrize("way", ["em", "gradient"])
def test_weights_of_rows_are_copies_of_them_where_cells_are_missing(way: str) -> None:
    rows, times, copies = case(3)
    with_missing = {name: [None if (k + len(name)) % 9 == 0 else cell for k, cell in enumerate(column)]
             for name, column in rows.items()}  # fmt: skip
    copies = {name: [cell for cell, k in zip(column, times, strict=True) for _ in range(k)]
              for name, column in with_missing.items()}  # fmt: skip
    weighted = BeliefNetwork.learn({**with_missing, "n": times}, weight="n", missing=way)
    repeated = BeliefNetwork.learn(copies, missing=way)
    assert weighted == repeated
    assert weighted.notes == repeated.notes


def test_a_row_of_weight_zero_and_its_levels_were_never_there() -> None:
    rows, _, _ = case(1)
    name = next(iter(rows))
    more = {**{each: [*column, column[0]] for each, column in rows.items()}, name: [*rows[name], "only here"]}
    weights = [1.0] * len(rows[name]) + [0.0]
    for method in ("hill-climbing", "exact", "chow-liu"):
        assert BeliefNetwork.learn(more, weights=weights, method=method) == BeliefNetwork.learn(rows, method=method)
    graph = {other: [name] for other in rows if other != name}
    assert FamilyCounts.of(more, graph, weights=weights) == FamilyCounts.of(rows, graph)
    declared = BeliefNetwork.learn(more, weights=weights, states={name: ["only here"]})
    assert "only here" in declared.states(name)


def test_levels_that_a_frame_declares_stay_without_any_row() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"size": pd.Categorical(["S", "M", "L"], ["S", "M", "L", "XL"]), "n": [1, 2, 0]})
    for missing in ("error", "em"):
        assert BeliefNetwork.learn(frame[["size"]], missing=missing).states("size") == ("S", "M", "L", "XL")
        assert BeliefNetwork.learn(frame, weight="n", missing=missing).states("size") == ("S", "M", "L", "XL")


@EVERY_SCORE
def test_weights_that_are_not_whole_give_the_score_of_their_sums(score: str) -> None:
    rows, _, _ = case(2)
    coded = CodedRows.of(rows)
    weights = np.random.default_rng(0).lognormal(0.0, 1.0, len(coded.codes))
    total: dict[tuple[int, ...], list[float]] = defaultdict(list)
    above: dict[tuple[int, ...], list[float]] = defaultdict(list)
    for (a, b, c), weight in zip(coded.codes[:, [1, 2, 0]].tolist(), weights.tolist(), strict=True):
        total[a, b, c].append(weight)
        above[a, b].append(weight)
    cells, tops = ([math.fsum(found) for found in each.values()] for each in (total, above))
    n_above, size = coded.sizes[1] * coded.sizes[2], coded.sizes[0]
    if score in ("bic", "aic"):
        expected = math.fsum(n * math.log(n) for n in cells) - math.fsum(n * math.log(n) for n in tops)
        price = 1.0 if score == "aic" else 0.5 * math.log(math.fsum(weights))
        expected -= price * n_above * (size - 1)
    else:
        a = 1.0 if score == "k2" else 3.0 / (n_above * size)
        expected = math.fsum(gammaln(n + a) - gammaln(a) for n in cells)
        expected -= math.fsum(gammaln(n + size * a) - gammaln(size * a) for n in tops)
    scores = Scores(coded.weighted(weights), score, smoothing=3.0)
    assert scores.family(0, [1, 2]) == pytest.approx(expected, rel=1e-12)
    assert scores._scored(0, (1, 2)) == pytest.approx(expected, rel=1e-12)
    assert scores.total(best_graph(scores).parents) >= hill_climbing(scores, restarts=5).score - 1e-9


def test_weights_that_are_not_whole_give_the_same_bits_in_any_order_of_rows() -> None:
    rows = CodedRows.of(case(4)[0])
    weights = np.random.default_rng(1).exponential(1.0, len(rows.codes))
    order = np.random.default_rng(2).permutation(len(weights))
    turned = replace(rows, codes=rows.codes[order])
    for score in ("bic", "bdeu"):
        one, other = Scores(rows.weighted(weights), score), Scores(turned.weighted(weights[order]), score)
        assert hill_climbing(one) == hill_climbing(other)
        assert best_graph(one) == best_graph(other)
    for method in ("exact", "chow-liu"):
        learned = [BeliefNetwork.learn(rows, weights=weights, method=method),
                   BeliefNetwork.learn(turned, weights=weights[order], method=method)]  # fmt: skip
        assert learned[0] == learned[1]


def test_em_gives_the_same_bits_in_any_order_of_rows() -> None:
    rows = CodedRows.of(case(4)[0])
    codes = rows.codes.copy()
    codes[::4, 1] = -1
    with_missing, order = replace(rows, codes=codes), np.random.default_rng(2).permutation(len(codes))
    weights = np.random.default_rng(1).exponential(1.0, len(codes))
    graph = {rows.names[2]: [rows.names[1]], rows.names[3]: [rows.names[1]]}
    one = fit_tables(with_missing, graph, weights=weights)
    other = fit_tables(replace(with_missing, codes=codes[order]), graph, weights=weights[order])
    assert one.trace == other.trace
    assert one.network == other.network


def test_units_are_exact_where_they_can_be_and_never_overflow() -> None:
    for weights in ([3.0, 0.0, 2.0**40], [0.5, 0.25, 3.0], [1e-30, 2e-30], [1e300, 3e300], [2.0**70, 2.0**69]):
        units, unit = in_units(np.array(weights))
        assert (units * unit).tolist() == weights
        assert units.sum() < 2**62


def test_resampled_tables_keep_the_weight_of_all_rows() -> None:
    rows = CodedRows.of(asia().sample(400, seed=0))
    graph = best_graph(Scores(rows, "bic"), None).parents
    plain = edge_strengths(rows, graph, resamples=40, seed=1)
    heavy = edge_strengths(rows.weighted(np.full(400, 1.0)), graph, resamples=40, seed=1)

    def support(found: Any) -> dict[tuple[str, str], float]:
        return {(edge.parent, edge.child): edge.support_either_way for edge in found if edge.in_graph}

    assert all(abs(share - support(heavy)[edge]) < 0.3 for edge, share in support(plain).items())
    thousandfold = edge_strengths(rows.weighted(np.full(400, 1000.0)), graph, resamples=3, seed=1)
    assert min(support(thousandfold).values()) == 1.0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0, 1.0], "the weight in row 2 of weights is -1.0. Fix:"),
        ([1.0, math.nan, 1.0], "row 2 .* is nan. Fix:"),
        ([1.0, math.inf, 1.0], "row 2 .* is inf. Fix:"),
        ([0.0, 0.0, 0.0], "all 3 weights of weights are zero. Fix:"),
        ([1.0, 1.0], "there are 2 weights for 3 rows. Fix:"),
        ([1e308, 1e308, 1e308], r"row 1 .* is 1e\+308; .* between 1e-100 and 1e\+100. Fix:"),
        (["a", "b", "c"], "not numbers"),
    ],
)
def test_weights_that_cannot_be_are_refused(weights: list[Any], message: str) -> None:
    with pytest.raises(BayeswiseError, match=message):
        BeliefNetwork.learn({"a": [0, 1, 0]}, weights=weights)


def test_weights_are_given_once() -> None:
    table = {"a": [0, 1, 0], "n": [1, 2, 3]}
    with pytest.raises(BayeswiseError, match=r"both weights and a column of weights. Fix: give one"):
        BeliefNetwork.learn(table, weight="n", weights=[1, 2, 3])
    with pytest.raises(BayeswiseError, match=r"Fix: .*n"):
        BeliefNetwork.learn(table, weight="m")
    coded = CodedRows.of(table, weight="n")
    with pytest.raises(BayeswiseError, match="weights already"):
        BeliefNetwork.learn(coded, weights=[1, 2, 3])
    with pytest.raises(BayeswiseError, match=r"coded already.*name the column of weights in CodedRows"):
        BeliefNetwork.learn(coded, weight="n")


@pytest.mark.parametrize(("score", "use", "digits"), [("bic", "useScoreBIC", 1e-12), ("k2", "useScoreK2", 1e-7)])
def test_weighted_scores_are_those_of_pyagrum(score: str, use: str, digits: float) -> None:
    pytest.importorskip("pyagrum")
    pd: Any = pytest.importorskip("pandas")
    rows = asia().sample(400, seed=1)
    weights = np.random.default_rng(0).integers(1, 5, 400) / 2.0
    learner = pyagrum_learner(pd.DataFrame(rows))
    getattr(learner, use)()
    for row, weight in enumerate(weights.tolist()):
        learner.setRecordWeight(row, weight)
    coded = CodedRows.of(rows, weights=weights)
    scores = Scores(coded, score)
    for node, parents in (("dyspnoea", ["cancer", "bronchitis"]), ("either", ["smoking"]), ("cancer", [])):
        ours = scores.family(coded.names.index(node), [coded.names.index(parent) for parent in parents])
        assert learner.score(node, parents) * math.log(2) == pytest.approx(ours, rel=digits)
