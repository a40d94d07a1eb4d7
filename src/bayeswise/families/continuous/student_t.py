"""Student's t distribution with unknown location, scale and degrees of freedom; it keeps all different values.

For f >= 1 degrees of freedom the likelihood of location and scale has one maximum, unless a share of f / (f + 1) or
more of the weight lies on one value: then it grows without bound as the scale goes to 0 there. Over k = 1 / df, from 0
(the normal distribution) to 1 / min_df, the slope of that maximum is followed to where it crosses zero from above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from bayeswise import _kernels
from bayeswise.families.arithmetic.stable_functions import (
    HALF_LOG_TWO_PI,
    digamma_half_step,
    log1p_minus,
    log_one_plus_square,
    stirling_error,
)
from bayeswise.families.continuous.normal import Normal
from bayeswise.families.functions import Terms
from bayeswise.families.priors import WithoutConjugatePrior
from bayeswise.families.protocol import Estimate, OneLine, Rows, Support, refuse_unless
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier_fields
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.foundation.special import digamma, polygamma
from bayeswise.foundation.threads import each
from bayeswise.render.expression import Expression, log_bell, log_one_plus, square, standardised
from bayeswise.statistics.numbers.sample import Sample
from bayeswise.store.fields import stored_field

LOG_TWO = float(np.log(2.0))


@earlier_fields(freedom="df")
@dataclass(frozen=True, repr=False)
class StudentTParameters(OneLine):
    """Location, scale and degrees of freedom; with infinite df it is the normal distribution.

    `location_low` carries the digits of the location beyond the 53 bits of a float.
    """

    location: FloatArray
    scale: FloatArray
    df: FloatArray
    location_low: FloatArray | float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        self._as_arrays("location", "scale", "df")
        refuse_unless(np.isfinite(self.location), "a location must be finite", self.location)
        refuse_unless(np.isfinite(self.scale) & (self.scale >= 0), "a scale must not be negative", self.scale)
        refuse_unless(self.df > 0, "degrees of freedom must be above 0", self.df)

    @property
    def is_certain(self) -> BoolArray:
        """Where one value has all the probability, so that there is no density."""
        return np.asarray(self.scale == 0)


@earlier_fields(freedom="df", least_freedom="min_df")
@dataclass(frozen=True)
class StudentT(WithoutConjugatePrior[Sample]):
    """p(x) proportional to (1 + z^2 / df)^(-(df + 1) / 2) / scale with z = (x - location) / scale.

    If `df` is given, only location and scale are estimated. Otherwise df is at least `min_df`: near df = 0 the
    likelihood is unbounded for any sample, as the scale goes to 0 about one of the values.

    >>> student = StudentT(df=4.0)
    >>> student.estimate(student.statistic([-1.0, 0.0, 1.0, 50.0])).parameters
    StudentT(location=4.22128, scale=13.9115, df=4)
    """

    df: float | None = field(default=None, metadata=stored_field({}, "freedom"))
    min_df: float = field(default=1.0, metadata=stored_field({}, "least_freedom"))

    name: ClassVar[str] = "student-t"
    support: ClassVar[Support] = "real"
    streams: ClassVar[bool] = False
    free = ("location", "scale", "df")
    made = StudentTParameters

    @staticmethod
    def law(stats: Any, location: float, scale: float, df: float) -> Any:
        return stats.t(df, location, scale) if np.isfinite(df) else stats.norm(location, scale)

    def __post_init__(self) -> None:
        if self.df is not None:
            refuse_unless(self.df > 0, "degrees of freedom must be above 0", self.df)
        good = np.isfinite(self.min_df) and self.min_df > 0
        refuse_unless(good, "min_df must be finite and above 0", self.min_df)

    # -- estimation -------------------------------------------------------------------------------------------
    def kept(self, numbers: FloatArray, rows: Rows) -> Sample:
        """All values: there is no statistic of fixed size."""
        return Sample.of(numbers, *rows)

    def estimate(self, statistic: Sample) -> Estimate[StudentTParameters]:
        """The highest maximum of the likelihood, by iteration; see above for when there is none."""
        fits = each(
            lambda cell: fit_student_t(cell[0], cell[1].to_floats(), self.df, self.min_df),
            statistic.cells(),
        )
        shape = statistic.sizes.shape
        location, scale, df, location_low = (
            np.array([getattr(fit, name) for fit in fits], dtype=np.float64).reshape(shape)
            for name in ("location", "scale", "df", "location_low")
        )
        exists = np.array([fit.problem == "" for fit in fits], dtype=np.bool_).reshape(shape)
        return Estimate(
            StudentTParameters(location, scale, df, location_low),
            exists,
            "; ".join(sorted({fit.problem for fit in fits} - {""})),
            iterations=max((fit.iterations for fit in fits), default=0),
            converged=all(fit.converged for fit in fits),
            limit=~exists & (statistic.sizes > 0),
        )

    def spread_of(self, statistic: Sample) -> FloatArray:
        """The mean of |x - mean|, 0 with no rows: there is one where the likelihood has no maximum, too."""
        return statistic.spread()

    def with_least_spread(self, parameters: StudentTParameters, least: FloatArray) -> StudentTParameters:
        """A scale of at least `least`."""
        return replace(parameters, scale=np.maximum(parameters.scale, least))

    def n_free_parameters(self) -> int:
        return 3 if self.df is None else 2

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: StudentTParameters, x: ArrayLike) -> FloatArray:
        """log Gamma((f + 1) / 2) - log Gamma(f / 2) - log(f pi) / 2 - log scale - (f + 1) / 2 log(1 + z^2 / f).

        A scale of 0 is the certain value `location`: plus infinity there, minus infinity elsewhere.
        """
        values = np.asarray(x, dtype=np.float64)
        location, df = parameters.location, parameters.df
        scale = np.where(parameters.scale > 0, parameters.scale, 1.0)
        with np.errstate(over="ignore"):
            deviation = (values - location) - parameters.location_low
        halved = log_student_t(0.5 * values - 0.5 * location, 0.5 * scale, df) - LOG_TWO
        log_p = np.where(np.isinf(deviation), halved, log_student_t(deviation, scale, df))
        certain = np.where(np.isnan(values), np.nan, np.where(deviation == 0, np.inf, -np.inf))
        return np.where(parameters.scale == 0, certain, log_p)

    def sample(self, parameters: StudentTParameters, size: int, generator: np.random.Generator) -> FloatArray:
        """A normal draw over the root of a gamma draw with mean one."""
        shape = (size, *np.shape(parameters.location))
        finite = np.where(np.isinf(parameters.df), 1.0, parameters.df)
        mixing = generator.standard_gamma(0.5 * finite, shape) / (0.5 * finite)
        mixing = np.where(np.isinf(parameters.df), 1.0, np.maximum(mixing, np.finfo(np.float64).tiny))
        return np.asarray(parameters.location + parameters.scale * generator.standard_normal(shape) / np.sqrt(mixing))

    def exponential_form(self, parameters: StudentTParameters) -> NoReturn:
        raise ParameterError("Student's t distribution is not an exponential family")

    def of_natural(self, *natural: FloatArray) -> NoReturn:
        raise ParameterError("a student-t family is not an exponential family")

    def log_density_expression(self, parameters: StudentTParameters, x: Expression) -> Expression:
        location, low, scale = float(parameters.location), float(parameters.location_low), float(parameters.scale)
        peak = float(self.log_density(parameters, location))
        z = standardised(x, location, low, scale)
        df = float(parameters.df)
        if np.isinf(df):
            return log_bell(z) + peak
        return log_one_plus(square(z) / df) * (-0.5 * (df + 1.0)) + peak

    def terms(self, x: FloatArray, location: float, scale: float, df: float) -> Terms:
        if df == np.inf:  # the normal distribution, which more degrees of freedom do not change
            (by_location, by_scale), ((twice, mixed), (curve,)) = Normal().terms(x, location, scale)
            return [by_location, by_scale, 0.0], [[twice, mixed, 0.0], [curve, 0.0], [0.0]]
        f, s, z = df, scale, (x - location) / scale
        u = z**2
        by_u, by_uu = -0.5 * (f + 1.0) / (f + u), 0.5 * (f + 1.0) / (f + u) ** 2
        by_uf = -0.5 * (u - 1.0) / (f + u) ** 2
        by_f = 0.5 * (digamma(0.5 * (f + 1.0)) - digamma(0.5 * f) - 1.0 / f - np.log1p(u / f))
        by_f = by_f + 0.5 * (f + 1.0) * u / (f * (f + u))
        by_ff = 0.25 * (polygamma(1, 0.5 * (f + 1.0)) - polygamma(1, 0.5 * f)) + 0.5 / f**2
        by_ff = by_ff + 0.5 * u / (f * (f + u)) - 0.5 * u * (f**2 + 2.0 * f + u) / (f * (f + u)) ** 2
        u_l, u_s = -2.0 * z / s, -2.0 * u / s  # derivatives of u
        second = [
            [by_uu * u_l**2 + by_u * 2.0 / s**2, by_uu * u_l * u_s + by_u * 4.0 * z / s**2, by_uf * u_l],
            [by_uu * u_s**2 + by_u * 6.0 * u / s**2 + 1.0 / s**2, by_uf * u_s],
            [by_ff],
        ]
        return [by_u * u_l, by_u * u_s - 1.0 / s, by_f], second


def log_student_t(deviation: ArrayLike, scale: ArrayLike, df: ArrayLike) -> FloatArray:
    """The log density at location + deviation, for a scale above 0; with infinite df it is the normal distribution.

    With a = df / 2 the gamma functions leave a (log(1 + 1 / 2a) - 1 / 2a) and the errors of Stirling.

    >>> round(np.exp(log_student_t(0.0, 1.0, 1.0)).item() * np.pi, 12)
    1.0
    """
    away, unit = np.asarray(deviation, dtype=np.float64), np.asarray(scale, dtype=np.float64)
    given = np.asarray(df, dtype=np.float64)
    finite = np.where(np.isinf(given), 1.0, given)
    a = 0.5 * finite
    log_norm = a * log1p_minus(0.5 / a) + stirling_error(a + 0.5) - stirling_error(a)
    with np.errstate(over="ignore"):
        z = away / unit
        log_far = 2.0 * (log(np.abs(away)) - log(unit)) - np.log(finite)
        log_square = np.where(np.isinf(z), log_far, log_one_plus_square(z, np.sqrt(finite)))
        log_tail, log_normal_tail = 0.5 * (finite + 1.0) * log_square, 0.5 * z * z
    log_p = np.where(np.isinf(given), -log_normal_tail, log_norm - log_tail)
    return np.asarray(log_p - HALF_LOG_TWO_PI - log(unit))


_FEW_STEPS, _MOST_STEPS = 40, 1000
_FAR = 0.7  # a change of log scale beyond which EM would creep
_LAST_STEP = 1e-9  # after a Newton step of this size the error is its square
_SAME = 1e-13  # relative change of k that ends the search
_GRID = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 9)])  # of k times min_df
_LEAST_SPREAD = 1e-200
_LARGEST_EXPONENT, _LARGEST_LOG_SCALE = 1000, 700.0  # of standardised values
_FARTHEST = 1e150  # beyond it a value has no weight, and its square still is a float


@dataclass(frozen=True)
class Fit:
    """The highest point of the likelihood of one sample, or why there is none and the limit it climbs towards."""

    location: float
    scale: float
    df: float
    problem: str = ""
    location_low: float = 0.0  # the digits of the location beyond the 53 bits of a float
    iterations: int = 0
    converged: bool = True


def fit_student_t(values: FloatArray, weights: FloatArray, df: float | None, min_df: float) -> Fit:
    """Maximum likelihood of ascending values with their weights; with df given, of location and scale only."""
    least = min_df if df is None else df
    if len(values) == 0:
        return Fit(0.0, 0.0, least, "no rows: any location and scale are as likely")
    share = weights / weights.sum()
    most = int(np.argmax(share))
    if len(values) == 1 or share[most] * (1.0 + 1.0 / least) >= 1.0:
        problem = "too large a share of the rows has one and the same value: the likelihood grows as scale -> 0"
        return Fit(float(values[most]), 0.0, least, problem)
    standard, centre, exponent = _standardised(values, share)
    profile = _Profile(standard, share)
    fit = profile.at(1.0 / df) if df is not None else _best(profile, 1.0 / min_df)
    step, scale = float(np.ldexp(fit.location, exponent)), float(np.ldexp(fit.scale, exponent))
    location = centre + step
    moved = location - centre
    low = (centre - (location - moved)) + (step - moved)
    steps, ended = profile.iterations, profile.converged
    return replace(fit, location=location, location_low=low, scale=scale, iterations=steps, converged=ended)


def _standardised(values: FloatArray, share: FloatArray) -> tuple[FloatArray, float, int]:
    """Deviations from the median in units of a power of two near their own median, or larger if that overflows."""
    centre = _median(values, share)
    halved = 0.5 * values - 0.5 * centre
    deviation, doubled = (halved, 1) if np.abs(halved).max() > 2.0**1021 else (values - centre, 0)
    distance = np.abs(deviation)
    order = np.argsort(distance)
    typical = _median(distance[order], share[order]) or float(share @ distance)
    exponent = int(max(np.frexp(typical)[1], np.frexp(distance.max())[1] - _LARGEST_EXPONENT))
    return np.ldexp(deviation, -exponent), centre, exponent + doubled


def _median(values: FloatArray, share: FloatArray) -> float:
    """The middle of ascending values."""
    return float(values[np.searchsorted(np.cumsum(share), 0.5 * (1.0 - 1e-12))])


class _Profile:
    """The maximum over location and scale as a function of k = 1 / df."""

    def __init__(self, values: FloatArray, share: FloatArray) -> None:
        self.values, self.share = values, share
        self.location, self.scale = 0.0, 1.0  # in units of a typical deviation from the median
        self.iterations, self.converged = 0, True

    def at(self, k: float) -> Fit:
        """The maximum for one df, from where the last search ended, or if that is too far, from the median."""
        if not self._climb(k, _FEW_STEPS):
            self.location, self.scale = 0.0, 1.0
            self._find_scale(k)
            self.converged &= self._climb(k, _MOST_STEPS)
        return Fit(self.location, self.scale, 1.0 / k if k > 0 else float("inf"))

    def _climb(self, k: float, most_steps: int) -> bool:
        """Steps of EM that rescale, then Newton's; whether they ended."""
        for _ in range(most_steps):
            self.iterations += 1
            step, log_step, is_newton = self._step(k)
            self.location += self.scale * step
            self.scale *= float(np.exp(log_step))
            if abs(log_step) > _FAR:
                self._find_scale(k)
            if is_newton and max(abs(step), abs(log_step)) <= _LAST_STEP:
                return True
        return False

    def slope(self, k: float) -> float:
        """The derivative of the mean log-likelihood with respect to k, at the maximum for k."""
        self.at(k)
        z = self._z()
        if k == 0:
            return 0.25 * (float(self.share @ z**4) - 3.0)
        q = k * z * z
        r = q / (1.0 + q)
        terms = np.where(q < 1.0, -q * r - log1p_minus(q), r - np.log1p(q))  # the same, without cancellation
        return -0.5 * (float(digamma_half_step(0.5 / k)) + float(self.share @ (terms + k * r))) / k**2

    def log_likelihood(self, fit: Fit) -> float:
        return float(self.share @ log_student_t(self.values - fit.location, fit.scale, fit.df))

    def _z(self) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.clip((self.values - self.location) / self.scale, -_FARTHEST, _FARTHEST)

    def _find_scale(self, k: float) -> None:
        """For this location the sum of w z^2 falls as the scale grows, and is 1 at the maximum: halve the range."""
        low, high = -_LARGEST_LOG_SCALE, _LARGEST_LOG_SCALE
        while high - low > _FAR:
            middle = 0.5 * (low + high)
            self.scale = float(np.exp(middle))
            low, high = (middle, high) if self._sums(k)[2] > 1.0 else (low, middle)

    def _sums(self, k: float) -> list[float]:
        return _kernels.student_t_sums(self.values, self.share, self.location, self.scale, k, _FARTHEST)

    def _step(self, k: float) -> tuple[float, float, bool]:
        """The change of location in scales and that of log scale, and whether it is Newton's."""
        total, first, second, curve, half_mixed, half_log_curve = self._sums(k)
        mixed, log_curve = 2.0 * half_mixed, 2.0 * half_log_curve
        determinant = curve * log_curve - mixed**2
        if curve > 0 and determinant > 0:
            step = (log_curve * first - mixed * (second - 1.0)) / determinant
            log_step = (curve * (second - 1.0) - mixed * first) / determinant
            if max(abs(step), abs(log_step)) < 0.3:
                return step, log_step, True
        step = first / total
        spread = second / total - step * step
        if spread < 0.5 * step * step:  # too many digits cancel
            z = self._z()
            w = self.share * (1.0 + k) / (1.0 + k * z * z)
            spread = float((w * np.square(z - step)).sum()) / total
        return step, 0.5 * float(np.log(max(spread, _LEAST_SPREAD))), False


def _best(profile: _Profile, most_k: float) -> Fit:
    """The highest of the ends of the range and the crossings of the slope inside."""
    grid = most_k * _GRID
    slopes = [profile.slope(float(k)) for k in grid]
    maxima = []
    if slopes[0] <= 0:
        maxima.append(
            replace(profile.at(0.0), problem="the tails are no heavier than those of the normal distribution")
        )
    for low, high, slope_low, slope_high in zip(grid, grid[1:], slopes, slopes[1:], strict=False):
        if slope_low > 0 >= slope_high:
            maxima.append(profile.at(_crossing(profile.slope, float(low), float(high), slope_low, slope_high)))
    if slopes[-1] > 0:
        problem = f"the likelihood still climbs at min_df = {1.0 / most_k:g}"
        maxima.append(replace(profile.at(most_k), problem=problem))
    return max(maxima, key=profile.log_likelihood)


def _crossing(slope: Callable[[float], float], low: float, high: float, above: float, below: float) -> float:
    """Where the slope is zero, by secants; the value at an end that stays twice is halved, so that both ends move."""
    last, side = low, 0
    for _ in range(_MOST_STEPS):
        middle = (high * above - low * below) / (above - below)
        if abs(middle - last) <= _SAME * middle:
            break
        here, last = slope(middle), middle
        if here > 0:
            low, above, below, side = middle, here, below * (0.5 if side > 0 else 1.0), 1
        else:
            high, below, above, side = middle, here, above * (0.5 if side < 0 else 1.0), -1
    return last
