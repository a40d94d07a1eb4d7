"""Settings of regressions: the likelihood, the prior of the weights and its scale."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.settings import common
from bayeswise.models.settings.declaration import Settings, setting

weights_prior = partial(
    setting,
    "gaussian",
    "prior of the weights: gaussian (L2), laplace (L1), None (flat) or, logistic only, student-t",
    metavar="NAME",
)
weights_scale = partial(
    setting,
    help="scale of the prior of the weights, for standardised columns; evidence or cv learn it from the rows, auto "
    "(linear only) by evidence where prior and likelihood are gaussian",
    metavar="X|evidence|cv",
    at_least=1e-50,
    at_most=1e50,
)
degrees = partial(setting, 4.0, "degrees of freedom of a student-t", earlier="freedom", above=0)
intercept = partial(setting, True, "fit an intercept", option="no-intercept", earlier="intercept")
standardised = partial(setting, True, "apply the prior to standardised columns")
missing = partial(
    setting,
    "indicator",
    "indicator (the mean of the column, and an indicator of missing values with a weight of its own), mean (rows with "
    "a missing value are left out of training) or error",
)


@dataclass(frozen=True, kw_only=True)
class LinearSettings(Settings):
    """What a linear regression keeps.

    scale="evidence" learns the scale from the marginal likelihood (a gaussian prior, and a gaussian, poisson or
    exponential likelihood), "cv" from the loss of five folds (any prior and likelihood); "auto" is "evidence" for a
    gaussian prior and likelihood, otherwise 1.
    """

    likelihood: Literal["gaussian", "student-t", "laplace", "poisson", "exponential"] = setting(
        "gaussian",
        "distribution of the target: gaussian (squares), student-t or laplace (robust), poisson or exponential",
        metavar="NAME",
    )
    prior: Literal["gaussian", "laplace"] | None = weights_prior()
    scale: float | Literal["auto", "evidence", "cv"] = weights_scale("auto")
    df: float = degrees()
    fit_intercept: bool = intercept()
    standardise: bool = standardised()
    missing: Literal["indicator", "mean", "error"] = missing()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior is None and self.scale in ("evidence", "cv"):
            raise ParameterError(
                f"scale={self.scale!r} needs a prior; found prior=None", fix="choose a prior, or leave the scale out"
            )
        if self.scale == "evidence" and not self._has_evidence:
            raise ParameterError(
                "scale='evidence' needs a gaussian prior and a gaussian, poisson or exponential likelihood; found "
                f"{self.prior!r} and {self.likelihood!r}",
                fix="choose scale='cv' (--scale cv), or give the scale as a number",
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

    @property
    def convention(self) -> str:
        """Likelihood and prior in a few words."""
        return f"{self.likelihood} likelihood, {_prior_text(self.prior, self.scale)}{_without(self)}"


@dataclass(frozen=True, kw_only=True)
class LogisticSettings(Settings):
    """What a logistic regression keeps."""

    prior: Literal["gaussian", "laplace", "student-t"] | None = weights_prior()
    scale: float | Literal["evidence", "cv"] = weights_scale(1.0)
    df: float = degrees()
    fit_intercept: bool = intercept()
    standardise: bool = standardised()
    marginalize: bool = setting(False, "average probabilities over the posterior of the weights", earlier="moderated")
    missing: Literal["indicator", "mean", "error"] = missing()
    tol: float = setting(1e-8, "gradient at which iterations end", earlier="tolerance", above=0)
    max_iter: int = setting(200, "maximum number of iterations", earlier="most_iterations", at_least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior is None and isinstance(self.scale, str):
            raise ParameterError(
                f"scale={self.scale!r} needs a prior; found prior=None",
                fix="choose prior='gaussian', or leave the scale out",
            )
        if self.prior == "laplace" and (self.scale == "evidence" or self.marginalize):
            raise ParameterError(
                "a laplace prior has no second derivative at 0, so there is no Laplace approximation of its posterior",
                fix="choose prior='gaussian' or 'student-t', or scale='cv' and marginalize=False",
            )

    @property
    def convention(self) -> str:
        """The prior in a few words."""
        return f"{_prior_text(self.prior, self.scale)}{', marginalized' * self.marginalize}{_without(self)}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinearOptions(LinearSettings, common.ColumnOptions):
    """All that `fit` takes for linear regression."""

    model: Literal["linear", "linear-regression"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LogisticOptions(LogisticSettings, common.ColumnOptions):
    """All that `fit` takes for logistic regression."""

    model: Literal["logistic", "logistic-regression"]


def _prior_text(prior: str | None, scale: float | str) -> str:
    if prior is None:
        return "flat prior"
    return f"{prior} prior of scale {scale if isinstance(scale, str) else format(scale, 'g')}"


def n_weight_vectors(n_classes: int) -> int:
    """How many weights a regression of classes has for each feature: of two classes one is enough."""
    return 1 if n_classes == 2 else n_classes


def _without(settings: Any) -> str:
    return ", no intercept" * (not settings.fit_intercept) + ", columns as they are" * (not settings.standardise)
