"""The beta distribution of a number between 0 and 1."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.evidence import difference_of_products, log_beta_power
from bayeswise.families.arithmetic.stable_functions import log_beta, log_minus_digamma, trigamma_minus_inverse
from bayeswise.families.functions import Terms
from bayeswise.families.priors import BetaPrior, WithoutConjugatePrior
from bayeswise.families.protocol import Estimate, ExponentialForm, OneLine, Rows, Support, reasons, refuse_unless
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.special import digamma, polygamma
from bayeswise.render.expression import Expression, below, both, choose, log_one_plus, number
from bayeswise.statistics.numbers.kernel_numbers import log_of, log_one_minus
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.statistics.product import Product

_LEAST_NEAR = 10.0  # from these parameters on the peak is sharp, and large terms must cancel on paper
_LARGEST = float(np.nextafter(1.0, 0.0))


@dataclass(frozen=True, repr=False)
class BetaParameters(OneLine):
    """alpha and beta; both infinite are a certain value, `mean`, which is alpha / (alpha + beta) otherwise."""

    alpha: FloatArray
    beta: FloatArray
    mean: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._as_arrays("alpha", "beta")
        for name in ("alpha", "beta"):
            refuse_unless(getattr(self, name) > 0, f"{name} of a beta distribution must be above 0", self.alpha)
        if self.mean is None:
            refuse_unless(np.isfinite(self.alpha + self.beta), "infinite parameters need a mean", self.alpha)
            object.__setattr__(self, "mean", np.asarray(self.alpha / (self.alpha + self.beta)))

    @property
    def is_certain(self) -> BoolArray:
        return np.isinf(self.alpha)


@dataclass(frozen=True)
class Beta(WithoutConjugatePrior[Product]):
    """p(x) = x^(alpha - 1) (1 - x)^(beta - 1) / B(alpha, beta) for 0 < x < 1.

    >>> beta = Beta()
    >>> beta.estimate(beta.statistic([0.2, 0.5, 0.6])).parameters
    Beta(alpha=3.35448, beta=4.46785)
    """

    name: ClassVar[str] = "beta"
    support: ClassVar[Support] = "unit interval"
    free = ("alpha", "beta")
    made = BetaParameters
    needs = "a beta value lies between 0 and 1"

    @staticmethod
    def law(stats: Any, alpha: float, beta: float) -> Any:
        return stats.beta(alpha, beta)

    # -- estimation -------------------------------------------------------------------------------------------
    def is_inside(self, values: FloatArray) -> BoolArray:
        return np.asarray((values > 0.0) & (values < 1.0))

    def kept(self, numbers: FloatArray, rows: Rows) -> Product:
        """Moments of log x and of log(1 - x)."""
        logs_of_rest = Moments.of(log_one_minus(numbers), *rows)
        return Product({"logs": Moments.of(log_of(numbers), *rows), "logs_of_rest": logs_of_rest})

    def estimate(self, statistic: Product) -> Estimate[BetaParameters]:
        """digamma(alpha) - digamma(alpha + beta) = mean(log x), and so for beta and 1 - x, by Newton's method.

        A constant sample has no maximum: the likelihood grows as alpha and beta go to infinity. With no rows, alpha
        and beta 1 stand in. The relative error is about min(alpha, beta) 1e-16, and never more than 1e-5.
        """
        logs, logs_of_rest = statistic["logs"], statistic["logs_of_rest"]
        empty = logs.is_empty()
        constant = ~empty & (logs.stddev(empty=0.0) == 0) & (logs_of_rest.stddev(empty=0.0) == 0)
        fit = fit_beta(logs, logs_of_rest, empty | constant)
        certain = np.where(constant, np.inf, 1.0)
        g, h = logs.mean(empty=-1.0), logs_of_rest.mean(empty=-1.0)
        mean = np.where(constant, np.where(g < h, np.exp(g), -np.expm1(h)), fit.alpha / (fit.alpha + fit.beta))
        reason = reasons(
            (empty, "no rows: any alpha and beta are as likely"),
            (constant, "fewer than two different values: the likelihood grows as alpha and beta -> infinity"),
        )
        parameters = BetaParameters(fit.alpha * certain, fit.beta * certain, mean)
        return Estimate(parameters, ~empty & ~constant, reason, fit.iterations, fit.converged, limit=constant)

    def spread_of(self, statistic: Product) -> FloatArray:
        """The standard deviation at the estimate, 0 with no rows or a constant column."""
        estimate = self.estimate(statistic)
        a, b = (np.where(estimate.exists, each, 1.0) for each in (estimate.parameters.alpha, estimate.parameters.beta))
        n = a + b
        return np.where(estimate.exists, np.sqrt(a / n * (b / n) / (n + 1.0)), 0.0)

    def with_least_spread(self, parameters: BetaParameters, least: FloatArray) -> BetaParameters:
        """The same mean, a standard deviation of at least `least`: alpha + beta = mean (1 - mean) / variance - 1."""
        mean = np.asarray(parameters.mean)
        with np.errstate(divide="ignore"):
            most = np.maximum(mean * (1.0 - mean) / np.square(least) - 1.0, 1.0)
        too_sharp = parameters.alpha + parameters.beta > most
        alpha = np.where(too_sharp, mean * most, parameters.alpha)
        return BetaParameters(alpha, np.where(too_sharp, (1.0 - mean) * most, parameters.beta), mean)

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: BetaParameters, x: ArrayLike) -> FloatArray:
        """(alpha - 1) log x + (beta - 1) log(1 - x) - log B(alpha, beta); minus infinity unless 0 < x < 1.

        For large parameters it is taken from their deviance from (alpha + beta) (x, 1 - x). Infinite ones are the
        certain value `mean`: plus infinity there, to within rounding, and minus infinity elsewhere.
        """
        values = np.asarray(x, dtype=np.float64)
        certain, inside = parameters.is_certain, self.is_inside(values)
        a, b = np.where(certain, 1.0, parameters.alpha), np.where(certain, 1.0, parameters.beta)
        share = np.where(inside, values, 0.5)
        rest = 1.0 - share
        log_share, log_rest = np.log(share), np.log1p(-share)
        far = (a - 1.0) * log_share + (b - 1.0) * log_rest - log_beta(a, b)
        gap = difference_of_products(a, rest, b, share) + a * ((1.0 - rest) - share)
        near = log_beta_power(a, b, share, rest, gap) - log_share - log_rest
        log_p = np.where(np.minimum(a, b) >= _LEAST_NEAR, near, far)
        log_p = np.where(certain, _log_certain(share, parameters), log_p)
        return self.on_support(values, log_p)

    def sample(self, parameters: BetaParameters, size: int, generator: np.random.Generator) -> FloatArray:
        """Draws; what would round to 0 or 1 is the float next to it."""
        certain = parameters.is_certain
        a, b = np.where(certain, 1.0, parameters.alpha), np.where(certain, 1.0, parameters.beta)
        draws = np.clip(BetaPrior(a, b).sample(size, generator)[0], np.finfo(np.float64).tiny, _LARGEST)
        return np.where(certain, np.asarray(parameters.mean, dtype=np.float64), draws)

    def exponential_form(self, parameters: BetaParameters) -> ExponentialForm:
        """T = (log x, log(1 - x)), eta = (alpha - 1, beta - 1), a = log B(alpha, beta)."""
        a, b = parameters.alpha, parameters.beta
        refuse_unless(np.isfinite(a) & np.isfinite(b), "the exponential form needs finite parameters", a)
        curve = polygamma(1, a + b)
        return ExponentialForm(
            log_base_measure=lambda x: np.where(self.is_inside(np.asarray(x)), 0.0, -np.inf),
            sufficient=lambda x: (np.log(x), np.log1p(-np.asarray(x))),
            natural=(a - 1.0, b - 1.0),
            log_partition=log_beta(a, b),
            mean_of_sufficient=(digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)),
            covariance_of_sufficient=((polygamma(1, a) - curve, -curve), (-curve, polygamma(1, b) - curve)),
        )

    def of_natural(self, *natural: FloatArray) -> BetaParameters:
        power, rest_power = self.refuse_unless_as_many(2, natural)
        return BetaParameters(power + 1.0, rest_power + 1.0)

    def log_density_expression(self, parameters: BetaParameters, x: Expression) -> Expression:
        """a log(x / m) + b log((1 - x) / (1 - m)) with m = a / (a + b), less log x + log(1 - x)."""
        a, b = float(parameters.alpha), float(parameters.beta)
        share, rest = a / (a + b), b / (a + b)
        at_mean = float(self.log_density(parameters, share)) + float(np.log(share) + np.log1p(-share))
        inside = choose(both(below(number(0.0), x), below(x, 1.0)), x, number(share))
        away = inside - share
        return log_one_plus(away / share) * a + log_one_plus(away / -rest) * b + at_mean

    def terms(self, x: FloatArray, alpha: float, beta: float) -> Terms:
        both, curve = digamma(alpha + beta), polygamma(1, alpha + beta)
        gradient = [both - digamma(alpha) + np.log(x), both - digamma(beta) + np.log1p(-x)]
        return gradient, [[curve - polygamma(1, alpha), curve], [curve - polygamma(1, beta)]]


def _log_certain(x: FloatArray, parameters: BetaParameters) -> FloatArray:
    """Plus infinity at the mean, which is known through the rounded mean of the logarithms only."""
    mean = np.where(parameters.is_certain, np.asarray(parameters.mean, dtype=np.float64), 0.5)
    tolerance = 1e-15 * np.minimum(mean, 1.0 - mean) * (1.0 + np.abs(np.log(mean)))
    return np.where(np.abs(x - mean) <= tolerance, np.inf, -np.inf)


_MOST_STEPS = 200
_SHARP = 1e-5  # below this stddev of both logarithms 1 - exp(g) - exp(h), about 1 / (2 n), has too few digits


@dataclass(frozen=True)
class BetaFit:
    """alpha and beta, after how many steps, and whether these ended."""

    alpha: FloatArray
    beta: FloatArray
    iterations: int
    converged: bool


def fit_beta(logs: Moments, logs_of_rest: Moments, unknown: BoolArray) -> BetaFit:
    """Maximum likelihood; 1 and 1 where it is unknown."""
    g = np.where(unknown, -1.0, logs.mean(empty=-1.0))
    h = np.where(unknown, -1.0, logs_of_rest.mean(empty=-1.0))
    stddev, rest_stddev = logs.stddev(empty=1.0), logs_of_rest.stddev(empty=1.0)
    sharp = ~unknown & (np.maximum(stddev, rest_stddev) < _SHARP)
    alpha, beta, iterations, converged = _by_newton(np.where(sharp, -1.0, g), np.where(sharp, -1.0, h))
    with np.errstate(divide="ignore"):
        total = 1.0 / (stddev * rest_stddev)  # var(log x) = beta / (alpha n), var(log(1 - x)) = alpha / (beta n)
    alpha, beta = np.where(sharp, np.exp(g) * total, alpha), np.where(sharp, np.exp(h) * total, beta)
    return BetaFit(np.where(unknown, 1.0, alpha), np.where(unknown, 1.0, beta), iterations, converged)


def _by_newton(g: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray, int, bool]:
    deficit = -2.0 * (np.exp(np.minimum(g, h)) + np.expm1(np.maximum(g, h)))
    alpha, beta = 0.5 + np.exp(g) / deficit, 0.5 + np.exp(h) / deficit
    for iteration in range(1, _MOST_STEPS + 1):
        step, rest_step = _newton_step(alpha, beta, g, h)
        alpha, beta = np.maximum(alpha + step, 0.1 * alpha), np.maximum(beta + rest_step, 0.1 * beta)
        tolerance = 1e-15 * (4.0 + np.minimum(alpha, beta)) * (1.0 - np.minimum(g, h))  # what rounding leaves
        if np.all((np.abs(step) <= tolerance * alpha) & (np.abs(rest_step) <= tolerance * beta)):
            return alpha, beta, iteration, True
    return alpha, beta, _MOST_STEPS, False


def _newton_step(a: FloatArray, b: FloatArray, g: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The step towards the root of the equations, whose determinant is written so that 1 / (a b) cancels on paper."""
    n = a + b
    first = -np.log1p(b / a) - log_minus_digamma(a) + log_minus_digamma(n) - g
    second = -np.log1p(a / b) - log_minus_digamma(b) + log_minus_digamma(n) - h
    t_a, t_b, t_n = trigamma_minus_inverse(a), trigamma_minus_inverse(b), trigamma_minus_inverse(n)
    curve_a, curve_b, curve_n = t_a + 1.0 / a, t_b + 1.0 / b, t_n + 1.0 / n
    determinant = t_a * a / (b * n) + t_b * b / (a * n) + t_a * t_b - t_n * (curve_a + curve_b)
    step = -((curve_b - curve_n) * first + curve_n * second) / determinant
    rest_step = -((curve_a - curve_n) * second + curve_n * first) / determinant
    return step, rest_step
