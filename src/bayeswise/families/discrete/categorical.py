"""The categorical distribution over the levels of a column, and its Dirichlet prior.

Smoothing is a prior: see `Dirichlet.laplace`, `Dirichlet.lidstone` and `Dirichlet.m_estimate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.evidence import log_dirichlet_evidence
from bayeswise.families.functions import Derivatives, FamilyFunctions
from bayeswise.families.priors import Dirichlet, log_share
from bayeswise.families.protocol import Estimate, ExponentialForm, Support, one_line, reasons, refuse_unless
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.errors import ParameterError, PriorError
from bayeswise.foundation.logspace import log
from bayeswise.statistics.counts.level_counts import Counts
from bayeswise.tables.batch import UNSEEN
from bayeswise.tables.schema.labels import Label, Vocabulary


@dataclass(frozen=True, repr=False)
class CategoricalParameters:
    """The probability of each level and its complement, and the mass left for undeclared levels.

    >>> CategoricalParameters.of({"red": 0.75, "blue": 0.25})
    Categorical(red=0.75, blue=0.25)
    """

    levels: Vocabulary
    probability: FloatArray  # (..., n_groups, n_levels)
    complement: FloatArray  # (..., n_groups, n_levels)
    unseen: FloatArray  # (..., n_groups)

    @classmethod
    def of(cls, probability: Mapping[Label, float], unseen: float = 0.0) -> CategoricalParameters:
        """One group, from probabilities by level."""
        shares = np.array([[*probability.values(), unseen]], dtype=np.float64)
        refuse_unless(shares >= 0, "a probability must not be negative", shares)
        refuse_unless(np.abs(shares.sum() - 1.0) <= 1e-9, "probabilities must have the sum 1", shares.sum())
        return cls.of_cells(Vocabulary(probability), shares)

    @classmethod
    def of_cells(cls, levels: Vocabulary, cells: FloatArray) -> CategoricalParameters:
        """From weights of the levels and of the unseen, (..., n_levels + 1), which need not have the sum 1."""
        total = cells.sum(axis=-1, keepdims=True)
        top = np.argmax(cells, axis=-1, keepdims=True)
        others = cells.copy()
        np.put_along_axis(others, top, 0.0, axis=-1)
        rest = total - cells
        np.put_along_axis(rest, top, others.sum(axis=-1, keepdims=True), axis=-1)  # total - top would lose digits
        shares, complement = cells / total, rest / total
        return cls(levels, shares[..., :-1], complement[..., :-1], shares[..., -1])

    @property
    def log_probability(self) -> FloatArray:
        """(..., n_groups, n_levels)"""
        return log_share(self.probability, self.complement)

    def __repr__(self) -> str:
        named: dict[str, ArrayLike] = {str(level): self.probability[..., j] for j, level in enumerate(self.levels)}
        return one_line("Categorical", {**named, **({"unseen": self.unseen} if np.any(self.unseen) else {})})


@dataclass(frozen=True)
class Categorical(FamilyFunctions):
    """p(level j) = probability_j; a value is a code, the position of its level (-1 missing, -2 an undeclared level).

    >>> categorical, colours = Categorical(), Vocabulary(["blue", "red"])
    >>> seen = categorical.statistic(np.array([1, 1, 0, 1], dtype=np.int32), colours)
    >>> categorical.estimate(seen).parameters, categorical.parameters(seen, Dirichlet.laplace(colours))
    (Categorical(blue=0.25, red=0.75), Categorical(blue=0.333333, red=0.666667))
    """

    name: ClassVar[str] = "categorical"
    support: ClassVar[Support] = "category"

    # -- estimation -------------------------------------------------------------------------------------------
    def statistic(
        self,
        codes: CodeArray,
        levels: Vocabulary,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        declared: Vocabulary | None = None,
    ) -> Counts:
        """The count of each level, of codes (n_rows,)."""
        return Counts.of(codes, levels, groups, n_groups, weights, declared)

    def estimate(self, statistic: Counts) -> Estimate[CategoricalParameters]:
        """n_j / n, correctly rounded. A level without rows gets 0; a group without rows gets even shares."""
        seen = Dyadic.of(statistic.weight)
        total = seen.sum(axis=1)[:, None]
        none = total.is_zero()
        even = max(len(statistic.levels), 1)
        divisor = total.or_one(none)
        parameters = CategoricalParameters(
            statistic.levels,
            np.where(none, 1.0 / even, seen.over(divisor)),
            np.where(none, 1.0 - 1.0 / even, (total - seen).over(divisor)),
            np.zeros(statistic.missing.shape),
        )
        reason = reasons(
            (none, "no rows: any probabilities are as likely"),
            (~none & seen.is_zero(), "a level without rows: the maximum lies on the border 0"),
        )
        return Estimate(parameters, ~none, reason)

    def parameters(self, statistic: Counts, prior: Dirichlet | None = None) -> CategoricalParameters:
        """Maximum likelihood, or the posterior mean (n_j + weight_j) / (n + total weight)."""
        if prior is None:
            return self.estimate(statistic).parameters
        return _mean_of(self.posterior(statistic, prior))

    def n_free_parameters(self, n_levels: int) -> int:
        return n_levels - 1

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: CategoricalParameters, codes: ArrayLike) -> FloatArray:
        """(*shape of codes, n_groups) log probability of each code; NaN where it is missing."""
        positions = np.asarray(codes, dtype=np.intp)
        largest = len(parameters.levels) - 1
        if positions.size and (positions.min() < UNSEEN or positions.max() > largest):
            found = positions.min() if positions.min() < UNSEEN else positions.max()
            raise ParameterError(f"codes run from {UNSEEN} to {largest}; found {found}")
        # The last two rows are met by the codes -2 and -1.
        log_unseen, log_missing = log(parameters.unseen)[None], np.full((1, *np.shape(parameters.unseen)), np.nan)
        log_table = np.concatenate([np.moveaxis(parameters.log_probability, -1, 0), log_unseen, log_missing])
        return np.asarray(log_table[positions])

    def sample(self, parameters: CategoricalParameters, size: int, generator: np.random.Generator) -> CodeArray:
        """(size, n_groups) codes, -2 for an undeclared level."""
        shares = np.concatenate([parameters.probability, parameters.unseen[..., None]], axis=-1)
        draws = np.empty((size, len(shares)), dtype=np.int32)
        for group, cumulated in enumerate(np.cumsum(shares, axis=-1)):
            drawn = np.searchsorted(cumulated, generator.random(size) * cumulated[-1], side="right")
            draws[:, group] = np.minimum(drawn, np.flatnonzero(shares[group])[-1])
        draws[draws == len(parameters.levels)] = UNSEEN
        return draws

    def exponential_form(self, parameters: CategoricalParameters) -> ExponentialForm:
        """T_j = [x = level j] for all levels but the last, eta_j = log(p_j / p_last), a = -log p_last."""
        p, log_p, last = parameters.probability, parameters.log_probability, len(parameters.levels) - 1
        refuse_unless(p > 0, "the exponential form needs probabilities above 0", p)
        refuse_unless(parameters.unseen == 0, "the exponential form needs all levels named", parameters.unseen)
        free = range(last)
        return ExponentialForm(
            log_base_measure=lambda x: np.where((np.asarray(x) >= 0) & (np.asarray(x) <= last), 0.0, -np.inf),
            sufficient=lambda x: tuple(np.asarray(x == j, dtype=np.float64) for j in free),
            natural=tuple(log_p[..., j] - log_p[..., last] for j in free),
            log_partition=-log_p[..., last],
            mean_of_sufficient=tuple(p[..., j] for j in free),
            covariance_of_sufficient=tuple(
                tuple(p[..., i] * (parameters.complement[..., i] if i == j else -p[..., j]) for j in free) for i in free
            ),
        )

    def of_natural(self, *natural: FloatArray) -> CategoricalParameters:
        """p_j proportional to exp(eta_j), and the last one to 1."""
        log_p = np.stack([*natural, np.zeros(np.shape(natural[0]))], axis=-1)
        weight = np.exp(log_p - log_p.max(axis=-1, keepdims=True))
        p = np.atleast_2d(weight / weight.sum(axis=-1, keepdims=True))
        levels = Vocabulary([f"level {j}" for j in range(p.shape[-1])])
        return CategoricalParameters(levels, p, 1.0 - p, np.zeros(p.shape[:-1]))

    def derivatives(self, parameters: CategoricalParameters, data: ArrayLike) -> Derivatives:
        codes = np.asarray(data, dtype=np.int64).ravel()
        counts = np.bincount(codes[codes >= 0], minlength=len(parameters.levels))
        return share_derivatives(parameters, counts.astype(np.float64))

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: Counts, prior: Dirichlet) -> Dirichlet:
        """weight_j + n_j, over the levels of the prior, in its order."""
        return Dirichlet(prior.levels, prior.weight + _counts_over(prior.levels, statistic), prior.unseen)

    def log_marginal(self, statistic: Counts, prior: Dirichlet) -> FloatArray:
        """(n_groups,) log B(weight + n) - log B(weight); minus infinity if a level of weight 0 was seen."""
        refuse_unless(prior.total > 0, "the evidence needs a prior with a weight above 0", prior.total)
        counts = _counts_over(prior.levels, statistic)
        return log_dirichlet_evidence(prior.cells, np.pad(counts, ((0, 0), (0, 1))))

    def log_predictive(self, posterior: Dirichlet, codes: ArrayLike) -> FloatArray:
        """Categorical with the posterior mean."""
        return self.log_density(_mean_of(posterior), codes)

    def sample_prior(self, prior: Dirichlet, size: int, generator: np.random.Generator) -> CategoricalParameters:
        """Draws of the probabilities from the prior (or a posterior)."""
        return CategoricalParameters.of_cells(prior.levels, prior.sample(size, generator))


def share_derivatives(parameters: CategoricalParameters, counts: FloatArray) -> Derivatives:
    """Of sum_j n_j log p_j, by the probabilities of all levels but the last, which has what they leave."""
    p = np.asarray(parameters.probability, dtype=np.float64).reshape(-1)
    names = tuple(str(level) for level in parameters.levels)[:-1]
    ratio = np.divide(counts, p, out=np.zeros_like(p), where=counts > 0)
    square = np.divide(ratio, p, out=np.zeros_like(p), where=counts > 0)
    return names, ratio[:-1] - ratio[-1], -np.diag(square[:-1]) - square[-1]


def _mean_of(dirichlet: Dirichlet) -> CategoricalParameters:
    if np.all(dirichlet.total > 0):
        return CategoricalParameters.of_cells(dirichlet.levels, dirichlet.cells)
    raise PriorError(
        "a group without rows needs a prior with a weight above 0", fix="raise alpha or m, or leave the group out"
    )


def _counts_over(levels: Vocabulary, statistic: Counts) -> FloatArray:
    """(n_groups, n_levels) the counts in the order of the prior's levels, which must name every level seen."""
    positions = statistic.levels.positions_in(levels)
    if (positions < 0).any():
        unknown = statistic.levels[int(np.argmin(positions))]
        raise PriorError(
            f"the level {unknown!r} was seen, but the prior knows only {', '.join(map(repr, levels))}",
            fix="make the prior from the levels of the column, as in Dirichlet.laplace(statistic.levels)",
        )
    return statistic.weight.scatter_to(positions, len(levels), axis=1).to_floats()
