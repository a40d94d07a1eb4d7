"""Tests of independence between numbers and states: likelihood ratios of lines, from exact scatter by configuration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.special import chdtrc, digamma
from bayeswise.networks.learning.independence.tests import MOST_CELLS, GTest
from bayeswise.networks.mixed.rows import DETERMINED, MixedRows, ScatterByStates, left_by

_FEWEST_TESTED = 0.5  # of all rows: less than that is not a test
_FEWEST_LEFT = 5  # rows beyond the coefficients of a line: with fewer, a ratio of spreads is far from chi-square


class MixedTest:
    """Likelihood-ratio tests under normal noise, scaled so that their mean is that of their chi-square distribution.

    Two states: the G test. A number x and another: whether y adds to the line of x, in each configuration of the given
    states. A number x and a state y: whether x has a line of its own for each state of y. Under independence the
    residual sums of squares are chi-square variables, so that the mean of the ratio is known exactly, and few rows in a
    configuration do no harm. Numbers have no children with states, so that two columns of states are never tested given
    a number: there is always a set of states that separates them, if any set does.

    States of y with too few rows for a line are put together. A configuration with too few rows is left out; a test
    that is left with less than half of all rows is not made, and the columns count as dependent.
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
            found = [
                _of_numbers(float(weight), covariance, numbers, self._number[x], self._number[y])
                for weight, _, covariance in zip(*self._sums(states), strict=True)
            ]
        else:
            size = self._sizes[self._state[y]]
            weights, means, covariances = self._sums([*states, self._state[y]])
            found = [
                _of_states(
                    weights[k : k + size], means[k : k + size], covariances[k : k + size], numbers, self._number[x]
                )
                for k in range(0, len(weights), size)
            ]
        ratio, mean, df, n_rows = np.sum(found, axis=0)
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
    without, within = left_by(covariance, numbers, x, [y])
    if without <= DETERMINED * covariance[x, x]:
        return (0.0, 0.0, 0, weight)  # nothing is left that y could tell
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
        rest = _together(weights[few], means[few], covariances[few])
        groups += [rest] * (rest[0] >= n_free + _FEWEST_LEFT)
    if not groups:
        return _NOTHING
    n = np.array([group[0] for group in groups])
    total, _, pooled = _together(n, np.array([group[1] for group in groups]), np.array([group[2] for group in groups]))
    left = float(left_by(pooled, numbers, x, [])[0])
    if len(n) == 1 or left <= DETERMINED * pooled[x, x]:
        varies = len(n) == 1 and np.count_nonzero(weights) > 1
        return _NOTHING if varies else (0.0, 0.0, 0, total)
    each = np.array([left_by(covariance, numbers, x, [])[0] for _, _, covariance in groups])
    each = each.clip(min=DETERMINED * left)

    def mean(size: FloatArray) -> FloatArray:
        return np.asarray(size * (digamma((size - n_free) / 2.0) + np.log(2.0 / size)))

    ratio = total * np.log(left) - n @ np.log(each)
    expected = float(mean(np.array([total]))[0] - mean(n).sum())
    return (float(ratio), expected, (len(n) - 1) * (n_free + 1), total)


def _together(weights: FloatArray, means: FloatArray, covariances: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """The weight, mean and covariance of groups put together."""
    total = float(weights.sum())
    center = weights @ means / total
    apart = means - center
    within = np.einsum("s,sij->ij", weights, covariances)
    return total, center, np.asarray((within + (apart.T * weights) @ apart) / total)
