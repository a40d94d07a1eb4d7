"""The normal distribution with unknown mean and variance, and its normal-inverse-gamma prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from bayeswise.families.protocol import Estimate, ExponentialForm, Support
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.statistics.moments import Moments

LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class NormalParameters:
    """Mean and standard deviation; `mean_low` carries the digits of the mean beyond the 53 bits of a float."""

    mean: FloatArray
    stddev: FloatArray
    mean_low: FloatArray | float = 0.0

    @property
    def variance(self) -> FloatArray:
        return np.asarray(self.stddev**2)


@dataclass(frozen=True)
class NormalInverseGamma:
    """variance ~ InverseGamma(shape, scale), mean | variance ~ Normal(mean, variance / strength).

    It is what `strength` imagined rows with mean `mean`, and 2 `shape` rows with sum of squared deviations 2 `scale`
    would have taught.
    """

    mean: FloatArray | float
    strength: FloatArray | float
    shape: FloatArray | float
    scale: FloatArray | float

    def __post_init__(self) -> None:
        for name in ("strength", "shape", "scale"):
            value = np.asarray(getattr(self, name))
            if not np.all(np.isfinite(value) & (value > 0)):
                raise ParameterError(f"{name} of a normal-inverse-gamma prior must be above 0; found {value}")


@dataclass(frozen=True)
class Normal:
    """p(x) = exp(-(x - mean)^2 / (2 stddev^2)) / (stddev sqrt(2 pi)).

    >>> normal = Normal(divisor="n-1")
    >>> fitted = normal.estimate(normal.statistic(np.array([[1.0], [2.0], [3.0]]))).parameters
    >>> fitted.mean.item(), fitted.stddev.item()
    (2.0, 1.0)
    """

    divisor: Literal["n", "n-1"] = "n"

    name: ClassVar[str] = "normal"
    support: ClassVar[Support] = "real"
    streams: ClassVar[bool] = True

    # -- estimation -------------------------------------------------------------------------------------------
    def statistic(
        self,
        values: FloatArray,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
    ) -> Moments:
        return Moments.of(values, groups, n_groups, weights)

    def estimate(self, statistic: Moments) -> Estimate[NormalParameters]:
        """The sample mean and variance. A constant sample has no maximum: the likelihood grows as stddev -> 0."""
        mean, mean_low = statistic.mean_pair(empty=0.0)
        stddev = statistic.stddev(self.divisor, empty=0.0)
        exists = stddev > 0
        reason = "" if exists.all() else "fewer than two different values: the likelihood grows as stddev -> 0"
        return Estimate(NormalParameters(mean, stddev, mean_low), exists, reason)

    def parameters(self, statistic: Moments, prior: NormalInverseGamma | None = None) -> NormalParameters:
        """Maximum likelihood, or the posterior means E[mean] and E[variance] (shape above 1 needed)."""
        if prior is None:
            return self.estimate(statistic).parameters
        posterior = self.posterior(statistic, prior)
        shape = np.asarray(posterior.shape)
        if not np.all(shape > 1):
            raise ParameterError("the posterior mean of the variance needs a shape above 1", fix="raise prior.shape")
        variance = posterior.scale / (shape - 1)
        return NormalParameters(np.asarray(posterior.mean), np.sqrt(variance), np.zeros_like(variance))

    def n_free_parameters(self) -> int:
        return 2

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: NormalParameters, x: ArrayLike) -> FloatArray:
        """-log stddev - log(2 pi) / 2 - z^2 / 2 with z = (x - mean) / stddev, without overflow in x - mean."""
        values = np.asarray(x, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            deviation = (values - parameters.mean) - parameters.mean_low
            z = deviation / parameters.stddev
            halved = 2.0 * ((0.5 * values - 0.5 * parameters.mean) / parameters.stddev)
            z = np.where(np.isinf(deviation), halved, z)
            return np.asarray(-np.log(parameters.stddev) - 0.5 * LOG_TWO_PI - 0.5 * z * z)

    def sample(self, parameters: NormalParameters, size: int, generator: np.random.Generator) -> FloatArray:
        shape = (size, *np.shape(parameters.mean))
        return np.asarray(parameters.mean + parameters.stddev * generator.standard_normal(shape))

    def exponential_form(self, parameters: NormalParameters) -> ExponentialForm:
        """T = (x, x^2), eta = (mean / variance, -1 / (2 variance)), a = mean^2 / (2 variance) + log stddev."""
        mean, variance = parameters.mean, parameters.variance
        return ExponentialForm(
            log_base_measure=lambda x: np.full(np.shape(x), -0.5 * LOG_TWO_PI),
            sufficient=lambda x: (np.asarray(x), np.square(x)),
            natural=(mean / variance, -0.5 / variance),
            log_partition=mean**2 / (2.0 * variance) + np.log(parameters.stddev),
            mean_of_sufficient=(mean, mean**2 + variance),
            covariance_of_sufficient=(
                (variance, 2.0 * mean * variance),
                (2.0 * mean * variance, 4.0 * mean**2 * variance + 2.0 * variance**2),
            ),
        )

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: Moments, prior: NormalInverseGamma) -> NormalInverseGamma:
        """strength + n, shape + n/2, scale + (sum (x - xbar)^2 + strength n (xbar - mean)^2 / (strength + n)) / 2."""
        n = statistic.weight.to_floats()
        mean, mean_low = statistic.mean_pair(empty=0.0)
        squares = n * statistic.variance("n", empty=0.0)
        gap = (mean - prior.mean) + mean_low
        strength = prior.strength + n
        return NormalInverseGamma(
            mean=prior.mean + gap * (n / strength),
            strength=strength,
            shape=prior.shape + 0.5 * n,
            scale=prior.scale + 0.5 * (squares + gap**2 * (prior.strength * n / strength)),
        )

    def log_marginal(self, statistic: Moments, prior: NormalInverseGamma) -> FloatArray:
        """log Gamma(a') - log Gamma(a) + a log b - a' log b' + (log k - log k') / 2 - n/2 log(2 pi)."""
        after = self.posterior(statistic, prior)
        n = statistic.weight.to_floats()
        return np.asarray(
            gammaln(after.shape)
            - gammaln(prior.shape)
            + prior.shape * np.log(prior.scale)
            - after.shape * np.log(after.scale)
            + 0.5 * (np.log(prior.strength) - np.log(after.strength))
            - 0.5 * n * LOG_TWO_PI
        )

    def log_predictive(self, posterior: NormalInverseGamma, x: ArrayLike) -> FloatArray:
        """Student-t, 2 shape degrees of freedom about the mean, spread^2 = scale (strength + 1) / (shape strength)."""
        values = np.asarray(x, dtype=np.float64)
        freedom = 2.0 * np.asarray(posterior.shape)
        spread = np.sqrt(posterior.scale * (posterior.strength + 1.0) / (posterior.shape * posterior.strength))
        z = (values - posterior.mean) / spread
        log_norm = gammaln(0.5 * (freedom + 1.0)) - gammaln(0.5 * freedom) - 0.5 * np.log(np.pi * freedom)
        return np.asarray(log_norm - np.log(spread) - 0.5 * (freedom + 1.0) * np.log1p(z * z / freedom))

    def sample_prior(self, prior: NormalInverseGamma, size: int, generator: np.random.Generator) -> NormalParameters:
        """Draws of mean and stddev from the prior (or a posterior)."""
        shape = (size, *np.broadcast_shapes(*(np.shape(v) for v in (prior.mean, prior.strength, prior.scale))))
        variance = prior.scale / generator.gamma(prior.shape, size=shape)
        mean = prior.mean + np.sqrt(variance / prior.strength) * generator.standard_normal(shape)
        return NormalParameters(mean, np.sqrt(variance), np.zeros(shape))
