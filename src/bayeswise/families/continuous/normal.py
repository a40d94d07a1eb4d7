"""The normal distribution with unknown mean and variance, and its normal-inverse-gamma prior."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.evidence import log_gamma_evidence
from bayeswise.families.arithmetic.stable_functions import (
    gap_between,
    log_gamma_ratio,
    log_one_plus_square,
    mean_between,
    refuse_overflow,
    standard_scores,
)
from bayeswise.families.functions import Terms
from bayeswise.families.priors import GammaPrior
from bayeswise.families.protocol import (
    Estimate,
    ExponentialForm,
    Extent,
    OneLine,
    OnNumbers,
    Rows,
    Support,
    is_positive,
    reasons,
    refuse_unless,
)
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier_fields
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.render.expression import Expression, log_bell, standardised
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.store.fields import stored_field

LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, repr=False)
class NormalParameters(OneLine):
    """Mean and standard deviation; `mean_low` carries the digits of the mean beyond the 53 bits of a float."""

    mean: FloatArray
    stddev: FloatArray
    mean_low: FloatArray | float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        self._as_arrays("mean", "stddev")
        refuse_unless(np.isfinite(self.mean), "a mean must be finite", self.mean)
        refuse_unless(self.stddev >= 0, "a stddev must not be negative", self.stddev)

    @property
    def variance(self) -> FloatArray:
        return np.asarray(self.stddev**2)


@dataclass(frozen=True, repr=False)
class NormalInverseGamma(OneLine):
    """variance ~ InverseGamma(shape, scale), mean | variance ~ Normal(mean, variance / strength).

    It is what `strength` pseudo-counts with mean `mean`, and 2 `shape` rows with sum of squared deviations 2 `scale`
    would have taught. `mean_low` carries the digits of the mean beyond the 53 bits of a float.
    """

    mean: FloatArray | float
    strength: FloatArray | float
    shape: FloatArray | float
    scale: FloatArray | float
    mean_low: FloatArray | float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        refuse_unless(np.isfinite(self.mean), "mean of a normal-inverse-gamma prior must be finite", self.mean)
        for name in ("strength", "shape", "scale"):
            value = getattr(self, name)
            refuse_unless(is_positive(value), f"{name} of a normal-inverse-gamma prior must be above 0", value)


@earlier_fields(divisor="variance_divisor")
@dataclass(frozen=True)
class Normal(OnNumbers[Moments]):
    """p(x) = exp(-(x - mean)^2 / (2 stddev^2)) / (stddev sqrt(2 pi)).

    >>> normal = Normal(variance_divisor="n-1")
    >>> normal.estimate(normal.statistic([1.0, 2.0, 3.0])).parameters
    Normal(mean=2, stddev=1)
    """

    variance_divisor: Literal["n", "n-1"] = field(default="n", metadata=stored_field({}, "divisor"))

    name: ClassVar[str] = "normal"
    support: ClassVar[Support] = "real"
    free = ("mean", "stddev")
    made = NormalParameters

    @staticmethod
    def law(stats: Any, mean: float, stddev: float) -> Any:
        return stats.norm(mean, stddev)

    # -- estimation -------------------------------------------------------------------------------------------
    def kept(self, numbers: FloatArray, rows: Rows) -> Moments:
        """n, sum x and sum x^2."""
        return Moments.of(numbers, *rows)

    def estimate(self, statistic: Moments) -> Estimate[NormalParameters]:
        """The sample mean and variance. A constant sample has no maximum: the likelihood grows as stddev -> 0."""
        mean, mean_low = statistic.mean_pair(empty=0.0)
        stddev = statistic.stddev(self.variance_divisor, empty=0.0)
        empty, exists = statistic.is_empty(), stddev > 0
        reason = reasons(
            (empty, "no rows: any mean and stddev are as likely"),
            (~empty & ~exists, "fewer than two different values: the likelihood grows as stddev -> 0"),
        )
        return Estimate(NormalParameters(mean, stddev, mean_low), exists, reason)

    def parameters(self, statistic: Moments, prior: NormalInverseGamma | None = None) -> NormalParameters:
        """Maximum likelihood, or the posterior means E[mean] and E[variance] (shape above 1 needed)."""
        if prior is None:
            return self.estimate(statistic).parameters
        posterior = self.posterior(statistic, prior)
        shape = np.asarray(posterior.shape)
        if not np.all(shape > 1):
            raise ParameterError("the posterior mean of the variance needs a shape above 1", fix="raise prior.shape")
        return NormalParameters(np.asarray(posterior.mean), np.sqrt(posterior.scale / (shape - 1)), posterior.mean_low)

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: NormalParameters, x: ArrayLike) -> FloatArray:
        """-log stddev - log(2 pi) / 2 - z^2 / 2 with z = (x - mean) / stddev, without overflow in x - mean.

        A stddev of 0 is the certain value `mean`: plus infinity there, minus infinity elsewhere.
        """
        z = standard_scores(x, parameters.mean, parameters.mean_low, parameters.stddev)
        with np.errstate(over="ignore", invalid="ignore"):
            log_p = -log(parameters.stddev) - 0.5 * LOG_TWO_PI - 0.5 * z * z
        certain = np.where(np.isnan(z), np.nan, np.where(z == 0, np.inf, -np.inf))
        return np.where(parameters.stddev == 0, certain, log_p)

    def sample(self, parameters: NormalParameters, size: int, generator: np.random.Generator) -> FloatArray:
        shape = (size, *np.shape(parameters.mean))
        return np.asarray(parameters.mean + parameters.stddev * generator.standard_normal(shape))

    def exponential_form(self, parameters: NormalParameters) -> ExponentialForm:
        """T = (x, x^2), eta = (mean / variance, -1 / (2 variance)), a = mean^2 / (2 variance) + log stddev."""
        mean, variance = parameters.mean, parameters.variance
        refuse_unless(variance > 0, "the exponential form needs a stddev above 0", parameters.stddev)
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

    def of_natural(self, *natural: FloatArray) -> NormalParameters:
        first, second = self.refuse_unless_as_many(2, natural)
        refuse_unless(second < 0, "the second natural parameter of a normal family must be below 0", second)
        variance = -0.5 / second
        return NormalParameters(first * variance, np.sqrt(variance))

    def log_density_expression(self, parameters: NormalParameters, x: Expression) -> Expression:
        mean, low, stddev = float(parameters.mean), float(parameters.mean_low), float(parameters.stddev)
        return log_bell(standardised(x, mean, low, stddev)) - float(np.log(stddev))

    def terms(self, x: FloatArray, mean: float, stddev: float) -> Terms:
        z = (x - mean) / stddev
        v = stddev**2
        return [z / stddev, (z**2 - 1.0) / stddev], [[-1.0 / v, -2.0 * z / v], [(1.0 - 3.0 * z**2) / v]]

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: Moments, prior: NormalInverseGamma) -> NormalInverseGamma:
        """strength + n, shape + n/2, scale + (sum (x - xbar)^2 + strength n (xbar - mean)^2 / (strength + n)) / 2."""
        n, added_scale = statistic.weight.to_floats(), _added_scale(statistic, prior)
        strength = prior.strength + n
        sample = statistic.mean_pair(empty=0.0)
        mean, mean_low = mean_between(n, sample, prior.strength, (prior.mean, prior.mean_low))
        return NormalInverseGamma(mean, strength, prior.shape + 0.5 * n, prior.scale + added_scale, mean_low)

    def log_marginal(self, statistic: Moments, prior: NormalInverseGamma) -> FloatArray:
        """log Gamma(a') - log Gamma(a) + a log b - a' log b' - log(1 + n / strength) / 2 - n/2 log(2 pi)."""
        n = statistic.weight.to_floats()
        log_scales = log_gamma_evidence(prior.shape, prior.scale, 0.5 * n, _added_scale(statistic, prior))
        return np.asarray(log_scales - 0.5 * np.log1p(n / prior.strength) - 0.5 * n * LOG_TWO_PI)

    def is_candidate(self, extent: Extent) -> bool:
        return not extent.is_flag

    def log_evidence(self, statistic: Moments) -> FloatArray:
        """That of one pseudo-row, in units of the whole column, as squares of 1e300 and of 1e-300 are not floats."""
        whole = statistic.pooled()
        found = whole.stddev("n", empty=0.0)
        unit = np.where(found > 0, found, 1.0)
        n = statistic.weight.to_floats()
        gap = gap_between(statistic.mean_pair(empty=0.0), whole.mean_pair(empty=0.0)) / unit
        square = n * (statistic.stddev("n", empty=0.0) / unit) ** 2
        added = 0.5 * (square + n / (1.0 + n) * np.where(n > 0, gap, 0.0) ** 2)
        log_scales = log_gamma_evidence(1.0, 1.0, 0.5 * n, added)
        log_marginal: FloatArray = log_scales - 0.5 * np.log1p(n) - n * (0.5 * LOG_TWO_PI + np.log(unit))
        return np.asarray(log_marginal.sum(axis=0))

    def log_predictive(self, posterior: NormalInverseGamma, x: ArrayLike) -> FloatArray:
        """Student-t, 2 shape degrees of freedom about the mean, spread^2 = scale (strength + 1) / (shape strength).

        With width^2 = 2 shape spread^2 and t = (x - mean) / width it is proportional to (1 + t^2)^-(shape + 1/2).
        """
        values = np.asarray(x, dtype=np.float64)
        shape = np.asarray(posterior.shape)
        width = np.sqrt(2.0 * (1.0 + 1.0 / np.asarray(posterior.strength))) * np.sqrt(posterior.scale)
        with np.errstate(over="ignore"):
            deviation = (values - posterior.mean) - posterior.mean_low
        log_norm = log_gamma_ratio(shape, 0.5) - 0.5 * np.log(np.pi) - np.log(width)
        return np.asarray(log_norm - (shape + 0.5) * log_one_plus_square(deviation, width))

    def sample_prior(self, prior: NormalInverseGamma, size: int, generator: np.random.Generator) -> NormalParameters:
        """Draws of mean and stddev from the prior (or a posterior)."""
        mean, strength, shape, scale = np.broadcast_arrays(prior.mean, prior.strength, prior.shape, prior.scale)
        stddev = 1.0 / np.sqrt(GammaPrior(shape, scale).sample(size, generator))
        return NormalParameters(
            mean + stddev / np.sqrt(strength) * generator.standard_normal(stddev.shape), stddev, prior.mean_low
        )


def _added_scale(statistic: Moments, prior: NormalInverseGamma) -> FloatArray:
    """(sum (x - xbar)^2 + strength n (xbar - mean)^2 / (strength + n)) / 2."""
    n = statistic.weight.to_floats()
    variance = statistic.variance("n", empty=0.0)
    gap = gap_between(statistic.mean_pair(empty=0.0), (prior.mean, prior.mean_low))
    share = np.sqrt(prior.strength * (n / (prior.strength + n)))
    with np.errstate(over="ignore", invalid="ignore"):
        added = np.where(n > 0, 0.5 * (n * variance + (gap * share) ** 2), 0.0)
    refuse_overflow(added)
    return added
