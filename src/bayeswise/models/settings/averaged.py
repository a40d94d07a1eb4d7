"""Settings of averaged naive Bayes: proper priors of all parameters, and of which columns are relevant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, listed
from bayeswise.models.settings.declaration import declared, setting
from bayeswise.models.settings.naive_bayes import Counts, FamilyOptions, MEstimate, NaiveBayesSettings
from bayeswise.store.fields import fits

if TYPE_CHECKING:
    from bayeswise.foundation.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Relevance:
    """A prior of which columns are relevant to the class."""

    relevance: float | Mapping[str, float] = setting(
        0.5,
        "prior probability that a column is relevant, for all or by column",
        metavar="[COL=]P",
        at_least=0,
        at_most=1,
        form='{"age": 0.9}',
    )
    n_relevant: Literal["uniform"] | tuple[float, float] | Mapping[int, float] | None = setting(
        None,
        "instead, a prior of the number of relevant columns: uniform",
        option="",
        form="(a, b) of a beta-binomial, or probabilities that add up to 1, as {0: 0.2, 1: 0.8}",
    )


@dataclass(frozen=True, kw_only=True)
class AveragedSettings(Relevance, NaiveBayesSettings):
    """What an averaged naive Bayes model keeps.

    Variances have a prior of their own, so that there is no floor and no divisor to choose; `shared_variance` is one of
    each normal column for all classes. `temper` is the exponent of
    what normal columns say; None: from their covariances, where pairs were summed, else 1.
    """

    temper: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for column, share in self._named.items():
            if not declared(AveragedSettings)["relevance"].takes(share) or isinstance(share, Mapping):
                raise ParameterError(f"relevance of {column!r} is {share!r}", fix="give a number from 0 to 1")
        if not _is_prior(self.n_relevant):
            raise declared(AveragedSettings)["n_relevant"].refused(self.n_relevant)
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
        for each in fields(NaiveBayesSettings):
            if each.name not in (*declared(Counts), "shared_variance") and getattr(self, each.name) != each.default:
                raise ParameterError(
                    f"{each.name} has no effect where parameters are averaged over", fix="leave it out"
                )

    def check_columns(self, columns: Iterable[str]) -> None:
        """Refuse a relevance of what is not a column."""
        known = tuple(columns)
        strange = next((name for name in self._named if name not in known), None)
        if strange is not None:
            fix = f"name one of {listed(map(repr, known), 6)}"
            raise ParameterError(f"relevance names {strange!r}, which is not a column", fix=fix)

    @property
    def _named(self) -> Mapping[str, float]:
        return self.relevance if isinstance(self.relevance, Mapping) else {}

    def log_prior_odds(self, columns: tuple[str, ...]) -> FloatArray:
        """(n_columns,) log p(relevant) - log p(not relevant)."""
        import numpy as np

        from bayeswise.foundation.logspace import log

        share = np.array([self._relevance_of(column) for column in columns])
        return np.asarray(log(share) - log(1.0 - share))

    def _relevance_of(self, column: str) -> float:
        return float(self._named.get(column, 0.5) if isinstance(self.relevance, Mapping) else self.relevance)

    @property
    def convention(self) -> str:
        """What differs from the standard settings, in words."""
        differing = self._differing(AveragedSettings())
        return f"averaged{' with ' if differing else ''}{differing}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AveragedOptions(Counts, Relevance, FamilyOptions):
    """All that `fit` takes for averaged naive Bayes."""

    model: Literal["averaged", "averaged-naive-bayes"]
    temper: float | Literal["auto", "pairs"] = setting(
        "auto",
        "discount evidence that columns share, estimated from their pairs: auto (number columns, if rows are few), "
        "pairs (always, and categories too), or an exponent for number columns",
        metavar="HOW",
        above=0,
        at_most=1,
    )
    shared_variance: bool = setting(False, "one variance of each normal column for all classes")


def given_temper(temper: Any) -> float | None:
    """The exponent, where it is given as a number."""
    from bayeswise.foundation.arrays import plain

    temper = plain(temper)
    declared(AveragedOptions)["temper"].check(temper)
    return None if isinstance(temper, str) else float(temper)


def settings_from(plain: NaiveBayesSettings, relevance: Any, n_relevant: Any, temper: float | None) -> AveragedSettings:
    """The settings of a plain model that mean something here; the floor of its variances is replaced by a prior."""
    if plain.denominator != "levels":
        raise ParameterError(
            f"a model of the convention {plain.convention!r} cannot be averaged over structures",
            fix="fit it with the standard denominator",
        )
    return AveragedSettings(
        smoothing=plain.smoothing,
        class_prior=plain.class_prior,
        prior_smoothing=plain.prior_smoothing,
        shared_variance=plain.shared_variance,
        relevance=relevance,
        n_relevant=n_relevant,
        temper=temper,
    )


def _is_prior(n_relevant: Any) -> bool:
    """Whether numbers of the right type are a prior of a number of columns."""
    if isinstance(n_relevant, Mapping):
        numbers = [fits(share, float) and share >= 0 for share in n_relevant.values()]
        whole = [type(k) is int and k >= 0 for k in n_relevant]
        return all(whole) and all(numbers) and abs(sum(n_relevant.values()) - 1.0) <= 1e-9
    return not isinstance(n_relevant, tuple) or all(0 < each < math.inf for each in n_relevant)
