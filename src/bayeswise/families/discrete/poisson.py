"""The Poisson distribution of a count, and its gamma prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.evidence import gamma_penalty, log_poisson, shrinkage_gap
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
    is_whole,
    or_else,
    reasons,
    refuse_unless,
)
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.logspace import log
from bayeswise.foundation.special import gammaln
from bayeswise.render.expression import IMPOSSIBLE, Expression, at_most, choose, log_rising, number
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.statistics.product import Product

LARGEST_DRAWN_RATE = 9e18
"""Draws are 64-bit integers."""


@dataclass(frozen=True, repr=False)
class PoissonParameters(OneLine):
    """The rate, which is mean and variance; a rate of 0 is the certain count 0."""

    rate: FloatArray

    def __post_init__(self) -> None:
        self._as_arrays("rate")
        refuse_unless(np.isfinite(self.rate) & (self.rate >= 0), "a Poisson rate must not be negative", self.rate)


@dataclass(frozen=True)
class Poisson(OnNumbers[Product]):
    """p(x) = rate^x exp(-rate) / x! for x = 0, 1, 2, ...

    >>> poisson = Poisson()
    >>> seen = poisson.statistic([2, 0, 4])
    >>> poisson.estimate(seen).parameters, poisson.posterior(seen, GammaPrior(shape=1, rate=1))
    (Poisson(rate=2), GammaPrior(shape=7, rate=4))
    """

    name: ClassVar[str] = "poisson"
    support: ClassVar[Support] = "count"
    free = ("rate",)
    made = PoissonParameters
    needs = "a Poisson count is 0, 1, 2, ..."

    @staticmethod
    def law(stats: Any, rate: float) -> Any:
        return stats.poisson(rate)

    # -- estimation -------------------------------------------------------------------------------------------
    def is_inside(self, values: FloatArray) -> BoolArray:
        return is_whole(values)

    def kept(self, numbers: FloatArray, rows: Rows) -> Product:
        """Moments of x, and those of log x! which the evidence needs."""
        values = Moments.of(numbers, *rows)
        return self.of_moments(values, values, Moments.of(gammaln(numbers + 1.0), *rows))

    def of_moments(self, values: Moments, logs: Moments, log_factorials: Moments) -> Product:
        return Product({"values": values, "log_factorials": log_factorials})

    def estimate(self, statistic: Product) -> Estimate[PoissonParameters]:
        """The mean. With only zeros the maximum exists and is 0, the certain count 0; with no rows 0 stands in."""
        seen = _moments(statistic)
        rate, exists = seen.mean(empty=0.0), ~seen.is_empty()
        reason = reasons(
            (~exists, "no rows: any rate is as likely"),
            (exists & (rate == 0), "all values are 0: the maximum lies on the border 0"),
        )
        return Estimate(PoissonParameters(rate), exists, reason)

    def parameters(self, statistic: Product, prior: GammaPrior | None = None) -> PoissonParameters:
        """Maximum likelihood, or the posterior mean (shape + sum x) / (rate + n)."""
        if prior is None:
            return self.estimate(statistic).parameters
        return PoissonParameters(self.posterior(statistic, prior).mean)

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: PoissonParameters, x: ArrayLike) -> FloatArray:
        """x log rate - rate - log x!, by Stirling's formula, so that it keeps its digits for large counts."""
        values = np.asarray(x, dtype=np.float64)
        counts = np.where(is_whole(values), values, 0.0)
        return self.on_support(values, log_poisson(counts, parameters.rate, counts - parameters.rate))

    def sample(self, parameters: PoissonParameters, size: int, generator: np.random.Generator) -> FloatArray:
        refuse_unless(parameters.rate < LARGEST_DRAWN_RATE, "a draw needs a rate below 9e18", parameters.rate)
        return generator.poisson(parameters.rate, (size, *np.shape(parameters.rate))).astype(np.float64)

    def exponential_form(self, parameters: PoissonParameters) -> ExponentialForm:
        """h = 1 / x!, T = x, eta = log rate, a = rate = e^eta."""
        rate = parameters.rate
        refuse_unless(rate > 0, "the exponential form needs a rate above 0", rate)
        return ExponentialForm(
            log_base_measure=lambda x: np.where(is_whole(np.asarray(x)), -gammaln(np.maximum(x, 0.0) + 1.0), -np.inf),
            sufficient=lambda x: (np.asarray(x),),
            natural=(log(rate),),
            log_partition=rate,
            mean_of_sufficient=(rate,),
            covariance_of_sufficient=((rate,),),
        )

    def of_natural(self, *natural: FloatArray) -> PoissonParameters:
        (eta,) = self.refuse_unless_as_many(1, natural)
        return PoissonParameters(np.exp(eta))

    def linear_term(self, parameters: PoissonParameters) -> tuple[FloatArray, FloatArray]:
        return log(parameters.rate), -parameters.rate

    def log_density_expressions(self, classes: Sequence[PoissonParameters], x: Expression) -> list[Expression]:
        """x log(rate / largest rate) - (rate - largest rate): for large counts no difference of large numbers."""
        rates = [float(each.rate) for each in classes]
        most = max(rates)
        return [
            choose(at_most(x, 0.0), number(most - rate), number(IMPOSSIBLE))  # 0 log 0 is 0
            if rate <= 0.0
            else x * float(np.log1p((rate - most) / most)) + (most - rate)
            for rate in rates
        ]

    def log_density_expression(self, parameters: PoissonParameters, x: Expression) -> Expression:
        return self.log_density_expressions([parameters], x)[0]

    def terms(self, x: FloatArray, rate: float) -> Terms:
        return [x / rate - 1.0], [[-x / rate**2]]

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: Product, prior: GammaPrior) -> GammaPrior:
        """shape + sum x, rate + n."""
        seen = _moments(statistic)
        return GammaPrior(prior.shape + seen.total.to_floats(), prior.rate + seen.weight.to_floats())

    def log_marginal(self, statistic: Product, prior: GammaPrior) -> FloatArray:
        """k log r - n r - sum log x! - `gamma_penalty`, with k = sum x and the posterior mean r.

        Its error is that of sum log x! in its last digit: it matters where single counts exceed about 1e6.
        """
        seen, log_factorials = _moments(statistic), statistic["log_factorials"].total.to_floats()
        n, k = seen.weight.to_floats(), seen.total.to_floats()
        mean = self.posterior(statistic, prior).mean
        log_likelihood = k * log(mean) - n * mean - log_factorials
        return np.asarray(log_likelihood - gamma_penalty(prior.shape, prior.rate, k, n))

    def is_candidate(self, extent: Extent) -> bool:
        return extent.is_count

    def pseudo_rows(self, whole: Product, n: float) -> GammaPrior:
        """n rows with the whole column's mean; where all are 0, one event in as many rows and one more."""
        rate = or_else(self.estimate(whole).parameters.rate, 1.0 / (whole.weight_of_rows.to_floats()[:, None] + 1.0))
        return GammaPrior(n * rate, np.full_like(rate, n))

    def log_predictive_expression(self, posterior: GammaPrior, x: Expression) -> Expression:
        """Gamma(shape + x) / Gamma(shape) (rate / (rate + 1))^shape / (rate + 1)^x."""
        shape, rate = float(posterior.shape), float(posterior.rate)
        return log_rising(shape, x) - x * float(np.log1p(rate)) - shape * float(np.log1p(1.0 / rate))

    def log_predictive(self, posterior: GammaPrior, x: ArrayLike) -> FloatArray:
        """Negative binomial: Gamma(shape + x) rate^shape / (Gamma(shape) x! (rate + 1)^(shape + x))."""
        values = np.asarray(x, dtype=np.float64)
        counts = np.where(is_whole(values), values, 0.0)
        shape, rate = np.asarray(posterior.shape), np.asarray(posterior.rate)
        mean = (shape + counts) / (rate + 1.0)
        log_likelihood = log_poisson(counts, mean, -shrinkage_gap(shape, counts, rate, 1.0))
        return self.on_support(values, log_likelihood - gamma_penalty(shape, rate, counts, 1.0))

    def sample_prior(self, prior: GammaPrior, size: int, generator: np.random.Generator) -> PoissonParameters:
        """Draws of the rate from the prior (or a posterior)."""
        return PoissonParameters(prior.sample(size, generator))


def _moments(statistic: Product) -> Moments:
    moments: Moments = statistic["values"]
    return moments
