"""What is believed before the rows: the likelihood, the prior of the weights and its scale."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

from bayeswise.foundation.arrays import make_plain
from bayeswise.foundation.errors import ParameterError

Likelihood = Literal["gaussian", "student-t", "laplace", "poisson", "exponential"]
LIKELIHOODS = ("gaussian", "student-t", "laplace", "poisson", "exponential")
MISSING = ("error", "mean")
SCALES = (1e-50, 1e50)


@dataclass(frozen=True)
class LinearSettings:
    """The beliefs of a linear regression.

    likelihood   which loss: squares (gaussian), robust ones (student-t, laplace), counts (poisson), times (exponential)
    prior        of the weights: gaussian (ridge), laplace (lasso) or None (flat)
    scale        of that prior, for a column of standard deviation 1; "evidence" learns it from the marginal likelihood
                 (a gaussian prior, and a gaussian, poisson or exponential likelihood), "cv" from the loss of five folds
                 (any prior and likelihood); "auto" is "evidence" for a gaussian prior and likelihood, otherwise 1
    freedom      the degrees of freedom of a student-t likelihood
    """

    likelihood: str = "gaussian"
    prior: str | None = "gaussian"
    scale: float | str = "auto"
    freedom: float = 4.0
    intercept: bool = True
    standardise: bool = True
    missing: str = "error"

    def __post_init__(self) -> None:
        make_plain(self)
        _one_of("likelihood", self.likelihood, LIKELIHOODS)
        _one_of("prior", self.prior, ("gaussian", "laplace", None))
        _one_of("missing", self.missing, MISSING)
        _positive("df", self.freedom)
        _scale(self.scale, "auto", "evidence", "cv")
        if self.scale == "evidence" and not self._has_evidence:
            raise ParameterError(
                "scale='evidence' needs a gaussian prior and a gaussian, poisson or exponential likelihood; found "
                f"{self.prior!r} and {self.likelihood!r}",
                fix="choose scale='cv' (--scale cv), or give the scale as a number",
            )
        if self.prior is None and self.scale == "cv":
            raise ParameterError(
                "scale='cv' needs a prior; found prior=None", fix="choose a prior, or leave the scale out"
            )

    @property
    def _has_evidence(self) -> bool:
        return self.prior == "gaussian" and self.likelihood in ("gaussian", "poisson", "exponential")

    @property
    def how_scaled(self) -> float | Literal["evidence", "cv", "flat"]:
        """The scale of the prior where it is given, otherwise how it is found; "flat" without a prior."""
        if self.prior is None:
            return "flat"
        if not isinstance(self.scale, str):
            return float(self.scale)
        if self.scale != "auto":
            return "cv" if self.scale == "cv" else "evidence"
        return "evidence" if (self.likelihood, self.prior) == ("gaussian", "gaussian") else 1.0

    def changed(self, **changes: Any) -> Self:
        return replace(self, **_named(self, changes))

    def __str__(self) -> str:
        return f"{self.likelihood} likelihood, {_prior_text(self.prior, self.scale)}{_without(self)}"


@dataclass(frozen=True)
class LogisticSettings:
    """The beliefs of a logistic regression; `scale` is that of the prior for a column of standard deviation 1."""

    prior: str | None = "gaussian"
    scale: float | str = 1.0
    freedom: float = 4.0
    intercept: bool = True
    standardise: bool = True
    moderated: bool = False
    missing: str = "error"
    tolerance: float = 1e-8
    most_iterations: int = 200

    def __post_init__(self) -> None:
        make_plain(self)
        _one_of("prior", self.prior, ("gaussian", "laplace", "student-t", None))
        _one_of("missing", self.missing, MISSING)
        for name, field in (("df", "freedom"), ("tol", "tolerance"), ("max_iter", "most_iterations")):
            _positive(name, getattr(self, field))
        _scale(self.scale, "evidence", "cv")
        if self.prior is None and isinstance(self.scale, str):
            raise ParameterError(
                f"scale={self.scale!r} needs a prior; found prior=None",
                fix="choose prior='gaussian', or leave the scale out",
            )
        if self.prior == "laplace" and (self.scale == "evidence" or self.moderated):
            raise ParameterError(
                "a laplace prior has no second derivative at 0, so there is no Laplace approximation of its posterior",
                fix="choose prior='gaussian' or 'student-t', or scale='cv' and moderated=False",
            )

    def changed(self, **changes: Any) -> Self:
        return replace(self, **_named(self, changes))

    def __str__(self) -> str:
        return f"{_prior_text(self.prior, self.scale)}{', moderated' * self.moderated}{_without(self)}"


# Names of settings, and of the fields of model files that hold them.
_SAME = {
    "df": "freedom",
    "marginalize": "moderated",
    "fit_intercept": "intercept",
    "tol": "tolerance",
    "max_iter": "most_iterations",
}


def _named(settings: Any, changes: dict[str, Any]) -> dict[str, Any]:
    """Changes by the names of the settings; the words of the estimators mean the same."""
    known = [each.name for each in fields(settings)]
    named = {_SAME.get(name, name): value for name, value in changes.items()}
    for name in named:
        if name not in known:
            raise ParameterError(f"there is no setting {name!r}", fix=f"choose among {', '.join(known)}")
    return named


def _prior_text(prior: str | None, scale: float | str) -> str:
    if prior is None:
        return "flat prior"
    return f"{prior} prior of scale {scale if isinstance(scale, str) else format(scale, 'g')}"


def _without(settings: Any) -> str:
    return ", no intercept" * (not settings.intercept) + ", columns as they are" * (not settings.standardise)


def _one_of(name: str, found: Any, allowed: tuple[Any, ...]) -> None:
    if not any(found is choice or found == choice for choice in allowed):
        raise ParameterError(f"{name} is {found!r}", fix=f"choose one of {', '.join(map(repr, allowed))}")


def _positive(name: str, found: Any) -> None:
    good = isinstance(found, (int, float)) and not isinstance(found, bool) and math.isfinite(found) and found > 0
    if not good:
        raise ParameterError(f"{name} is {found!r}", fix="give a number above 0")


def _scale(found: Any, *words: str) -> None:
    """A scale whose square, and the inverse of it, can be multiplied by sums of squares; or one of some words."""
    if isinstance(found, str) and found in words:
        return
    least, most = SCALES
    good = isinstance(found, (int, float)) and not isinstance(found, bool) and least <= found <= most
    if not good:
        also = " or ".join(map(repr, words))
        raise ParameterError(
            f"scale is {found!r}", fix=f"give a number from {least:g} to {most:g}, or {also}; or prior=None"
        )
