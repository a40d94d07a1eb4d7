"""The log-normal distribution: log x is normal, with a normal-inverse-gamma prior on that scale."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.stable_functions import log_pair
from bayeswise.families.continuous.normal import LOG_TWO_PI, Normal, NormalInverseGamma, NormalParameters
from bayeswise.families.continuous.student_t import log_student_t
from bayeswise.families.functions import Terms
from bayeswise.families.protocol import (
    Estimate,
    ExponentialForm,
    Extent,
    OneLine,
    OnNumbers,
    Rows,
    Support,
    is_positive,
    or_one,
    refuse_unless,
)
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier_fields
from bayeswise.foundation.logspace import log
from bayeswise.render.expression import Expression, log_of_positive
from bayeswise.statistics.numbers.kernel_numbers import log_of
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.store.fields import stored_field


@dataclass(frozen=True, repr=False)
class LogNormalParameters(OneLine):
    """Mean and standard deviation of log x; `mean_low` carries the digits of the mean beyond the 53 bits of a float."""

    mean: FloatArray
    stddev: FloatArray
    mean_low: FloatArray | float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        self._as_arrays("mean", "stddev")
        refuse_unless(np.isfinite(self.mean), "the mean of log x must be finite", self.mean)
        refuse_unless(self.stddev >= 0, "the stddev of log x must not be negative", self.stddev)

    @property
    def is_certain(self) -> BoolArray:
        """Where one value has all the probability, so that there is no density."""
        return np.asarray(self.stddev == 0)

    @classmethod
    def of(cls, normal: NormalParameters) -> LogNormalParameters:
        """From the parameters of log x."""
        return cls(normal.mean, normal.stddev, normal.mean_low)


@earlier_fields(divisor="variance_divisor")
@dataclass(frozen=True)
class LogNormal(OnNumbers[Moments]):
    """p(x) = exp(-(log x - mean)^2 / (2 stddev^2)) / (x stddev sqrt(2 pi)) for x > 0.

    >>> log_normal = LogNormal(variance_divisor="n-1")
    >>> seen = log_normal.statistic(np.exp([1.0, 2.0, 3.0]))
    >>> log_normal.estimate(seen).parameters
    LogNormal(mean=2, stddev=1)
    """

    variance_divisor: Literal["n", "n-1"] = field(default="n", metadata=stored_field({}, "divisor"))

    name: ClassVar[str] = "log-normal"
    support: ClassVar[Support] = "positive"
    free = ("mean", "stddev")
    made = LogNormalParameters
    needs = "a log-normal value is above 0"

    @staticmethod
    def law(stats: Any, mean: float, stddev: float) -> Any:
        return stats.lognorm(stddev, scale=np.exp(mean))

    # -- estimation -------------------------------------------------------------------------------------------
    def is_inside(self, values: FloatArray) -> BoolArray:
        return is_positive(values)

    def kept(self, numbers: FloatArray, rows: Rows) -> Moments:
        """Moments of log x."""
        return Moments.of(log_of(numbers), *rows)

    def of_moments(self, values: Moments, logs: Moments, log_factorials: Moments) -> Moments:
        return logs

    def estimate(self, statistic: Moments) -> Estimate[LogNormalParameters]:
        """Mean and variance of log x. A constant sample has no maximum: the likelihood grows as stddev -> 0."""
        normal = Normal(self.variance_divisor).estimate(statistic)
        limit = ~normal.exists & ~statistic.is_empty()
        return Estimate(LogNormalParameters.of(normal.parameters), normal.exists, normal.reason, limit=limit)

    def spread_of(self, statistic: Moments) -> FloatArray:
        """The standard deviation of log x, 0 with no rows."""
        return statistic.stddev(empty=0.0)

    def with_least_spread(self, parameters: LogNormalParameters, least: FloatArray) -> LogNormalParameters:
        """A standard deviation of log x of at least `least`."""
        return replace(parameters, stddev=np.maximum(parameters.stddev, least))

    def parameters(self, statistic: Moments, prior: NormalInverseGamma | None = None) -> LogNormalParameters:
        """Maximum likelihood, or the posterior means of mean and variance of log x (shape above 1 needed)."""
        return LogNormalParameters.of(Normal(self.variance_divisor).parameters(statistic, prior))

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: LogNormalParameters, x: ArrayLike) -> FloatArray:
        """-log x - log stddev - log(2 pi) / 2 - z^2 / 2 with z = (log x - mean) / stddev.

        log x is taken with an absolute error of 1e-16, which z shows divided by stddev.
        A stddev of 0 is the certain value exp(mean): plus infinity there, minus infinity elsewhere.
        """
        values = np.asarray(x, dtype=np.float64)
        high, low = log_pair(or_one(values))
        deviation = ((high - parameters.mean) - parameters.mean_low) + low
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            z = deviation / parameters.stddev
            log_p = -(high + low) - log(parameters.stddev) - 0.5 * LOG_TWO_PI - 0.5 * z * z
        certain = np.where(high + low == parameters.mean + parameters.mean_low, np.inf, -np.inf)
        return self.on_support(values, np.where(parameters.stddev == 0, certain, log_p))

    def sample(self, parameters: LogNormalParameters, size: int, generator: np.random.Generator) -> FloatArray:
        """Draws; what leaves the range of floats is its nearest end."""
        shape = (size, *np.shape(parameters.mean))
        logs = parameters.mean + parameters.stddev * generator.standard_normal(shape)
        with np.errstate(over="ignore"):
            return np.clip(np.exp(logs), np.finfo(np.float64).tiny, np.finfo(np.float64).max)

    def exponential_form(self, parameters: LogNormalParameters) -> ExponentialForm:
        """h = 1 / (x sqrt(2 pi)), T = (log x, log^2 x), eta and a as for the normal distribution of log x."""
        form = Normal().exponential_form(NormalParameters(parameters.mean, parameters.stddev))
        return ExponentialForm(
            log_base_measure=lambda x: self.on_support(x, -np.log(or_one(x)) - 0.5 * LOG_TWO_PI),
            sufficient=lambda x: (np.log(or_one(x)), np.square(np.log(or_one(x)))),
            natural=form.natural,
            log_partition=form.log_partition,
            mean_of_sufficient=form.mean_of_sufficient,
            covariance_of_sufficient=form.covariance_of_sufficient,
        )

    def of_natural(self, *natural: FloatArray) -> LogNormalParameters:
        return LogNormalParameters.of(Normal().of_natural(*self.refuse_unless_as_many(2, natural)))

    def log_density_expression(self, parameters: LogNormalParameters, x: Expression) -> Expression:
        """That of log x; 1 / x is the same for all classes."""
        normal = NormalParameters(parameters.mean, parameters.stddev, parameters.mean_low)
        return Normal().log_density_expression(normal, log_of_positive(x))

    def terms(self, x: FloatArray, mean: float, stddev: float) -> Terms:
        return Normal().terms(np.log(x), mean, stddev)

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: Moments, prior: NormalInverseGamma) -> NormalInverseGamma:
        """That of the normal distribution of log x."""
        return Normal().posterior(statistic, prior)

    def log_marginal(self, statistic: Moments, prior: NormalInverseGamma) -> FloatArray:
        """That of the normal distribution of log x, less sum log x."""
        return Normal().log_marginal(statistic, prior) - statistic.total.to_floats()

    def is_candidate(self, extent: Extent) -> bool:
        return extent.minimum > 0

    def log_evidence(self, statistic: Moments) -> FloatArray:
        """From one pseudo-row with mean and variance of log x in the whole column."""
        whole = statistic.pooled().take(np.zeros(statistic.weight_of_rows.shape[0], dtype=np.int64))
        mean, variance = whole.mean(empty=0.0), whole.variance("n", empty=0.0)
        one = np.ones_like(mean)
        prior = NormalInverseGamma(mean, one, one, np.where(variance > 0, variance, 1.0))
        return np.asarray(self.log_marginal(statistic, prior).sum(axis=0))

    def log_predictive(self, posterior: NormalInverseGamma, x: ArrayLike) -> FloatArray:
        """Student-t of log x, less log x."""
        values = np.asarray(x, dtype=np.float64)
        high, low = log_pair(or_one(values))
        deviation = ((high - posterior.mean) - posterior.mean_low) + low
        shape = np.asarray(posterior.shape)
        spread = np.sqrt(posterior.scale) / np.sqrt(shape) * np.sqrt(1.0 + 1.0 / np.asarray(posterior.strength))
        return self.on_support(values, log_student_t(deviation, spread, 2.0 * shape) - (high + low))

    def sample_prior(self, prior: NormalInverseGamma, size: int, generator: np.random.Generator) -> LogNormalParameters:
        """Draws of mean and stddev of log x from the prior (or a posterior)."""
        return LogNormalParameters.of(Normal().sample_prior(prior, size, generator))
