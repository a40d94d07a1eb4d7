"""What a model says of a row as a tree of arithmetic, which back-ends write in their language.

A tree knows cells of columns, constants, tables by level, arithmetic, logarithms and choices. A cell without a number
is missing, and so is everything computed from it unless it is chosen away. What has probability 0 has the logarithm
`IMPOSSIBLE`: a finite number, since infinities do not add up in every language. A part that stands in several places
is one object, and is computed once.

>>> x = cell("size")
>>> tree = choose(is_missing(x), number(0.0), log(x) * 2.0 + 1.0)
>>> tree
choose(missing(size), 0.0, add(multiply(log(size), 2.0), 1.0))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.render.labels import Label

Op: TypeAlias = Literal[
    "number", "cell", "slot", "unreadable", "nothing",  # leaves
    "add", "subtract", "multiply", "divide", "square", "bounded",
    "log", "exp", "root", "absolute", "floor", "largest", "least",
    "missing", "below", "at most", "equal", "and", "or", "not",
    "choose", "lookup", "label",
]  # fmt: skip

IMPOSSIBLE = -1e300
FAR_OUT = -1e270
"""A log score below it is that of an impossible row, or of one beyond the range of floats."""
_FARTHEST = 1e140  # its square, twice, stays above FAR_OUT


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """One operation; `value` is what it knows besides its arguments."""

    op: Op
    args: tuple[Expression, ...] = ()
    value: Any = None

    def __add__(self, other: Operand) -> Expression:
        left, right = self, as_expression(other)
        if is_number(left, 0.0):
            return right
        return left if is_number(right, 0.0) else _joined("add", left, right, lambda a, b: a + b)

    def __neg__(self) -> Expression:
        return number(0.0) - self

    def __sub__(self, other: Operand) -> Expression:
        right = as_expression(other)
        return self if is_number(right, 0.0) else _joined("subtract", self, right, lambda a, b: a - b)

    def __mul__(self, other: Operand) -> Expression:
        left, right = self, as_expression(other)
        if is_number(left, 0.0) or is_number(right, 0.0):
            return number(0.0)
        if is_number(left, 1.0):
            return right
        return left if is_number(right, 1.0) else _joined("multiply", left, right, lambda a, b: a * b)

    def __truediv__(self, other: Operand) -> Expression:
        right = as_expression(other)
        return self if is_number(right, 1.0) else _joined("divide", self, right, lambda a, b: a / b)

    def __repr__(self) -> str:
        if not self.args:
            return str(self.value) if self.op in ("number", "cell", "slot") else self.op
        return f"{self.op}({', '.join(map(repr, self.args))})"


Operand: TypeAlias = Expression | float


def _joined(op: Op, left: Expression, right: Expression, fold: Callable[[float, float], float]) -> Expression:
    if left.op == right.op == "number":
        found = fold(left.value, right.value)
        if math.isfinite(found):
            return number(found)
    return Expression(op, (left, right))


# -- leaves -----------------------------------------------------------------------------------------------------
def number(value: float) -> Expression:
    """A constant; minus infinity is what is impossible."""
    plain = float(value)
    if math.isnan(plain) or plain == math.inf:
        raise ValueError(f"a constant of a score is {plain}")
    return Expression("number", (), max(plain, IMPOSSIBLE))


def is_number(expression: Expression, value: float) -> bool:
    """Whether it is this constant."""
    return expression.op == "number" and expression.value == value


def as_expression(operand: Operand) -> Expression:
    """A constant for a number."""
    return operand if isinstance(operand, Expression) else number(operand)


def cell(column: str) -> Expression:
    """The number in a column; missing where there is none."""
    return Expression("cell", (), column)


def nothing() -> Expression:
    """No number: NULL, or NaN."""
    return Expression("nothing")


@dataclass(frozen=True)
class Levels:
    """A column of labels and those that are known: slot k is the k-th, then come "missing" and "unseen"."""

    column: str
    labels: tuple[Label, ...]

    @property
    def missing(self) -> int:
        return len(self.labels)

    @property
    def unseen(self) -> int:
        return len(self.labels) + 1

    def __str__(self) -> str:
        return self.column


@dataclass(frozen=True)
class Cuts:
    """A number and where it is cut: slot k is from the k-th cut on, then come "missing" and "unseen", which none is."""

    column: str
    cuts: tuple[float, ...]

    @property
    def missing(self) -> int:
        return len(self.cuts) + 1

    @property
    def unseen(self) -> int:
        return len(self.cuts) + 2

    def __str__(self) -> str:
        return self.column


# -- functions --------------------------------------------------------------------------------------------------
def log(x: Expression) -> Expression:
    """The logarithm of what is above 0."""
    return number(math.log(x.value)) if x.op == "number" else Expression("log", (x,))


def exp(x: Expression) -> Expression:
    return Expression("exp", (x,))


def root(x: Expression) -> Expression:
    return Expression("root", (x,))


def absolute(x: Expression) -> Expression:
    return Expression("absolute", (x,))


def floor(x: Expression) -> Expression:
    return Expression("floor", (x,))


def square(x: Expression) -> Expression:
    return Expression("square", (x,))


def bounded(x: Expression, centre: float, scale: float) -> Expression:
    """x, for languages that raise errors at overflow no farther from the centre than squares of x / scale allow."""
    low, high = centre - _FARTHEST * scale, centre + _FARTHEST * scale
    return Expression("bounded", (x,), (low, high)) if math.isfinite(low) and math.isfinite(high) else x


def largest(terms: Sequence[Expression]) -> Expression:
    return terms[0] if len(terms) == 1 else Expression("largest", tuple(terms))


def least(terms: Sequence[Expression]) -> Expression:
    return terms[0] if len(terms) == 1 else Expression("least", tuple(terms))


def total(terms: Iterable[Expression]) -> Expression:
    """The sum, by halves: a thousand terms are ten deep."""
    left = [term for term in terms if not is_number(term, 0.0)]
    if not left:
        return number(0.0)
    while len(left) > 1:
        pairs = [left[k] + left[k + 1] for k in range(0, len(left) - 1, 2)]
        left = [*pairs, *left[2 * len(pairs) :]]
    return left[0]


def log_one_plus(x: Expression) -> Expression:
    """log(1 + x) with all digits for small x (Kahan): log(u) x / (u - 1) with u = 1 + x."""
    u = x + 1.0
    rest = u - 1.0
    small = equal(rest, number(0.0))
    return choose(small, x, log(u) * (x / choose(small, number(1.0), rest)))


def log_of_positive(x: Expression) -> Expression:
    """log x where x is above 0; a number in any case."""
    return log(choose(below(number(0.0), x), x, number(1.0)))


def standardised(x: Expression, mean: float, mean_low: float, stddev: float) -> Expression:
    """(x - mean) / stddev, the mean as high + low."""
    return ((bounded(x, mean, stddev) - mean) - mean_low) / stddev


def log_bell(z: Expression) -> Expression:
    """-z^2 / 2."""
    return square(z) * -0.5


def times_log(x: Expression, log_share: float) -> Expression:
    """x log(share), where 0 log 0 is 0."""
    return choose(at_most(x, 0.0), number(0.0), number(IMPOSSIBLE)) if log_share == -math.inf else x * log_share


_STIRLING_FROM = 10
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def log_rising(a: float, x: Expression) -> Expression:
    """log Gamma(a + x) - log Gamma(a) for x >= 0, by Stirling's series from 10 on and the recurrence below."""
    known = choose(at_most(number(0.0), x), x, number(0.0))
    steps = max(0, math.ceil(_STIRLING_FROM - a))
    lower = [(known + (a + k)) / (a + k) for k in range(steps)]
    start = a + steps
    end = known + start
    main = log_one_plus(known / start) * (start - 0.5) + known * (log(end) - 1.0)
    series = _correction(number(1.0) / end) - _correction(number(1.0 / start))
    return main + series - total(log(each) for each in lower)


def _correction(inverse: Expression) -> Expression:
    """1 / 12z - 1 / 360z^3 + ..."""
    power = square(inverse)
    found = number(0.0)
    for coefficient in reversed(_STIRLING):
        found = found * power + coefficient
    return found * inverse


def log_sum_exp(terms: Sequence[Expression]) -> Expression:
    """log of the sum of exponentials, none of which leaves the range of floats."""
    if len(terms) == 1:
        return terms[0]
    top = largest(terms)
    return top + log(total(exp(term - top) for term in terms))


# -- conditions -------------------------------------------------------------------------------------------------
def is_missing(x: Expression) -> Expression:
    return Expression("missing", (x,))


def below(x: Expression, y: Operand) -> Expression:
    return Expression("below", (x, as_expression(y)))


def at_most(x: Expression, y: Operand) -> Expression:
    return Expression("at most", (x, as_expression(y)))


def equal(x: Expression, y: Operand) -> Expression:
    return Expression("equal", (x, as_expression(y)))


def both(*conditions: Expression) -> Expression:
    return conditions[0] if len(conditions) == 1 else Expression("and", conditions)


def either(*conditions: Expression) -> Expression:
    return conditions[0] if len(conditions) == 1 else Expression("or", conditions)


def negated(condition: Expression) -> Expression:
    return Expression("not", (condition,))


def in_slot(slot: Expression, place: int) -> Expression:
    """Whether a row has this level (or "missing", or "unseen")."""
    return Expression("equal", (slot, number(float(place))))


# -- choices ----------------------------------------------------------------------------------------------------
def choose(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """One of two numbers; of the other one nothing is needed, not even that it is a number."""
    if then is otherwise or (then.op == otherwise.op == "number" and then.value == otherwise.value):
        return then
    return Expression("choose", (condition, then, otherwise))


def lookup(slots: Sequence[Expression], table: FloatArray) -> Expression:
    """The entry of a table, one axis for each slot: its levels, then missing, then unseen."""
    shape = tuple(slot.value.unseen + 1 for slot in slots)
    entries = np.maximum(np.asarray(table, dtype=np.float64), IMPOSSIBLE)
    if entries.shape != shape:
        raise ValueError(f"a table of the shape {entries.shape} for slots {shape}")
    flat = entries.ravel()
    return number(flat[0]) if (flat == flat[0]).all() else Expression("lookup", tuple(slots), flat)


def label(conditions: Sequence[Expression], labels: Sequence[Label], valid: Expression) -> Expression:
    """The label of the first condition that holds, the last one if none does; none unless `valid`."""
    return Expression("label", (valid, *conditions), tuple(labels))


def in_order(roots: Iterable[Expression]) -> Iterator[Expression]:
    """Every expression once, arguments first."""
    seen: set[int] = set()
    stack = [(root, False) for root in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))
