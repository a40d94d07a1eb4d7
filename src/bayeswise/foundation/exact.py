"""Arrays of exact sums: fixed-point integers of any size, an abelian group to the last bit.

An `ExactArray` holds, for each entry, the integer  sum_k digit_k 2^(32 (low + k)).  Digits are 32 bits wide, the
top one signed; limbs that no entry needs are trimmed, so equal arrays have equal bytes. Rounding happens once, when
a quotient of such integers becomes a float, and it is correct rounding.

>>> big = ExactArray.from_floats([1e200, 1.0])
>>> (big + ExactArray.from_floats([1.0, 2.0]) - big).to_floats().tolist()
[1.0, 2.0]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray, ObjectArray
from bayeswise.foundation.dataclass import dataclass

DIGIT_BITS = 32
_DIGIT_MASK = (1 << DIGIT_BITS) - 1
_HALF_DIGIT = 1 << (DIGIT_BITS - 1)


@dataclass(frozen=True, eq=False, repr=False)
class ExactArray:
    """Exact integers times a power of two; `digits` is canonical (see the module), `low` counts limbs of 32 bits."""

    digits: IntArray  # (*shape, n_limbs)
    low: int

    # -- birth ------------------------------------------------------------------------------------------------
    @classmethod
    def zeros(cls, shape: int | tuple[int, ...]) -> ExactArray:
        """All entries zero: no limbs at all."""
        outer = shape if isinstance(shape, tuple) else (int(shape),)
        return cls(np.zeros((*outer, 0), dtype=np.int64), 0)

    @classmethod
    def from_limbs(cls, limbs: IntArray, low: int) -> ExactArray:
        """Any int64 limbs, carried and trimmed to the canonical form."""
        *shape, n_limbs = limbs.shape
        if limbs.size == 0:
            return cls.zeros(tuple(shape))
        flat = np.ascontiguousarray(limbs).reshape(-1, n_limbs)
        digits, first = _kernels.canonical(flat, low)
        return cls(digits.reshape(*shape, digits.shape[-1]), first)

    @classmethod
    def from_kernel(cls, digits: IntArray, low: int) -> ExactArray:
        """What a kernel summed: digits that are canonical already."""
        return cls(digits, low)

    @classmethod
    def from_counts(cls, counted: IntArray | tuple[IntArray, int]) -> ExactArray:
        """What a kernel counted: integers, or limbs and their low end where rows have weights."""
        return cls.from_kernel(*counted) if isinstance(counted, tuple) else cls.from_integers(counted)

    @classmethod
    def from_integers(cls, integers: ArrayLike) -> ExactArray:
        """Integers of up to 64 bits."""
        values = np.asarray(integers, dtype=np.int64)
        if _fits_one_limb(values):
            return cls(values[..., None], 0) if values.any() else cls.zeros(values.shape)
        return cls.from_limbs(np.stack([values & _DIGIT_MASK, values >> DIGIT_BITS], axis=-1), 0)

    @classmethod
    def from_floats(cls, floats: ArrayLike) -> ExactArray:
        """Finite floats, each taken as the rational number it is."""
        mantissa, exponent = np.frexp(np.asarray(floats, dtype=np.float64))
        integer = np.asarray(np.ldexp(mantissa, 53), dtype=np.int64)
        bit = np.where(integer == 0, 0, exponent.astype(np.int64) - 53)
        limb, shift = bit >> 5, bit & 31
        low = int(limb.min(initial=0))
        n_limbs = int(limb.max(initial=0)) - low + 4
        limbs = np.zeros((*integer.shape, n_limbs), dtype=np.int64)
        bottom = (integer & _DIGIT_MASK) << shift  # below 2^63
        top = (integer >> DIGIT_BITS) << shift  # below 2^52, signed
        parts = (bottom & _DIGIT_MASK, (bottom >> DIGIT_BITS) + (top & _DIGIT_MASK), top >> DIGIT_BITS)
        for offset, part in enumerate(parts):
            np.put_along_axis(limbs, (limb - low + offset)[..., None], part[..., None], axis=-1)
        return cls.from_limbs(limbs, low)

    @classmethod
    def from_ints(cls, integers: ObjectArray, low: int = 0) -> ExactArray:
        """Python integers of any size, in units of 2^(32 low)."""
        flat = [int(value) for value in integers.ravel()]
        n_limbs = max((value.bit_length() // DIGIT_BITS + 1 for value in flat), default=0)
        raw = b"".join(value.to_bytes(4 * n_limbs, "little", signed=True) for value in flat)
        digits = np.frombuffer(raw, dtype="<u4").astype(np.int64).reshape(*integers.shape, n_limbs)
        return cls.from_limbs(_with_signed_top(digits), low)

    @classmethod
    def from_words(cls, words: np.ndarray[Any, Any], low: int) -> ExactArray:
        """The inverse of `words`."""
        return cls.from_limbs(_with_signed_top(np.asarray(words, dtype=np.int64)), low)

    # -- shape ------------------------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        return self.digits.shape[:-1]

    def __getitem__(self, index: Any) -> ExactArray:
        picked = index if isinstance(index, tuple) else (index,)
        return ExactArray.from_limbs(self.digits[(*picked, Ellipsis, slice(None))], self.low)

    def reshape(self, *shape: int) -> ExactArray:
        return ExactArray(self.digits.reshape(*shape, self.digits.shape[-1]), self.low)

    def scatter_to(self, positions: Sequence[int] | IntArray, length: int, axis: int = 0) -> ExactArray:
        """Entries moved along an axis to the given positions of a longer axis, zero elsewhere."""
        moved = np.moveaxis(self.digits, axis, 0)
        target = np.zeros((length, *moved.shape[1:]), dtype=np.int64)
        target[np.asarray(positions, dtype=np.intp)] = moved
        return ExactArray.from_limbs(np.moveaxis(target, 0, axis), self.low)

    # -- the group --------------------------------------------------------------------------------------------
    def __add__(self, other: ExactArray) -> ExactArray:
        return _combined(self, other, 1)

    def __sub__(self, other: ExactArray) -> ExactArray:
        return _combined(self, other, -1)

    def __neg__(self) -> ExactArray:
        return ExactArray.from_limbs(-self.digits, self.low)

    def sum(self, axis: int | tuple[int, ...] | None = None) -> ExactArray:
        """Sum over some axes of the shape (all of them by default)."""
        axes = tuple(range(len(self.shape))) if axis is None else axis
        return ExactArray.from_limbs(self.digits.sum(axis=axes), self.low)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactArray):
            return NotImplemented
        return self.low == other.low and np.array_equal(self.digits, other.digits)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ExactArray({self.to_floats().tolist()})"

    # -- queries ----------------------------------------------------------------------------------------------
    def is_negative(self) -> BoolArray:
        return np.asarray(self.digits[..., -1] < 0) if self.digits.shape[-1] else np.zeros(self.shape, bool)

    def is_zero(self) -> BoolArray:
        return np.asarray(~self.digits.any(axis=-1))

    def as_counts(self) -> IntArray | None:
        """The entries as integers of 32 bits; None where one is none.

        >>> ExactArray.from_floats([3.0, 0.0]).as_counts().tolist(), ExactArray.from_floats([0.5]).as_counts()
        ([3, 0], None)
        """
        n_limbs = self.digits.shape[-1]
        if n_limbs > 1 or (n_limbs == 1 and self.low != 0):
            return None
        return np.ascontiguousarray(self.digits[..., 0]) if n_limbs else np.zeros(self.shape, np.int64)

    def words(self) -> np.ndarray[Any, np.dtype[np.uint32]]:
        """The digits as 32-bit words in two's complement: what a file keeps."""
        return self.digits.astype(np.uint32)

    def to_ints(self) -> tuple[ObjectArray, int]:
        """Python integers and the power of two they count in."""
        step = 4 * self.digits.shape[-1]
        if step == 0:
            return object_array([0] * int(np.prod(self.shape)), self.shape), 0
        raw = self.words().astype("<u4").tobytes()
        integers = [int.from_bytes(raw[k : k + step], "little", signed=True) for k in range(0, len(raw), step)]
        return object_array(integers, self.shape), DIGIT_BITS * self.low

    def to_fractions(self) -> ObjectArray:
        """The exact values."""
        integers, exponent = self.to_ints()
        unit = Fraction(2) ** exponent
        return object_array([Fraction(value) * unit for value in integers.ravel()], self.shape)

    def to_floats(self) -> FloatArray:
        """The nearest floats; beyond the range of floats, plus or minus infinity."""
        n_limbs = self.digits.shape[-1]
        if n_limbs == 0:
            return np.zeros(self.shape)
        if n_limbs <= 2 and -32 <= self.low <= 28:
            integer = self.digits[..., 0]
            if n_limbs == 2:
                integer = integer + (self.digits[..., 1] << DIGIT_BITS)
            return np.asarray(np.ldexp(integer.astype(np.float64), DIGIT_BITS * self.low))
        integers, exponent = self.to_ints()
        return quotient(integers, np.ones_like(integers), exponent)


def stacked(arrays: Sequence[ExactArray]) -> ExactArray:
    """Arrays of one shape side by side along a new last axis.

    >>> stacked([ExactArray.from_floats([1.0, 0.5]), ExactArray.from_floats([2.0, 4.0])])
    ExactArray([[1.0, 2.0], [0.5, 4.0]])
    """
    return side_by_side([array.reshape(*array.shape, 1) for array in arrays] or [ExactArray.zeros((0, 0))])


def side_by_side(arrays: Sequence[ExactArray]) -> ExactArray:
    """Arrays that differ at most in the length of their last axis, one after the other along it.

    >>> side_by_side([ExactArray.from_floats([1.0, 0.5]), ExactArray.from_floats([2.0])])
    ExactArray([1.0, 0.5, 2.0])
    """
    if len({(array.low, array.digits.shape[-1]) for array in arrays}) == 1:  # each needs these limbs, and so do all
        return ExactArray(np.concatenate([array.digits for array in arrays], axis=-2), arrays[0].low)
    limbs_used = [(array.low, array.low + array.digits.shape[-1]) for array in arrays if array.digits.size]
    low, high = min((low for low, _ in limbs_used), default=0), max((high for _, high in limbs_used), default=0)
    digits = np.zeros((*arrays[0].shape[:-1], sum(array.shape[-1] for array in arrays), high - low), dtype=np.int64)
    column = 0
    for array in arrays:
        after, first, end = column + array.shape[-1], array.low - low, array.low - low + array.digits.shape[-1]
        if array.digits.size:
            digits[..., column:after, first:end] = array.digits
            if end < high - low:  # the sign moves to the new top
                below = array.digits[..., -1:] < 0
                digits[..., column:after, end - 1] &= _DIGIT_MASK
                digits[..., column:after, end:-1] = np.where(below, _DIGIT_MASK, 0)
                digits[..., column:after, -1:] = np.where(below, -1, 0)
        column = after
    return ExactArray(digits, low)  # every limb at either end is needed by one of them


def quotient(numerator: ObjectArray, denominator: ObjectArray, exponent: int = 0) -> FloatArray:
    """numerator / denominator * 2^exponent, correctly rounded, for arrays of Python integers.

    >>> quotient(np.array([1], dtype=object), np.array([3], dtype=object), exponent=1).tolist()
    [0.6666666666666666]
    """
    up, down = max(exponent, 0), max(-exponent, 0)
    pairs = zip(numerator.ravel(), denominator.ravel(), strict=True)
    rounded = [_divided(int(above) << up, int(below) << down) for above, below in pairs]
    return np.array(rounded, dtype=np.float64).reshape(numerator.shape)


def object_array(values: list[Any], shape: tuple[int, ...]) -> ObjectArray:
    """An object array, safe from NumPy's guessing of nested sequences."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out.reshape(shape)


def _divided(numerator: int, denominator: int) -> float:
    """Python's int / int rounds correctly; only its overflow needs an answer."""
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if (numerator > 0) == (denominator > 0) else float("-inf")


def _fits_one_limb(values: IntArray) -> bool:
    return values.size > 0 and int(values.min()) >= -_HALF_DIGIT and int(values.max()) < _HALF_DIGIT


def _combined(left: ExactArray, right: ExactArray, sign: int) -> ExactArray:
    shape = np.broadcast_shapes(left.shape, right.shape)
    if right.digits.shape[-1] == 0 and left.shape == shape:  # zero everywhere
        return left
    if left.digits.shape[-1] == 0 and right.shape == shape and sign == 1:
        return right
    if left.low == right.low and left.digits.shape[-1] == right.digits.shape[-1] == 1:
        limbs = left.digits + sign * right.digits
        if _fits_one_limb(limbs) and limbs.any():  # counts: nothing to carry, nothing to trim
            return ExactArray(limbs, left.low)
    mine, theirs = (_entries(term, shape) for term in (left, right))
    digits, low = _kernels.add_exact(mine, left.low, theirs, right.low, sign < 0)
    return ExactArray(digits.reshape(*shape, digits.shape[-1]), low)


def _entries(exact: ExactArray, shape: tuple[int, ...]) -> IntArray:
    """(n_entries, n_limbs) of an array that is repeated to a shape."""
    n_limbs = exact.digits.shape[-1]
    digits = exact.digits if exact.shape == shape else np.broadcast_to(exact.digits, (*shape, n_limbs))
    return np.ascontiguousarray(digits).reshape(math.prod(shape), n_limbs)


def _with_signed_top(digits: IntArray) -> IntArray:
    if digits.shape[-1] == 0:
        return digits
    signed = digits.copy()
    signed[..., -1] = (signed[..., -1] ^ _HALF_DIGIT) - _HALF_DIGIT
    return signed
