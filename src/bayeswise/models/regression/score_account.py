"""Why this number: the score of one row as a sum over its columns, seen from the mean of each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from bayeswise.explanations.wording import value_text
from bayeswise.render.labels import shown
from bayeswise.render.numbers import number
from bayeswise.render.plain import json_number, json_value
from bayeswise.render.terminal import aligned


@dataclass(frozen=True)
class Term:
    """What one column adds: w (x - mean), for a category the sum over its indicators."""

    column: str
    value: Any
    amount: float
    note: str = ""


@dataclass(frozen=True)
class ScoreAccount:
    """score = the score at the means + one term for each column; the mean is the score, or exp(score) for rates.

    >>> why = ScoreAccount("price", 200.0, (Term("size", 80.0, 55.0), Term("age", 10.0, -5.5)), "gaussian")
    >>> why.score, why.strongest[0].column
    (249.5, 'size')
    >>> print(why.to_text())
    price = 249.5
      at the means         200
      size = 80            +55
      age = 10            -5.5
    """

    target: str
    at_means: float
    terms: tuple[Term, ...]
    likelihood: str
    is_log: bool = False
    title: str = field(default="", kw_only=True)

    @property
    def score(self) -> float:
        """The sum, rounded once."""
        return math.fsum([self.at_means, *(term.amount for term in self.terms)])

    @property
    def mean(self) -> float:
        """E[target | row]."""
        return math.exp(min(self.score, 700.0)) if self.is_log else self.score

    @property
    def strongest(self) -> tuple[Term, ...]:
        """The terms, the largest amount first."""
        return tuple(sorted(self.terms, key=lambda term: -abs(term.amount)))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "title": self.title,
            "target": self.target,
            "likelihood": self.likelihood,
            "link": "log" if self.is_log else "identity",
            "at_means": json_number(self.at_means),
            "contributions": [
                {
                    "column": term.column,
                    "value": json_value(term.value),
                    "amount": json_number(term.amount),
                    "note": term.note,
                }
                for term in self.terms
            ],
            "score": json_number(self.score),
            "mean": json_number(self.mean),
        }

    def to_text(self) -> str:
        """One line for each column, the largest amount first."""
        labels = [f"{shown(t.column, 30)} = {shown(value_text(t.value, t.note), 24)}" for t in self.strongest]
        lines = [("at the means", number(self.at_means, 6))]
        lines += [(label, number(t.amount, 6, signed=True)) for label, t in zip(labels, self.strongest, strict=True)]
        if self.is_log:
            lines.append(("score, the log of the mean", number(self.score, 6)))
        heading = [f"{shown(self.target)} = {number(self.mean, 6)}", *([self.title] if self.title else [])]
        return "\n".join([*heading, *aligned(lines, indent="  ")])
