"""The Laplace distribution: its likelihood is highest at the median, so it keeps all different values."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.functions import Terms
from bayeswise.families.priors import WithoutConjugatePrior
from bayeswise.families.protocol import Estimate, ExponentialForm, OneLine, Rows, Support, reasons, refuse_unless
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.render.expression import Expression, absolute, bounded
from bayeswise.statistics.numbers.sample import Sample

LOG_TWO = float(np.log(2.0))


@dataclass(frozen=True, repr=False)
class LaplaceParameters(OneLine):
    """The location, which is mean and median, and the scale, which is the mean of |x - location|."""

    location: FloatArray
    scale: FloatArray

    def __post_init__(self) -> None:
        self._as_arrays("location", "scale")
        refuse_unless(np.isfinite(self.location), "a location must be finite", self.location)
        refuse_unless(np.isfinite(self.scale) & (self.scale >= 0), "a scale must not be negative", self.scale)

    @property
    def is_certain(self) -> BoolArray:
        """Where one value has all the probability, so that there is no density."""
        return np.asarray(self.scale == 0)


@dataclass(frozen=True)
class Laplace(WithoutConjugatePrior[Sample]):
    """p(x) = exp(-|x - location| / scale) / (2 scale).

    >>> laplace = Laplace()
    >>> laplace.estimate(laplace.statistic([1.0, 2.0, 6.0])).parameters
    Laplace(location=2, scale=1.66667)
    """

    name: ClassVar[str] = "laplace"
    support: ClassVar[Support] = "real"
    free = ("location", "scale")
    made = LaplaceParameters
    streams: ClassVar[bool] = False

    @staticmethod
    def law(stats: Any, location: float, scale: float) -> Any:
        return stats.laplace(location, scale)

    # -- estimation -------------------------------------------------------------------------------------------
    def kept(self, numbers: FloatArray, rows: Rows) -> Sample:
        """All values: a median has no statistic of fixed size."""
        return Sample.of(numbers, *rows)

    def estimate(self, statistic: Sample) -> Estimate[LaplaceParameters]:
        """Median and mean absolute deviation from it, correctly rounded.

        Between two middle values any location is as likely; the one halfway stands for them.
        """
        location, scale = statistic.median(empty=0.0), statistic.mean_absolute_deviation(empty=0.0)
        empty = statistic.sizes == 0
        reason = reasons(
            (empty, "no rows: any location and scale are as likely"),
            (statistic.sizes == 1, "fewer than two different values: the likelihood grows as scale -> 0"),
        )
        return Estimate(LaplaceParameters(location, scale), statistic.sizes > 1, reason, limit=statistic.sizes == 1)

    def spread_of(self, statistic: Sample) -> FloatArray:
        """The mean of |x - mean|, 0 with no rows."""
        return statistic.spread()

    def with_least_spread(self, parameters: LaplaceParameters, least: FloatArray) -> LaplaceParameters:
        """A scale of at least `least`."""
        return LaplaceParameters(parameters.location, np.maximum(parameters.scale, least))

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: LaplaceParameters, x: ArrayLike) -> FloatArray:
        """-log 2 - log scale - |x - location| / scale.

        A scale of 0 is the certain value `location`: plus infinity there, minus infinity elsewhere.
        """
        values = np.asarray(x, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            distance = np.abs(values - parameters.location)
            halved = 2.0 * (np.abs(0.5 * values - 0.5 * parameters.location) / parameters.scale)
            z = np.where(np.isinf(distance), halved, distance / parameters.scale)
            log_p = -LOG_TWO - log(parameters.scale) - z
        certain = np.where(np.isnan(values), np.nan, np.where(distance == 0, np.inf, -np.inf))
        return np.where(parameters.scale == 0, certain, log_p)

    def sample(self, parameters: LaplaceParameters, size: int, generator: np.random.Generator) -> FloatArray:
        draws = generator.laplace(size=(size, *np.shape(parameters.location)))
        return np.asarray(parameters.location + parameters.scale * draws)

    def exponential_form(self, parameters: LaplaceParameters) -> ExponentialForm:
        """T = |x - location|, eta = -1 / scale, a = log(2 scale): an exponential family while the location is known."""
        location, scale = parameters.location, parameters.scale
        refuse_unless(scale > 0, "the exponential form needs a scale above 0", scale)
        return ExponentialForm(
            log_base_measure=lambda x: np.zeros(np.shape(x)),
            sufficient=lambda x: (np.abs(np.asarray(x) - location),),
            natural=(-1.0 / scale,),
            log_partition=LOG_TWO + np.log(scale),
            mean_of_sufficient=(scale,),
            covariance_of_sufficient=((scale**2,),),
        )

    def of_natural(self, *natural: FloatArray, location: float | None = None) -> LaplaceParameters:
        (eta,) = self.refuse_unless_as_many(1, natural)
        if location is None:
            raise ParameterError(
                "a Laplace family is an exponential one while its location is known", fix="natural_form(location=0.0)"
            )
        refuse_unless(eta < 0, "the natural parameter of a Laplace family must be below 0", eta)
        return LaplaceParameters(np.full(np.shape(eta), location), -1.0 / eta)

    def log_density_expression(self, parameters: LaplaceParameters, x: Expression) -> Expression:
        location, scale = float(parameters.location), float(parameters.scale)
        return absolute((bounded(x, location, scale) - location) / scale) * -1.0 - float(np.log(scale))

    def terms(self, x: FloatArray, location: float, scale: float) -> Terms:
        side, away = np.sign(x - location), np.abs(x - location)
        second: list[list[Any]] = [[0.0, -side / scale**2], [1.0 / scale**2 - 2.0 * away / scale**3]]
        return [side / scale, away / scale**2 - 1.0 / scale], second
