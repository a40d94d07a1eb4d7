"""A batch: some rows of a table, encoded by its schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.tables.schema.labels import Vocabulary

MISSING = -1
UNSEEN = -2


@dataclass(frozen=True)
class TextBlock:
    """Word counts of one text column."""

    counts: Any  # scipy.sparse CSR, (n_rows, n_words)
    vocabulary: Vocabulary

    def rows(self, rows: slice) -> TextBlock:
        """A range of the rows; cells are views, not copies."""
        whole = self.counts
        starts = whole.indptr[rows.start : rows.stop + 1]
        cells = slice(int(starts[0]), int(starts[-1]))
        counts = type(whole)((len(starts) - 1, whole.shape[1]), dtype=whole.dtype)
        # set from outside: the constructor copies what is less than half of the whole
        counts.data, counts.indices, counts.indptr = whole.data[cells], whole.indices[cells], starts - starts[0]
        return TextBlock(counts, self.vocabulary)


@dataclass(frozen=True)
class Batch:
    """Numbers as one matrix, categories as one matrix of codes, in the order of the schema's columns.

    `vocabularies[c]` names the codes of column c of `codes` in this batch; while learning it may still grow from batch
    to batch, so codes never outlive their batch: statistics keep labels.
    """

    n_rows: int
    values: FloatArray  # (n_rows, n_numbers); NaN = missing
    codes: CodeArray  # (n_rows, n_categories); -1 = missing, -2 = unseen (predicting only)
    vocabularies: tuple[Vocabulary, ...] = ()  # one for each column of codes
    texts: tuple[TextBlock, ...] = ()
    groups: CodeArray | None = None  # (n_rows,) codes of the target; -1 = left out
    group_labels: Vocabulary = field(default_factory=Vocabulary)
    weights: FloatArray | None = None  # (n_rows,)
    first_row: int = 0  # where the batch begins in its table, from 0 on
    kept: IntArray | None = None  # (n_rows,) the rows of the table from there on that it holds; None: the next n_rows

    def place(self, row: int) -> int:
        """The position in the table of a row of the batch; rows without a target are in the one and not in the other.

        >>> import numpy as np
        >>> Batch(2, np.zeros((2, 1)), np.zeros((2, 0), dtype=np.int32), first_row=10, kept=np.array([1, 4])).place(1)
        14
        """
        return self.first_row + (row if self.kept is None else int(self.kept[row]))

    def place_of(self, rows: slice | IntArray) -> dict[str, Any]:
        """`first_row` and `kept` of a batch of some of the rows."""
        if self.kept is not None:
            return {"first_row": self.first_row, "kept": self.kept[rows]}
        if isinstance(rows, slice):
            return {"first_row": self.first_row + rows.start, "kept": None}
        return {"first_row": self.first_row, "kept": rows}
