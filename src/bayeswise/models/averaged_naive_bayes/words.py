"""A text column: its words under a Dirichlet prior, class by class or all together, the text as one column.

With `alpha` pseudo-counts of each of V words, n_v occurrences seen of N in all, a text with c_v of m words has

    p(text | rows) = prod_v Gamma(alpha + n_v + c_v) / Gamma(alpha + n_v)  Gamma(alpha V + N) / Gamma(alpha V + N + m)

which is less sure of itself than the m-fold product: a word that occurs once in a text may well occur again.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeswise.families.arithmetic.stable_functions import log_gamma_ratio
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.averaged_naive_bayes.mixing import AveragedScores, Cells
from bayeswise.models.naive_bayes.factors import Leaving
from bayeswise.models.naive_bayes.words import WordScores
from bayeswise.statistics import Counts
from bayeswise.tables.batch import Batch

if TYPE_CHECKING:
    from bayeswise.explanations.account import Contribution
    from bayeswise.statistics.numbers.extents import Span


@dataclass(frozen=True)
class Occurrences:
    """Known words of some texts: one entry for each text and word of it."""

    row: IntArray  # (n_entries,)
    word: IntArray  # (n_entries,) its position in the model
    times: FloatArray  # (n_entries,)
    n_rows: int

    def by_row(self, entries: FloatArray) -> FloatArray:
        """(n_rows,) the sums over the words of each text."""
        return np.asarray(np.bincount(self.row, weights=entries, minlength=self.n_rows), dtype=np.float64)

    def where(self, kept: BoolArray) -> Occurrences:
        return Occurrences(self.row[kept], self.word[kept], self.times[kept], self.n_rows)


@dataclass(frozen=True)
class AveragedWordScores(AveragedScores):
    """One text column of the multinomial model."""

    columns: tuple[str, ...]
    position: int  # in Batch.texts
    statistic: Counts
    alpha: float
    log_prior_odds: FloatArray  # (1,)
    temper: ClassVar[float] = 1.0  # nothing is known of what these columns say together

    @cached_property
    def count(self) -> FloatArray:
        """(n_states + 1, n_words), the last row of all classes together."""
        by_class = self.statistic.weight.to_floats()
        return np.concatenate([by_class, by_class.sum(axis=0, keepdims=True)])

    @cached_property
    def total(self) -> FloatArray:
        """(n_states + 1,)."""
        return np.asarray(self.count.sum(axis=1))

    @cached_property
    def _log_words(self) -> FloatArray:
        """(n_states + 1,) the part of the evidence that is a sum over words."""
        return np.asarray(log_gamma_ratio(self.alpha, self.count).sum(axis=1))

    @property
    def log_evidence(self) -> FloatArray:
        """(n_states + 1,) log p(all words of the class), and of all classes together."""
        return self._log_words - _log_below(self.alpha * self.count.shape[1], 0.0, self.total)

    @cached_property
    def log_factor(self) -> FloatArray:
        """(1,) log p(words | relevant) - log p(words | not relevant)."""
        return np.array([self.log_evidence[:-1].sum() - self.log_evidence[-1]])

    # -- rows ---------------------------------------------------------------------------------------------------
    def _occurrences(self, batch: Batch) -> Occurrences:
        block = batch.texts[self.position]
        matrix = block.counts.tocsr()
        row = np.repeat(np.arange(batch.n_rows), np.diff(matrix.indptr))
        word = block.vocabulary.positions_in(self.statistic.levels)[matrix.indices]
        every = Occurrences(row, word, np.asarray(matrix.data, dtype=np.float64), batch.n_rows)
        return every.where((word >= 0) & (every.times > 0))

    def cells(self, batch: Batch) -> Cells:
        """What the texts say; words that were never learned say nothing."""
        seen = self._occurrences(batch)
        length, pseudo_counts = seen.by_row(seen.times), self.alpha * self.count.shape[1]
        log_texts = [
            seen.by_row(log_gamma_ratio(self.alpha + count[seen.word], seen.times)) for count in self.count
        ]  # of each state, and of all together
        log_below = _log_below(pseudo_counts, self.total, length[:, None])
        return _cells(np.stack(log_texts, axis=1) - log_below, self.log_factor)

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        log_joint += self.cells(batch).mixed(self.log_prior_odds)[:, :, 0]

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        cells = self.cells_left_out(batch, groups, weights)
        return np.asarray(cells.mixed(self.log_prior_odds)[:, :, 0])

    def cells_left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> Cells:
        """Each text taken out of its class; words that it alone shows vanish (unless declared) and say nothing."""
        seen, leaving = self._occurrences(batch), Leaving.of(groups, weights)
        gone = seen.times * leaving.weights[seen.row]
        fixed = np.array([level in self.statistic.declared for level in self.statistic.levels], dtype=bool)
        kept = fixed[seen.word] | (self.count[-1, seen.word] > gone)
        pseudo_counts = self.alpha * (self.count.shape[1] - seen.by_row((~kept).astype(np.float64)))
        rest, taken = seen.where(kept), seen.by_row(gone)
        length = rest.by_row(rest.times)
        log_texts, log_factor = [], np.zeros(batch.n_rows)
        for state, (count, total) in enumerate(zip(self.count, self.total, strict=True)):
            is_all = state == len(self.count) - 1
            own = np.ones(batch.n_rows, dtype=bool) if is_all else leaving.groups == state
            left = count[seen.word] - np.where(own[seen.row], gone, 0.0)
            before = np.maximum(total - np.where(own, taken, 0.0), 0.0)
            log_entries = log_gamma_ratio(self.alpha + left[kept], rest.times)
            log_texts.append(rest.by_row(log_entries) - _log_below(pseudo_counts, before, length))
            log_lost = log_gamma_ratio(self.alpha + left, np.where(own[seen.row], gone, 0.0))
            log_evidence = self._log_words[state] - seen.by_row(log_lost) - _log_below(pseudo_counts, 0.0, before)
            log_factor += -log_evidence if is_all else log_evidence
        return _cells(np.stack(log_texts, axis=1), log_factor[:, None])

    # -- the rest of what scores do -------------------------------------------------------------------------------
    @property
    def _plain(self) -> WordScores:
        return WordScores(self.columns[0], self.position, "multinomial", self.statistic, self.alpha)

    def words_of(self, batch: Batch) -> list[tuple[str, FloatArray]]:
        """The words of the first text by the counts alone; what the average makes of them is the rest."""
        return self._plain.words_of(batch)

    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        return self._plain.sample(states, generator)

    def alternatives(self, column: str, span: Span | None = None) -> tuple[Contribution, ...]:
        """A text has no list of others."""
        return ()

    def n_free_parameters(self) -> int:
        return self._plain.n_free_parameters()


def _log_below(pseudo_counts: Any, total: Any, length: Any) -> FloatArray:
    """log of Gamma(pseudo_counts + total + length) / Gamma(pseudo_counts + total); 0 where no word is known."""
    start = np.asarray(pseudo_counts + total, dtype=np.float64)
    return np.where(start > 0, log_gamma_ratio(np.where(start > 0, start, 1.0), length), 0.0)


def _cells(log_texts: FloatArray, log_factor: FloatArray) -> Cells:
    return Cells(log_texts[:, :-1, None], log_texts[:, -1:, None], log_factor)
