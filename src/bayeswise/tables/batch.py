"""A batch: some rows of a table, encoded by its schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError
from bayeswise.tables.schema.labels import Label, Vocabulary

MISSING = -1
UNSEEN = -2


@dataclass(frozen=True, eq=False)
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

    @staticmethod
    def concat(parts: Sequence[TextBlock]) -> TextBlock:
        """The texts of all parts, which count the same words."""
        from scipy.sparse import vstack

        assert all(part.vocabulary == parts[0].vocabulary for part in parts)
        return TextBlock(vstack([part.counts for part in parts], format="csr"), parts[0].vocabulary)

    def recode(self, vocabulary: Vocabulary) -> TextBlock:
        """The counts of the words of another vocabulary: 0 for those that this one does not have."""
        if vocabulary == self.vocabulary:
            return self
        from scipy.sparse import csr_array

        cells = self.counts.tocoo()
        words = self.vocabulary.positions_in(vocabulary)[cells.col]
        known = words >= 0
        shape = (cells.shape[0], len(vocabulary))
        return TextBlock(csr_array((cells.data[known], (cells.row[known], words[known])), shape=shape), vocabulary)


@dataclass(frozen=True, eq=False)
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
    sparse: Any = None  # scipy.sparse CSR, (n_rows, n_numbers), finite: numbers in place of `values`

    @property
    def row_weights(self) -> FloatArray:
        """(n_rows,) the weight of each row: 1 where none is given."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

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

    # -- other batches of the same columns --------------------------------------------------------------------
    def rows(self, rows: slice) -> Batch:
        """A range of the rows, as views."""
        if rows.start == 0 and rows.stop >= self.n_rows:
            return self
        return self._part(rows, rows.stop - rows.start, tuple(block.rows(rows) for block in self.texts))

    def take(self, rows: IntArray) -> Batch:
        """Copies of some rows, in the order of their positions; the batch itself where these are all rows in order.

        >>> batch = Batch(3, np.array([[1.0], [2.0], [4.0]]), np.zeros((3, 0), dtype=np.int32), first_row=10)
        >>> some = batch.take(np.array([2, 0]))
        >>> some.values.tolist(), some.place(0)
        ([[4.0], [1.0]], 12)
        """
        if len(rows) == self.n_rows and bool((rows == np.arange(self.n_rows)).all()):
            return self
        texts = tuple(TextBlock(block.counts.tocsr()[rows], block.vocabulary) for block in self.texts)
        return self._part(rows, len(rows), texts)

    def _part(self, rows: slice | IntArray, n_rows: int, texts: tuple[TextBlock, ...]) -> Batch:
        return replace(
            self,
            n_rows=n_rows,
            values=self.values[rows],
            codes=self.codes[rows],
            texts=texts,
            groups=None if self.groups is None else self.groups[rows],
            weights=None if self.weights is None else self.weights[rows],
            **self.place_of(rows),
        )

    def recode(self, vocabularies: Sequence[Vocabulary], unseen: Sequence[int] | None = None) -> Batch:
        """The same cells as positions in other vocabularies, one for each column of codes.

        `unseen` holds the code of labels that a column's vocabulary does not have: UNSEEN if nothing else is given.

        >>> batch = Batch(3, np.zeros((3, 0)), np.array([[0], [1], [-1]], dtype=np.int32), (Vocabulary("ab"),))
        >>> batch.recode([Vocabulary("cb")]).codes.ravel().tolist()
        [-2, 1, -1]
        """
        known = tuple(vocabularies)
        instead = [UNSEEN] * len(known) if unseen is None else list(unseen)
        if self.vocabularies == known and all(code == UNSEEN for code in instead):
            return self
        codes = np.empty(self.codes.shape, dtype=np.int32)
        for column, (mine, theirs, absent) in enumerate(zip(self.vocabularies, known, instead, strict=True)):
            codes[:, column] = _recoded(self.codes[:, column], mine, theirs, absent)
        return replace(self, codes=codes, vocabularies=known)

    def groups_in(self, classes: Vocabulary) -> CodeArray:
        """(n_rows,) the class of each row as its position in another vocabulary; UNSEEN where that does not have it."""
        assert self.groups is not None
        return _recoded(self.groups, self.group_labels, classes, UNSEEN)

    def with_target(self) -> Batch:
        """The rows whose target is known."""
        if self.groups is None:
            raise FitError("the rows have no target", fix="give a table with the target column")
        return self.take(np.flatnonzero(self.groups >= 0))

    @staticmethod
    def concat(parts: Sequence[Batch]) -> Batch:
        """The rows of successive batches of one table; texts are those of one vocabulary.

        Codes only grow from batch to batch, so that the vocabularies of the last one name all of them.
        """
        if len(parts) == 1:
            return parts[0]
        places = [np.arange(part.n_rows) if part.kept is None else part.kept for part in parts]
        places = [part.first_row + each for part, each in zip(parts, places, strict=True)]
        return replace(
            parts[-1],
            n_rows=sum(part.n_rows for part in parts),
            values=np.concatenate([part.values for part in parts]),
            codes=np.concatenate([part.codes for part in parts]),
            texts=tuple(map(TextBlock.concat, zip(*(part.texts for part in parts), strict=True))),
            groups=_joined([part.groups for part in parts]),
            weights=_joined([part.weights for part in parts]),
            first_row=0,
            kept=np.concatenate(places),
        )


def shown_classes(batches: Iterable[Batch], declared: Vocabulary) -> Vocabulary:
    """The classes that rows have, the declared ones among them first.

    >>> batch = Batch(2, np.zeros((2, 0)), np.zeros((2, 0)), groups=np.array([2, 0]), group_labels=Vocabulary("bca"))
    >>> shown_classes([batch], Vocabulary("cb"))
    Vocabulary('b', 'a')
    """
    return Vocabulary.in_order(
        (each for batch in batches for each in _shown(batch.groups, batch.group_labels)), declared
    )


def shown_levels(batches: Iterable[Batch], column: int, declared: Vocabulary) -> Vocabulary:
    """The levels of a column of codes that rows have, the declared ones among them first."""
    shown = (_shown(batch.codes[:, column], batch.vocabularies[column]) for batch in batches)
    return Vocabulary.in_order((level for levels in shown for level in levels), declared)


def _shown(codes: Any, labels: Vocabulary) -> list[Label]:
    return [labels[code] for code in np.flatnonzero(np.bincount(codes - UNSEEN)[-UNSEEN:]).tolist()]


def _recoded(codes: CodeArray, mine: Vocabulary, theirs: Vocabulary, absent: int) -> CodeArray:
    positions = mine.positions_in(theirs)
    table = np.append(np.where(positions < 0, absent, positions), [absent, MISSING])  # of codes -2 and -1
    return np.asarray(table.astype(np.int32)[codes])


def _joined(arrays: list[Any]) -> Any:
    return None if arrays[0] is None else np.concatenate(arrays)
