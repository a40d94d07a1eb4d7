"""The gamma distribution of a positive number; with a known shape it has a gamma prior for its rate."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.evidence import deviance, log_beta_power_of_odds, log_gamma_evidence
from bayeswise.families.arithmetic.stable_functions import (
    HALF_LOG_TWO_PI,
    log_minus_digamma,
    log_pair,
    stirling_error,
    trigamma_minus_inverse,
    two_product,
)
from bayeswise.families.functions import Terms
from bayeswise.families.priors import GammaPrior
from bayeswise.families.protocol import (
    Estimate,
    ExponentialForm,
    OneLine,
    OnNumbers,
    Rows,
    Support,
    is_positive,
    or_one,
    reasons,
    refuse_unless,
)
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.foundation.special import digamma, gammaln, polygamma
from bayeswise.render.expression import Expression, below, bounded, choose, number
from bayeswise.render.expression import log as log_expression
from bayeswise.statistics.numbers.kernel_numbers import log_of
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.statistics.product import Product

_LEAST_NEAR = 10.0  # from this shape on the peak is sharp, and large terms must cancel on paper


@dataclass(frozen=True, repr=False)
class GammaParameters(OneLine):
    """Shape and rate; an infinite rate is the certain value `mean`, which is shape / rate otherwise."""

    shape: FloatArray
    rate: FloatArray
    mean: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._as_arrays("shape", "rate")
        for name in ("shape", "rate"):
            refuse_unless(getattr(self, name) > 0, f"the {name} of a gamma distribution must be above 0", self.shape)
        if self.mean is None:
            refuse_unless(np.isfinite(self.rate), "an infinite rate needs a mean", self.rate)
            with np.errstate(over="ignore"):
                object.__setattr__(self, "mean", np.asarray(self.shape / self.rate))

    @property
    def is_certain(self) -> BoolArray:
        """Where one value has all the probability, so that there is no density."""
        return np.asarray(np.isinf(self.rate))


@dataclass(frozen=True)
class Gamma(OnNumbers[Product]):
    """p(x) = rate^shape x^(shape - 1) exp(-rate x) / Gamma(shape) for x > 0; the shape may be known.

    >>> gamma = Gamma()
    >>> gamma.estimate(gamma.statistic([1.0, 2.0, 6.0])).parameters
    Gamma(shape=2.00036, rate=0.666788)
    >>> erlang = Gamma(shape=2.0)
    >>> erlang.posterior(erlang.statistic([1.0, 2.0, 6.0]), GammaPrior(shape=1, rate=1))
    GammaPrior(shape=7, rate=10)
    """

    shape: float | None = None

    name: ClassVar[str] = "gamma"
    support: ClassVar[Support] = "positive"
    free = ("shape", "rate")
    made = GammaParameters
    needs = "a gamma value is above 0"

    def __post_init__(self) -> None:
        if self.shape is not None:
            refuse_unless(is_positive(self.shape), "a known shape must be above 0", self.shape)

    @staticmethod
    def law(stats: Any, shape: float, rate: float) -> Any:
        return stats.gamma(shape, scale=1.0 / rate)

    # -- estimation -------------------------------------------------------------------------------------------
    def is_inside(self, values: FloatArray) -> BoolArray:
        return is_positive(values)

    def kept(self, numbers: FloatArray, rows: Rows) -> Product:
        """Moments of x and of log x."""
        return Product({"values": Moments.of(numbers, *rows), "logs": Moments.of(log_of(numbers), *rows)})

    def estimate(self, statistic: Product) -> Estimate[GammaParameters]:
        """The root of log shape - digamma(shape) = log mean(x) - mean(log x), by Newton's method; rate = shape / mean.

        A constant sample has no maximum: the likelihood grows as shape and rate go to infinity. With no rows, shape
        and rate 1 stand in. The relative error is about shape log(x) 1e-16, and never more than 1e-7.
        """
        seen: Moments = statistic["values"]
        empty, mean = seen.is_empty(), seen.mean(empty=1.0)
        constant = ~empty & (seen.stddev(empty=0.0) == 0)
        shape, iterations, converged = self._shape(statistic, empty | constant)
        shape = np.where(constant & (self.shape is None), np.inf, shape)
        with np.errstate(over="ignore"):
            rate = np.where(empty, shape, shape / mean)
        overflow = np.isinf(rate) & np.isfinite(shape)
        reason = reasons(
            (empty, "no rows: any shape and rate are as likely"),
            (np.isinf(shape), "fewer than two different values: the likelihood grows as shape -> infinity"),
            (overflow, "the rate exceeds the range of floats: measure the column in a smaller unit"),
        )
        parameters = GammaParameters(shape, rate, mean)
        exists = ~empty & np.isfinite(rate)
        return Estimate(parameters, exists, reason, iterations, converged, limit=~empty & np.isinf(shape))

    def spread_of(self, statistic: Product) -> FloatArray:
        """The standard deviation, 0 with no rows."""
        seen: Moments = statistic["values"]
        return seen.stddev(empty=0.0)

    def with_least_spread(self, parameters: GammaParameters, least: FloatArray) -> GammaParameters:
        """The same mean, and a standard deviation of at least `least`: a shape of at most (mean / stddev)^2."""
        if self.shape is not None:
            return parameters
        mean = np.asarray(parameters.mean)
        with np.errstate(divide="ignore", over="ignore"):
            shape = np.minimum(parameters.shape, (mean / least) ** 2)
            rate = np.where(shape < parameters.shape, shape / mean, parameters.rate)
        return GammaParameters(shape, rate, mean)

    def _shape(self, statistic: Product, unknown: FloatArray) -> tuple[FloatArray, int, bool]:
        """The shape of maximum likelihood (1 where it is unknown), the number of steps, and whether they ended."""
        if self.shape is not None:
            return np.full(np.shape(unknown), self.shape), 0, True
        deficit = np.where(unknown, 1.0, log_of_mean_less_mean_of_log(statistic))
        shape, iterations, converged = shape_of(deficit)
        return np.where(unknown, 1.0, shape), iterations, converged

    def parameters(self, statistic: Product, prior: GammaPrior | None = None) -> GammaParameters:
        """Maximum likelihood, or with a known shape the posterior mean of the rate."""
        if prior is None:
            return self.estimate(statistic).parameters
        rate = self.posterior(statistic, prior).mean
        return GammaParameters(np.full(rate.shape, self._known_shape()), rate)

    def n_free_parameters(self) -> int:
        return 2 if self.shape is None else 1

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: GammaParameters, x: ArrayLike) -> FloatArray:
        """log rate + (shape - 1) log t - t - log Gamma(shape) with t = rate x; minus infinity for x <= 0.

        For a large shape it is taken from the deviance of the shape from t. An infinite rate is the certain value
        `mean`: plus infinity there, minus infinity elsewhere.
        """
        values = np.asarray(x, dtype=np.float64)
        certain = np.isinf(parameters.rate)
        shape, rate = np.where(certain, 1.0, parameters.shape), np.where(certain, 1.0, parameters.rate)
        t, t_low = two_product(rate, or_one(values))
        usual = (t > 1e-290) & (t < 1e290)
        log_t = np.where(usual, log(np.where(usual, t, 1.0)), np.log(rate) + np.log(or_one(values)))
        far = (shape - 1.0) * log_t - t - gammaln(shape)
        gap = (shape - t) - t_low
        near = 0.5 * np.log(shape) - HALF_LOG_TWO_PI - stirling_error(shape) - log_t - deviance(shape, t, gap)
        log_p = np.log(rate) + np.where(usual & (shape >= _LEAST_NEAR), near, far)
        log_certain = np.where(values == parameters.mean, np.inf, -np.inf)
        return self.on_support(values, np.where(certain, log_certain, log_p))

    def sample(self, parameters: GammaParameters, size: int, generator: np.random.Generator) -> FloatArray:
        certain = np.isinf(parameters.rate)
        shape, rate = np.where(certain, 1.0, parameters.shape), np.where(certain, 1.0, parameters.rate)
        draws = GammaPrior(shape, rate).sample(size, generator)
        return np.where(certain, np.asarray(parameters.mean, dtype=np.float64), draws)

    def exponential_form(self, parameters: GammaParameters) -> ExponentialForm:
        """T = (log x, x), eta = (shape - 1, -rate), a = log Gamma(shape) - shape log rate."""
        shape, rate = parameters.shape, parameters.rate
        refuse_unless(np.isfinite(rate), "the exponential form needs a finite rate", rate)
        return ExponentialForm(
            log_base_measure=lambda x: self.on_support(x, np.zeros(np.shape(x))),
            sufficient=lambda x: (np.log(or_one(x)), np.asarray(x)),
            natural=(shape - 1.0, -rate),
            log_partition=gammaln(shape) - shape * np.log(rate),
            mean_of_sufficient=(digamma(shape) - np.log(rate), shape / rate),
            covariance_of_sufficient=((polygamma(1, shape), 1.0 / rate), (1.0 / rate, shape / rate**2)),
        )

    def of_natural(self, *natural: FloatArray) -> GammaParameters:
        power, decay = self.refuse_unless_as_many(2, natural)
        refuse_unless(decay < 0, "the second natural parameter of a gamma family must be below 0", decay)
        return GammaParameters(power + 1.0, -decay)

    def log_density_expression(self, parameters: GammaParameters, x: Expression) -> Expression:
        """shape (log u - (u - 1)) with u = x / mean, less log x."""
        shape, mean = float(parameters.shape), float(np.asarray(parameters.mean))
        at_mean = float(self.log_density(parameters, mean)) + float(np.log(mean))
        u = choose(below(number(0.0), x), bounded(x, 0.0, mean), number(mean)) / mean
        return (log_expression(u) - (u - 1.0)) * shape + at_mean

    def terms(self, x: FloatArray, shape: float, rate: float) -> Terms:
        gradient = [np.log(rate) - digamma(shape) + np.log(x), shape / rate - x]
        return gradient, [[-polygamma(1, shape), 1.0 / rate], [-shape / rate**2]]

    # -- the conjugate prior of the rate, for a known shape -------------------------------------------------------
    def posterior(self, statistic: Product, prior: GammaPrior) -> GammaPrior:
        """prior shape + n shape, prior rate + sum x."""
        seen: Moments = statistic["values"]
        return GammaPrior(
            prior.shape + self._known_shape() * seen.weight.to_floats(), prior.rate + seen.total.to_floats()
        )

    def log_marginal(self, statistic: Product, prior: GammaPrior) -> FloatArray:
        """(shape - 1) sum log x - n log Gamma(shape) + the evidence of n shape events in a time of sum x."""
        seen: Moments = statistic["values"]
        shape, n = self._known_shape(), seen.weight.to_floats()
        log_evidence = log_gamma_evidence(prior.shape, prior.rate, shape * n, seen.total.to_floats())
        log_powers = (shape - 1.0) * statistic["logs"].total.to_floats()
        return np.asarray(log_evidence + (log_powers - n * gammaln(shape)))

    def log_predictive(self, posterior: GammaPrior, x: ArrayLike) -> FloatArray:
        """Compound gamma: r^shape (1 - r)^a / (B(shape, a) x) with r = x / (x + b), for a posterior shape a, rate b."""
        values = np.asarray(x, dtype=np.float64)
        safe = or_one(values)
        log_power = log_beta_power_of_odds(self._known_shape(), posterior.shape, safe, posterior.rate)
        return self.on_support(values, log_power - np.log(safe))

    def sample_prior(self, prior: GammaPrior, size: int, generator: np.random.Generator) -> GammaParameters:
        """Draws of the rate from the prior (or a posterior)."""
        rate = prior.sample(size, generator)
        return GammaParameters(np.full(rate.shape, self._known_shape()), rate)

    def _known_shape(self) -> float:
        if self.shape is None:
            raise ParameterError(
                "the gamma family with an unknown shape has no conjugate prior", fix="give the shape: Gamma(shape=2.0)"
            )
        return self.shape


_MOST_STEPS = 100


def log_of_mean_less_mean_of_log(statistic: Product) -> FloatArray:
    """log mean(x) - mean(log x), positive for a sample that is not constant.

    For values close together the two are almost equal; then it follows from the variances L = log(1 + v(x) / mean^2)
    and v(log x), with an error of their squares: L / 2 - (L - v(log x)) / 3, the cumulants of log x.
    """
    values: Moments = statistic["values"]
    logs: Moments = statistic["logs"]
    mean, mean_low = values.mean_pair(empty=1.0)
    high, low = log_pair(mean)
    log_mean, log_mean_low = logs.mean_pair(empty=0.0)
    apart = (high - log_mean) + (low + mean_low / mean - log_mean_low)
    ratio = values.stddev(empty=0.0) / mean
    log_spread = np.log1p(ratio * ratio)
    skew = np.where(ratio < 1e-7, 0.0, log_spread - logs.variance(empty=0.0))  # there v(log x) is rounding
    return np.where(ratio < 1e-4, 0.5 * log_spread - skew / 3.0, apart)


def shape_of(deficit: FloatArray) -> tuple[FloatArray, int, bool]:
    """The root of log a - digamma(a) = deficit by Newton's method in 1 / a, from a start within 1.5 % of it."""
    s = deficit
    inverse = 12.0 * s / (3.0 - s + np.sqrt((s - 3.0) ** 2 + 24.0 * s))
    for iteration in range(1, _MOST_STEPS + 1):
        shape = 1.0 / inverse
        step = (log_minus_digamma(shape) - s) / (trigamma_minus_inverse(shape) * shape * shape)
        inverse = np.maximum(inverse - step, 0.1 * inverse)
        if np.all(np.abs(step) <= 4e-15 * inverse):
            return 1.0 / inverse, iteration, True
    return 1.0 / inverse, _MOST_STEPS, False
