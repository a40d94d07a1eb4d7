"""Settings of Gaussian classes: form of the covariance, divisor, shrinkage, priors; all of it changeable later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.settings import common
from bayeswise.models.settings.declaration import Settings, setting
from bayeswise.render.labels import Label

if TYPE_CHECKING:
    from bayeswise.families.continuous.normal_inverse_wishart import NormalInverseWishart


@dataclass(frozen=True, kw_only=True)
class GaussianBayesSettings(Settings):
    """What a Gaussian Bayes model keeps.

    A covariance for each class is that of one class, so there the divisor n-K is n-1; with a prior it is that of the
    posterior mean. shrinkage is the share a in (1 - a) covariance + a diagonal; "auto" is oracle approximating
    shrinkage of the correlations, which needs only the covariance and n; the diagonal forms have nothing to shrink.
    Without a prior the Student-t predictive has that of Jeffreys. variance_floor counts where a covariance is singular.
    """

    covariance: Literal["per-class", "shared", "diagonal", "shared-diagonal", "spherical"] = setting(
        "per-class",
        "form of the covariance: per-class (QDA), shared (LDA: log-odds are linear), diagonal, shared-diagonal or "
        "spherical (one variance for each class)",
        metavar="FORM",
    )
    variance_divisor: Literal["n", "n-1", "n-K"] = common.variance_divisor(earlier="divisor")
    shrinkage: float | Literal["auto"] = setting(
        0.0, "shrinkage of correlations towards none, from 0 to 1", metavar="A|auto", at_least=0, at_most=1
    )
    prior: NormalInverseWishart | None = setting(
        None,
        "distribution of the mean and covariance of each class",
        option="",
        form="bw.families.NormalInverseWishart(...)",
    )
    predictive: Literal["plug-in", "student-t"] = setting(
        "plug-in", "a Gaussian with estimated parameters (plug-in), or student-t: parameters integrated out"
    )
    class_prior: Mapping[Label, float] | None = common.class_prior()
    variance_floor: float = setting(1e-9, "smallest variance, as a share of the column's", above=0, below=1)

    @staticmethod
    def later_types() -> dict[str, Any]:
        """The classes that this module does not import."""
        from bayeswise.families.continuous.normal_inverse_wishart import NormalInverseWishart

        return {"NormalInverseWishart": NormalInverseWishart}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior is not None and len(self.prior.mean) > 1:
            raise ParameterError("prior has several groups", fix="give one prior, which holds for every class")
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

    @property
    def convention(self) -> str:
        """The form of the covariance, and what differs from the standard settings."""
        differing = self._differing(GaussianBayesSettings(covariance=self.covariance))
        return f"{self.covariance} covariance{', ' if differing else ''}{differing}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GaussianOptions(GaussianBayesSettings, common.ColumnOptions):
    """All that `fit` takes for Gaussian Bayes."""

    model: Literal["gaussian", "gaussian-bayes"]
    missing: str | Mapping[str, str] = setting(
        "ignore", "ignore (integrated out: by EM in training, as marginals in prediction) or error"
    )
