"""What is believed before the rows: proper priors of all parameters, and of which columns are relevant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.models.averaged_naive_bayes.pairs import given_temper
from bayeswise.models.averaged_naive_bayes.structures import check_n_relevant
from bayeswise.models.naive_bayes.settings import MEstimate, NaiveBayesSettings

_UNUSED = ("denominator", "variance_divisor", "shared_variance", "variance_rule", "variance_floor")


@dataclass(frozen=True)
class AveragedSettings(NaiveBayesSettings):
    """The beliefs of an averaged naive Bayes model.

    relevance   the prior probability that a column tells the classes apart: one for all columns, or by column (1/2 for
                those that are not named)
    n_relevant  instead: a prior of how many columns are relevant, all structures of one number alike: "uniform",
                (a, b) of a beta-binomial, or probabilities by number
    temper      the exponent of what normal columns say; None: from their covariances, where pairs were summed, else 1
    smoothing   pseudo-counts: of each level of a category, and like the whole column for numbers and counts

    Variances have a prior of their own, so that there is no floor and no divisor to choose.
    """

    relevance: float | Mapping[str, float] = 0.5
    n_relevant: Any = None
    temper: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.relevance if isinstance(self.relevance, Mapping) else {"all columns": self.relevance}
        for column, share in given.items():
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                raise ParameterError(
                    f"the relevance of {column!r} must be a probability; found {share!r}", fix="give one from 0 to 1"
                )
        check_n_relevant(self.n_relevant)
        if self.n_relevant is not None and self.relevance != 0.5:
            raise ParameterError(
                "relevance and n_relevant are both a prior of the structures", fix="leave one of them out"
            )
        if self.temper is not None:
            given_temper(self.temper)
        if not self.pseudo_rows > 0 or (isinstance(self.smoothing, MEstimate) and self.smoothing.p):
            raise ParameterError(
                f"averaging over structures needs a proper prior; smoothing is {self.smoothing!r}",
                fix="give a number above 0, as smoothing=1.0",
            )
        for name in _UNUSED:
            standard = next(each.default for each in fields(NaiveBayesSettings) if each.name == name)
            if getattr(self, name) != standard:
                raise ParameterError(f"{name} means nothing where parameters are averaged over", fix="leave it out")

    def check_columns(self, columns: Iterable[str]) -> None:
        """Refuse a relevance of what is not a column."""
        known = tuple(columns)
        strange = next((name for name in self._named if name not in known), None)
        if strange is not None:
            shown = ", ".join(map(repr, known[:6])) + (", ..." if len(known) > 6 else "")
            raise ParameterError(f"relevance names {strange!r}, which is not a column", fix=f"name one of {shown}")

    @property
    def _named(self) -> Mapping[str, float]:
        return self.relevance if isinstance(self.relevance, Mapping) else {}

    def log_prior_odds(self, columns: tuple[str, ...]) -> FloatArray:
        """(n_columns,) log p(relevant) - log p(not relevant)."""
        share = np.array([self._relevance_of(column) for column in columns])
        return np.asarray(log(share) - log(1.0 - share))

    def _relevance_of(self, column: str) -> float:
        return float(self._named.get(column, 0.5) if isinstance(self.relevance, Mapping) else self.relevance)

    @property
    def convention(self) -> str:
        """What differs from the standard beliefs, in words."""
        standard = AveragedSettings()
        names = [each.name for each in fields(self)]
        changed = [f"{n}={getattr(self, n)!r}" for n in names if getattr(self, n) != getattr(standard, n)]
        return f"averaged{' with ' if changed else ''}{', '.join(changed)}"


def settings_from(plain: NaiveBayesSettings, **beliefs: Any) -> AveragedSettings:
    """The beliefs of a plain model that mean something here; the floor of its variances is replaced by a prior."""
    if plain.denominator != "levels" or plain.shared_variance:
        raise ParameterError(
            f"a model of the convention {plain.convention!r} cannot be averaged over structures",
            fix="fit it with the standard denominator and a variance for each class",
        )
    return AveragedSettings(
        smoothing=plain.smoothing,
        class_prior=plain.class_prior,
        prior_smoothing=plain.prior_smoothing,
        **beliefs,
    )
