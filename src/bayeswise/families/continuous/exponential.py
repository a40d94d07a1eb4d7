"""The exponential distribution of a waiting time, and its gamma prior."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.evidence import log_gamma_evidence, log_one_plus_ratio
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
    or_else,
    reasons,
    refuse_unless,
)
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.errors import ExportError
from bayeswise.foundation.logspace import log
from bayeswise.render.expression import Expression, at_most, bounded, choose, log_one_plus, number
from bayeswise.statistics.numbers.moments import Moments

_SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, repr=False)
class ExponentialParameters(OneLine):
    """The rate, one over the mean; an infinite rate is the certain value 0."""

    rate: FloatArray

    def __post_init__(self) -> None:
        self._as_arrays("rate")
        refuse_unless(self.rate > 0, "an exponential rate must be above 0", self.rate)


@dataclass(frozen=True)
class Exponential(OnNumbers[Moments]):
    """p(x) = rate exp(-rate x) for x >= 0.

    >>> exponential = Exponential()
    >>> seen = exponential.statistic([1.0, 3.0])
    >>> exponential.estimate(seen).parameters, exponential.posterior(seen, GammaPrior(shape=1, rate=1))
    (Exponential(rate=0.5), GammaPrior(shape=3, rate=5))
    """

    name: ClassVar[str] = "exponential"
    support: ClassVar[Support] = "positive"
    free = ("rate",)
    made = ExponentialParameters
    needs = "a waiting time must not be negative"

    @staticmethod
    def law(stats: Any, rate: float) -> Any:
        return stats.expon(scale=1.0 / rate)

    # -- estimation -------------------------------------------------------------------------------------------
    def is_inside(self, values: FloatArray) -> BoolArray:
        return np.asarray(values >= 0)

    def kept(self, numbers: FloatArray, rows: Rows) -> Moments:
        """n and sum x."""
        return Moments.of(numbers, *rows)

    def estimate(self, statistic: Moments) -> Estimate[ExponentialParameters]:
        """n / sum x. With only zeros the likelihood grows with the rate: it is infinite; with no rows it is 1."""
        empty, zero = statistic.is_empty(), statistic.total.is_zero()
        total = Dyadic.of(statistic.total)
        divisor = total.or_one(zero)
        rate = np.where(zero, np.inf, Dyadic.of(statistic.weight).over(divisor))
        reason = reasons(
            (empty, "no rows: any rate is as likely"),
            (~empty & np.isinf(rate), "all values are 0: the likelihood grows with the rate"),
        )
        return Estimate(ExponentialParameters(np.where(empty, 1.0, rate)), np.isfinite(rate), reason)

    def parameters(self, statistic: Moments, prior: GammaPrior | None = None) -> ExponentialParameters:
        """Maximum likelihood, or the posterior mean (shape + n) / (rate + sum x)."""
        if prior is None:
            return self.estimate(statistic).parameters
        return ExponentialParameters(self.posterior(statistic, prior).mean)

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: ExponentialParameters, x: ArrayLike) -> FloatArray:
        """log rate - rate x; at an infinite rate plus infinity at 0 and minus infinity elsewhere."""
        values = np.asarray(x, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            decay = np.where(values == 0, 0.0, parameters.rate * values)
            log_p = np.where(np.isinf(decay), -np.inf, log(parameters.rate) - decay)
        return self.on_support(values, log_p)

    def sample(self, parameters: ExponentialParameters, size: int, generator: np.random.Generator) -> FloatArray:
        shape = (size, *np.shape(parameters.rate))
        return np.asarray(generator.standard_exponential(shape) / parameters.rate)

    def exponential_form(self, parameters: ExponentialParameters) -> ExponentialForm:
        """T = x, eta = -rate, a = -log rate = -log(-eta)."""
        rate = parameters.rate
        refuse_unless(np.isfinite(rate), "the exponential form needs a finite rate", rate)
        return ExponentialForm(
            log_base_measure=lambda x: np.where(np.asarray(x) >= 0, 0.0, -np.inf),
            sufficient=lambda x: (np.asarray(x),),
            natural=(-rate,),
            log_partition=-log(rate),
            mean_of_sufficient=(1.0 / rate,),
            covariance_of_sufficient=((1.0 / rate**2,),),
        )

    def of_natural(self, *natural: FloatArray) -> ExponentialParameters:
        (eta,) = self.refuse_unless_as_many(1, natural)
        refuse_unless(eta < 0, "the natural parameter of an exponential family must be below 0", eta)
        return ExponentialParameters(-eta)

    def linear_term(self, parameters: ExponentialParameters) -> tuple[FloatArray, FloatArray]:
        return -parameters.rate, log(parameters.rate)

    def support_expression(self, x: Expression) -> Expression:
        return at_most(number(0.0), x)

    def log_density_expression(self, parameters: ExponentialParameters, x: Expression) -> Expression:
        rate = float(parameters.rate)
        if np.isinf(rate):
            raise ExportError("an exponential column is 0 in every row of a class", fix="fit it with smoothing above 0")
        return bounded(x, 0.0, 1.0 / max(rate, _SMALLEST)) * -rate + float(np.log(rate))

    def terms(self, x: FloatArray, rate: float) -> Terms:
        return [1.0 / rate - x], [[-1.0 / rate**2]]

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: Moments, prior: GammaPrior) -> GammaPrior:
        """shape + n, rate + sum x."""
        return GammaPrior(prior.shape + statistic.weight.to_floats(), prior.rate + statistic.total.to_floats())

    def log_marginal(self, statistic: Moments, prior: GammaPrior) -> FloatArray:
        """log Gamma(shape + n) - log Gamma(shape) + shape log rate - (shape + n) log(rate + sum x)."""
        n, total = statistic.weight.to_floats(), statistic.total.to_floats()
        return log_gamma_evidence(prior.shape, prior.rate, n, total)

    def is_candidate(self, extent: Extent) -> bool:
        return extent.minimum > 0 or (extent.minimum == 0 and not extent.whole)

    def pseudo_rows(self, whole: Moments, n: float) -> GammaPrior:
        """n waiting times of the whole column's mean; where all are 0, of one over as many rows and one more."""
        rate = or_else(self.estimate(whole).parameters.rate, whole.weight_of_rows.to_floats()[:, None] + 1.0)
        return GammaPrior(np.full_like(rate, n), n / rate)

    def log_predictive_expression(self, posterior: GammaPrior, x: Expression) -> Expression:
        """log(shape / rate) - (shape + 1) log(1 + x / rate)."""
        shape, rate = float(posterior.shape), float(posterior.rate)
        ratio = choose(at_most(number(0.0), x), x, number(0.0)) / rate
        return log_one_plus(ratio) * -(shape + 1.0) + float(np.log(shape) - np.log(rate))

    def log_predictive(self, posterior: GammaPrior, x: ArrayLike) -> FloatArray:
        """Lomax: log(shape / rate) - (shape + 1) log(1 + x / rate)."""
        values = np.asarray(x, dtype=np.float64)
        shape, rate = np.asarray(posterior.shape), np.asarray(posterior.rate)
        times = np.where(values >= 0, values, 0.0)
        log_tail = (shape + 1.0) * log_one_plus_ratio(times, rate)
        return self.on_support(values, log(shape) - log(rate) - log_tail)

    def sample_prior(self, prior: GammaPrior, size: int, generator: np.random.Generator) -> ExponentialParameters:
        """Draws of the rate from the prior (or a posterior)."""
        return ExponentialParameters(prior.sample(size, generator))
