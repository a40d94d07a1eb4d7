"""From the evidence of a column, with and without the classes, to its weight and to the mixture of its cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.tables.batch import Batch

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
    """log p(cell) + temper (log p(cell | state) - log p(cell)): what is said of the states, to the power of temper."""
    return np.asarray(log_irrelevant + temper * (log_relevant - log_irrelevant))


def relevance_of(log_odds: FloatArray) -> FloatArray:
    """The weight w."""
    return np.asarray(np.exp(log_sigmoid(log_odds)))


@dataclass(frozen=True)
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


class LeftOutInBlocks(ABC):
    """Scores of rows left out, range by range: all cells at once would fill the memory."""

    log_prior_odds: FloatArray  # (n_columns,)

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
