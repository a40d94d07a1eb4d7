"""A mixed network from rows: tables by counting, lines by least squares from exact scatter, the graph by a score.

Sums of squares and products are exact, so neither the order of rows nor how they were read changes a bit of the result.
Tests of independence between numbers and states are likelihood ratios of lines.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError, TooFewRowsError
from bayeswise.foundation.special import chdtrc, digamma
from bayeswise.networks.learning.constraints import Constraints, Edges, Progress, silent
from bayeswise.networks.learning.family_counts import FamilyCounts
from bayeswise.networks.learning.independence_tests import GTest, pc_graph
from bayeswise.networks.learning.search.climbing import hill_climbing
from bayeswise.networks.learning.search.scores import MOST_CELLS, Scores
from bayeswise.networks.mixed.mixed_rows import DETERMINED, MixedRows, ScatterByStates, read_rows, residual_variances
from bayeswise.networks.mixed.network import MixedNetwork
from bayeswise.networks.mixed.node import GaussianNode
from bayeswise.networks.node import Node
from bayeswise.render.labels import refuse_unknown

METHODS = ("auto", "hill-climbing", "pc")
SCORES = ("bic", "aic")


def learn(
    table: Any,
    *,
    parents: Mapping[str, Sequence[str]] | None = None,
    method: str = "auto",
    score: str = "bic",
    alpha: float = 0.05,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Sequence[Sequence[str]] = (),
    max_parents: int | None = None,
    tabu: int = 10,
    restarts: int | None = None,
    prior: str = "bdeu",
    smoothing: float = 1.0,
    missing: str = "error",
    seed: int = 0,
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    weight: str | None = None,
    progress: Progress = silent,
) -> MixedNetwork:
    """Columns of numbers become Gaussian nodes, all others nodes with states; `kinds` overrides that.

    The graph is given (`parents`), found by hill climbing with a score ("auto"), or by tests of independence at level
    `alpha` (`method="pc"`); a number is never the parent of a state.
    Lines are maximum likelihood estimates; a configuration of states with too few rows for its own line gets the pooled
    line of all rows, with a note. `missing="drop"` leaves out rows with a missing cell.

    >>> rows = {"kind": ["a", "b"] * 20, "x": [float(n % 7) for n in range(40)]}
    >>> rows["y"] = [2.0 * x + n % 3 for n, x in enumerate(rows["x"])]
    >>> learn(rows).edges
    (('x', 'y'),)
    """
    refuse_unknown(score, SCORES, "for numbers there is no score")
    refuse_unknown(method, METHODS, "for numbers there is no method")
    refuse_unknown(missing, ("error", "drop"), "missing is")
    rows, notes = read_rows(table, ignore, kinds, weight, missing)
    sums = ScatterByStates(rows)
    rules = Constraints.of(required, forbidden, tiers, max_parents)
    if parents is None:
        rules = rules.without(rows.impossible())
        if method == "pc":
            graph = pc_graph(MixedTest(rows, sums), rules, alpha, progress)
        else:
            scores = MixedScores(rows, sums, score)
            graph = hill_climbing(scores, rules, tabu=tabu, restarts=restarts, seed=seed, progress=progress)
        parents = graph.by_name(rows.names)
        notes += [*graph.notes, *["the search was interrupted: this is the best graph so far"] * graph.interrupted]
    elif rules != Constraints():
        raise ParameterError("a given graph does not use constraints", fix="leave them out")
    else:
        _check_graph(parents, rows.names)
    of_states = {name: list(parents.get(name, ())) for name in rows.coded.names}
    order = dict(zip(rows.coded.names, rows.coded.states, strict=True))
    counted = FamilyCounts.of_rows(rows.coded, of_states).network(prior=prior, smoothing=smoothing, order=order)
    nodes: list[Node | GaussianNode] = []
    for name in rows.names:
        if name in rows.numbers:
            nodes.append(_line(name, parents.get(name, ()), rows, sums, notes))
        else:
            nodes.append(counted.node(name))
    network = MixedNetwork(nodes)
    network.notes = tuple(notes)
    return network


class MixedScores:
    """Scores of families, larger is better: log-likelihood minus a penalty for each free parameter."""

    def __init__(self, rows: MixedRows, sums: ScatterByStates, score: str) -> None:
        self.names = rows.names
        self._sums, self._n_rows = sums, rows.n_rows
        self._penalty = 1.0 if score == "aic" else 0.5 * math.log(max(self._n_rows, 1.0))
        self._sizes = rows.coded.sizes
        self._of_states = Scores(rows.coded, score)
        self._state = {rows.names.index(name): k for k, name in enumerate(rows.coded.names)}
        self._number = {rows.names.index(name): k for k, name in enumerate(rows.numbers)}
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    def family(self, node: int, parents: Iterable[int]) -> float:
        """The score of a node given its parents; minus infinity where a line has too few rows, or no residual noise."""
        above = tuple(sorted(parents))
        if (node, above) not in self._known:
            if node in self._state:
                self._known[node, above] = self._of_states.family(self._state[node], [self._state[k] for k in above])
            else:
                self._known[node, above] = float(self._additions(node, above, [])[0])
        return self._known[node, above]

    def additions(self, node: int, parents: Iterable[int], candidates: Sequence[int]) -> FloatArray:
        """The score of a node given its parents and one more, for each candidate: (n_candidates,)."""
        above = tuple(sorted(parents))
        if node in self._state:
            others = [self._state[k] for k in candidates]
            return self._of_states.additions(self._state[node], [self._state[k] for k in above], others)
        numbers = [k for k in candidates if k in self._number]
        scores = dict(zip(numbers, self._additions(node, above, numbers)[1:], strict=True))
        return np.array([scores[k] if k in scores else self.family(node, (*above, k)) for k in candidates])

    def total(self, parents: Iterable[Iterable[int]]) -> float:
        """The score of a graph: the sum over its families."""
        return math.fsum(self.family(node, above) for node, above in enumerate(parents))

    def _additions(self, node: int, above: tuple[int, ...], candidates: Sequence[int]) -> FloatArray:
        """(1 + n_candidates,) the score of a number given its parents, then with one more number each."""
        given = [self._state[k] for k in above if k in self._state]
        numbers = [self._number[k] for k in above if k in self._number]
        own, others = self._number[node], [self._number[k] for k in candidates]
        n_lines = math.prod(self._sizes[k] for k in given)
        if n_lines * len(self._number) ** 2 > MOST_CELLS:
            return np.full(1 + len(others), -math.inf)
        weights, _, covariances = self._sums(given)
        score = np.zeros(1 + len(others))
        for weight, covariance in zip(weights, covariances, strict=True):
            if weight > 0.0:
                left = residual_variances(covariance, numbers, own, others)
                n_free = len(numbers) + 2 + np.arange(1 + len(others)).clip(max=1)
                determined = (left <= DETERMINED * covariance[own, own]) | (weight <= n_free)
                with np.errstate(divide="ignore", invalid="ignore"):
                    score -= np.where(determined, math.inf, 0.5 * weight * (np.log(2.0 * math.pi * left) + 1.0))
        score[0] -= self._penalty * n_lines * (len(numbers) + 2)
        score[1:] -= self._penalty * n_lines * (len(numbers) + 3)
        return score


# -- lines ----------------------------------------------------------------------------------------------------


def _line(name: str, parents: Sequence[str], rows: MixedRows, sums: ScatterByStates, notes: list[str]) -> GaussianNode:
    """The maximum likelihood line of each configuration; the pooled line where it has too few rows."""
    given = [parent for parent in parents if parent in rows.coded.names]
    above = [parent for parent in parents if parent in rows.numbers]
    own, numbers = rows.numbers.index(name), [rows.numbers.index(parent) for parent in above]
    weights, means, covariances = sums([rows.coded.names.index(parent) for parent in given])
    lines = [_fitted(w, m, c, own, numbers) for w, m, c in zip(weights, means, covariances, strict=True)]
    if None in lines:
        ((weight,), (mean,), (covariance,)) = sums(())
        pooled = _fitted(weight, mean, covariance, own, numbers)
        if pooled is None:
            what = f"{', '.join(above)} determine it" if above else "it never varies"
            raise TooFewRowsError(
                f"no line with residual noise can be fitted for {name!r}: {what}, or there are too few rows",
                fix="give it fewer parents, leave it out, or give more rows",
            )
        notes.append(f"{name}: {lines.count(None)} of {len(lines)} configurations have the line of all rows")
        lines = [pooled if line is None else line for line in lines]
    table = np.array(lines)
    slopes = {parent: table[:, 1 + k] for k, parent in enumerate(above)}
    return GaussianNode(name, table[:, 0], slopes, table[:, -1], given)


def _fitted(
    weight: float, mean: FloatArray, covariance: FloatArray, own: int, numbers: Sequence[int]
) -> tuple[float, ...] | None:
    """Intercept, slopes and standard deviation; None if there are too few rows, or no residual noise."""
    if weight <= len(numbers) + 1:
        return None
    left = float(residual_variances(covariance, numbers, own, [])[0])
    if not left > DETERMINED * covariance[own, own]:
        return None
    unit = np.sqrt(np.diagonal(covariance)[list(numbers)])
    unit = np.where(unit > 0.0, unit, 1.0)
    within = covariance[np.ix_(numbers, numbers)] / unit[:, None] / unit
    slopes = np.linalg.lstsq(within, covariance[list(numbers), own] / unit, rcond=DETERMINED)[0] / unit
    intercept = float(mean[own] - slopes @ mean[list(numbers)])
    return (intercept, *slopes.tolist(), math.sqrt(left))


def _check_graph(parents: Mapping[str, Sequence[str]], names: Sequence[str]) -> None:
    for name in {*parents, *(parent for above in parents.values() for parent in above)}:
        refuse_unknown(name, names, "the rows have no column")


_FEWEST_TESTED = 0.5  # of all rows: less than that is not a test
_FEWEST_LEFT = 5  # rows beyond the coefficients of a line: with fewer, a ratio of spreads is far from chi-square


class MixedTest:
    """Likelihood-ratio tests under normal noise, scaled so that their mean is that of their chi-square distribution.

    Two columns of states: the G test. Two numbers x and y: whether y adds to the line of x, in each configuration of
    the given states. A number x and a column of states y: whether x has a different line for each state of y. Under
    independence the residual sums of squares are chi-square variables, so that the mean of the ratio is known exactly,
    and few rows in a configuration do no harm. Numbers have no children with states, so that two columns of states are
    never tested given a number: if any set separates them, a set of states does.

    States of y with too few rows for a line are pooled. A configuration with too few rows is left out; a test that is
    left with less than half of all rows is not made, and the columns count as dependent.
    """

    def __init__(self, rows: MixedRows, sums: ScatterByStates) -> None:
        self.names = rows.names
        self._sums, self._n_rows, self._n_numbers = sums, rows.n_rows, len(rows.numbers)
        self._states = GTest(rows.coded)
        self._sizes = rows.coded.sizes
        self._state = {rows.names.index(name): k for k, name in enumerate(rows.coded.names)}
        self._number = {rows.names.index(name): k for k, name in enumerate(rows.numbers)}

    def p_value(self, x: int, y: int, given: Sequence[int]) -> float:
        """The probability of as large a dependence by chance; 0 where no test can be made."""
        states = [self._state[k] for k in given if k in self._state]
        numbers = [self._number[k] for k in given if k in self._number]
        if x in self._state and y in self._state:
            return self._states.p_value(self._state[x], self._state[y], states) if not numbers else 0.0
        if x in self._state:
            x, y = y, x
        n_cases = float(np.prod([self._sizes[k] for k in states], dtype=float))
        n_cases *= self._sizes[self._state[y]] if y in self._state else 1
        if n_cases * self._n_numbers**2 > MOST_CELLS:
            return 0.0
        if y in self._number:
            tests = [
                _of_numbers(float(weight), covariance, numbers, self._number[x], self._number[y])
                for weight, _, covariance in zip(*self._sums(states), strict=True)
            ]
        else:
            size = self._sizes[self._state[y]]
            weights, means, covariances = self._sums([*states, self._state[y]])
            tests = [
                _of_states(
                    weights[k : k + size], means[k : k + size], covariances[k : k + size], numbers, self._number[x]
                )
                for k in range(0, len(weights), size)
            ]
        ratio, mean, df, n_rows = np.sum(tests, axis=0)
        if n_rows < _FEWEST_TESTED * self._n_rows:
            return 0.0
        return float(chdtrc(df, max(0.0, ratio * df / mean))) if df else 1.0


_NOTHING = (0.0, 0.0, 0, 0.0)
_Ratio = tuple[float, float, int, float]  # 2 log of the likelihood ratio, its mean if there is none, its df, the rows


def _of_numbers(weight: float, covariance: FloatArray, numbers: Sequence[int], x: int, y: int) -> _Ratio:
    """n log(RSS of x given the numbers / RSS with y, too); RSS with y / RSS is Beta((n - p - 1) / 2, 1 / 2)."""
    n_free = len(numbers) + 1
    if weight < n_free + 2:
        return _NOTHING
    without, within = residual_variances(covariance, numbers, x, [y])
    if without <= DETERMINED * covariance[x, x]:
        return (0.0, 0.0, 0, weight)  # no variance is left for y to explain
    within = max(float(within), DETERMINED * float(without))
    mean = weight * (digamma((weight - n_free) / 2.0) - digamma((weight - n_free - 1.0) / 2.0))
    return (weight * float(np.log(without / within)), float(mean), 1, weight)


def _of_states(
    weights: FloatArray, means: FloatArray, covariances: FloatArray, numbers: Sequence[int], x: int
) -> _Ratio:
    """n log(RSS / n) of the line of all states minus the sum of those of each; RSS is chi-square of n - p."""
    n_free = len(numbers) + 1
    enough = weights >= n_free + _FEWEST_LEFT
    groups = [(float(weights[k]), means[k], covariances[k]) for k in np.flatnonzero(enough)]
    few = ~enough & (weights > 0.0)
    if few.any():
        rest = _pooled(weights[few], means[few], covariances[few])
        groups += [rest] * (rest[0] >= n_free + _FEWEST_LEFT)
    if not groups:
        return _NOTHING
    n = np.array([group[0] for group in groups])
    total, _, pooled = _pooled(n, np.array([group[1] for group in groups]), np.array([group[2] for group in groups]))
    left = float(residual_variances(pooled, numbers, x, [])[0])
    if len(n) == 1 or left <= DETERMINED * pooled[x, x]:
        varies = len(n) == 1 and np.count_nonzero(weights) > 1
        return _NOTHING if varies else (0.0, 0.0, 0, total)
    each = np.array([residual_variances(covariance, numbers, x, [])[0] for _, _, covariance in groups])
    each = each.clip(min=DETERMINED * left)

    def mean(size: FloatArray) -> FloatArray:
        return np.asarray(size * (digamma((size - n_free) / 2.0) + np.log(2.0 / size)))

    ratio = total * np.log(left) - n @ np.log(each)
    expected = float(mean(np.array([total]))[0] - mean(n).sum())
    return (float(ratio), expected, (len(n) - 1) * (n_free + 1), total)


def _pooled(weights: FloatArray, means: FloatArray, covariances: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """The weight, mean and covariance of pooled groups."""
    total = float(weights.sum())
    center = weights @ means / total
    apart = means - center
    within = np.einsum("s,sij->ij", weights, covariances)
    return total, center, np.asarray((within + (apart.T * weights) @ apart) / total)
