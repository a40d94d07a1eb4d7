"""Number columns that count words: one multinomial, Bernoulli or complement model over all of them together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise import _kernels
from bayeswise.engines import Request
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.naive_bayes.factors import LinearTerm
from bayeswise.models.naive_bayes.words import TextModel, Words, WordScores
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.statistics import Counts
from bayeswise.tables.batch import Batch, TextBlock
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema, positions_in

if TYPE_CHECKING:
    from bayeswise.explanations.account import Contribution
    from bayeswise.statistics.numbers.extents import Span


@dataclass(frozen=True)
class CountedColumns:
    """A group of columns, each the count of one word; an empty cell counts as none."""

    columns: tuple[str, ...]
    model: TextModel = "multinomial"

    @property
    def name(self) -> str:
        return f"{self.model} columns"

    @property
    def words(self) -> Words:
        return Words((self.name,), self.model, Vocabulary(self.columns))

    def request(self, schema: Schema) -> Request:
        return Request.numbers(self.name, self.columns, self._counted)

    def _counted(
        self, values: FloatArray, groups: CodeArray | None, n_groups: int, weights: FloatArray | None
    ) -> Counts:
        words = Vocabulary(self.columns)
        if weights is None and values.dtype == np.float64:
            table = np.zeros((n_groups, len(words)), dtype=np.int64)
            if _kernels.add_cell_counts(table, self.words.cells(values), groups):
                return self.words.of_table(table, words)
        return self.words.counted(_sparse(values), words, groups, n_groups, weights)

    def scores(self, statistic: Counts, settings: NaiveBayesSettings, schema: Schema) -> CountedScores:
        positions = positions_in(schema.numbers, self.columns)
        inner = WordScores(self.name, 0, self.model, statistic, settings.pseudo_rows)
        return CountedScores(self.columns, positions, inner)


@dataclass(frozen=True, eq=False)
class CountedScores:
    """The scores of words, fed from number columns."""

    columns: tuple[str, ...]
    positions: IntArray  # of the columns in Batch.values
    inner: WordScores

    def with_texts(self, n_texts: FloatArray) -> CountedScores:
        return replace(self, inner=self.inner.with_texts(n_texts))

    def _as_text(self, batch: Batch) -> Batch:
        block = TextBlock(_sparse(batch.values[:, self.positions]), Vocabulary(self.columns))
        return replace(batch, texts=(block,))

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        self.inner.add_to(log_joint, self._as_text(batch))

    def by_column(self, batch: Batch) -> FloatArray:
        """Each column's own words; what every text adds is shared out evenly."""
        table, every = self.inner.log_weight
        order = Vocabulary(self.columns).positions_in(self.inner.statistic.levels)
        cells = np.nan_to_num(batch.values[:, self.positions])
        counts = (cells > 0).astype(np.float64) if self.inner.model == "bernoulli" else cells
        with np.errstate(invalid="ignore"):
            added = counts[:, :, None] * table[order][None]  # 0 times log 0 adds nothing
            return np.where(counts[:, :, None] > 0, added, 0.0) + every / len(self.columns)

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        return self.inner.left_out(self._as_text(batch), groups, weights)

    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        return self.inner.sample(states, generator)

    def alternatives(self, column: str, span: Span | None = None) -> tuple[Contribution, ...]:
        """None to five occurrences of the word."""
        from bayeswise.explanations.account import Contribution

        table, every = self.inner.log_weight
        weight = table[self.inner.statistic.levels.code(column)]
        most = 2 if self.inner.model == "bernoulli" else 6
        return tuple(Contribution(column, k, k * weight + every / len(self.columns)) for k in range(most))

    def linear_terms(self) -> Iterator[LinearTerm]:
        for term in self.inner.linear_terms():
            yield LinearTerm(str(term.level), None, term.weight, term.constant)

    def n_free_parameters(self) -> int:
        return self.inner.n_free_parameters()


def _sparse(values: FloatArray) -> Any:
    from scipy.sparse import csr_array

    return csr_array(np.nan_to_num(values, posinf=np.inf, neginf=-np.inf))
