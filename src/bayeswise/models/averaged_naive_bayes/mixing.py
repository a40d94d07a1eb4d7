"""From the evidence of columns, with and without the classes, to their weights and to the mixture of their cells.

Each column is relevant or not for itself, or there is a prior of how many are: all structures with k relevant columns
share p(k) evenly. The columns are then not independent of each other, and the average over 2^d structures is not a
product. With r_j the Bayes factor of a column times p(cell | state) / p(cell), it is a sum of elementary symmetric
polynomials,

    sum over structures = prod_j p(cell_j)  sum_k p(k) / binomial(d, k)  e_k(r_1, ..., r_d)

which take O(d^2) steps, here in log space.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log, log_sum_exp
from bayeswise.foundation.special import betaln, gammaln
from bayeswise.models.naive_bayes.factors import LinearTerm, Scores
from bayeswise.tables.batch import Batch

if TYPE_CHECKING:
    from bayeswise.explanations.account import Contribution
    from bayeswise.statistics.numbers.extents import Span

_FACTORS = 512  # none above 2, so that their product stays in range


def log_sigmoid(log_odds: FloatArray) -> FloatArray:
    """log of 1 / (1 + exp(-log_odds)), exact in both tails.

    >>> log_sigmoid(np.array([0.0, -800.0, 800.0])).round(4).tolist()
    [-0.6931, -800.0, -0.0]
    """
    return np.asarray(-np.logaddexp(0.0, -log_odds))


def log_mixture(log_odds: FloatArray, log_relevant: FloatArray, log_irrelevant: FloatArray) -> FloatArray:
    """log of w p(cell | state) + (1 - w) p(cell), with w = sigmoid(log_odds).

    >>> np.exp(log_mixture(np.array(0.0), np.log(0.8), np.log(0.4))).round(12).item()
    0.6
    """
    return np.logaddexp(log_sigmoid(log_odds) + log_relevant, log_sigmoid(-log_odds) + log_irrelevant)


def summed_log_mixture(log_odds: FloatArray, log_relevant: FloatArray, log_irrelevant: FloatArray) -> FloatArray:
    """`log_mixture` summed over the last axis: sum max(a, b) + log prod (1 + exp(-|a - b|)), one log for many.

    >>> cells = np.log([0.8, 0.5]), np.log([0.4, 0.5])
    >>> np.exp(summed_log_mixture(np.array([0.0, 3.0]), *cells)).round(12).item()  # 0.6 * 0.5
    0.3
    """
    relevant, irrelevant = log_sigmoid(log_odds) + log_relevant, log_sigmoid(-log_odds) + log_irrelevant
    total = np.maximum(relevant, irrelevant).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        gap = np.abs(relevant - irrelevant)
    less = np.fmax(np.exp(np.negative(gap, out=gap), out=gap), 0.0, out=gap)  # where both are impossible, no matter
    less += 1.0
    for start in range(0, less.shape[-1], _FACTORS):
        total += np.log(less[..., start : start + _FACTORS].prod(axis=-1))
    return np.asarray(total)


def tempered_cells(log_relevant: FloatArray, log_irrelevant: FloatArray, temper: FloatArray | float) -> FloatArray:
    """log p(cell) + temper (log p(cell | state) - log p(cell)): the likelihood ratios to the power of temper."""
    return np.asarray(log_irrelevant + temper * (log_relevant - log_irrelevant))


def relevance_of(log_odds: FloatArray) -> FloatArray:
    """The weight w."""
    return np.asarray(np.exp(log_sigmoid(log_odds)))


@dataclass(frozen=True, eq=False)
class Cells:
    """What the cells of some rows say, column by column, if they depend on the class and if not.

    A cell that says nothing is 0 in both. The Bayes factor of a column, p(cells | relevant) / p(cells | not), is that
    of the rows behind it: for each row another one where the row itself is left out.
    """

    log_relevant: FloatArray  # (n_rows, n_states, n_columns)
    log_irrelevant: FloatArray  # (n_rows, 1, n_columns)
    log_factor: FloatArray  # (n_columns,) or (n_rows, n_columns)

    def mixed(self, log_prior_odds: FloatArray) -> FloatArray:
        """(n_rows, n_states, n_columns) where each column is relevant or not for itself."""
        return log_mixture(self._log_odds(log_prior_odds), self.log_relevant, self.log_irrelevant)

    def mixed_and_summed(self, log_prior_odds: FloatArray) -> FloatArray:
        """(n_rows, n_states) the same over all columns."""
        return summed_log_mixture(self._log_odds(log_prior_odds), self.log_relevant, self.log_irrelevant)

    def _log_odds(self, log_prior_odds: FloatArray) -> FloatArray:
        return np.asarray((log_prior_odds + self.log_factor)[..., None, :])


def joined(parts: list[Cells]) -> Cells:
    """The cells of ranges of rows, one below the other, each row with its own factor."""
    return Cells(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))


_FIELDS = ("log_relevant", "log_irrelevant", "log_factor")


class AveragedScores(ABC):
    """What averaged scores have alike: each column is relevant or not for itself."""

    log_prior_odds: FloatArray  # (n_columns,)

    @property
    @abstractmethod
    def log_factor(self) -> FloatArray:
        """(n_columns,) log p(cells | relevant) - log p(cells | not relevant)."""

    @abstractmethod
    def cells(self, batch: Batch) -> Cells:
        """What the cells say."""

    @property
    def log_odds(self) -> FloatArray:
        """(n_columns,) log p(relevant | rows) - log p(not relevant | rows)."""
        return self.log_prior_odds + self.log_factor

    def by_column(self, batch: Batch) -> FloatArray:
        """(n_rows, n_columns, n_states)."""
        return self.cells(batch).mixed(self.log_prior_odds).transpose(0, 2, 1)

    def linear_terms(self) -> Iterator[LinearTerm] | None:
        """A mixture is not linear."""
        return None


class LeftOutInBlocks(AveragedScores):
    """Scores of rows left out, range by range: all cells at once would fill the memory."""

    @abstractmethod
    def _blocks_left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> Iterator[Cells]:
        """What the cells of one range of rows after the other say, where each row has never been learned."""

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        """(n_rows, n_states)."""
        blocks = self._blocks_left_out(batch, groups, weights)
        return np.concatenate([cells.mixed_and_summed(self.log_prior_odds) for cells in blocks])

    def cells_left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> Cells:
        """What the cells say where each row has never been learned."""
        return joined(list(self._blocks_left_out(batch, groups, weights)))


# -- a prior of how many columns are relevant -----------------------------------------------------------------
_BLOCK_CELLS = 1 << 18


def log_structure_prior(n_relevant: Any, n_columns: int) -> FloatArray:
    """(n_columns + 1,) log p(one structure with k relevant columns): "uniform" in k, beta-binomial, or p by k.

    >>> np.exp(log_structure_prior("uniform", 2)).round(4).tolist()       # none, one of two, both: 1/3 each
    [0.3333, 0.1667, 0.3333]
    """
    k = np.arange(n_columns + 1.0)
    if isinstance(n_relevant, Mapping):
        return log(_shares(n_relevant, n_columns)) - _log_binomial(n_columns, k)
    a, b = (1.0, 1.0) if n_relevant == "uniform" else n_relevant
    return np.asarray(betaln(k + a, n_columns - k + b) - betaln(a, b))


def _shares(given: Mapping[int, float], n_columns: int) -> FloatArray:
    most = max(given)
    if most > n_columns:
        raise ParameterError(
            f"n_relevant gives a probability to {most} relevant columns, and the table has {n_columns}",
            fix=f"name numbers from 0 to {n_columns}",
        )
    return np.array([float(given.get(k, 0.0)) for k in range(n_columns + 1)])


def _log_binomial(n: int, k: FloatArray) -> FloatArray:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def log_average(log_prior: FloatArray, log_ratio: FloatArray) -> FloatArray:
    """(...) log of sum_k prior_k e_k(ratio), of ratios (..., n_columns).

    >>> np.exp(log_average(np.log([0.5, 0.1, 0.2]), np.log([2.0, 3.0]))).round(12).item()      # .5 + .1 5 + .2 6
    2.2
    """
    return log_sum_exp(log_prior + _log_elementary(log_ratio)[-1])


def _log_elementary(log_ratio: FloatArray) -> list[FloatArray]:
    """log e_0, ..., log e_d (..., n_columns + 1) of the first j ratios, for each j."""
    n_columns = log_ratio.shape[-1]
    start = np.full((*log_ratio.shape[:-1], n_columns + 1), -np.inf)
    start[..., 0] = 0.0
    steps = [start]
    for j in range(n_columns):
        after = steps[-1].copy()
        after[..., 1:] = np.logaddexp(after[..., 1:], steps[-1][..., :-1] + log_ratio[..., j : j + 1])
        steps.append(after)
    return steps


def log_relevance(log_prior: FloatArray, log_factor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n_columns,) log p(relevant | rows) and log p(not relevant | rows), from both ends of the columns at once.

    >>> [np.exp(each).round(4).tolist() for each in log_relevance(np.log([0.5, 0.1, 0.2]), np.log([2.0, 3.0]))]
    [[0.6364, 0.6818], [0.3636, 0.3182]]
    """
    before = _log_elementary(log_factor)
    after = log_prior.copy()  # what follows: the log weight of having k relevant columns so far
    n_columns = len(log_factor)
    log_yes, log_no = np.empty(n_columns), np.empty(n_columns)
    for j in range(n_columns - 1, -1, -1):
        log_yes[j] = log_factor[j] + log_sum_exp(before[j][:-1] + after[1:])
        log_no[j] = log_sum_exp(before[j] + after)
        after[:-1] = np.logaddexp(after[:-1], after[1:] + log_factor[j])
    total = np.logaddexp(log_yes, log_no)
    return log_yes - total, log_no - total


@dataclass(frozen=True, eq=False)
class StructureScores:
    """The share of one factor in an average over all columns: the first factor adds it up, the others add nothing.

    By column, each one says what it adds to those before it.
    """

    every: tuple[Any, ...]  # the averaged scores of all factors
    place: int
    log_prior: FloatArray  # (n_columns + 1,)

    @property
    def _own(self) -> Any:
        return self.every[self.place]

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        if self.place == 0:
            for rows in self._blocks(batch.n_rows, log_joint.shape[1]):
                log_joint[rows] += self._log_rows([each.cells(batch.rows(rows)) for each in self.every])

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        log_sums: list[FloatArray] = []
        for rows in self._blocks(batch.n_rows, 1) if self.place == 0 else ():
            part, taken = batch.rows(rows), None if weights is None else weights[rows]
            log_sums.append(self._log_rows([each.cells_left_out(part, groups[rows], taken) for each in self.every]))
        return np.concatenate(log_sums) if log_sums else np.zeros((batch.n_rows, 1))

    def _blocks(self, n_rows: int, n_states: int) -> Iterator[slice]:
        step = max(1, _BLOCK_CELLS // (n_states * len(self.log_prior)))
        return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))

    def _log_rows(self, parts: list[Cells]) -> FloatArray:
        """(n_rows, n_states)."""
        log_ratio, log_whole, log_factor = _together(parts)
        log_before = log_average(self.log_prior, log_factor)[..., None]
        return np.asarray(log_average(self.log_prior, log_ratio) - log_before + log_whole.sum(axis=2))

    def by_column(self, batch: Batch) -> FloatArray:
        log_ratio, log_whole, log_factor = _together([each.cells(batch) for each in self.every])
        start = sum(len(each.columns) for each in self.every[: self.place])
        log_sums = []
        for stop in range(start, start + len(self._own.columns) + 1):
            known = np.arange(log_ratio.shape[2]) < stop
            log_sums.append(log_average(self.log_prior, np.where(known, log_ratio, log_factor)))
        steps = np.diff(np.stack(log_sums, axis=1), axis=1)  # (n_rows, n_columns of the factor, n_states)
        return steps + log_whole[:, 0, start : start + steps.shape[1], None]

    # -- a column by itself, with the weight that the others leave it -------------------------------------------
    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        return dict(self._own.sample(states, generator))

    def alternatives(self, column: str, span: Span | None = None) -> tuple[Contribution, ...]:
        return tuple(self._own.alternatives(column, span))

    def linear_terms(self) -> Iterator[LinearTerm] | None:
        return None

    def n_free_parameters(self) -> int:
        return int(self._own.n_free_parameters())


def _together(parts: list[Cells]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """All columns side by side: the ratio of each cell (n_rows, n_states, n_columns), p(cell), the columns' factors."""
    log_irrelevant = np.concatenate([part.log_irrelevant for part in parts], axis=2)
    log_relevant = np.concatenate([part.log_relevant for part in parts], axis=2)
    log_factor = np.concatenate([part.log_factor for part in parts], axis=-1)
    return log_relevant - log_irrelevant + log_factor[..., None, :], log_irrelevant, log_factor


def structure_scores(every: tuple[Any, ...], n_relevant: Any) -> tuple[Scores, ...]:
    """One for each factor."""
    n_columns = sum(len(each.columns) for each in every)
    log_prior = log_structure_prior(n_relevant, n_columns)
    return tuple(StructureScores(every, place, log_prior) for place in range(len(every)))
