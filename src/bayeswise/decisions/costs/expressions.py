"""Costs that depend on the row: numbers, names of columns, + - * / and brackets; a formula is data, no program."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError

_LONGEST = 1000  # characters
_WORDS = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)|`(?P<quoted>[^`]+)`|(?P<sign>[-+*/()]))"
)
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2, "negative": 3}

Step: TypeAlias = float | str | tuple[str]  # a number, a sign, or the name of a column in a tuple


@dataclass(frozen=True)
class Expression:
    """A formula over columns, as steps of a stack: operands first, then the sign that joins them.

    >>> fee = Expression.parse("0.05 * amount + 5")
    >>> fee.names, fee.values({"amount": np.array([100.0, 200.0])}).tolist()
    (('amount',), [10.0, 15.0])
    >>> Expression.parse("2 * `price in €`").names
    ('price in €',)
    """

    text: str
    steps: tuple[Step, ...]

    @classmethod
    def parse(cls, text: str) -> Expression:
        """Read a formula, or raise an error with the place of the first invalid word."""
        return cls(text, tuple(_in_stack_order(text)))

    def negated(self) -> Expression:
        """The same with the other sign.

        >>> gain = Expression.parse("amount - 5").negated()
        >>> str(gain), gain.values({"amount": np.array([7.0])}).tolist()
        ('-(amount - 5)', [-2.0])
        """
        return Expression(f"-({self.text})", (*self.steps, "negative"))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the formula needs, each once."""
        return tuple(dict.fromkeys(step[0] for step in self.steps if isinstance(step, tuple)))

    def values(self, columns: Mapping[str, FloatArray]) -> FloatArray:
        """The formula for every row; dividing by zero gives infinity, which the cost table refuses."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(
                self.computed(lambda name: np.asarray(columns[name], dtype=np.float64), np.float64, operator.truediv)
            )

    def computed(
        self, column: Callable[[str], Any], number: Callable[[float], Any], divide: Callable[[Any, Any], Any]
    ) -> Any:
        """The formula in any arithmetic that has + - *: of arrays, or of expressions of an export."""
        stack: list[Any] = []
        for step in self.steps:
            if isinstance(step, tuple):
                stack.append(column(step[0]))
            elif isinstance(step, float):
                stack.append(number(step))
            elif step == "negative":
                stack.append(-stack.pop())
            else:
                right, left = stack.pop(), stack.pop()
                stack.append({**_SIGNS, "/": divide}[step](left, right))
        return stack.pop()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return repr(self.text)


def _words(text: str) -> Iterator[tuple[int, str, str]]:
    """Where each word begins, its kind and its text."""
    if len(text) > _LONGEST:
        raise CostError(f"a cost formula has {len(text)} characters", fix=f"write it in {_LONGEST}, or add a column")
    end = 0
    while text[end:].strip():
        found = _WORDS.match(text, end)
        if found is None or found.lastgroup is None:
            raise _wrong(text, end, "is not a number, name of a column or sign")
        yield found.start(found.lastgroup), found.lastgroup, found[found.lastgroup]
        end = found.end()


def _in_stack_order(text: str) -> Iterator[Step]:
    """Operands before their sign; brackets and strength of signs are gone."""
    waiting: list[tuple[int, str]] = []
    operand_next = True
    for place, kind, word in _words(text):
        if kind != "sign":
            if not operand_next:
                raise _wrong(text, place, "needs a sign before it")
            yield float(word) if kind == "number" else (word,)
            operand_next = False
        elif operand_next:
            if word not in "-+(":
                raise _wrong(text, place, "needs a number or a column before it")
            if word != "+":
                waiting.append((place, "(" if word == "(" else "negative"))
        elif word == "(":
            raise _wrong(text, place, "needs a sign before it")
        elif word == ")":
            while waiting and waiting[-1][1] != "(":
                yield waiting.pop()[1]
            if not waiting:
                raise _wrong(text, place, "closes a bracket that was never opened")
            waiting.pop()
        else:
            while waiting and waiting[-1][1] != "(" and _STRENGTH[waiting[-1][1]] >= _STRENGTH[word]:
                yield waiting.pop()[1]
            waiting.append((place, word))
            operand_next = True
    if operand_next:
        raise _wrong(text, len(text.rstrip()), "should be a number or a column")
    for place, word in reversed(waiting):
        if word == "(":
            raise _wrong(text, place, "opens a bracket that is never closed")
        yield word


def _wrong(text: str, place: int, why: str) -> CostError:
    word = text[place : place + 12] or "the end"
    return CostError(
        f"the formula {text!r} goes wrong at letter {place + 1}: {word!r} {why}",
        fix="write numbers, names of columns, + - * / and brackets; other names in `back quotes`",
    )
