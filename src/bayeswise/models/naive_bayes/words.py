"""Word counts of a text column: multinomial, Bernoulli (present or absent) or complement model of the words.

    multinomial    log p(text | state) = sum over words of count log p(word | state)
    bernoulli      every known word is present or absent, independently
    complement     a word counts against the states whose other states use it (Rennie et al.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bayeswise import _kernels
from bayeswise.engines import Request
from bayeswise.explanations.account import Contribution
from bayeswise.families.special import two_product
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.exact import ExactArray
from bayeswise.foundation.logspace import log
from bayeswise.models.naive_bayes.factors import LinearTerm
from bayeswise.models.naive_bayes.settings import NaiveBayesSettings
from bayeswise.statistics import Counts
from bayeswise.tables.batch import Batch
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.schema import Schema

TextModel = Literal["multinomial", "bernoulli", "complement"]


@dataclass(frozen=True)
class Words:
    """One text column (or one matrix of word counts)."""

    columns: tuple[str, ...]
    model: TextModel = "multinomial"
    declared: Vocabulary | None = None

    @property
    def name(self) -> str:
        return f"words of {self.columns[0]}"

    def request(self, schema: Schema) -> Request:
        return Request.words(self.name, self.columns[0], self.counted)

    def counted(
        self, counts: Any, words: Vocabulary, groups: CodeArray | None, n_groups: int, weights: FloatArray | None
    ) -> Counts:
        """Words (or, for the Bernoulli model, texts with the word) counted by class."""
        matrix = counts.tocsr()
        cells = np.ascontiguousarray(matrix.data, dtype=np.float64)
        if self.model == "bernoulli":
            cells = (cells > 0).astype(np.float64)
        table = np.zeros((n_groups, len(words)), dtype=np.int64)
        whole = weights is None and _kernels.add_word_counts(table, matrix.indptr, matrix.indices, cells, groups)
        if whole:
            exact = ExactArray.from_integers(table)
            return Counts.of_table(words, exact, ExactArray.zeros(n_groups), self.declared)
        return self._weighed(matrix, cells, words, groups, n_groups, weights)

    def _weighed(
        self,
        matrix: Any,
        cells: FloatArray,
        words: Vocabulary,
        groups: CodeArray | None,
        n_groups: int,
        weights: FloatArray | None,
    ) -> Counts:
        """Cells that are no whole numbers, or rows with weights: weight x cell is exactly high + low, and both add."""
        if cells.size and not (np.isfinite(cells).all() and cells.min() >= 0):
            raise ParameterError("word counts must be finite and not negative", fix="give counts, not scores")
        per_row = np.diff(matrix.indptr)
        cell_groups = None if groups is None else np.repeat(groups, per_row).astype(np.int32)
        codes = matrix.indices.astype(np.int32)
        high, low = two_product(1.0 if weights is None else np.repeat(weights, per_row), cells)
        parts = [
            Counts.of(codes, words, cell_groups, n_groups, part, self.declared)
            for part in (high, np.maximum(low, 0.0), np.maximum(-low, 0.0))
        ]
        return parts[0].merge(parts[1]).subtract(parts[2])

    def scores(self, statistic: Counts, settings: NaiveBayesSettings, schema: Schema) -> WordScores:
        return WordScores(
            self.columns[0], schema.texts.index(self.columns[0]), self.model, statistic, settings.pseudo_rows
        )


@dataclass(frozen=True)
class WordScores:
    """Log-probabilities of words for each state; the class weights of the Bernoulli model come from `n_texts`."""

    column: str
    position: int  # in Batch.texts
    model: TextModel
    statistic: Counts
    alpha: float
    n_texts: FloatArray | None = None  # (n_states,)

    def with_texts(self, n_texts: FloatArray) -> WordScores:
        return WordScores(self.column, self.position, self.model, self.statistic, self.alpha, n_texts)

    @cached_property
    def count(self) -> FloatArray:
        """(n_states, n_words)."""
        return self.statistic.weight.to_floats()

    @cached_property
    def total(self) -> FloatArray:
        """(n_states,) all words of a class."""
        return np.asarray(self.count.sum(axis=1))

    @cached_property
    def log_weight(self) -> tuple[FloatArray, FloatArray]:
        """(n_words, n_states) what each occurrence adds, and (n_states,) what every text adds."""
        return _log_weight(self.model, self.count, self.alpha, self.n_texts)

    def _texts(self) -> FloatArray:
        if self.n_texts is None:
            raise ParameterError("the Bernoulli model of words needs the number of texts of each class")
        return self.n_texts

    def _table(self, words: Vocabulary) -> FloatArray:
        """The weights in the order of the batch's words; unknown words weigh nothing."""
        table = self.log_weight[0]
        if words is self.statistic.levels or words == self.statistic.levels:
            return table
        positions = words.positions_in(self.statistic.levels)
        moved = np.where((positions >= 0)[:, None], table[positions], 0.0)
        return np.ascontiguousarray(moved)

    def _cells(self, batch: Batch) -> tuple[Any, FloatArray, Vocabulary]:
        block = batch.texts[self.position]
        matrix = block.counts.tocsr()
        data = np.ascontiguousarray(matrix.data, dtype=np.float64)
        return matrix, (data > 0).astype(np.float64) if self.model == "bernoulli" else data, block.vocabulary

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        matrix, cells, words = self._cells(batch)
        log_joint += self.log_weight[1]
        _kernels.add_sparse(log_joint, matrix.indptr, matrix.indices, cells, self._table(words))

    def by_column(self, batch: Batch) -> FloatArray:
        log_sum = np.zeros((batch.n_rows, len(self.count)))
        self.add_to(log_sum, batch)
        return log_sum[:, None, :]

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        """Each text taken out of its class; words that it alone shows vanish (unless declared) and weigh nothing."""
        matrix, cells, words = self._cells(batch)
        known = words.positions_in(self.statistic.levels)[matrix.indices]
        rows_weight = np.ones(batch.n_rows) if weights is None else weights
        fixed = np.array([level in self.statistic.declared for level in self.statistic.levels], dtype=bool)
        out = np.empty((batch.n_rows, len(self.count)))
        for r in range(batch.n_rows):
            at = slice(matrix.indptr[r], matrix.indptr[r + 1])
            mine = known[at] >= 0
            out[r] = self._left_out_row(known[at][mine], cells[at][mine], int(groups[r]), rows_weight[r], fixed)
        return out

    def _left_out_row(self, words: Any, cells: FloatArray, group: int, weight: float, fixed: Any) -> FloatArray:
        """One text of m different words: O(m) for the multinomial model, whatever the size of the vocabulary."""
        count = self.count[:, words].copy()  # (n_states, m)
        count[group] -= weight * cells
        kept = fixed[words] | (count.sum(axis=0) > 0)
        if self.model != "multinomial":
            return self._left_out_in_full(words, cells, group, weight, kept)
        total = self.total.copy()
        total[group] -= weight * cells.sum()
        below = total + self.alpha * (self.count.shape[1] - int(np.count_nonzero(~kept)))
        log_words = log(count[:, kept] + self.alpha) - log(np.where(below > 0, below, 1.0))[:, None]
        return np.asarray(log_words @ cells[kept])

    def _left_out_in_full(self, words: Any, cells: FloatArray, group: int, weight: float, kept: Any) -> FloatArray:
        count = self.count.copy()
        count[group, words] -= weight * cells
        stays = np.ones(count.shape[1], dtype=bool)
        stays[words[~kept]] = False
        texts = self._texts().copy() if self.model == "bernoulli" else None
        if texts is not None:
            texts[group] -= weight
        table, every = _log_weight(self.model, count[:, stays], self.alpha, texts)
        row = np.cumsum(stays) - 1
        return np.asarray(every + cells[kept] @ table[row[words[kept]]])

    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        raise ParameterError(
            f"texts cannot be drawn: column {self.column!r} is a bag of words", fix="leave the text column out"
        )

    def alternatives(self, column: str) -> tuple[Contribution, ...]:
        """A text has no list of others."""
        return ()

    def linear_terms(self) -> Iterator[LinearTerm]:
        """One weight for each word, and what every text adds as a constant of the first."""
        table, every = self.log_weight
        for k, word in enumerate(self.statistic.levels):
            yield LinearTerm(self.column, word, table[k], every if k == 0 else np.zeros_like(every))

    def n_free_parameters(self) -> int:
        n_states, n_words = (int(size) for size in self.count.shape)
        return n_states * (n_words if self.model == "bernoulli" else max(n_words - 1, 0))


def _log_weight(
    model: TextModel, count: FloatArray, alpha: float, n_texts: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    if model == "bernoulli" and n_texts is not None:
        texts = n_texts[:, None]
        log_below = log(texts + 2.0 * alpha)
        log_present, log_absent = log(count + alpha) - log_below, log(texts - count + alpha) - log_below
        return np.ascontiguousarray((log_present - log_absent).T), log_absent.sum(axis=1)
    counted = count.sum(axis=0) - count if model == "complement" else count
    total = counted.sum(axis=1, keepdims=True) + alpha * count.shape[1]
    log_word = log(counted + alpha) - log(np.where(total > 0, total, 1.0))
    sign = -1.0 if model == "complement" else 1.0
    return np.ascontiguousarray(sign * log_word.T), np.zeros(len(count))
