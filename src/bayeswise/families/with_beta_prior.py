"""What families of successes and failures have in common: one probability, and its beta prior."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

import numpy as np

from bayeswise.families.chance import Chance
from bayeswise.families.evidence import log_beta_evidence
from bayeswise.families.priors import BetaPrior
from bayeswise.families.protocol import Estimate
from bayeswise.families.support import reasons
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.exact import ExactArray

S = TypeVar("S")


class WithBetaPrior(ABC, Generic[S]):
    """A family whose rows are k successes and m failures together; the prior is the statistic of imagined ones."""

    border: ClassVar[str]  # what is said where k or m is zero

    @abstractmethod
    def outcomes(self, statistic: S) -> tuple[ExactArray, ExactArray]:
        """k and m."""

    def estimate(self, statistic: S) -> Estimate[Chance]:
        """k / (k + m). With k = 0 or m = 0 the maximum exists and lies on the border; with no rows it is 1/2."""
        parameters, exists = Chance.of_exact(*self.outcomes(statistic))
        border = exists & ((parameters.probability == 0) | (parameters.complement == 0))
        return Estimate(
            parameters, exists, reasons((~exists, "no rows: any probability is as likely"), (border, self.border))
        )

    def parameters(self, statistic: S, prior: BetaPrior | None = None) -> Chance:
        """Maximum likelihood, or the posterior mean (successes + k) / (successes + k + failures + m)."""
        if prior is None:
            return self.estimate(statistic).parameters
        after = self.posterior(statistic, prior)
        return Chance.of_weights(after.successes, after.failures)

    def n_free_parameters(self) -> int:
        return 1

    def posterior(self, statistic: S, prior: BetaPrior) -> BetaPrior:
        """successes + k, failures + m."""
        k, m = self._counted(statistic)
        return BetaPrior(prior.successes + k, prior.failures + m)

    def log_marginal(self, statistic: S, prior: BetaPrior) -> FloatArray:
        """log B(successes + k, failures + m) - log B(successes, failures)."""
        return log_beta_evidence(prior.successes, prior.failures, *self._counted(statistic))

    def sample_prior(self, prior: BetaPrior, size: int, generator: np.random.Generator) -> Chance:
        """Draws of the probability from the prior (or a posterior)."""
        return Chance(*prior.sample(size, generator))

    def _counted(self, statistic: S) -> tuple[FloatArray, FloatArray]:
        k, m = self.outcomes(statistic)
        return k.to_floats(), m.to_floats()
