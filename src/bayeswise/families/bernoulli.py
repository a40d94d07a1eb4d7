"""The Bernoulli distribution of a value that is 0 or 1, and its beta prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.chance import Chance
from bayeswise.families.evidence import log_beta_evidence
from bayeswise.families.priors import BetaPrior
from bayeswise.families.protocol import Estimate, ExponentialForm, Support
from bayeswise.families.support import as_columns, reasons, refuse_outside, refuse_unless
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.statistics.moments import Moments


@dataclass(frozen=True)
class Bernoulli:
    """p(1) = probability, p(0) = 1 - probability.

    >>> bernoulli = Bernoulli()
    >>> seen = bernoulli.statistic([1, 0, 1, 1])
    >>> bernoulli.estimate(seen).parameters, bernoulli.posterior(seen, BetaPrior(successes=1, failures=1))
    (Chance(probability=0.75), BetaPrior(successes=4, failures=2))
    """

    name: ClassVar[str] = "bernoulli"
    support: ClassVar[Support] = "binary"
    streams: ClassVar[bool] = True

    # -- estimation -------------------------------------------------------------------------------------------
    def statistic(
        self,
        values: ArrayLike,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
    ) -> Moments:
        """n and k = sum x; `DataError` for a value that is neither 0 nor 1."""
        numbers = as_columns(values)
        outside = ~(np.isnan(numbers) | (numbers == 0) | (numbers == 1))
        refuse_outside(numbers, outside, "a Bernoulli value is 0 or 1", groups, weights)
        return Moments.of(numbers, groups, n_groups, weights)

    def estimate(self, statistic: Moments) -> Estimate[Chance]:
        """k / n. With k = 0 or k = n the maximum exists and lies on the border; with no rows it is 1/2 by default."""
        parameters, exists = Chance.of_exact(statistic.total, statistic.weight - statistic.total)
        border = exists & ((parameters.probability == 0) | (parameters.complement == 0))
        reason = reasons(
            (~exists, "no rows: any probability is as likely"),
            (border, "all values are equal: the maximum lies on the border 0 or 1"),
        )
        return Estimate(parameters, exists, reason)

    def parameters(self, statistic: Moments, prior: BetaPrior | None = None) -> Chance:
        """Maximum likelihood, or the posterior mean (k + successes) / (n + successes + failures)."""
        if prior is None:
            return self.estimate(statistic).parameters
        after = self.posterior(statistic, prior)
        return Chance.of_weights(after.successes, after.failures)

    def n_free_parameters(self) -> int:
        return 1

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: Chance, x: ArrayLike) -> FloatArray:
        """log probability at 1, log(1 - probability) at 0."""
        values = np.asarray(x, dtype=np.float64)
        log_zero = np.where(values == 0, parameters.log_complement, -np.inf)
        log_p = np.where(values == 1, parameters.log_probability, log_zero)
        return np.where(np.isnan(values), np.nan, log_p)

    def sample(self, parameters: Chance, size: int, generator: np.random.Generator) -> FloatArray:
        shape = (size, *np.shape(parameters.probability))
        return np.asarray(generator.random(shape) < parameters.probability, dtype=np.float64)

    def exponential_form(self, parameters: Chance) -> ExponentialForm:
        """T = x, eta = log(probability / (1 - probability)), a = log(1 + e^eta)."""
        p, q = parameters.probability, parameters.complement
        refuse_unless((p > 0) & (q > 0), "the exponential form needs a probability between 0 and 1", p)
        return ExponentialForm(
            log_base_measure=lambda x: np.where((x == 0) | (x == 1), 0.0, -np.inf),
            sufficient=lambda x: (np.asarray(x),),
            natural=(parameters.log_probability - parameters.log_complement,),
            log_partition=-parameters.log_complement,
            mean_of_sufficient=(p,),
            covariance_of_sufficient=((p * q,),),
        )

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: Moments, prior: BetaPrior) -> BetaPrior:
        """successes + k, failures + n - k."""
        return BetaPrior(
            prior.successes + statistic.total.to_floats(),
            prior.failures + (statistic.weight - statistic.total).to_floats(),
        )

    def log_marginal(self, statistic: Moments, prior: BetaPrior) -> FloatArray:
        """log B(successes + k, failures + n - k) - log B(successes, failures)."""
        k, rest = statistic.total.to_floats(), (statistic.weight - statistic.total).to_floats()
        return log_beta_evidence(prior.successes, prior.failures, k, rest)

    def log_predictive(self, posterior: BetaPrior, x: ArrayLike) -> FloatArray:
        """Bernoulli with the posterior mean."""
        return self.log_density(Chance.of_weights(posterior.successes, posterior.failures), x)

    def sample_prior(self, prior: BetaPrior, size: int, generator: np.random.Generator) -> Chance:
        """Draws of the probability from the prior (or a posterior)."""
        return Chance(*prior.sample(size, generator))
