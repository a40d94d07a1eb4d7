"""Bits, part by part: what a model costs, what the rows cost under it, and the codes of counts and of parameters.

Under the normalised maximum likelihood code a sequence takes log2 C(n, k) bits more than under its own
maximum-likelihood multinomial, whatever it is, and not one less. The regret log C of n cells over k levels takes
O(n + k) steps (Kontkanen and Myllymaki 2007):

    C(n, 1) = 1
    C(n, 2) = sum over h of binomial(n, h) (h/n)^h ((n-h)/n)^(n-h)
    C(n, j+2) = C(n, j+1) + n/j C(n, j)
"""

from __future__ import annotations

import math
from functools import cache
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayeswise import _kernels
from bayeswise.families.arithmetic.evidence import log_dirichlet_evidence
from bayeswise.families.arithmetic.stable_functions import HALF_LOG_TWO_PI, stirling_error
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import DataError, NonFiniteError, ParameterError
from bayeswise.foundation.special import xlogy

Code = Literal["evidence", "two-part", "nml"]
CODES: tuple[Code, ...] = ("evidence", "two-part", "nml")


@dataclass(frozen=True)
class Part:
    """The target, or a column given the target; the evidence code has no bits of a model apart."""

    name: str
    model_bits: float
    data_bits: float

    @property
    def bits(self) -> float:
        return self.model_bits + self.data_bits


@dataclass(frozen=True)
class DescriptionLength:
    """What each part costs."""

    code: Code
    parts: tuple[Part, ...]

    @property
    def bits(self) -> float:
        """L(h) + L(D | h)."""
        return math.fsum(part.bits for part in self.parts)

    @property
    def model_bits(self) -> float:
        """L(h)."""
        return math.fsum(part.model_bits for part in self.parts)

    @property
    def data_bits(self) -> float:
        """L(D | h)."""
        return math.fsum(part.data_bits for part in self.parts)

    def __repr__(self) -> str:
        parts = ", ".join(f"{part.name}: {part.bits:.1f}" for part in self.parts)
        return f"DescriptionLength({self.bits:.1f} bits by {self.code}; {parts})"


def counted_bits(count: FloatArray, code: Code) -> tuple[float, float]:
    """Model and data bits of counts (n_groups, n_cells); the evidence is that of Dirichlet(1) in each group.

    >>> [round(bits, 4) for code in CODES for bits in counted_bits(np.array([[2.0, 0.0]]), code)]
    [0.0, 1.585, 0.5, 0.0, 1.3219, 0.0]
    """
    if code == "evidence":
        return 0.0, -float(log_dirichlet_evidence(np.ones(count.shape[1]), count).sum()) / LOG_TWO
    if code == "nml":
        model, data = np.sum([nml_bits(row) for row in count], axis=0)
        return float(model), float(data)
    total = count.sum(axis=1)
    data = float((xlogy(total, total) - xlogy(count, count).sum(axis=1)).sum()) / LOG_TWO
    return parameter_bits(count.shape[0] * max(count.shape[1] - 1, 0), float(total.sum())), data


def parameter_bits(n_parameters: float, n_rows: float) -> float:
    """Half log2 n for each: as many digits as n rows determine."""
    return 0.5 * n_parameters * math.log2(max(n_rows, 1.0))


LOG_TWO = math.log(2.0)
_MOST_TERMS = 1 << 20  # beyond that a series in 1/n errs by less than a float does
_BLOCK = 1 << 18
_FEW = 1_000  # rows: beyond, the series errs by less than 1e-8


def log_regret(n: int, k: int) -> float:
    """log C(n, k).

    >>> round(math.exp(log_regret(2, 2)), 12)       # the sequences aa and bb at 1, ab and ba at 1/4
    2.5
    """
    if not (_is_whole(n) and _is_whole(k) and n >= 0 and k >= 1):
        raise ParameterError(f"counts need whole n >= 0 and k >= 1; found n={n}, k={k}", fix="count rows and levels")
    if n == 0 or k == 1:
        return 0.0
    log_before, log_now = 0.0, math.log(_of_two(int(n)))
    for j in range(1, int(k) - 1):
        log_before, log_now = log_now, float(np.logaddexp(log_now, math.log(n / j) + log_before))
    return log_now


def log_regrets(n: FloatArray, k: int) -> FloatArray:
    """log C(n, k) of many n, which need not be whole where rows have weights: a line in between.

    >>> np.allclose(log_regrets(np.array([0.0, 7.0, 5_000.0]), 4), [log_regret(n, 4) for n in (0, 7, 5_000)], atol=1e-9)
    True
    """
    if k == 1:
        return np.zeros_like(n)
    safe = np.maximum(n, 1.0)
    of_two = np.where(n < len(_few_of_two()), np.interp(n, np.arange(len(_few_of_two())), _few_of_two()), 0.0)
    log_before, log_now = np.zeros_like(n), np.log(np.where(of_two > 0.0, of_two, _of_two_and_many(safe)))
    for j in range(1, k - 1):
        log_before, log_now = log_now, np.logaddexp(log_now, np.log(safe / j) + log_before)
    return np.where(n > 0.0, log_now, 0.0)


@cache
def _few_of_two() -> FloatArray:
    """C(n, 2) for n = 0, 1, ..., by its sum."""
    return np.array([_of_two(n) for n in range(_FEW)])


def _is_whole(number: Any) -> bool:
    return isinstance(number, Real) and not isinstance(number, bool) and float(number).is_integer()


def _of_two(n: int) -> float:
    """C(n, 2); a term is exp(e(n) - e(h) - e(n - h)), where e is what m log m - m lacks of log m!, and small."""
    if n > _MOST_TERMS:
        return float(_of_two_and_many(n))
    blocks = (np.arange(start, min(start + _BLOCK, n + 1), dtype=np.float64) for start in range(0, n + 1, _BLOCK))
    lacks = float(_lack(np.array([float(n)]))[0])
    return math.fsum(float(np.exp(lacks - _lack(h) - _lack(n - h)).sum()) for h in blocks)


def _lack(m: FloatArray) -> FloatArray:
    positive = np.where(m > 0, m, 1.0)
    return np.where(m > 0, HALF_LOG_TWO_PI + 0.5 * np.log(positive) + stirling_error(positive), 0.0)


def _of_two_and_many(n: Any) -> Any:
    """Ramanujan's series: C(n, 2) = 1 + Q(n), Q(n) = sqrt(pi n / 2) - 1/3 + sqrt(pi / 2n) / 12 - 4 / (135 n) + ..."""
    return np.sqrt(math.pi * n / 2) + 2 / 3 + np.sqrt(math.pi / (2 * n)) / 12 - 4 / (135 * n)


def nml_bits(counts: ArrayLike) -> tuple[float, float]:
    """The bits of the model (the regret) and of the cells under maximum likelihood, of one column of counts.

    >>> [round(bits, 4) for bits in nml_bits([2, 0])]
    [1.3219, 0.0]
    """
    seen = _checked(counts)
    n = float(seen.sum())
    data = -float(xlogy(seen, seen / n).sum()) / LOG_TWO if n > 0 else 0.0
    return log_regret(int(n), len(seen)) / LOG_TWO, data + 0.0


def _checked(counts: ArrayLike) -> FloatArray:
    try:
        seen = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        seen = np.full(1, np.nan)
    if seen.ndim != 1 or not (np.isfinite(seen) & (seen >= 0) & (seen == np.floor(seen))).all():
        raise ParameterError(
            f"the code of counts needs one column of whole numbers from 0 on; found {np.asarray(counts).tolist()!r}",
            fix="count the rows of each level, without weights",
        )
    return seen


# -- cuts of a number column that pay -------------------------------------------------------------------------


def cut_points(
    values: FloatArray, groups: CodeArray, n_groups: int | None = None, *, weights: FloatArray | None = None
) -> FloatArray:
    """The cuts of a column, midway between neighbours, in increasing order; none if no cut is worth its bits.

    A range is cut at the value of least class entropy, and again within the parts, as long as the bits gained exceed
    the bits of the cut (Fayyad and Irani 1993): log2(n - 1) for its place, and log2(3^k - 2) - [k H - k1 H1 - k2 H2]
    for the classes of the parts. A row of weight k counts as k rows.

    >>> cut_points(np.array([1.0, 2.0, 3.0, 8.0, 9.0, 10.0] * 5), np.array([0, 0, 0, 1, 1, 1] * 5)).tolist()
    [5.5]
    """
    numbers, classes, weigh = _checked_column(values, groups, weights)
    present = ~np.isnan(numbers) & (classes >= 0)
    most = int(classes[present].max(initial=-1)) + 1
    if n_groups is not None and n_groups < most:
        raise ParameterError(f"a group is {most - 1}, and there are {n_groups}", fix="number them from 0 on")
    heavy = None if weigh is None else np.ascontiguousarray(weigh[present])
    groups_of = np.ascontiguousarray(classes[present], dtype=np.int32)
    return np.array(_kernels.cut_points(numbers[present], groups_of, n_groups or most, heavy))


def _checked_column(values: Any, groups: Any, weights: Any) -> tuple[FloatArray, IntArray, FloatArray | None]:
    try:
        numbers, classes = np.asarray(values, dtype=np.float64), np.asarray(groups, dtype=np.int64)
        weigh = None if weights is None else np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"a column is cut by numbers: {error}", fix="give numbers, and groups from 0 on") from None
    shapes = {each.shape for each in (numbers, classes, weigh) if each is not None}
    if len(shapes) > 1 or numbers.ndim != 1:
        named = ", ".join(map(str, sorted(shapes)))
        raise ParameterError(f"values, groups and weights have the shapes {named}", fix="give as many of each")
    if np.isinf(numbers).any():
        raise NonFiniteError("the column has an infinite value", fix="leave the cell empty, or give a finite number")
    if weigh is not None and not (np.isfinite(weigh) & (weigh >= 0)).all():
        raise ParameterError("a weight is below 0 or not finite", fix="give weights from 0 on")
    return numbers, classes, weigh


def codes_of(values: FloatArray, cuts: FloatArray) -> IntArray:
    """The interval of each value, 0 below the first cut; -1 for missing ones.

    >>> codes_of(np.array([1.0, 9.0, np.nan]), np.array([5.5])).tolist()
    [0, 1, -1]
    """
    return np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="right"))
