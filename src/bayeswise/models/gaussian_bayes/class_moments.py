"""Weight, mean and scatter of each class, from the exact statistic; with missing values, of what EM completes.

Means are kept as high + low and scatters in units near the spread of each column, so that neither an offset of 1e15 nor
a column on a scale of 1e6 (or 1e-300) costs a digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.models.gaussian_bayes.em import Completion, Incomplete, PatternMoments, complete
from bayeswise.statistics import Moments, PatternScatter, Scatter

CONSTANT_SPREAD = 2.0**-26
"""A column that is the same in every row gets this share of its value as stddev (and 1 where the value is 0)."""


@dataclass(frozen=True)
class Columns:
    """Where the columns lie and how wide they are, whatever the class."""

    centre: FloatArray  # (n_columns,) the mean of all cells
    centre_low: FloatArray  # (n_columns,) its digits beyond 53 bits
    unit: FloatArray  # (n_columns,) the power of two next to the stddev
    stddev: FloatArray  # (n_columns,) of all cells, in units; 0 where the column is constant

    def in_units(self, high: FloatArray, low: FloatArray) -> FloatArray:
        """Numbers, given as high + low, counted from the centre; halved first, so that their gap cannot overflow."""
        gap = 0.5 * high - 0.5 * self.centre
        return np.asarray(2.0 * (gap / self.unit) + (low - self.centre_low) / self.unit)

    def from_units(self, steps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The inverse, as high + low."""
        step = steps * self.unit + self.centre_low
        high = self.centre + step
        moved = high - self.centre
        return high, (self.centre - (high - moved)) + (step - moved)


@dataclass(frozen=True)
class ClassMoments:
    """What the rows say of each class."""

    weight: FloatArray  # (n_states,)
    mean: FloatArray  # (n_states, n_columns)
    mean_low: FloatArray  # (n_states, n_columns)
    scatter: FloatArray  # (n_states, n_columns, n_columns) sum of (x - mean)(x - mean)', in units; or its diagonals
    columns: Columns
    completion: Completion | None = None  # how EM went, where it was needed

    @property
    def is_complete(self) -> bool:
        """Whether the scatters are exact: then what looks singular is."""
        return self.completion is None


def diagonals(scatter: FloatArray) -> FloatArray:
    """(n_states, n_columns) the diagonals of matrices, or what is given where that is the diagonals alone.

    >>> diagonals(np.eye(2)[None]).tolist(), diagonals(np.ones((1, 2))).tolist()
    ([[1.0, 1.0]], [[1.0, 1.0]])
    """
    return scatter if scatter.ndim == 2 else np.diagonal(scatter, axis1=1, axis2=2)


def class_moments(statistic: PatternScatter | Moments, form: str) -> ClassMoments:
    """Closed form for complete rows and for columns taken one by one; EM for correlated columns with missing values."""
    [found] = class_moments_of_each([statistic], form)
    return found


def class_moments_of_each(statistics: Sequence[PatternScatter | Moments], form: str) -> list[ClassMoments]:
    """Those of several tables of the same columns; EM takes them together, and each comes out as it does alone."""
    by_em = [statistic for statistic in statistics if _needs_em(statistic, form)]
    completed = iter(_completed(by_em, shared=form == "shared") if by_em else ())
    return [next(completed) if _needs_em(each, form) else _in_closed_form(each) for each in statistics]


def _needs_em(statistic: PatternScatter | Moments, form: str) -> TypeGuard[PatternScatter]:
    return form in ("per-class", "shared") and isinstance(statistic, PatternScatter) and bool(statistic.incomplete)


def _in_closed_form(statistic: PatternScatter | Moments) -> ClassMoments:
    columns = columns_of(statistic)
    if isinstance(statistic, Moments):
        return _of_moments(statistic, columns)
    if not statistic.incomplete:
        return _of_complete(statistic.complete, columns)
    return _by_column(statistic, columns)


def columns_of(statistic: PatternScatter | Moments) -> Columns:
    """Mean and stddev of all cells of each column."""
    if isinstance(statistic, Moments):
        whole = statistic.pooled()
        (centre,), (centre_low,) = whole.mean_pair(empty=0.0)
        (stddev,) = whole.stddev(empty=0.0)
    else:
        weight, total, squares = (Dyadic.of(part.sum(axis=0)) for part in statistic.cells())
        unseen = weight.is_zero()
        divisor = weight.or_one(unseen)
        centre, centre_low = total.over_pair(divisor)
        stddev = (weight * squares - total * total).sqrt_over(divisor * divisor)
    spread = np.where(stddev > 0, stddev, np.abs(centre) * CONSTANT_SPREAD)
    unit = np.where(spread > 0, 2.0 ** np.floor(np.log2(np.where(spread > 0, spread, 1.0))), 1.0)
    return Columns(centre, centre_low, unit, np.asarray(stddev / unit))


def _of_complete(scatter: Scatter, columns: Columns) -> ClassMoments:
    weight = Dyadic.of(scatter.weight)
    divisor = weight.or_one(weight.is_zero())[:, None]
    total = Dyadic.of(scatter.total)
    mean, mean_low = total.over_pair(divisor)
    empty = np.flatnonzero(weight.is_zero())
    mean[empty], mean_low[empty] = columns.centre, columns.centre_low
    full = scatter.about_means(np.frexp(columns.unit)[1].astype(np.int64) - 1)
    return ClassMoments(scatter.weight.to_floats(), mean, mean_low, full, columns)


def _of_moments(statistic: Moments, columns: Columns) -> ClassMoments:
    """The same as `_by_column`, without a Python integer for each cell; rounded once more where a square overflows."""
    weights, unseen = statistic.rows.to_floats(), statistic.is_empty()
    mean, mean_low = statistic.mean_pair(empty=0.0)
    mean, mean_low = np.where(unseen, columns.centre, mean), np.where(unseen, columns.centre_low, mean_low)
    variance = statistic.variance(empty=0.0)
    is_ordinary = (variance > 2.0**-900) & (variance < 2.0**900)
    with np.errstate(over="ignore", under="ignore"):
        variance = variance / columns.unit / columns.unit
        if not is_ordinary.all():
            variance = np.where(is_ordinary, variance, (statistic.stddev(empty=0.0) / columns.unit) ** 2)
    variance = np.where(unseen, columns.stddev**2, variance)
    return ClassMoments(weights, mean, mean_low, weights[:, None] * variance, columns)


def _by_column(statistic: PatternScatter, columns: Columns) -> ClassMoments:
    """Each column from its own cells; a class without a cell there gets the column's mean and variance."""
    weights = statistic.weight_of_rows.to_floats()
    weight, total, squares = (Dyadic.of(part) for part in statistic.cells())
    unseen = weight.is_zero()
    divisor = weight.or_one(unseen)
    mean, mean_low = total.over_pair(divisor)
    mean, mean_low = np.where(unseen, columns.centre, mean), np.where(unseen, columns.centre_low, mean_low)
    unit = Dyadic.of_floats(columns.unit)[None, :]
    variance = (weight * squares - total * total).over(divisor * divisor * unit * unit)
    variance = np.where(unseen, columns.stddev**2, variance)
    return ClassMoments(weights, mean, mean_low, weights[:, None] * variance, columns)


def _completed(statistics: Sequence[PatternScatter], *, shared: bool) -> list[ClassMoments]:
    """Those of several tables, by EM."""
    columns = [columns_of(statistic) for statistic in statistics]
    tables = [Incomplete(pattern_moments(*each), each[1].stddev) for each in zip(statistics, columns, strict=True)]
    found = []
    for statistic, own, completion in zip(statistics, columns, complete(tables, shared=shared), strict=True):
        mean, mean_low = own.from_units(completion.mean)
        weight = statistic.weight_of_rows.to_floats()
        found.append(ClassMoments(weight, mean, mean_low, completion.scatter, own, completion))
    return found


def pattern_moments(statistic: PatternScatter, columns: Columns) -> list[PatternMoments]:
    """The moments of each pattern of missing cells, that of complete rows first."""
    return [_pattern_moments(observed, scatter, columns) for observed, scatter in statistic.by_pattern()]


def _pattern_moments(observed: IntArray, scatter: Scatter, columns: Columns) -> PatternMoments:
    part = Columns(*(each[observed] for each in vars(columns).values()))
    own = _of_complete(scatter, part)
    mean = part.in_units(own.mean, own.mean_low)
    return PatternMoments(observed[None], own.weight[None], mean[None], own.scatter[None])
