"""Where values and parameters of a family may lie, and the errors for those that do not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray
from bayeswise.foundation.errors import DataError, ParameterError, SupportError

S = TypeVar("S")

Rows: TypeAlias = tuple[CodeArray | None, int, FloatArray | None]
"""The group of each row, the number of groups, and the weight of each row: as every statistic takes them."""


class OnNumbers(ABC, Generic[S]):
    """A family of numbers: which of them lie in its support, and what is kept of those."""

    needs = ""  # what an error says of a value outside the support; empty where every number lies inside

    def is_inside(self, values: FloatArray) -> BoolArray:
        """Whether each value lies in the support."""
        return np.ones(np.shape(values), dtype=np.bool_)

    @abstractmethod
    def kept(self, numbers: FloatArray, rows: Rows) -> S:
        """The statistic of numbers in the support, (n_rows, n_columns), NaN where there is none."""

    def statistic(
        self,
        values: ArrayLike,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
    ) -> S:
        """What is kept of rows; `SupportError` for a value outside the support, unless its row is left out anyway."""
        numbers = as_columns(values)
        if self.needs:
            outside = ~(np.isnan(numbers) | self.is_inside(numbers))
            refuse_outside(numbers, outside, self.needs, groups, weights)
            numbers = np.where(outside, np.nan, numbers) if outside.any() else numbers
        return self.kept(numbers, (groups, n_groups, weights))

    def on_support(self, x: ArrayLike, log_p: FloatArray) -> FloatArray:
        """log_p where a value lies in the support, minus infinity elsewhere; NaN stays NaN."""
        values = np.asarray(x, dtype=np.float64)
        return np.where(np.isnan(values), np.nan, np.where(self.is_inside(values), log_p, -np.inf))


def as_columns(values: ArrayLike) -> FloatArray:
    """(n_rows, n_columns) floats; a flat list is one column, integers and truth values are numbers.

    >>> as_columns([True, False]).tolist()
    [[1.0], [0.0]]
    """
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"a column of numbers is needed; {error}", fix="encode text as numbers first") from None
    if numbers.ndim not in (1, 2):
        raise DataError(f"rows and columns are needed; found an array of {numbers.ndim} axes")
    return numbers if numbers.ndim == 2 else numbers[:, None]


def refuse_outside(
    values: FloatArray,
    outside: BoolArray,
    needs: str,
    groups: CodeArray | None = None,
    weights: FloatArray | None = None,
) -> None:
    """An error for the first value outside the support; rows left out (group -1, weight 0) may hold anything.

    >>> refuse_outside(np.array([[0.0], [-3.0]]), np.array([[False], [True]]), "a Poisson count is 0, 1, 2, ...")
    Traceback (most recent call last):
    bayeswise.foundation.errors.SupportError: a Poisson count is 0, 1, 2, ...; row 2 of column 'x0' has -3. Fix:
    correct the cell, or choose another family for it.
    """
    counted = np.ones(len(values), dtype=np.bool_)
    if groups is not None:
        counted &= groups >= 0
    if weights is not None:
        counted &= weights != 0
    found = np.argwhere(outside & counted[:, None])
    if len(found):
        row, column = (int(k) for k in found[0])
        raise SupportError(needs, row=row, column=column, value=float(values[row, column]))


def refuse_unless(condition: Any, what: str, value: Any) -> None:
    """An error for parameters that are not what they must be.

    >>> refuse_unless(False, "a rate must be above 0", -1.0)
    Traceback (most recent call last):
    bayeswise.foundation.errors.ParameterError: a rate must be above 0; found -1.0
    """
    if not np.all(condition):
        raise ParameterError(f"{what}; found {_first_bad(condition, value)}")


def reasons(*cases: tuple[BoolArray, str]) -> str:
    """The sentences of those cases that occur.

    >>> reasons((np.array([True]), "no rows"), (np.array([False]), "one row"))
    'no rows'
    """
    return "; ".join(sentence for occurs, sentence in cases if np.any(occurs))


def is_positive(value: Any) -> BoolArray:
    """Finite and above zero."""
    numbers = np.asarray(value, dtype=np.float64)
    return np.asarray(np.isfinite(numbers) & (numbers > 0))


def is_whole(values: FloatArray) -> BoolArray:
    """0, 1, 2, ..."""
    with np.errstate(invalid="ignore"):
        return np.asarray((values >= 0) & (np.floor(values) == values) & np.isfinite(values))


def _first_bad(condition: Any, value: Any) -> Any:
    flags, numbers = np.broadcast_arrays(np.asarray(condition), np.asarray(value))
    return numbers[~flags].flat[0]


def or_one(values: FloatArray) -> FloatArray:
    """The values, with one in place of what is not finite and above zero."""
    return np.where(is_positive(values), values, 1.0)
