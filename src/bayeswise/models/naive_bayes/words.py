"""Word counts of a text column: multinomial, Bernoulli (present or absent) or complement model of the words.

    multinomial    log p(text | state) = sum over words of count log p(word | state)
    bernoulli      every known word is present or absent, independently
    complement     a word counts against the states whose other states use it (Rennie et al.)

Without smoothing a probability may be 0. Finite sums and the number of zeros are then kept apart, as log 0 - log 0 has
no value: a state is ruled out by one zero, and in the complement model a state with more of them wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeswise import _kernels
from bayeswise.engines import Request
from bayeswise.families.arithmetic.stable_functions import two_product
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.exact import ExactArray
from bayeswise.models.naive_bayes.factors import LinearTerm
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.statistics import Counts
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.explanations.account import Contribution
    from bayeswise.statistics.numbers.extents import Span

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
        cells = self.cells(np.ascontiguousarray(matrix.data, dtype=np.float64))
        table = np.zeros((n_groups, len(words)), dtype=np.int64)
        whole = weights is None and _kernels.add_word_counts(table, matrix.indptr, matrix.indices, cells, groups)
        if whole:
            return self.of_table(table, words)
        return self._weighed(matrix, cells, words, groups, n_groups, weights)

    def cells(self, counts: FloatArray) -> FloatArray:
        """What is counted: occurrences of a word, or, for the Bernoulli model, whether there is one."""
        return (counts > 0).astype(np.float64) if self.model == "bernoulli" else counts

    def of_table(self, table: IntArray, words: Vocabulary) -> Counts:
        """The counts of whole numbers, (n_groups, n_words)."""
        return Counts.of_table(words, ExactArray.from_integers(table), ExactArray.zeros(len(table)), self.declared)

    def _weighed(
        self,
        matrix: Any,
        cells: FloatArray,
        words: Vocabulary,
        groups: CodeArray | None,
        n_groups: int,
        weights: FloatArray | None,
    ) -> Counts:
        """Cells that are not whole numbers, or rows with weights: weight x cell is exactly high + low, and both add."""
        if cells.size and not (np.isfinite(cells).all() and cells.min() >= 0):
            what = "Negative values in data: " if cells.min() < 0 else ""
            raise ParameterError(f"{what}word counts must be finite and not negative", fix="give counts, not scores")
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
        place = schema.texts.index(self.columns[0])
        return WordScores(
            self.columns[0], place, self.model, statistic, settings.pseudo_rows, word_weight=settings.word_weight
        )


@dataclass(frozen=True, eq=False)
class WordScores:
    """Log-probabilities of words for each state, times the weight of a word.

    The class weights of the Bernoulli model come from `n_texts`.
    """

    column: str
    position: int  # in Batch.texts
    model: TextModel
    statistic: Counts
    alpha: float
    n_texts: FloatArray | None = None  # (n_states,)
    word_weight: float = 1.0

    def with_texts(self, n_texts: FloatArray) -> WordScores:
        return replace(self, n_texts=n_texts)

    @cached_property
    def count(self) -> FloatArray:
        """(n_states, n_words)."""
        return self.statistic.weight.to_floats()

    @cached_property
    def total(self) -> FloatArray:
        """(n_states,) all words of a class."""
        return np.asarray(self.count.sum(axis=1))

    @cached_property
    def weights(self) -> Weights:
        return Weights.of(self.model, self.count, self.alpha, self.n_texts).times(self.word_weight)

    @cached_property
    def log_weight(self) -> tuple[FloatArray, FloatArray]:
        """(n_words, n_states) what each occurrence adds, and (n_states,) what every text adds."""
        return self.weights.in_full

    @property
    def log_probability(self) -> FloatArray:
        """(n_states, n_words) log p(word | state), or of a text with it; minus that of the others (complement)."""
        if self.model != "bernoulli":
            return np.ascontiguousarray(Weights.of(self.model, self.count, self.alpha, self.n_texts).in_full[0].T)
        log_share, zero = _log_share(self.count + self.alpha, self._texts()[:, None] + 2.0 * self.alpha, np.log(0.5))
        return np.where(zero > 0, -np.inf, log_share)

    def _texts(self) -> FloatArray:
        if self.n_texts is None:
            raise ParameterError("the Bernoulli model of words needs the number of texts of each class")
        return self.n_texts

    def _table(self, words: Vocabulary, table: FloatArray) -> FloatArray:
        """A table of words in the order of the batch's words; unknown words weigh nothing."""
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
        weights = self.weights
        log_joint += weights.every
        _kernels.add_sparse(log_joint, matrix.indptr, matrix.indices, cells, self._table(words, weights.table))
        if weights.zeros is not None and weights.zeros_of_all is not None:
            zeros = np.tile(weights.zeros_of_all, (batch.n_rows, 1))
            _kernels.add_sparse(zeros, matrix.indptr, matrix.indices, cells, self._table(words, weights.zeros))
            weights.rule_out(log_joint, zeros)

    def by_column(self, batch: Batch) -> FloatArray:
        log_sum = np.zeros((batch.n_rows, len(self.count)))
        self.add_to(log_sum, batch)
        return log_sum[:, None, :]

    def words_of(self, batch: Batch) -> list[tuple[str, FloatArray]]:
        """The known words of the first text, and (n_states,) what each adds; none where a state is ruled out by one."""
        from bayeswise.explanations.account import counted_word

        matrix, cells, words = self._cells(batch)
        at = slice(matrix.indptr[0], matrix.indptr[1])
        known = words.positions_in(self.statistic.levels)[matrix.indices[at]]
        table = self.log_weight[0]
        found = [
            (counted_word(self.statistic.levels[w], times), times * table[w])
            for w, times in zip(known.tolist(), cells[at].tolist(), strict=True)
            if w >= 0 and times > 0
        ]
        return found if all(np.isfinite(added).all() for _, added in found) else []

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
        out *= self.word_weight
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
        n_words = self.count.shape[1] - int(np.count_nonzero(~kept))
        below = np.broadcast_to((total + self.alpha * n_words)[:, None], (len(total), int(kept.sum())))
        log_words, zeros = _log_share(count[:, kept] + self.alpha, below, -np.log(max(n_words, 1)))
        added = np.asarray(log_words @ cells[kept])
        added[zeros @ cells[kept] > 0] = -np.inf
        return added

    def _left_out_in_full(self, words: Any, cells: FloatArray, group: int, weight: float, kept: Any) -> FloatArray:
        count = self.count.copy()
        count[group, words] -= weight * cells
        stays = np.ones(count.shape[1], dtype=bool)
        stays[words[~kept]] = False
        texts = self._texts().copy() if self.model == "bernoulli" else None
        if texts is not None:
            texts[group] -= weight
        row = np.cumsum(stays) - 1
        return Weights.of(self.model, count[:, stays], self.alpha, texts).of_text(row[words[kept]], cells[kept])

    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        raise ParameterError(
            f"texts cannot be drawn: column {self.column!r} is a bag of words", fix="leave the text column out"
        )

    def alternatives(self, column: str, span: Span | None = None) -> tuple[Contribution, ...]:
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


@dataclass(frozen=True, eq=False)
class Weights:
    """What each occurrence of a word adds, and what every text adds; finite, with the zeros counted apart.

    `zeros` says how often log 0 belongs to an occurrence of a word, `zeros_of_all` to every text; None if never.
    """

    model: TextModel
    table: FloatArray  # (n_words, n_states)
    every: FloatArray  # (n_states,)
    zeros: FloatArray | None = None  # (n_words, n_states)
    zeros_of_all: FloatArray | None = None  # (n_states,)

    @classmethod
    def of(cls, model: TextModel, count: FloatArray, alpha: float, n_texts: FloatArray | None) -> Weights:
        """From the counts (n_states, n_words); a state of which no text or word is known spreads its mass evenly."""
        if model == "bernoulli" and n_texts is not None:
            texts = np.broadcast_to(n_texts[:, None], count.shape)
            below, even = texts + 2.0 * alpha, np.log(0.5)
            present, no_present = _log_share(count + alpha, below, even)
            absent, no_absent = _log_share(texts - count + alpha, below, even)
            table, every = np.ascontiguousarray((present - absent).T), absent.sum(axis=1)
            return cls._with_zeros(model, table, every, (no_present - no_absent).T, no_absent.sum(axis=1))
        counted = count.sum(axis=0) - count if model == "complement" else count
        n_states, n_words = count.shape
        total = np.broadcast_to(counted.sum(axis=1, keepdims=True) + alpha * n_words, count.shape)
        log_word, zeros = _log_share(counted + alpha, total, -np.log(max(n_words, 1)))
        sign = -1.0 if model == "complement" else 1.0
        table = np.ascontiguousarray(sign * log_word.T)
        return cls._with_zeros(model, table, np.zeros(n_states), sign * zeros.T, None)

    @classmethod
    def _with_zeros(
        cls, model: TextModel, table: FloatArray, every: FloatArray, zeros: FloatArray, of_all: FloatArray | None
    ) -> Weights:
        if not zeros.any() and (of_all is None or not of_all.any()):
            return cls(model, table, every)
        return cls(model, table, every, np.ascontiguousarray(zeros), np.zeros(len(every)) if of_all is None else of_all)

    def times(self, factor: float) -> Weights:
        """The weights times a factor; what is impossible stays so."""
        return self if factor == 1.0 else replace(self, table=factor * self.table, every=factor * self.every)

    @property
    def in_full(self) -> tuple[FloatArray, FloatArray]:
        """The table and what every text adds, with the infinities that the zeros stand for."""
        if self.zeros is None or self.zeros_of_all is None:
            return self.table, self.every
        infinite = np.where(self.zeros > 0, -np.inf, np.inf)
        return (
            np.where(self.zeros != 0, infinite, self.table),
            np.where(self.zeros_of_all > 0, -np.inf, self.every),
        )

    def rule_out(self, log_joint: FloatArray, zeros: FloatArray) -> None:
        """log_joint = -inf where a state has a zero; in the complement model, where another one has more of them."""
        if self.model == "complement":
            zeros = np.where(log_joint == -np.inf, np.inf, zeros)
            zeros = zeros - np.minimum(zeros.min(axis=1, keepdims=True), 0.0)
        log_joint[zeros > 0] = -np.inf

    def of_text(self, words: Any, cells: FloatArray) -> FloatArray:
        """(n_states,) what one text adds, by the positions of its words."""
        added = self.every + cells @ self.table[words]
        if self.zeros is not None:
            self.rule_out(added[None], (self.zeros_of_all + cells @ self.zeros[words])[None])
        return np.asarray(added)


def _log_share(above: FloatArray, below: FloatArray, even: float) -> tuple[FloatArray, FloatArray]:
    """log(above / below), `even` where nothing is below; where nothing is above, -log(below) and a zero counted."""
    known = below > 0
    zero = known & (above <= 0)
    log_share = np.log(np.where(zero | ~known, 1.0, above)) - np.log(np.where(known, below, 1.0))
    return np.where(known, log_share, even), zero.astype(np.float64)
