"""The geometric distribution of the number of failures before the first success, and its beta prior."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.evidence import log_beta_evidence
from bayeswise.families.priors import BetaPrior, Chance, WithBetaPrior
from bayeswise.families.protocol import ExponentialForm, Extent, Rows, Support, is_whole, refuse_unless
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.exact import ExactArray
from bayeswise.render.expression import Expression, log_rising, number, times_log
from bayeswise.statistics.numbers.moments import Moments


@dataclass(frozen=True)
class Geometric(WithBetaPrior[Moments]):
    """p(x) = probability (1 - probability)^x for x = 0, 1, 2, ...: the failures before the first success.

    (Others count the trials up to the first success; that is x + 1.)

    >>> geometric = Geometric()
    >>> geometric.estimate(geometric.statistic([0, 3, 3])).parameters
    Chance(probability=0.333333)
    """

    name: ClassVar[str] = "geometric"
    support: ClassVar[Support] = "count"
    border: ClassVar[str] = "all values are 0: the maximum lies on the border 1"
    needs = "a number of failures is 0, 1, 2, ..."

    @staticmethod
    def law(stats: Any, probability: float) -> Any:
        return stats.geom(probability, loc=-1)

    # -- estimation -------------------------------------------------------------------------------------------
    def is_inside(self, values: FloatArray) -> BoolArray:
        return is_whole(values)

    def kept(self, numbers: FloatArray, rows: Rows) -> Moments:
        """n and sum x."""
        return Moments.of(numbers, *rows)

    def outcomes(self, statistic: Moments) -> tuple[ExactArray, ExactArray]:
        """A success for each row, and sum x failures before them."""
        return statistic.weight, statistic.total

    def outcomes_of(self, x: FloatArray) -> tuple[float, FloatArray]:
        return 1.0, x

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: Chance, x: ArrayLike) -> FloatArray:
        """log probability + x log(1 - probability)."""
        values = np.asarray(x, dtype=np.float64)
        failures = np.where(is_whole(values), values, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):  # 0 times -inf is 0: no failure at probability 1
            log_failures = np.where(failures > 0, failures * parameters.log_complement, 0.0)
        return self.on_support(values, parameters.log_probability + log_failures)

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

    def of_natural(self, *natural: FloatArray) -> Chance:
        (eta,) = self.refuse_unless_as_many(1, natural)
        refuse_unless(eta < 0, "the natural parameter of a geometric family must be below 0", eta)
        return Chance(-np.expm1(eta), np.exp(eta))

    def log_density_expression(self, parameters: Chance, x: Expression) -> Expression:
        return times_log(x, float(parameters.log_complement)) + number(float(parameters.log_probability))

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def is_candidate(self, extent: Extent) -> bool:
        return extent.is_count

    def log_predictive_expression(self, posterior: BetaPrior, x: Expression) -> Expression:
        """a / (a + b)  Gamma(b + x) / Gamma(b)  Gamma(a + b + 1) / Gamma(a + b + 1 + x)."""
        a, b = float(posterior.successes), float(posterior.failures)
        return log_rising(b, x) - log_rising(a + b + 1.0, x) + float(np.log(a) - np.log(a + b))

    def log_predictive(self, posterior: BetaPrior, x: ArrayLike) -> FloatArray:
        """log B(successes + 1, failures + x) - log B(successes, failures)."""
        values = np.asarray(x, dtype=np.float64)
        failures = np.where(is_whole(values), values, 0.0)
        log_success = Chance.of_weights(posterior.successes, posterior.failures + failures).log_probability
        log_failures = log_beta_evidence(posterior.successes, posterior.failures, 0.0, failures)
        return self.on_support(values, log_success + log_failures)
