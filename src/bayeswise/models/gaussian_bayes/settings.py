"""What is believed besides the rows: form of the covariance, divisor, shrinkage, priors; all of it changeable later."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from bayeswise.families.multivariate_normal import NormalInverseWishart
from bayeswise.foundation.arrays import make_plain
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.prior import check_shares
from bayeswise.statistics.moments import Divisor
from bayeswise.tables.schema.labels import Label

Form = Literal["per-class", "shared", "diagonal", "shared-diagonal", "spherical"]
Predictive = Literal["plug-in", "student-t"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "covariance": get_args(Form),
    "divisor": get_args(Divisor),
    "predictive": get_args(Predictive),
}


@dataclass(frozen=True)
class GaussianBayesSettings:
    """The beliefs of a Gaussian Bayes model.

    covariance       "per-class" (quadratic boundary), "shared" (linear), "diagonal" (a variance for each class and
                     column), "shared-diagonal", or "spherical" (one variance for each class)
    divisor          of sums of squares: "n" (maximum likelihood), "n-1", or "n-K" with K classes; a covariance for
                     each class is that of one class, so there n-K is n-1
    shrinkage        share a in (1 - a) covariance + a diagonal, from 0 to 1, or "auto": oracle approximating
                     shrinkage of the correlations, which needs only the covariance and n; the diagonal forms have
                     nothing to shrink
    prior            a normal-inverse-Wishart distribution of each class's mean and covariance; then the divisor is
                     that of the posterior mean
    predictive       "plug-in": Gaussian with estimated parameters; "student-t": parameters integrated out (with no
                     prior given, under Jeffreys' one)
    class_prior      probability by class, or None to count
    variance_floor   where a covariance is singular: the least share of a column's variance (see `spread`)
    """

    covariance: Form = "per-class"
    divisor: Divisor = "n"
    shrinkage: float | Literal["auto"] = 0.0
    prior: NormalInverseWishart | None = None
    predictive: Predictive = "plug-in"
    class_prior: Mapping[Label, float] | None = None
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
        for name, allowed in _CHOICES.items():
            found = getattr(self, name)
            _refuse_unless(
                isinstance(found, str) and found in allowed,
                f"{name} must be one of {', '.join(map(repr, allowed))}; found {found!r}",
                "choose one of these",
            )
        share = self.shrinkage
        is_auto = isinstance(share, str) and share == "auto"
        _refuse_unless(
            is_auto or (_is_number(share) and 0 <= share <= 1),  # type: ignore[operator]
            f"shrinkage must be a number from 0 to 1, or 'auto'; found {share!r}",
            "take 'auto' if in doubt",
        )
        floor = self.variance_floor
        _refuse_unless(
            _is_number(floor) and 0 < floor < 1,
            f"variance_floor must lie between 0 and 1; found {floor!r}",
            "give a small share, such as 1e-9",
        )
        _refuse_unless(
            self.prior is None or isinstance(self.prior, NormalInverseWishart),
            f"prior must be a NormalInverseWishart or None; found {type(self.prior).__name__}",
            "give bw.families.NormalInverseWishart(...), or class_prior={...} for the classes",
        )
        if self.prior is not None and len(self.prior.mean) > 1:
            raise ParameterError("prior has several groups", fix="give one prior, which counts for every class")
        if self.is_bayesian and not self.is_full:
            raise ParameterError(
                f"a prior of covariances and the Student-t predictive do not go with covariance={self.covariance!r}",
                fix="choose 'per-class' or 'shared'",
            )

    @property
    def is_full(self) -> bool:
        """Whether columns may be correlated."""
        return self.covariance in ("per-class", "shared")

    @property
    def is_shared(self) -> bool:
        """Whether all classes have one covariance, so that log-odds are linear."""
        return self.covariance in ("shared", "shared-diagonal")

    @property
    def is_bayesian(self) -> bool:
        """Whether parameters have a distribution."""
        return self.prior is not None or self.predictive == "student-t"

    @property
    def is_linear(self) -> bool:
        """Whether the log-odds are linear in the columns."""
        return self.is_shared and self.predictive == "plug-in"

    def changed(self, **changes: Any) -> GaussianBayesSettings:
        """The same beliefs but for these.

        >>> GaussianBayesSettings().changed(covariance="shared", variance_divisor="n-K").divisor
        'n-K'
        """
        changes = {"divisor" if name == "variance_divisor" else name: value for name, value in changes.items()}
        known = [each.name for each in fields(self)]
        for name in changes:
            _refuse_unless(name in known, f"there is no setting {name!r}", f"choose one of {', '.join(known)}")
        return replace(self, **changes)

    def __str__(self) -> str:
        standard = GaussianBayesSettings()
        named = [each.name for each in fields(self) if each.name != "covariance"]
        changed = [f"{name}={getattr(self, name)!r}" for name in named if not _same(self, standard, name)]
        return ", ".join([f"{self.covariance} covariance", *changed])


def _same(one: Any, other: Any, name: str) -> bool:
    mine, theirs = getattr(one, name), getattr(other, name)
    return mine is theirs or (not isinstance(mine, NormalInverseWishart) and mine == theirs)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _refuse_unless(condition: bool, what: str, fix: str) -> None:
    if not condition:
        raise ParameterError(what, fix=fix)
