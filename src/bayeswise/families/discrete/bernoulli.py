"""The Bernoulli distribution of a value that is 0 or 1, and its beta prior."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.priors import BetaPrior, Chance, WithBetaPrior
from bayeswise.families.protocol import ExponentialForm, Extent, Rows, Support, refuse_unless
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.exact import ExactArray
from bayeswise.render.expression import Expression, choose, equal, number
from bayeswise.statistics.numbers.moments import Moments


@dataclass(frozen=True)
class Bernoulli(WithBetaPrior[Moments]):
    """p(1) = probability, p(0) = 1 - probability.

    >>> bernoulli = Bernoulli()
    >>> seen = bernoulli.statistic([1, 0, 1, 1])
    >>> bernoulli.estimate(seen).parameters, bernoulli.posterior(seen, BetaPrior(successes=1, failures=1))
    (Chance(probability=0.75), BetaPrior(successes=4, failures=2))
    """

    name: ClassVar[str] = "bernoulli"
    support: ClassVar[Support] = "binary"
    border: ClassVar[str] = "all values are equal: the maximum lies on the border 0 or 1"
    needs = "a Bernoulli value is 0 or 1"

    @staticmethod
    def law(stats: Any, probability: float) -> Any:
        return stats.bernoulli(probability)

    # -- estimation -------------------------------------------------------------------------------------------
    def is_inside(self, values: FloatArray) -> BoolArray:
        return np.asarray((values == 0) | (values == 1))

    def kept(self, numbers: FloatArray, rows: Rows) -> Moments:
        """n and k = sum x."""
        return Moments.of(numbers, *rows)

    def outcomes(self, statistic: Moments) -> tuple[ExactArray, ExactArray]:
        """The ones and the zeros."""
        return statistic.total, statistic.weight - statistic.total

    def outcomes_of(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return x, 1.0 - x

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

    def log_density_expression(self, parameters: Chance, x: Expression) -> Expression:
        log_one, log_zero = float(parameters.log_probability), float(parameters.log_complement)
        return choose(equal(x, 1.0), number(log_one), number(log_zero))

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def is_candidate(self, extent: Extent) -> bool:
        return extent.is_flag

    def log_predictive(self, posterior: BetaPrior, x: ArrayLike) -> FloatArray:
        """Bernoulli with the posterior mean."""
        return self.log_density(Chance.of_weights(posterior.successes, posterior.failures), x)
