"""The normal distribution with a known standard deviation: only the mean is unknown, and its prior is normal."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.continuous.normal import LOG_TWO_PI, Normal, NormalParameters
from bayeswise.families.functions import Terms
from bayeswise.families.protocol import (
    Estimate,
    ExponentialForm,
    OneLine,
    OnNumbers,
    Rows,
    Support,
    is_positive,
    refuse_unless,
)
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.statistics.numbers.moments import Moments


@dataclass(frozen=True, repr=False)
class NormalPrior(OneLine):
    """The mean is Normal(mean, stddev): worth (known stddev / stddev)^2 rows of value `mean`.

    >>> NormalPrior(mean=0, stddev=2)
    NormalPrior(mean=0, stddev=2)
    """

    mean: FloatArray | float
    stddev: FloatArray | float

    def __post_init__(self) -> None:
        refuse_unless(np.isfinite(self.mean), "the mean of a normal prior must be finite", self.mean)
        refuse_unless(is_positive(self.stddev), "the stddev of a normal prior must be above 0", self.stddev)


@dataclass(frozen=True)
class NormalMean(OnNumbers[Moments]):
    """p(x) = exp(-(x - mean)^2 / (2 stddev^2)) / (stddev sqrt(2 pi)) with `stddev` known.

    >>> scale = NormalMean(stddev=2.0)
    >>> seen = scale.statistic([1.0, 2.0, 3.0])
    >>> scale.estimate(seen).parameters, scale.posterior(seen, NormalPrior(mean=0, stddev=1))
    (Normal(mean=2, stddev=2), NormalPrior(mean=0.857143, stddev=0.755929))
    """

    stddev: float

    name: ClassVar[str] = "normal mean"
    support: ClassVar[Support] = "real"
    free = ("mean",)

    def __post_init__(self) -> None:
        refuse_unless(is_positive(self.stddev), "a known stddev must be above 0", self.stddev)

    # -- estimation -------------------------------------------------------------------------------------------
    def kept(self, numbers: FloatArray, rows: Rows) -> Moments:
        """n, sum x and sum x^2."""
        return Moments.of(numbers, *rows)

    def estimate(self, statistic: Moments) -> Estimate[NormalParameters]:
        """The sample mean."""
        mean, mean_low = statistic.mean_pair(empty=0.0)
        empty = statistic.is_empty()
        reason = "no rows: any mean is as likely" if empty.any() else ""
        return Estimate(NormalParameters(mean, np.full(mean.shape, self.stddev), mean_low), ~empty, reason)

    def parameters(self, statistic: Moments, prior: NormalPrior | None = None) -> NormalParameters:
        """Maximum likelihood, or the posterior mean."""
        if prior is None:
            return self.estimate(statistic).parameters
        return self.made(self.posterior(statistic, prior).mean)

    def made(self, mean: ArrayLike) -> NormalParameters:
        return NormalParameters(np.asarray(mean), np.full(np.shape(mean), self.stddev))

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: NormalParameters, x: ArrayLike) -> FloatArray:
        """As of any normal distribution."""
        return Normal().log_density(parameters, x)

    def sample(self, parameters: NormalParameters, size: int, generator: np.random.Generator) -> FloatArray:
        return Normal().sample(parameters, size, generator)

    def exponential_form(self, parameters: NormalParameters) -> ExponentialForm:
        """h = Normal(x; 0, stddev), T = x, eta = mean / variance, a = variance eta^2 / 2."""
        variance = self.stddev**2
        mean = parameters.mean
        log_peak = -np.log(self.stddev) - 0.5 * LOG_TWO_PI
        return ExponentialForm(
            log_base_measure=lambda x: log_peak - 0.5 * np.square(x) / variance,
            sufficient=lambda x: (np.asarray(x),),
            natural=(mean / variance,),
            log_partition=0.5 * mean**2 / variance,
            mean_of_sufficient=(mean,),
            covariance_of_sufficient=((np.full(np.shape(mean), variance),),),
        )

    def of_natural(self, *natural: FloatArray) -> NormalParameters:
        (eta,) = self.refuse_unless_as_many(1, natural)
        return self.made(eta * self.stddev**2)

    def terms(self, x: FloatArray, mean: float) -> Terms:
        return [(x - mean) / self.stddev**2], [[-1.0 / self.stddev**2]]

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: Moments, prior: NormalPrior) -> NormalPrior:
        """Precisions add: 1 / stddev^2 + n / known^2; the mean is weighted by them."""
        n = statistic.weight.to_floats()
        own, added = 1.0 / np.square(prior.stddev), n / self.stddev**2
        mean = statistic.mean_pair(empty=0.0)[0]
        return NormalPrior((own * prior.mean + added * mean) / (own + added), np.sqrt(1.0 / (own + added)))

    def log_marginal(self, statistic: Moments, prior: NormalPrior) -> FloatArray:
        """log p(all rows): n normal densities about their mean, and that of the mean, (n_groups, n_columns)."""
        n = statistic.weight.to_floats()
        deviation = n * np.square(statistic.stddev("n", empty=0.0))  # sum (x - xbar)^2
        mean = statistic.mean_pair(empty=0.0)[0]
        spread = np.square(prior.stddev) + self.stddev**2 / np.where(n > 0, n, 1.0)
        log_rows = -(n - 1.0) * (np.log(self.stddev) + 0.5 * LOG_TWO_PI) - 0.5 * np.log(np.where(n > 0, n, 1.0))
        log_mean = -0.5 * (LOG_TWO_PI + np.log(spread) + np.square(mean - prior.mean) / spread)
        return np.where(n > 0, log_rows - 0.5 * deviation / self.stddev**2 + log_mean, 0.0)

    def log_predictive(self, posterior: NormalPrior, x: ArrayLike) -> FloatArray:
        """Normal(x; mean, stddev of the mean and of a value together)."""
        spread = np.hypot(posterior.stddev, self.stddev)
        return Normal().log_density(NormalParameters(np.asarray(posterior.mean), spread), x)
