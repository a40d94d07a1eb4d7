"""What a column of a case could be instead: the values that a model offers, and round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from bayeswise.explanations.account import Account, Contribution
from bayeswise.foundation.arrays import FloatArray
from bayeswise.statistics.numbers.extents import Span
from bayeswise.tables.schema.labels import find_state

ALTERNATIVES = 25  # numbers that a column could be instead, at most
WIDTH = 1.6  # standard deviations to either side that are offered: even a flat column reaches so far
COARSE = 2.0 / 3.0  # standard deviations: a wider bucket does not say where a column begins or ends, the mean does
Alternatives: TypeAlias = Mapping[str, Sequence[Contribution]]  # other values, by column


class Explainable(Protocol):
    """A model whose log joint is a sum over columns."""

    def explain(self, row: Any) -> Account:
        """The account of one row."""

    def alternatives(self, column: str) -> tuple[Contribution, ...]:
        """The values that the column could have instead, each with its log-likelihood by state."""


def alternatives_of(model: Explainable, columns: Iterable[str]) -> dict[str, tuple[Contribution, ...]]:
    """What each of the columns could be instead."""
    return {column: model.alternatives(column) for column in columns}


def known_columns(columns: Iterable[str], account: Account) -> None:
    """Refuse a column that the account does not have, and guess which one was meant."""
    for column in columns:
        find_state(column, account.columns, what="the case has no column")


def number_grid(
    mean: float,
    stddev: float,
    n_rows: float,
    *,
    whole: bool = False,
    positive: bool = False,
    observed: tuple[float, float] | None = None,
    classes: tuple[float, float] | None = None,
    span: Span | None = None,
) -> list[float]:
    """Round numbers where a column has its values: 1.6 standard deviations about its mean, and none beyond the data.

    Of a column whose least and largest value are known, these are `observed`; `span` has the buckets that they are in.
    Otherwise (models that earlier versions wrote, and those of very many columns) no value is further from the mean
    than sqrt(n - 1) standard deviations, a column whose mean is more than a third of one away from 0 is taken to stay
    on its side of 0, and `classes` are the ends of the same interval about the mean of each class. `whole` columns get
    whole numbers, those of 0 and 1 both of them, `positive` ones none below 0.

    >>> number_grid(20.9, 12.06, 1000, whole=True)[:4], number_grid(20.9, 12.06, 1000)[-1]
    ([2.0, 4.0, 6.0, 8.0], 40.0)
    >>> number_grid(0.05, 0.5, 100)[::5]
    [-0.7, -0.2, 0.3, 0.8]
    """
    reach = stddev * min(WIDTH, math.sqrt(max(n_rows - 1.0, 0.0)))
    low, high = mean - reach, mean + reach
    if span is not None:
        observed, classes = values_within(span, mean, stddev, whole=whole), None
    if observed is not None:
        if whole and observed == (0.0, 1.0):
            return [0.0, 1.0]
    elif positive or mean > stddev / 3.0:
        low = max(low, 0.0)
    elif mean < -stddev / 3.0:
        high = min(high, 0.0)
    for ends in (observed, classes):
        if ends is not None:
            low, high = max(low, ends[0]), min(high, ends[1])
    if not (math.isfinite(low) and math.isfinite(high)) or not high > low:
        return [float(mean)]
    width = (high - low) / (ALTERNATIVES - 1)
    if not math.isfinite(width):
        width = high / (ALTERNATIVES - 1) - low / (ALTERNATIVES - 1)
    digit, power = _round_step(width)
    if whole and power < 0:
        digit, power = 1, 0
    step = float(f"{digit}e{power}")
    first, last = math.ceil(low / step), math.floor(high / step)
    found = [float(f"{k * digit}e{power}") for k in range(first, min(last, first + ALTERNATIVES) + 1)]
    return list(dict.fromkeys(found)) or [float(mean)]


def values_within(span: Span, mean: float, stddev: float, *, whole: bool = False) -> tuple[float, float]:
    """From where to where a column has values; near its mean where its buckets are wide beside its spread.

    >>> values_within(Span((3.0, 3.25), (40.0, 44.0)), 12.0, 9.0)
    (3.25, 40.0)
    >>> values_within(Span((1920.0, 2048.0), (1920.0, 2048.0)), 2010.0, 6.0)  # years
    (2006.0, 2014.0)
    """
    low, high = span.inside(whole=whole)
    if low - span.lowest[0] > stddev * COARSE:
        low = min(low, max(span.lowest[0], mean - stddev * COARSE))
    if span.highest[1] - high > stddev * COARSE:
        high = max(high, min(span.highest[1], mean + stddev * COARSE))
    return low, high


def short_numbers(numbers: FloatArray, span: Span | None, *, whole: bool = False) -> FloatArray:
    """Numbers that a family draws, to three digits or as many as differ; none beyond the values of the column.

    >>> import numpy as np
    >>> short_numbers(np.array([0.0123456, 2.0, 300.0]), Span((1.0, 1.125), (224.0, 240.0))).tolist()
    [2.0, 224.0]
    """
    if span is not None:
        low, high = values_within(span, float(numbers.mean()), float(numbers.std()), whole=whole)
        numbers = np.clip(numbers, low, high) if low <= high else numbers
    largest, width = float(np.abs(numbers).max()), float(np.ptp(numbers))
    digits = 3 if width == 0 else max(3, 2 + math.ceil(math.log10(largest / width)))
    rounded = np.unique([float(f"{x:.{digits}g}") for x in numbers])
    inside = rounded[(rounded >= numbers.min()) & (rounded <= numbers.max())]
    return inside if len(inside) else np.unique(numbers)


def class_ends(means: FloatArray, stddevs: FloatArray) -> tuple[float, float]:
    """Where the classes of a column begin and end, each about its own mean: two apart leave their surroundings out.

    >>> import numpy as np
    >>> class_ends(np.array([0.0, 5.0]), np.array([0.5, 0.5]))
    (-0.8, 5.8)
    """
    return float((means - WIDTH * stddevs).min()), float((means + WIDTH * stddevs).max())


def _round_step(least: float) -> tuple[int, int]:
    """The least of 1, 2, 5, 10, 20, 50, ... that is not below: digit and power of ten."""
    power = math.floor(math.log10(least))
    for digit in (1, 2, 5):
        if float(f"{digit}e{power}") >= least * (1.0 - 1e-9):
            return digit, power
    return 1, power + 1
