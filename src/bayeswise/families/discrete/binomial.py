"""The binomial distribution of the successes in a known number of trials, and its beta prior."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.evidence import difference_of_products, log_beta_evidence, log_beta_power
from bayeswise.families.arithmetic.stable_functions import log_beta
from bayeswise.families.priors import BetaPrior, Chance, WithBetaPrior
from bayeswise.families.protocol import ExponentialForm, Rows, Support, is_whole, refuse_unless
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.exact import DIGIT_BITS, ExactArray
from bayeswise.render.expression import Expression, at_most, both, equal, floor, number, times_log
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.statistics.product import Product

_SMALLEST_SHARE = 1e-290  # below it a share may have lost digits to underflow


@dataclass(frozen=True)
class Binomial(WithBetaPrior[Product]):
    """p(k) = trials! / (k! (trials - k)!) probability^k (1 - probability)^(trials - k) for k = 0, ..., trials.

    >>> binomial = Binomial(trials=10)
    >>> seen = binomial.statistic([3.0, 5.0])
    >>> binomial.estimate(seen).parameters, binomial.posterior(seen, BetaPrior(successes=1, failures=1))
    (Chance(probability=0.4), BetaPrior(successes=9, failures=13))
    """

    trials: int

    name: ClassVar[str] = "binomial"
    support: ClassVar[Support] = "count"
    border: ClassVar[str] = "no success or no failure: the maximum lies on the border 0 or 1"

    @staticmethod
    def law(stats: Any, trials: int, probability: float) -> Any:
        return stats.binom(trials, probability)

    def __post_init__(self) -> None:
        whole = self.trials == int(self.trials) and 1 <= self.trials <= 2**53
        refuse_unless(whole, "the number of trials must be a whole number from 1 on", self.trials)

    # -- estimation -------------------------------------------------------------------------------------------
    @property
    def needs(self) -> str:  # type: ignore[override]
        return f"a binomial count is a whole number from 0 to {self.trials}"

    def is_inside(self, values: FloatArray) -> BoolArray:
        return is_whole(values) & np.asarray(values <= self.trials)

    def kept(self, numbers: FloatArray, rows: Rows) -> Product:
        """Moments of k, and those of the log coefficients which the evidence needs."""
        different, position = np.unique(numbers, return_inverse=True)  # each k is met once: the layout cannot matter
        log_coefficients = self.log_coefficient(different)[position].reshape(numbers.shape)
        return Product({"values": Moments.of(numbers, *rows), "log_coefficients": Moments.of(log_coefficients, *rows)})

    def outcomes(self, statistic: Product) -> tuple[ExactArray, ExactArray]:
        """sum k, and n trials - sum k."""
        seen: Moments = statistic["values"]
        weight, exponent = seen.weight.to_ints()
        trials = ExactArray.from_ints(np.asarray(weight * int(self.trials)), exponent // DIGIT_BITS)
        return seen.total, trials - seen.total

    def outcomes_of(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return x, self.trials - x

    # -- density ----------------------------------------------------------------------------------------------
    def log_coefficient(self, k: ArrayLike) -> FloatArray:
        """log trials! / (k! (trials - k)!) = -log(trials + 1) - log B(k + 1, trials - k + 1), for k in the support.

        >>> round(np.exp(Binomial(trials=5).log_coefficient(2.0)).item(), 12)
        10.0
        """
        counts = np.asarray(k, dtype=np.float64)
        return np.asarray(-np.log(self.trials + 1.0) - log_beta(counts + 1.0, self.trials - counts + 1.0))

    def log_density(self, parameters: Chance, x: ArrayLike) -> FloatArray:
        """The log coefficient + k log probability + (trials - k) log(1 - probability), without cancellation."""
        p, q = parameters.probability, parameters.complement
        successes, failures = self._both(x)
        from_p = difference_of_products(successes, 1.0, self.trials, p)
        gap = np.where(p <= q, from_p, difference_of_products(self.trials, q, failures, 1.0))
        return self.on_support(x, self._log_mass(successes, failures, parameters, gap))

    def sample(self, parameters: Chance, size: int, generator: np.random.Generator) -> FloatArray:
        shape = (size, *np.shape(parameters.probability))
        return generator.binomial(self.trials, parameters.probability, shape).astype(np.float64)

    def exponential_form(self, parameters: Chance) -> ExponentialForm:
        """h = trials! / (k! (trials - k)!), T = k, eta = log(p / (1 - p)), a = -trials log(1 - p)."""
        p, q = parameters.probability, parameters.complement
        refuse_unless((p > 0) & (q > 0), "the exponential form needs a probability between 0 and 1", p)
        return ExponentialForm(
            log_base_measure=lambda x: self.on_support(x, self.log_coefficient(self._both(x)[0])),
            sufficient=lambda x: (np.asarray(x),),
            natural=(parameters.log_probability - parameters.log_complement,),
            log_partition=-self.trials * parameters.log_complement,
            mean_of_sufficient=(self.trials * p,),
            covariance_of_sufficient=((self.trials * p * q,),),
        )

    def support_expression(self, x: Expression) -> Expression:
        return both(at_most(number(0.0), x), at_most(x, float(self.trials)), equal(x, floor(x)))

    def log_density_expression(self, parameters: Chance, x: Expression) -> Expression:
        successes = times_log(x, float(parameters.log_probability))
        return successes + times_log(number(float(self.trials)) - x, float(parameters.log_complement))

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def log_marginal(self, statistic: Product, prior: BetaPrior) -> FloatArray:
        """The log coefficients + log B(successes + sum k, failures + n trials - sum k) - log B(successes, failures)."""
        log_coefficients = statistic["log_coefficients"].total.to_floats()
        return np.asarray(log_coefficients + super().log_marginal(statistic, prior))

    def log_predictive(self, posterior: BetaPrior, x: ArrayLike) -> FloatArray:
        """Beta-binomial: the binomial at the mean r after k, times r^a (1 - r)^b / B(a, b), over the same after k."""
        a, b = np.asarray(posterior.successes, dtype=np.float64), np.asarray(posterior.failures, dtype=np.float64)
        k, rest = self._both(x)
        after = Chance.of_weights(a + k, b + rest)
        p, q = after.probability, after.complement
        far = np.minimum(p, q) < _SMALLEST_SHARE
        safe = Chance(np.where(far, 0.5, p), np.where(far, 0.5, q))
        exponent = np.frexp(a + b + self.trials)[1]
        small_a, small_b = np.ldexp(a, -exponent), np.ldexp(b, -exponent)  # so that no product overflows
        gap = difference_of_products(small_a, rest, small_b, k) / np.ldexp(a + b + self.trials, -exponent)
        log_binomial = self._log_mass(k, rest, safe, -gap)
        log_before = log_beta_power(a, b, safe.probability, safe.complement, gap)
        log_after = log_beta_power(a + k, b + rest, safe.probability, safe.complement, 0.0)
        log_far = self.log_coefficient(k) + log_beta_evidence(a, b, k, rest)
        return self.on_support(x, np.where(far, log_far, log_binomial + (log_before - log_after)))

    # -- parts --------------------------------------------------------------------------------------------------
    def _both(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Successes and failures; 0 successes in place of what is not in the support."""
        values = np.asarray(x, dtype=np.float64)
        successes = np.where(self.is_inside(values), values, 0.0)
        return successes, self.trials - successes

    def _log_mass(self, successes: FloatArray, failures: FloatArray, chance: Chance, gap: FloatArray) -> FloatArray:
        """The log density from gap = k - trials probability.

        trials log(1 - probability) at 0, trials log probability at `trials`, and between them the coefficient is
        trials / (k (trials - k) B(k, trials - k)).
        """
        k, rest = np.maximum(successes, 0.5), np.maximum(failures, 0.5)
        log_power = log_beta_power(k, rest, chance.probability, chance.complement, gap)
        log_inner = log_power + np.log(float(self.trials)) - np.log(k) - np.log(rest)
        log_none, log_all = self.trials * chance.log_complement, self.trials * chance.log_probability
        return np.where(successes == 0, log_none, np.where(failures == 0, log_all, log_inner))
