"""Settings of naive Bayes: smoothing, class prior, variance floor; and the conventions of others, by name.

Nothing here is in the statistics, so any of it can be changed without a second look at the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import partial
from typing import Any, Literal, TypeAlias

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.settings import common
from bayeswise.models.settings.declaration import Settings, declared, plain_fields, setting
from bayeswise.render.labels import Label, refuse_unknown

Families: TypeAlias = str | Any | Mapping[str, Any]
amount = partial(setting, at_least=0)


@dataclass(frozen=True)
class MEstimate:
    """(n_v + m p_v) / (n + m): m pseudo-counts shared out by p, evenly unless p is given by column and level.

    >>> MEstimate(2, p={"wind": {"weak": 0.9, "strong": 0.1}})
    MEstimate(m=2, p={'wind': {'weak': 0.9, 'strong': 0.1}})
    """

    m: float
    p: Mapping[str, Mapping[Label, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plain_fields(self)
        if not declared(Counts)["prior_smoothing"].takes(self.m):
            raise ParameterError(f"m is {self.m!r}", fix="give a number from 0 on")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Counts(Settings):
    """Pseudo-counts, and the prior of the classes."""

    smoothing: float | MEstimate = amount(1.0, "pseudo-counts of each level, or an m-estimate", form="MEstimate(m)")
    class_prior: Mapping[Label, float] | None = common.class_prior()
    prior_smoothing: float = amount(0.0, "pseudo-counts of each class")

    @property
    def pseudo_rows(self) -> float:
        """The pseudo-counts behind families that are smoothed towards the whole column."""
        return self.smoothing.m if isinstance(self.smoothing, MEstimate) else self.smoothing


@dataclass(frozen=True, kw_only=True)
class NaiveBayesSettings(Counts):
    """What a naive Bayes model keeps; the probabilities of denominator="classes" do not add up to one."""

    denominator: Literal["levels", "classes"] = setting(
        "levels", "smoothing is added to the denominator once per level or, as in some lecture notes, once per class"
    )
    variance_divisor: Literal["n", "n-1"] = common.variance_divisor()
    shared_variance: bool = setting(False, "one variance for all classes, so that log-odds are linear")
    variance_rule: Literal["floor", "added"] = setting(
        "floor", "variance_floor is the floor of each variance, or added to it as a share of the largest one"
    )
    variance_floor: float = amount(1e-9, "smallest variance, as a share of the column's")
    word_weight: float = setting(
        1.0,
        "weight of each word of a text; below 1 if words repeat or occur together",
        later=True,
        above=0,
        at_most=1,
    )

    @property
    def convention(self) -> str:
        """The name of these settings, or what differs from the nearest one."""
        named = next((name for name, preset in CONVENTIONS.items() if preset == self), None)
        return named or f"laplace with {self._differing(CONVENTIONS['laplace'])}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FamilyOptions(common.ColumnOptions):
    """What matters while naive Bayes, plain or averaged, is learned."""

    families: Families = setting(
        "auto",
        "families of columns: auto (by kind), select (by evidence), one for all numbers, or by column",
        option="family",
        metavar="[COL=]FAMILY",
        form='{"visits": "poisson"}',
    )
    convention: str | None = setting(
        None, "a preset: laplace, exact, weka, scikit-learn, ...; other settings override it", metavar="NAME"
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NaiveBayesOptions(NaiveBayesSettings, FamilyOptions):
    """All that `fit` takes for naive Bayes."""

    model: Literal["naive-bayes", "naive"] = "naive-bayes"


CONVENTIONS: dict[str, NaiveBayesSettings] = {
    "laplace": NaiveBayesSettings(),
    "exact": NaiveBayesSettings(smoothing=0.0),
    "smoothed-prior": NaiveBayesSettings(prior_smoothing=1.0),
    "as-printed": NaiveBayesSettings(denominator="classes"),
    "as-printed-smoothed-prior": NaiveBayesSettings(denominator="classes", prior_smoothing=1.0),
    "scikit-learn": NaiveBayesSettings(variance_rule="added"),
    "weka": NaiveBayesSettings(prior_smoothing=1.0, variance_divisor="n"),
}
"""Presets; "weka" is Weka's treatment of counts (its rounding of numbers to a precision is not imitated)."""


def settings_of(convention: str | None, changes: Mapping[str, Any]) -> NaiveBayesSettings:
    """A preset by name, with changes."""
    if convention is not None:
        refuse_unknown(convention, CONVENTIONS, "there is no convention")
    return CONVENTIONS[convention or "laplace"].changed(**changes)
