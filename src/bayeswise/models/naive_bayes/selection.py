"""Which family for which number column: the one under which the rows, parameters integrated out, are most probable.

Every candidate starts from one imagined row of the whole column, so that none is favoured by a sharper prior; the log
evidence log p(column | classes, family) then weighs fit against flexibility by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise import families
from bayeswise.engines import Request, summarise
from bayeswise.families.arithmetic.deviations import gap_between
from bayeswise.families.arithmetic.evidence import log_gamma_evidence
from bayeswise.families.normal import LOG_TWO_PI
from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.naive_bayes.factors import pseudo_rows_of
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.schema import Schema


@dataclass(frozen=True)
class Extent:
    """What a column's values allow: its smallest number, and whether all are whole."""

    minimum: float
    whole: bool


def extent_of(values: FloatArray) -> Extent:
    """The extent of a column of numbers; missing ones are left out.

    >>> extent_of(np.array([2.0, np.nan, 5.0]))
    Extent(minimum=2.0, whole=True)
    """
    present = values[~np.isnan(values)]
    return Extent(float(present.min(initial=np.inf)), bool((present == np.floor(present)).all()))


@dataclass(frozen=True)
class Choice:
    """The log evidence of each family that a column allows, best first."""

    column: str
    log_evidence: Mapping[str, float]
    family: Any

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        ranked = list(self.log_evidence.items())
        if len(ranked) == 1:
            return f"{ranked[0][0]}: no other family allows these values"
        (best, top), (second, next_top) = ranked[:2]
        return f"{best}: the rows are e^{top - next_top:.1f} times as probable as under {second}"


@dataclass(frozen=True)
class Selection:
    """One choice for each number column; `families` is what `fit(families=...)` takes."""

    choices: tuple[Choice, ...]

    @property
    def families(self) -> dict[str, Any]:
        return {choice.column: choice.family for choice in self.choices}

    def __repr__(self) -> str:
        return "\n".join(f"{choice.column}: {choice.reason}" for choice in self.choices) or "no number columns"


def candidates(extent: Extent) -> tuple[Any, ...]:
    """The families with a closed-form evidence that allow such values."""
    allowed: list[Any] = [families.Normal()]
    if extent.minimum > 0:
        allowed += [families.LogNormal(), families.Exponential()]
    elif extent.minimum == 0 and not extent.whole:
        allowed += [families.Exponential()]
    if extent.minimum >= 0 and extent.whole:
        allowed += [families.Poisson(), families.Geometric()]
    return tuple(allowed)


def select_families(batches: Iterable[Batch], schema: Schema, extents: Mapping[str, Extent]) -> Selection:
    """Choose in one sweep."""
    asked = {name: candidates(extents[name]) for name in schema.numbers}
    request = Request({})
    for name, allowed in asked.items():
        for family in allowed:
            request = request | Request.numbers(f"{name} as {family.name}", [name], family.statistic)
    found = summarise(batches, schema, request).statistics.part
    return Selection(
        tuple(
            choice(name, {family: found[f"{name} as {family.name}"] for family in allowed})
            for name, allowed in asked.items()
        )
    )


def choice(name: str, statistics: Mapping[Any, Any]) -> Choice:
    """The best of some families for one column, each with its own statistic of it."""
    scored = [(_log_evidence(family, statistic), family) for family, statistic in statistics.items()]
    scored.sort(key=lambda pair: -pair[0])
    return Choice(name, {family.name: score for score, family in scored}, scored[0][1])


def _log_evidence(family: Any, statistic: Any) -> float:
    """log p(all cells | classes): the classes are independent given the prior of one imagined row."""
    if family.name == "normal":
        return _log_normal_evidence(statistic)
    spread = statistic.pooled().take(np.zeros(statistic.weight_of_rows.shape[0], dtype=np.int64))
    prior = _normal_prior(spread) if family.name == "log-normal" else pseudo_rows_of(family, spread, 1.0)
    log_marginal: FloatArray = family.log_marginal(statistic, prior)
    return float(log_marginal.sum())


def _normal_prior(whole: Any) -> families.NormalInverseGamma:
    mean = whole.mean(empty=0.0)
    variance = whole.variance("n", empty=0.0)
    one = np.ones_like(mean)
    return families.NormalInverseGamma(mean, one, one, np.where(variance > 0, variance, 1.0))


def _log_normal_evidence(statistic: Any) -> float:
    """`_normal_prior` in units of the whole column, as squares of 1e300 and of 1e-300 are not floats."""
    whole = statistic.pooled()
    found = whole.stddev("n", empty=0.0)
    unit = np.where(found > 0, found, 1.0)
    n = statistic.weight.to_floats()
    gap = gap_between(statistic.mean_pair(empty=0.0), whole.mean_pair(empty=0.0)) / unit
    square = n * (statistic.stddev("n", empty=0.0) / unit) ** 2
    added = 0.5 * (square + n / (1.0 + n) * np.where(n > 0, gap, 0.0) ** 2)
    log_scales = log_gamma_evidence(1.0, 1.0, 0.5 * n, added)
    return float((log_scales - 0.5 * np.log1p(n) - n * (0.5 * LOG_TWO_PI + np.log(unit))).sum())
