"""Student's t distribution with unknown location, scale and degrees of freedom; it keeps all different values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.student_t_likelihood import fit_student_t, log_student_t
from bayeswise.families.priors import WithoutConjugatePrior
from bayeswise.families.protocol import Estimate, OneLine, Rows, Support, refuse_unless
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.threads import each
from bayeswise.statistics.sample import Sample

LOG_TWO = float(np.log(2.0))


@dataclass(frozen=True, repr=False)
class StudentTParameters(OneLine):
    """Location, scale and degrees of freedom; infinite freedom is the normal distribution.

    `location_low` carries the digits of the location beyond the 53 bits of a float.
    """

    location: FloatArray
    scale: FloatArray
    freedom: FloatArray
    location_low: FloatArray | float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        self._as_arrays("location", "scale", "freedom")
        refuse_unless(np.isfinite(self.location), "a location must be finite", self.location)
        refuse_unless(np.isfinite(self.scale) & (self.scale >= 0), "a scale must not be negative", self.scale)
        refuse_unless(self.freedom > 0, "degrees of freedom must be above 0", self.freedom)

    @property
    def is_certain(self) -> BoolArray:
        """Where one value has all the probability, so that there is no density."""
        return np.asarray(self.scale == 0)


@dataclass(frozen=True)
class StudentT(WithoutConjugatePrior[Sample]):
    """p(x) proportional to (1 + z^2 / freedom)^(-(freedom + 1) / 2) / scale with z = (x - location) / scale.

    With `freedom` given only location and scale are estimated. Otherwise freedom is at least `least_freedom`: with
    freedom near 0 the likelihood is unbounded for any sample, as the scale goes to 0 about one of the values.

    >>> student = StudentT(freedom=4.0)
    >>> student.estimate(student.statistic([-1.0, 0.0, 1.0, 50.0])).parameters
    StudentT(location=4.22128, scale=13.9115, freedom=4)
    """

    freedom: float | None = None
    least_freedom: float = 1.0

    name: ClassVar[str] = "student-t"
    support: ClassVar[Support] = "real"
    streams: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.freedom is not None:
            refuse_unless(self.freedom > 0, "degrees of freedom must be above 0", self.freedom)
        good = np.isfinite(self.least_freedom) and self.least_freedom > 0
        refuse_unless(good, "the least degrees of freedom must be above 0", self.least_freedom)

    # -- estimation -------------------------------------------------------------------------------------------
    def kept(self, numbers: FloatArray, rows: Rows) -> Sample:
        """All values: there is no statistic of fixed size."""
        return Sample.of(numbers, *rows)

    def estimate(self, statistic: Sample) -> Estimate[StudentTParameters]:
        """The highest maximum of the likelihood, by iteration; see `student_t_likelihood` for when there is none."""
        fits = each(
            lambda cell: fit_student_t(cell[0], cell[1].to_floats(), self.freedom, self.least_freedom),
            statistic.cells(),
        )
        shape = statistic.sizes.shape
        location, scale, freedom, location_low = (
            np.array([getattr(fit, name) for fit in fits], dtype=np.float64).reshape(shape)
            for name in ("location", "scale", "freedom", "location_low")
        )
        exists = np.array([fit.problem == "" for fit in fits], dtype=np.bool_).reshape(shape)
        return Estimate(
            StudentTParameters(location, scale, freedom, location_low),
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
        """A scale of at least so much."""
        return replace(parameters, scale=np.maximum(parameters.scale, least))

    def n_free_parameters(self) -> int:
        return 3 if self.freedom is None else 2

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: StudentTParameters, x: ArrayLike) -> FloatArray:
        """log Gamma((f + 1) / 2) - log Gamma(f / 2) - log(f pi) / 2 - log scale - (f + 1) / 2 log(1 + z^2 / f).

        A scale of 0 is the certain value `location`: plus infinity there, minus infinity elsewhere.
        """
        values = np.asarray(x, dtype=np.float64)
        location, freedom = parameters.location, parameters.freedom
        scale = np.where(parameters.scale > 0, parameters.scale, 1.0)
        with np.errstate(over="ignore"):
            deviation = (values - location) - parameters.location_low
        halved = log_student_t(0.5 * values - 0.5 * location, 0.5 * scale, freedom) - LOG_TWO
        log_p = np.where(np.isinf(deviation), halved, log_student_t(deviation, scale, freedom))
        certain = np.where(np.isnan(values), np.nan, np.where(deviation == 0, np.inf, -np.inf))
        return np.where(parameters.scale == 0, certain, log_p)

    def sample(self, parameters: StudentTParameters, size: int, generator: np.random.Generator) -> FloatArray:
        """A normal draw over the root of a gamma draw with mean one."""
        shape = (size, *np.shape(parameters.location))
        finite = np.where(np.isinf(parameters.freedom), 1.0, parameters.freedom)
        mixing = generator.standard_gamma(0.5 * finite, shape) / (0.5 * finite)
        mixing = np.where(np.isinf(parameters.freedom), 1.0, np.maximum(mixing, np.finfo(np.float64).tiny))
        return np.asarray(parameters.location + parameters.scale * generator.standard_normal(shape) / np.sqrt(mixing))

    def exponential_form(self, parameters: StudentTParameters) -> NoReturn:
        raise ParameterError("Student's t distribution is not an exponential family")
