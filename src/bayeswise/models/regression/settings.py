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


@dataclass(frozen=True)
class LinearSettings:
    """The beliefs of a linear regression.

    likelihood   which loss: squares (gaussian), robust ones (student-t, laplace), counts (poisson), times (exponential)
    prior        of the weights: gaussian (ridge), laplace (lasso) or None (flat)
    scale        of that prior, for a column of standard deviation 1; "evidence" learns it (gaussian, gaussian)
    freedom      the degrees of freedom of a student-t likelihood
    """

    likelihood: str = "gaussian"
    prior: str | None = "gaussian"
    scale: float | str = 1.0
    freedom: float = 4.0
    intercept: bool = True
    standardise: bool = True
    missing: str = "error"

    def __post_init__(self) -> None:
        make_plain(self)
        _one_of("likelihood", self.likelihood, LIKELIHOODS)
        _one_of("prior", self.prior, ("gaussian", "laplace", None))
        _one_of("missing", self.missing, MISSING)
        _positive("freedom", self.freedom)
        _positive("scale", self.scale, "evidence")
        if self.scale == "evidence" and (self.likelihood, self.prior) != ("gaussian", "gaussian"):
            raise ParameterError(
                f"scale='evidence' needs a gaussian likelihood and prior; found {self.likelihood!r} and {self.prior!r}",
                fix="give the scale as a number",
            )

    def changed(self, **changes: Any) -> Self:
        return replace(self, **_named(self, changes))

    def __str__(self) -> str:
        return f"{self.likelihood} likelihood, {_prior_text(self.prior, self.scale)}{_without(self)}"


@dataclass(frozen=True)
class LogisticSettings:
    """The beliefs of a logistic regression; `scale` is that of the prior for a column of standard deviation 1."""

    prior: str = "gaussian"
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
        _one_of("prior", self.prior, ("gaussian", "laplace", "student-t"))
        _one_of("missing", self.missing, MISSING)
        for name in ("freedom", "tolerance", "most_iterations"):
            _positive(name, getattr(self, name))
        _positive("scale", self.scale, "evidence", "cv")
        if self.prior == "laplace" and (self.scale == "evidence" or self.moderated):
            raise ParameterError(
                "a laplace prior has no second derivative at 0, so there is no Laplace approximation of its posterior",
                fix="choose prior='gaussian' or 'student-t', or scale='cv' and moderated=False",
            )

    def changed(self, **changes: Any) -> Self:
        return replace(self, **_named(self, changes))

    def __str__(self) -> str:
        return f"{_prior_text(self.prior, self.scale)}{', moderated' * self.moderated}{_without(self)}"


_SAME = {"fit_intercept": "intercept", "tol": "tolerance", "max_iter": "most_iterations"}  # scikit-learn's words


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


def _positive(name: str, found: Any, *words: str) -> None:
    if isinstance(found, str) and found in words:
        return
    good = isinstance(found, (int, float)) and not isinstance(found, bool) and math.isfinite(found) and found > 0
    if not good:
        also = "".join(f" or {word!r}" for word in words)
        raise ParameterError(f"{name} is {found!r}", fix=f"give a number above 0{also}")
