"""What is believed before the rows: smoothing, class prior, variance floor; and the conventions of others, by name.

Nothing here is in the statistics, so any of it can be changed without a second look at the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from bayeswise.foundation.arrays import make_plain
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.prior import check_shares
from bayeswise.tables.schema.labels import Label

Denominator = Literal["levels", "classes"]
VarianceRule = Literal["floor", "added"]


@dataclass(frozen=True)
class MEstimate:
    """(n_v + m p_v) / (n + m): m pseudo-counts shared out by p, evenly unless p is given by column and level.

    >>> MEstimate(2, p={"wind": {"weak": 0.9, "strong": 0.1}})
    MEstimate(m=2, p={'wind': {'weak': 0.9, 'strong': 0.1}})
    """

    m: float
    p: Mapping[str, Mapping[Label, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        make_plain(self)
        _refuse_unless(_is_amount(self.m), f"m must be a number from 0 on; found {self.m!r}", "give 0 or more")


@dataclass(frozen=True)
class NaiveBayesSettings:
    """The beliefs of a naive Bayes model.

    smoothing          Lidstone's alpha for each level, or an m-estimate
    class_prior        probability by class, or None to count
    prior_smoothing    pseudo-counts of each class where the prior is counted
    denominator        what smoothing adds below: alpha for each level of the column (right), or for each class
                       (as some lecture notes print it; its probabilities do not add up to one)
    variance_divisor   n (maximum likelihood) or n-1 (unbiased)
    shared_variance    one variance for all classes: the log-odds become linear
    variance_rule      "floor": no class's variance is below variance_floor times the column's own variance;
                       "added": variance_floor times the largest variance of any column is added to each
    """

    smoothing: float | MEstimate = 1.0
    class_prior: Mapping[Label, float] | None = None
    prior_smoothing: float = 0.0
    denominator: Denominator = "levels"
    variance_divisor: Literal["n", "n-1"] = "n"
    shared_variance: bool = False
    variance_rule: VarianceRule = "floor"
    variance_floor: float = 1e-9

    def __post_init__(self) -> None:
        make_plain(self)
        _refuse_unless(
            self.class_prior is None or isinstance(self.class_prior, Mapping),
            f"class_prior must be a mapping by class, or None; found {self.class_prior!r}",
            "write {class: probability, ...}",
        )
        if self.class_prior is not None:
            check_shares(self.class_prior)
        amounts = ["prior_smoothing", "variance_floor"]
        for name in amounts if isinstance(self.smoothing, MEstimate) else ["smoothing", *amounts]:
            found = getattr(self, name)
            _refuse_unless(_is_amount(found), f"{name} must be a number from 0 on; found {found!r}", "give 0 or more")
        for name, allowed in _CHOICES.items():
            found = getattr(self, name)
            _refuse_unless(
                any(found is choice or found == choice for choice in allowed),
                f"{name} must be one of {', '.join(map(repr, allowed))}; found {found!r}",
                "choose one of these",
            )

    @property
    def pseudo_rows(self) -> float:
        """The pseudo-counts behind families that are smoothed towards the whole column."""
        return self.smoothing.m if isinstance(self.smoothing, MEstimate) else self.smoothing

    @property
    def convention(self) -> str:
        """The name of these settings, or what differs from the nearest one."""
        return _convention_of(self)

    def __str__(self) -> str:
        return self.convention

    def changed(self, **changes: Any) -> NaiveBayesSettings:
        """The same beliefs but for these."""
        known = [each.name for each in fields(self)]
        for name in changes:
            _refuse_unless(name in known, f"there is no setting {name!r}", f"choose one of {', '.join(known)}")
        return replace(self, **changes)


_CHOICES: dict[str, tuple[Any, ...]] = {
    "denominator": ("levels", "classes"),
    "variance_divisor": ("n", "n-1"),
    "shared_variance": (False, True),
    "variance_rule": ("floor", "added"),
}


def _is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _refuse_unless(condition: bool, what: str, fix: str) -> None:
    if not condition:
        raise ParameterError(what, fix=fix)


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
    if convention is not None and convention not in CONVENTIONS:
        raise ParameterError(
            f"there is no convention {convention!r}", fix=f"choose one of {', '.join(map(repr, CONVENTIONS))}"
        )
    return CONVENTIONS[convention or "laplace"].changed(**changes)


def _convention_of(settings: NaiveBayesSettings) -> str:
    named = next((name for name, preset in CONVENTIONS.items() if preset == settings), None)
    if named is not None:
        return named
    standard = CONVENTIONS["laplace"]
    names = [each.name for each in fields(settings)]
    changed = [f"{n}={getattr(settings, n)!r}" for n in names if getattr(settings, n) != getattr(standard, n)]
    return f"laplace with {', '.join(changed)}"
