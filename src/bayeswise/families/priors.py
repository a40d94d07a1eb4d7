"""Conjugate priors that several families share, each the statistic of pseudo-counts; and the chance that one is about.

BetaPrior      Bernoulli, geometric, binomial       pseudo-counts of successes and failures
GammaPrior     Poisson, exponential                 pseudo-counts of events in a time
Dirichlet      categorical, multinomial             pseudo-counts of each level
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.evidence import log_beta_evidence
from bayeswise.families.functions import Terms
from bayeswise.families.protocol import Estimate, OneLine, OnNumbers, S, is_positive, one_line, reasons, refuse_unless
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.errors import ParameterError, PriorError
from bayeswise.foundation.exact import ExactArray
from bayeswise.foundation.logspace import log, log_sum_exp
from bayeswise.foundation.special import expit
from bayeswise.tables.schema.labels import Label, Vocabulary


@dataclass(frozen=True, repr=False)
class Chance:
    """The probability of success and that of failure, both with all their digits: 1 - 1e-20 is not a float, 1e-20 is.

    >>> Chance.of(0.25)
    Chance(probability=0.25)
    """

    probability: FloatArray
    complement: FloatArray

    @classmethod
    def of(cls, probability: ArrayLike) -> Chance:
        """From the probability alone."""
        value = np.asarray(probability, dtype=np.float64)
        refuse_unless((value >= 0) & (value <= 1), "a probability must lie between 0 and 1", value)
        return cls(value, 1.0 - value)

    @classmethod
    def of_weights(cls, successes: ArrayLike, failures: ArrayLike) -> Chance:
        """successes / (successes + failures), for weights that are not both zero."""
        for_it, against = np.asarray(successes, dtype=np.float64), np.asarray(failures, dtype=np.float64)
        total = for_it + against
        return cls(np.asarray(for_it / total), np.asarray(against / total))

    @classmethod
    def of_exact(cls, successes: ExactArray, failures: ExactArray) -> tuple[Chance, BoolArray]:
        """successes / (successes + failures), correctly rounded, and where there is any; 1/2 where both are zero."""
        total = Dyadic.of(successes + failures)
        none = total.is_zero()
        safe = total.or_one(none)
        shares = (np.where(none, 0.5, Dyadic.of(part).over(safe)) for part in (successes, failures))
        return cls(*shares), ~none

    @property
    def log_probability(self) -> FloatArray:
        return log_share(self.probability, self.complement)

    @property
    def log_complement(self) -> FloatArray:
        return log_share(self.complement, self.probability)

    def __repr__(self) -> str:
        return one_line("Chance", {"probability": self.probability})


def log_share(share: FloatArray, rest: FloatArray) -> FloatArray:
    """log of a share, from the rest where that is the smaller part.

    >>> log_share(np.array(1.0), np.array(1e-20)).item()
    -1e-20
    """
    return np.where(share <= 0.5, log(share), np.log1p(-np.minimum(rest, 0.5)))


@dataclass(frozen=True, repr=False)
class BetaPrior(OneLine):
    """p(probability) = probability^(successes - 1) (1 - probability)^(failures - 1) / B(successes, failures).

    >>> BetaPrior(successes=3, failures=1)
    BetaPrior(successes=3, failures=1)
    """

    successes: FloatArray | float = 1.0
    failures: FloatArray | float = 1.0

    def __post_init__(self) -> None:
        for name in ("successes", "failures"):
            value = getattr(self, name)
            refuse_unless(is_positive(value), f"{name} of a beta prior must be above 0", value)

    def sample(self, size: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """(size, *shape) draws of the probability and of its complement."""
        weights = np.stack(np.broadcast_arrays(self.successes, self.failures), axis=-1)
        shares = _dirichlet_draws(weights, size, generator)
        return shares[..., 0], shares[..., 1]


@dataclass(frozen=True, repr=False)
class GammaPrior(OneLine):
    """p(y) = y^(shape - 1) exp(-rate y) rate^shape / Gamma(shape): `shape` pseudo-counts in a time of `rate`.

    >>> GammaPrior(shape=2, rate=0.5)
    GammaPrior(shape=2, rate=0.5)
    """

    shape: FloatArray | float
    rate: FloatArray | float

    def __post_init__(self) -> None:
        for name in ("shape", "rate"):
            value = getattr(self, name)
            refuse_unless(is_positive(value), f"{name} of a gamma prior must be above 0", value)

    @property
    def mean(self) -> FloatArray:
        return np.asarray(np.asarray(self.shape) / self.rate)

    def sample(self, size: int, generator: np.random.Generator) -> FloatArray:
        """(size, *shape) draws; what underflows, as it does for small shapes, is the least positive float."""
        shape = (size, *np.broadcast_shapes(np.shape(self.shape), np.shape(self.rate)))
        draws = generator.standard_gamma(self.shape, size=shape) / self.rate
        return np.asarray(np.maximum(draws, np.finfo(np.float64).tiny))


@dataclass(frozen=True, repr=False)
class Dirichlet:
    """p(probabilities) = product of p_j^(weight_j - 1) / B(weight); weight_j pseudo-counts of level j.

    A weight of 0 forbids its level until it is seen. `unseen` pseudo-counts belong to undeclared levels.

    >>> Dirichlet.of({"red": 6, "blue": 2})
    Dirichlet(red=6, blue=2)
    """

    levels: Vocabulary
    weight: FloatArray  # (n_levels,) or (n_groups, n_levels)
    unseen: float = 0.0

    def __post_init__(self) -> None:
        weight = np.asarray(self.weight, dtype=np.float64)
        object.__setattr__(self, "weight", weight)
        if weight.ndim == 0 or weight.shape[-1] != len(self.levels):
            raise ParameterError(f"{len(self.levels)} levels need as many weights; found the shape {weight.shape}")
        for name, value in (("weights", weight), ("unseen", self.unseen)):
            good = np.isfinite(value) & (np.asarray(value) >= 0)
            refuse_unless(good, f"{name} of a Dirichlet prior must not be negative", value)

    @classmethod
    def of(cls, weights: Mapping[Label, float], unseen: float = 0.0) -> Dirichlet:
        """From pseudo-counts by level."""
        return cls(Vocabulary(weights), np.array(list(weights.values()), dtype=np.float64), unseen)

    @classmethod
    def lidstone(cls, levels: Vocabulary, alpha: float, unseen: float = 0.0) -> Dirichlet:
        """alpha pseudo-counts of each level: (n_j + alpha) / (n + alpha J).

        >>> Dirichlet.lidstone(Vocabulary(["red", "blue"]), alpha=0.5)
        Dirichlet(red=0.5, blue=0.5)
        """
        return cls(levels, np.full(len(levels), float(alpha)), unseen)

    @classmethod
    def laplace(cls, levels: Vocabulary, unseen: float = 0.0) -> Dirichlet:
        """One pseudo-count of each level: (n_j + 1) / (n + J), with J the number of levels of this column."""
        return cls.lidstone(levels, 1.0, unseen)

    @classmethod
    def m_estimate(cls, levels: Vocabulary, m: float, p: Mapping[Label, float] | None = None) -> Dirichlet:
        """m pseudo-counts shared out by p (evenly by default): (n_j + m p_j) / (n + m); m = 0 is maximum likelihood.

        >>> Dirichlet.m_estimate(Vocabulary(["red", "blue"]), m=4, p={"red": 0.75, "blue": 0.25})
        Dirichlet(red=3, blue=1)
        """
        refuse_unless(np.isfinite(m) & (m >= 0), "m, the number of pseudo-counts, must not be negative", m)
        shares = np.full(len(levels), 1.0 / max(len(levels), 1)) if p is None else _shares(levels, p)
        return cls(levels, m * shares)

    @property
    def total(self) -> FloatArray:
        """(n_groups,) or () all pseudo-counts."""
        return np.asarray(self.weight.sum(axis=-1) + self.unseen)

    def sample(self, size: int, generator: np.random.Generator) -> FloatArray:
        """(size, ..., n_levels + 1) draws of the probabilities of the levels, and last of undeclared levels."""
        refuse_unless(self.total > 0, "a draw needs a weight above 0", self.total)
        return _dirichlet_draws(self.cells, size, generator)

    @property
    def cells(self) -> FloatArray:
        """(..., n_levels + 1) the weights, and last that of undeclared levels."""
        last = np.full((*self.weight.shape[:-1], 1), self.unseen)
        return np.concatenate([self.weight, last], axis=-1)

    def __repr__(self) -> str:
        named: dict[str, ArrayLike] = {str(level): self.weight[..., j] for j, level in enumerate(self.levels)}
        return one_line("Dirichlet", {**named, **({"unseen": self.unseen} if self.unseen else {})})


def _shares(levels: Vocabulary, p: Mapping[Label, float]) -> FloatArray:
    """The user's probabilities in the order of the levels."""
    given = Vocabulary(p)
    positions = levels.positions_in(given)
    if len(given) != len(levels) or (positions < 0).any():
        raise PriorError(
            f"p names the levels {', '.join(map(repr, given))}; the column has {', '.join(map(repr, levels))}",
            fix="give one probability for each level of the column",
        )
    shares = np.array(list(p.values()), dtype=np.float64)[positions]
    if not (np.isfinite(shares).all() and (shares >= 0).all() and abs(shares.sum() - 1.0) <= 1e-9):
        raise PriorError(f"p must be a probability for each level, with sum 1; found {shares.tolist()}")
    return np.asarray(shares / shares.sum())


def _dirichlet_draws(weights: FloatArray, size: int, generator: np.random.Generator) -> FloatArray:
    """Gamma draws, normalised in log space: with weights near zero the draws themselves would all underflow.

    log Gamma(a) draws are log Gamma(a + 1) draws + log(uniform) / a.
    """
    shape = (size, *weights.shape)
    with np.errstate(divide="ignore", over="ignore"):
        log_uniform = -generator.standard_exponential(shape) / weights
        log_draws = np.log(generator.standard_gamma(weights + 1.0, size=shape)) + log_uniform
        return np.asarray(np.exp(log_draws - log_sum_exp(log_draws)[..., None]))


class WithoutConjugatePrior(OnNumbers[S]):
    """A family whose posterior has no closed form; maximum likelihood is all it offers."""

    name: ClassVar[str]

    def parameters(self, statistic: S, prior: Any = None) -> Any:
        """Maximum likelihood; there is no conjugate prior in closed form."""
        if prior is not None:
            self._refuse()
        return self.estimate(statistic).parameters

    @abstractmethod
    def estimate(self, statistic: S) -> Estimate[Any]:
        """The parameters of maximum likelihood."""

    def posterior(self, statistic: Any, prior: Any) -> NoReturn:
        self._refuse()

    def log_marginal(self, statistic: Any, prior: Any) -> NoReturn:
        self._refuse()

    def log_predictive(self, posterior: Any, x: ArrayLike) -> NoReturn:
        self._refuse()

    def sample_prior(self, prior: Any, size: int, generator: np.random.Generator) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            f"the {self.name} family has no conjugate prior",
            fix="leave the prior out for maximum likelihood, or choose a family with one, such as normal",
        )


_LEAST_CHANCE = 1e-6


class WithBetaPrior(OnNumbers[S]):
    """A family whose rows are k successes and m failures together; the prior is the statistic of pseudo-counts."""

    free = ("probability",)
    made = Chance.of
    border: ClassVar[str]  # the reason where k or m is zero

    @abstractmethod
    def outcomes(self, statistic: S) -> tuple[ExactArray, ExactArray]:
        """k and m."""

    @abstractmethod
    def outcomes_of(self, x: FloatArray) -> tuple[FloatArray | float, FloatArray]:
        """The same of each value."""

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

    def terms(self, x: FloatArray, probability: float) -> Terms:
        successes, failures = self.outcomes_of(x)
        ups, downs = _over(successes, probability), _over(failures, 1.0 - probability)
        return [ups - downs], [[-_over(ups, probability) - _over(downs, 1.0 - probability)]]

    def of_natural(self, *natural: FloatArray) -> Chance:
        """At the log-odds."""
        (log_odds,) = self.refuse_unless_as_many(1, natural)
        return Chance(expit(log_odds), expit(-log_odds))

    def posterior(self, statistic: S, prior: BetaPrior) -> BetaPrior:
        """successes + k, failures + m."""
        k, m = self._counted(statistic)
        return BetaPrior(prior.successes + k, prior.failures + m)

    def log_marginal(self, statistic: S, prior: BetaPrior) -> FloatArray:
        """log B(successes + k, failures + m) - log B(successes, failures)."""
        return log_beta_evidence(prior.successes, prior.failures, *self._counted(statistic))

    def pseudo_rows(self, whole: S, n: float) -> BetaPrior:
        """n rows with the whole column's share."""
        share = np.clip(self.estimate(whole).parameters.probability, _LEAST_CHANCE, 1.0 - _LEAST_CHANCE)
        return BetaPrior(n * share, n * (1.0 - share))

    def sample_prior(self, prior: BetaPrior, size: int, generator: np.random.Generator) -> Chance:
        """Draws of the probability from the prior (or a posterior)."""
        return Chance(*prior.sample(size, generator))

    def _counted(self, statistic: S) -> tuple[FloatArray, FloatArray]:
        k, m = self.outcomes(statistic)
        return k.to_floats(), m.to_floats()


def _over(count: ArrayLike, probability: float) -> FloatArray:
    """count / probability, and 0 where nothing was counted: 0 log 0 is 0."""
    counts = np.asarray(count, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(counts == 0, 0.0, counts / probability)
