"""The multinomial distribution of the word counts of a text, and its Dirichlet prior.

A row is a vector of counts. Its length, the number of words, is not modelled: p(counts | length).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from bayeswise.families.arithmetic.evidence import difference_of_products, log_beta_power
from bayeswise.families.arithmetic.stable_functions import HALF_LOG_TWO_PI, stirling_error
from bayeswise.families.discrete.categorical import Categorical, CategoricalParameters, share_derivatives
from bayeswise.families.functions import Derivatives, FamilyFunctions
from bayeswise.families.priors import Dirichlet, log_share
from bayeswise.families.protocol import Estimate, ExponentialForm, Support, is_whole, refuse_unless
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, SupportError
from bayeswise.foundation.logspace import log
from bayeswise.statistics.counts.word_counts import Cells, WordCounts
from bayeswise.tables.schema.labels import Vocabulary


@dataclass(frozen=True)
class Multinomial(FamilyFunctions):
    """p(x_1, x_2, ...) = n! / (x_1! x_2! ...) probability_1^x_1 probability_2^x_2 ... with n = x_1 + x_2 + ...

    Counts are an array or a sparse matrix, (n_rows, n_words), which is never made dense. `trials` is the number of
    words of a row where the data do not have it: for draws and for the exponential form.

    >>> multinomial, words = Multinomial(), Vocabulary(["buy", "now"])
    >>> seen = multinomial.statistic(np.array([[2.0, 1.0], [0.0, 1.0]]), words)
    >>> multinomial.estimate(seen).parameters, multinomial.posterior(seen, Dirichlet.laplace(words))
    (Categorical(buy=0.5, now=0.5), Dirichlet(buy=3, now=3))
    """

    trials: int | None = None

    name: ClassVar[str] = "multinomial"
    support: ClassVar[Support] = "vector"

    def __post_init__(self) -> None:
        if self.trials is not None:
            whole = self.trials == int(self.trials) and self.trials >= 0
            refuse_unless(whole, "the number of trials must be a whole number from 0 on", self.trials)

    # -- estimation -------------------------------------------------------------------------------------------
    def statistic(
        self,
        counts: Any,
        words: Vocabulary,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        declared: Vocabulary | None = None,
    ) -> WordCounts:
        """The sum of each word's counts and of the log coefficients; `SupportError` for what is not a count."""
        _refuse_outside(Cells.of(counts), groups, weights)
        return WordCounts.of(counts, words, groups, n_groups, weights, declared)

    def estimate(self, statistic: WordCounts) -> Estimate[CategoricalParameters]:
        """The share of each word, correctly rounded. A word never seen gets 0; a group without words, even shares."""
        return Categorical().estimate(statistic.words)

    def parameters(self, statistic: WordCounts, prior: Dirichlet | None = None) -> CategoricalParameters:
        """Maximum likelihood, or the posterior mean (n_j + weight_j) / (n + total weight)."""
        return Categorical().parameters(statistic.words, prior)

    def n_free_parameters(self, n_words: int) -> int:
        return n_words - 1

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: CategoricalParameters, counts: Any) -> FloatArray:
        """(n_rows, n_groups) for counts in the order of `parameters.levels`; NaN for a row with a missing cell.

        By Stirling's formula it is a sum of x log(n p / x) and small terms over the words of a row, which near the
        most probable counts is small itself. Its error is about 1e-16 times the largest of these terms.
        """
        cells = _checked(counts, len(parameters.levels))
        x, n = _safe(cells.value), _totals(cells)
        log_height = _log_row_height(n) - cells.sums(_log_height(x))
        log_p = np.empty((cells.n_rows, len(parameters.probability)))
        for group, (p, q) in enumerate(zip(parameters.probability, parameters.complement, strict=True)):
            log_terms = x * _log_share_ratio(x, n[cells.row], p[cells.column], q[cells.column])
            log_p[:, group] = log_height + cells.sums(log_terms)
        return _where_inside(cells, log_p)

    def sample(self, parameters: CategoricalParameters, size: int, generator: np.random.Generator) -> IntArray:
        """(size, n_groups, n_words) counts of `trials` words each; undeclared words are left out."""
        cells = np.concatenate([parameters.probability, parameters.unseen[..., None]], axis=-1)
        shares = cells / cells.sum(axis=-1, keepdims=True)
        return generator.multinomial(self._known_trials(), shares, (size, len(shares)))[..., :-1]

    def exponential_form(self, parameters: CategoricalParameters) -> ExponentialForm:
        """h = n! / (x_1! ...), T_j = x_j and eta_j = log(p_j / p_last) for words before the last, a = -n log p_last."""
        one, trials = Categorical().exponential_form(parameters), self._known_trials()
        free = range(len(one.natural))
        return ExponentialForm(
            log_base_measure=lambda x: np.where(np.sum(x, axis=-1) == trials, log_coefficients(x), -np.inf),
            sufficient=lambda x: tuple(np.asarray(x)[..., j] for j in free),
            natural=one.natural,
            log_partition=trials * one.log_partition,
            mean_of_sufficient=tuple(trials * mean for mean in one.mean_of_sufficient),
            covariance_of_sufficient=tuple(
                tuple(trials * entry for entry in row) for row in one.covariance_of_sufficient
            ),
        )

    def of_natural(self, *natural: FloatArray) -> CategoricalParameters:
        return Categorical().of_natural(*natural)

    def derivatives(self, parameters: CategoricalParameters, data: Any) -> Derivatives:
        return share_derivatives(parameters, np.atleast_2d(np.asarray(data, dtype=np.float64)).sum(axis=0))

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: WordCounts, prior: Dirichlet) -> Dirichlet:
        """weight_j + n_j, over the words of the prior, in its order."""
        return Categorical().posterior(statistic.words, prior)

    def log_marginal(self, statistic: WordCounts, prior: Dirichlet) -> FloatArray:
        """(n_groups,) the log coefficients + log B(weight + n) - log B(weight).

        Its error is that of log n! in its last digit: it matters for texts of more than about 1e6 words.
        """
        return statistic.log_coefficient.to_floats() + Categorical().log_marginal(statistic.words, prior)

    def log_predictive(self, posterior: Dirichlet, counts: Any) -> FloatArray:
        """(n_rows, n_groups) Dirichlet-multinomial: the coefficient times B(weight + x) / B(weight).

        With the total weight A and r = A / (A + n) it is n / (r^A (1 - r)^n / B(A, n)) times r^weight for words that
        do not occur and r^weight (1 - r)^x / (x B(weight, x)) for those that do. Its error is about 1e-16 times the
        smaller of A and n.
        """
        cells = _checked(counts, len(posterior.levels))
        refuse_unless(posterior.total > 0, "a prediction needs a prior with a weight above 0", posterior.total)
        weight, total = np.atleast_2d(posterior.weight), np.atleast_1d(posterior.total)
        log_p = np.empty((cells.n_rows, len(weight)))
        for group in range(len(weight)):
            log_p[:, group] = _log_dirichlet_multinomial(cells, weight[group][cells.column], total[group])
        return _where_inside(cells, log_p)

    def sample_prior(self, prior: Dirichlet, size: int, generator: np.random.Generator) -> CategoricalParameters:
        """Draws of the probabilities from the prior (or a posterior)."""
        return Categorical().sample_prior(prior, size, generator)

    def _known_trials(self) -> int:
        if self.trials is None:
            raise ParameterError("the number of words of a row is not known", fix="give it: Multinomial(trials=100)")
        return int(self.trials)


def log_coefficients(counts: Any) -> FloatArray:
    """(n_rows,) log n! / (x_1! x_2! ...), a sum of positive terms x log(n / x) and small ones.

    >>> np.exp(log_coefficients([[2, 3, 5]])).round(9).tolist()
    [2520.0]
    """
    cells = Cells.of(counts)
    return np.where(_is_outside(cells), np.nan, _log_coefficients(cells))


def _log_dirichlet_multinomial(cells: Cells, weight: FloatArray, total: float) -> FloatArray:
    """(n_rows,) for the weight of each cell's word, and that of all words."""
    x, n = _safe(cells.value), np.maximum(_totals(cells), 1.0)
    present, absent = total / (total + n), n / (total + n)  # r and 1 - r
    row, allowed = cells.row, np.where(weight > 0, weight, 1.0)
    gap = difference_of_products(allowed, n[row], x, total) / (total + n[row])
    log_power = log_beta_power(allowed, x, present[row], absent[row], gap)
    log_terms = np.where(weight > 0, log_power - np.log(x), -np.inf)
    log_others = (total - cells.sums(weight)) * log_share(present, absent)
    log_whole = np.log(n) - log_beta_power(total, n, present, absent, 0.0)
    return np.where(_totals(cells) > 0, cells.sums(log_terms) + log_others + log_whole, 0.0)


def _log_coefficients(cells: Cells) -> FloatArray:
    x, n = _safe(cells.value), _totals(cells)
    log_terms = x * np.log1p((n[cells.row] - x) / x) - _log_height(x)
    return _log_row_height(n) + cells.sums(log_terms)


def _log_height(x: FloatArray) -> FloatArray:
    """log x! less x log x - x: the height of a Poisson distribution at its mean x."""
    return np.asarray(HALF_LOG_TWO_PI + 0.5 * np.log(x) + stirling_error(x))


def _log_row_height(n: FloatArray) -> FloatArray:
    return np.where(n > 0, _log_height(np.maximum(n, 1.0)), 0.0)


def _log_share_ratio(x: FloatArray, n: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
    """log(n p / x), from the exact gap n p - x where it is near zero; q = 1 - p."""
    gap = np.where(p <= 0.5, difference_of_products(n, p, x, 1.0), (n - x) - n * q)
    near = np.abs(gap) <= 0.5 * x
    return np.where(near, np.log1p(np.where(near, gap / x, 0.0)), log(n) + log(p) - log(x))


def _totals(cells: Cells) -> FloatArray:
    """(n_rows,) the number of words."""
    return cells.sums(np.where(is_whole(cells.value), cells.value, 0.0))


def _safe(value: FloatArray) -> FloatArray:
    return np.where(is_whole(value), value, 1.0)


def _is_outside(cells: Cells) -> BoolArray:
    """(n_rows,) whether a row holds what is not a count."""
    return cells.sums((~is_whole(cells.value)).astype(np.float64)) > 0


def _where_inside(cells: Cells, log_p: FloatArray) -> FloatArray:
    outside = np.where(cells.is_incomplete(), np.nan, -np.inf)
    return np.where(_is_outside(cells)[:, None], outside[:, None], log_p)


def _checked(counts: Any, n_words: int) -> Cells:
    cells = Cells.of(counts)
    if cells.n_columns != n_words:
        raise ParameterError(f"{n_words} words need as many columns of counts; found {cells.n_columns}")
    return cells


def _refuse_outside(cells: Cells, groups: CodeArray | None, weights: FloatArray | None) -> None:
    """An error for the first cell that is not a count; rows left out (group -1, weight 0) may hold anything."""
    outside = ~(np.isnan(cells.value) | is_whole(cells.value))
    if groups is not None:
        outside &= groups[cells.row] >= 0
    if weights is not None:
        outside &= weights[cells.row] != 0
    if outside.any():
        first = int(np.argmax(outside))
        row, column, value = int(cells.row[first]), int(cells.column[first]), float(cells.value[first])
        raise SupportError("a word count is 0, 1, 2, ...", row=row, column=column, value=value)
