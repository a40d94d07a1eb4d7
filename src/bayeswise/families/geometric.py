"""The geometric distribution of the number of failures before the first success, and its beta prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.chance import Chance
from bayeswise.families.evidence import log_beta_evidence
from bayeswise.families.priors import BetaPrior
from bayeswise.families.protocol import Estimate, ExponentialForm, Support
from bayeswise.families.support import as_columns, is_whole, reasons, refuse_outside, refuse_unless
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.statistics.moments import Moments


@dataclass(frozen=True)
class Geometric:
    """p(x) = probability (1 - probability)^x for x = 0, 1, 2, ...: the failures before the first success.

    (Others count the trials up to the first success; that is x + 1.)

    >>> geometric = Geometric()
    >>> geometric.estimate(geometric.statistic([0, 3, 3])).parameters
    Chance(probability=0.333333)
    """

    name: ClassVar[str] = "geometric"
    support: ClassVar[Support] = "count"
    streams: ClassVar[bool] = True

    # -- estimation -------------------------------------------------------------------------------------------
    def statistic(
        self,
        values: ArrayLike,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
    ) -> Moments:
        """n and sum x; `DataError` for a value that is no whole number from 0 on."""
        numbers = as_columns(values)
        outside = ~(np.isnan(numbers) | is_whole(numbers))
        refuse_outside(numbers, outside, "a number of failures is 0, 1, 2, ...", groups, weights)
        return Moments.of(numbers, groups, n_groups, weights)

    def estimate(self, statistic: Moments) -> Estimate[Chance]:
        """n / (n + sum x). With only zeros the maximum exists and is 1; with no rows it is 1/2 by default."""
        parameters, exists = Chance.of_exact(statistic.weight, statistic.total)
        reason = reasons(
            (~exists, "no rows: any probability is as likely"),
            (exists & (parameters.complement == 0), "all values are 0: the maximum lies on the border 1"),
        )
        return Estimate(parameters, exists, reason)

    def parameters(self, statistic: Moments, prior: BetaPrior | None = None) -> Chance:
        """Maximum likelihood, or the posterior mean (n + successes) / (n + sum x + successes + failures)."""
        if prior is None:
            return self.estimate(statistic).parameters
        after = self.posterior(statistic, prior)
        return Chance.of_weights(after.successes, after.failures)

    def n_free_parameters(self) -> int:
        return 1

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: Chance, x: ArrayLike) -> FloatArray:
        """log probability + x log(1 - probability)."""
        values = np.asarray(x, dtype=np.float64)
        failures = np.where(is_whole(values), values, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):  # 0 times -inf is 0: no failure at probability 1
            log_failures = np.where(failures > 0, failures * parameters.log_complement, 0.0)
        log_p = np.where(is_whole(values), parameters.log_probability + log_failures, -np.inf)
        return np.where(np.isnan(values), np.nan, log_p)

    def sample(self, parameters: Chance, size: int, generator: np.random.Generator) -> FloatArray:
        """The whole part of an exponential draw with rate -log(1 - probability)."""
        refuse_unless(parameters.probability > 0, "a draw needs a probability above 0", parameters.probability)
        shape = (size, *np.shape(parameters.probability))
        return np.floor(generator.standard_exponential(shape) / -parameters.log_complement)

    def exponential_form(self, parameters: Chance) -> ExponentialForm:
        """T = x, eta = log(1 - probability), a = -log probability = -log(1 - e^eta)."""
        p, q = parameters.probability, parameters.complement
        refuse_unless((p > 0) & (q > 0), "the exponential form needs a probability between 0 and 1", p)
        return ExponentialForm(
            log_base_measure=lambda x: np.where(is_whole(np.asarray(x)), 0.0, -np.inf),
            sufficient=lambda x: (np.asarray(x),),
            natural=(parameters.log_complement,),
            log_partition=-parameters.log_probability,
            mean_of_sufficient=(q / p,),
            covariance_of_sufficient=((q / p**2,),),
        )

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: Moments, prior: BetaPrior) -> BetaPrior:
        """successes + n, failures + sum x."""
        return BetaPrior(
            prior.successes + statistic.weight.to_floats(), prior.failures + statistic.total.to_floats()
        )

    def log_marginal(self, statistic: Moments, prior: BetaPrior) -> FloatArray:
        """log B(successes + n, failures + sum x) - log B(successes, failures)."""
        n, total = statistic.weight.to_floats(), statistic.total.to_floats()
        return log_beta_evidence(prior.successes, prior.failures, n, total)

    def log_predictive(self, posterior: BetaPrior, x: ArrayLike) -> FloatArray:
        """log B(successes + 1, failures + x) - log B(successes, failures)."""
        values = np.asarray(x, dtype=np.float64)
        failures = np.where(is_whole(values), values, 0.0)
        log_success = Chance.of_weights(posterior.successes, posterior.failures + failures).log_probability
        log_failures = log_beta_evidence(posterior.successes, posterior.failures, 0.0, failures)
        log_p = np.where(is_whole(values), log_success + log_failures, -np.inf)
        return np.where(np.isnan(values), np.nan, log_p)

    def sample_prior(self, prior: BetaPrior, size: int, generator: np.random.Generator) -> Chance:
        """Draws of the probability from the prior (or a posterior)."""
        return Chance(*prior.sample(size, generator))
