"""The calculation behind an answer as a teacher writes it: every factor, the joint, the evidence, the posterior."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.balance import value_text
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError
from bayeswise.render.labels import shown
from bayeswise.render.numbers import decimal_text, fraction_text
from bayeswise.render.plain import Tabular, json_value
from bayeswise.render.terminal import aligned
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account

_LONGEST = 40  # characters of a fraction that can be read
_CLOSE = 1e-9  # by which counts may differ from the logarithm that the model adds up


@dataclass(frozen=True)
class Ratio:
    """A count over a count, as it was counted: 3/9 stays 3/9."""

    above: Fraction
    below: Fraction

    @property
    def value(self) -> Fraction:
        return self.above / self.below

    def __str__(self) -> str:
        if self.above.denominator == self.below.denominator == 1:
            return f"{fraction_text(self.above)}/{fraction_text(self.below)}"
        return fraction_text(self.value)


@dataclass(frozen=True, eq=False)
class Steps(Tabular):
    """Factors of each state, in fractions where they were counted; otherwise in decimals.

    `names` are the factors: P(value | state) of each column, then the prior.
    """

    states: tuple[Label, ...]
    names: tuple[str, ...]
    factors: tuple[tuple[Ratio | float, ...], ...]  # (n_factors, n_states)
    log_factors: Any  # (n_factors, n_states)

    @classmethod
    def of(
        cls,
        account: Account,
        prior: Sequence[Ratio] | None = None,
        counted: Mapping[str, Sequence[Ratio]] | None = None,
    ) -> Steps:
        """From an account, and counts of the prior and of columns where there are any."""
        given = counted or {}
        names, factors, logs = [], [], []
        for part in account.contributions:
            if not part.log_likelihood.any() and part.note:
                continue  # skipped: it is a factor of 1
            names.append(f"{shown(part.column)} = {value_text(part.value, part.note)}")
            factors.append(_factors(part.log_likelihood, given.get(part.column)))
            logs.append(part.log_likelihood)
        names.append("")
        factors.append(_factors(account.log_prior, prior))
        logs.append(account.log_prior)
        return cls(account.states, tuple(names), tuple(factors), np.array(logs))

    @property
    def exact(self) -> bool:
        """Whether all factors are fractions."""
        return all(isinstance(factor, Ratio) for row in self.factors for factor in row)

    @property
    def joint(self) -> list[Fraction | float]:
        """P(row, state) of each state: the product of its factors."""
        if self.exact:
            columns = zip(*self.factors, strict=True)
            return [
                math.prod((f.value for f in column if isinstance(f, Ratio)), start=Fraction(1)) for column in columns
            ]
        return [math.exp(math.fsum(column)) for column in np.asarray(self.log_factors).T.tolist()]

    @property
    def evidence(self) -> Fraction | float:
        """P(row), the sum over the states."""
        return sum(self.joint, start=Fraction(0) if self.exact else 0.0)

    @property
    def posterior(self) -> list[Fraction | float]:
        """P(state | row)."""
        total = self.evidence
        if not total:
            raise ImpossibleEvidenceError(
                "this case has probability 0 in every state, or one too small for a float",
                fix="use smoothing above 0, or look at `explain` without steps",
            )
        return [each / total for each in self.joint]

    def to_columns(self) -> dict[str, list[Any]]:
        """factor, and its value in each state, then joint, evidence and posterior."""
        names = [*(f"P({name} | state)" for name in self.names[:-1]), "P(state)", "joint", "evidence", "posterior"]
        found: dict[str, list[Any]] = {"step": names}
        for k, state in enumerate(self.states):
            own = [_text(row[k]) for row in self.factors]
            found[str(shown(state))] = [*own, *map(_text, (self.joint[k], self.evidence, self.posterior[k]))]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: fractions as texts, and decimals."""

        def both(value: Any) -> dict[str, Any]:
            ratio = value.value if isinstance(value, Ratio) else value
            return {"fraction": str(value) if isinstance(ratio, Fraction) else None, "decimal": float(ratio)}

        states = []
        for k, state in enumerate(self.states):
            factors = [
                {"of": name or "prior", **both(row[k])} for name, row in zip(self.names, self.factors, strict=True)
            ]
            facts = {"joint": both(self.joint[k]), "posterior": both(self.posterior[k])}
            states.append({"state": json_value(state), "factors": factors, **facts})
        return {"states": states, "evidence": both(self.evidence)}

    def __str__(self) -> str:
        lines: list[str] = []
        for k, state in enumerate(self.states):
            rows = [
                [f"P({name} | {shown(state)})" if name else f"P({shown(state)})", *_both(row[k])]
                for name, row in zip(self.names, self.factors, strict=True)
            ]
            product = " · ".join(_text(row[k]) for row in self.factors)
            lines += [*aligned(rows, right=()), f"P(row, {shown(state)}) = {product} = {_equal(self.joint[k])}", ""]
        terms = " + ".join(_text(each) for each in self.joint)
        lines.append(f"evidence: P(row) = {terms} = {_equal(self.evidence)}")
        for state, joint, share in zip(self.states, self.joint, self.posterior, strict=True):
            ratio = f"({_text(joint)}) / ({_text(self.evidence)})"
            lines.append(f"P({shown(state)} | row) = {ratio} = {_equal(share)}")
        best = self.states[max(range(len(self.states)), key=lambda k: self.joint[k])]
        return "\n".join([*lines, f"most probable: {shown(best)}"])


def _factors(log_p: Any, counted: Sequence[Ratio] | None) -> tuple[Ratio | float, ...]:
    """The counts, if they are what the model adds up; else the numbers themselves."""
    values = tuple(math.exp(each) for each in np.asarray(log_p).tolist())
    if counted is None:
        return values
    same = all(
        each.below > 0 and abs(float(each.value) - value) <= _CLOSE * max(value, 1e-300)
        for each, value in zip(counted, values, strict=True)
    )
    return tuple(counted) if same else values


def _text(value: Ratio | Fraction | float) -> str:
    if isinstance(value, Ratio):
        return str(value) if len(str(value)) <= _LONGEST else decimal_text(value.value)
    if isinstance(value, Fraction):
        ratio = fraction_text(value)
        return ratio if len(ratio) <= _LONGEST else decimal_text(value)
    return f"{value:.6g}"


def _both(value: Ratio | float) -> list[str]:
    """A fraction and its decimal digits, or the digits alone."""
    return (
        [f"= {_text(value)}", f"= {decimal_text(value.value)}"] if isinstance(value, Ratio) else [f"= {value:.6g}", ""]
    )


def _equal(value: Fraction | float) -> str:
    """The value as a fraction and in decimals."""
    if not isinstance(value, Fraction):
        return f"{value:.6g}"
    ratio, digits = _text(value), decimal_text(value)
    return ratio if ratio == digits else f"{ratio} = {digits}"
