"""What an encoder remembers from sweep to sweep."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, SchemaError, UnseenLevelError, listed
from bayeswise.foundation.threads import each
from bayeswise.render.labels import quoted
from bayeswise.tables.batch import MISSING, UNSEEN, TextBlock
from bayeswise.tables.schema.columns import Column, UnseenPolicy
from bayeswise.tables.schema.labels import (
    Label,
    LabelType,
    Vocabulary,
    as_boolean,
    as_label,
    label_key,
    spelled_booleans,
)
from bayeswise.tables.schema.notes import keep
from bayeswise.tables.schema.schema import Schema, Target


@dataclass(frozen=True)
class Coders:
    """One for each column of labels or words, and one for the target."""

    levels: dict[str, LevelCoder]
    words: dict[str, WordCoder]
    classes: LevelCoder | None
    learning: bool

    @classmethod
    def of(cls, schema: Schema, learning: bool, known: Mapping[str, Vocabulary], with_target: bool) -> Coders:
        levels = {name: _level_coder(schema[name], learning, known) for name in schema.categories}
        words = {name: WordCoder(learning=learning, known=known.get(name)) for name in schema.texts}
        classes = _class_coder(schema.target, learning, known) if with_target and schema.target else None
        return cls(levels, words, classes, learning)

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        coders: dict[str, LevelCoder | WordCoder] = {**self.levels, **self.words}
        if self.classes is not None:
            coders[self.classes.name] = self.classes
        return {name: coder.vocabulary for name, coder in coders.items()}


def _level_coder(column: Column, learning: bool, known: Mapping[str, Vocabulary]) -> LevelCoder:
    assert column.labels is not None
    return LevelCoder(
        column.name,
        column.labels,
        learning=learning,
        known=known.get(column.name),
        declared=column.levels,
        unseen=column.unseen,
    )


def _class_coder(target: Target, learning: bool, known: Mapping[str, Vocabulary]) -> LevelCoder:
    return LevelCoder(
        target.name, target.labels, learning=learning, known=known.get(target.name), declared=target.classes
    )


_PLAIN: Mapping[LabelType, type] = {"text": str, "integer": int}  # labels that are what is in the cells


def _itself(label: Label) -> Label:
    """What a label is known by where all are of one type."""
    return label


_UNKNOWN = -3  # a level of the source that no row has shown yet


class LevelCoder:
    """Codes for the levels of one column, over all sweeps; `start` begins a sweep.

    >>> coder = LevelCoder("wind", "text", learning=True)
    >>> coder.start(textual=False)
    >>> coder.encode(np.array([1, -1, 1], dtype=np.int32), ["calm", "strong"]).tolist(), coder.vocabulary
    ([0, -1, 0], Vocabulary('strong'))
    """

    def __init__(
        self,
        name: str,
        label_type: LabelType,
        *,
        learning: bool,
        known: Vocabulary | None = None,
        declared: Vocabulary | None = None,
        unseen: UnseenPolicy = "smooth",
    ) -> None:
        self.name = name
        self.label_type = label_type
        self.learning = learning
        self.declared = declared
        self.unseen = unseen
        self.n_unseen = 0
        self._vocabulary = known if known is not None else declared or Vocabulary()
        self._labels: list[Label] = list(self._vocabulary)
        self._plain = _PLAIN.get(label_type)
        self._key = _itself if self._plain and self._vocabulary.types <= {self._plain} else label_key
        self._codes: dict[Any, int] = self._known_codes()
        self.start(textual=False)

    def _known_codes(self) -> dict[Any, int]:
        """By key; a vocabulary that nothing is added to lends its own, which it makes once."""
        if self._key is label_key:
            return {label_key(label): code for code, label in enumerate(self._labels)}
        codes = self._vocabulary.codes_by_value
        return dict(codes) if self.learning else codes

    def start(self, *, textual: bool) -> None:
        """Begin a sweep: the source will number its levels again."""
        self.textual = textual
        self.n_unseen = 0
        self._has_unseen = False
        self._code_of_level: CodeArray = np.array([MISSING], dtype=np.int32)  # its last entry answers code -1

    @property
    def vocabulary(self) -> Vocabulary:
        """The labels of the codes given so far."""
        if len(self._vocabulary) != len(self._labels):
            self._vocabulary = Vocabulary.trusted(tuple(self._labels))
        return self._vocabulary

    def encode(self, raw_codes: CodeArray, levels: Sequence[Label]) -> CodeArray:
        """Codes of the vocabulary for codes of the source's levels."""
        self._lengthen(len(levels))
        codes = np.empty(len(raw_codes), dtype=np.int32)
        if _kernels.recode_levels(codes, raw_codes, self._code_of_level, _UNKNOWN):
            seen = np.zeros(len(levels), dtype=np.bool_)
            seen[raw_codes[codes == _UNKNOWN]] = True
            self._add(np.flatnonzero(seen), levels)
            _kernels.recode_levels(codes, raw_codes, self._code_of_level, _UNKNOWN)
        if self._has_unseen:
            self.n_unseen += int(np.count_nonzero(codes == UNSEEN))
        return codes

    def _add(self, fresh: IntArray, levels: Sequence[Label]) -> None:
        labels = [levels[level] for level in fresh.tolist()]
        if self._key is _itself and set(map(type, labels)) == {self._plain}:
            self._code_of_level[fresh] = self._codes_of_plain(labels)
            return
        for level, label in zip(fresh.tolist(), labels, strict=True):
            self._code_of_level[level] = self._code(label)

    def _codes_of_plain(self, labels: list[Label]) -> CodeArray:
        """What `_code` says of labels that are of the type of the column already, all at once."""
        new = list(dict.fromkeys(label for label in labels if label not in self._codes))
        if new and (not self.learning or self.declared is not None):
            self._code(new[0])  # unseen, or not declared
        elif new:
            self._codes.update(zip(new, range(len(self._labels), len(self._labels) + len(new)), strict=True))
            self._labels.extend(new)
        return np.fromiter(map(self._codes.get, labels, repeat(UNSEEN)), dtype=np.int32, count=len(labels))

    def _lengthen(self, n_levels: int) -> None:
        if len(self._code_of_level) == n_levels + 1:
            return
        grown = np.full(n_levels + 1, _UNKNOWN, dtype=np.int32)
        grown[: len(self._code_of_level) - 1] = self._code_of_level[:-1]
        grown[-1] = MISSING
        self._code_of_level = grown

    def _code(self, level: Label) -> int:
        label = as_label(level, self.label_type, textual=self.textual)
        if label is None:
            label = self._boolean(level)
        known = None if label is None else self._codes.get(self._key(label))
        if known is not None:
            return known
        if not self.learning:
            return self._unseen_code(level)
        if label is None:
            raise KindError(
                f"column {self.name!r} has {self.label_type} labels; found {quoted(level)!r}",
                fix=f"correct the cell, or fit again with {keep(self.name, 'category')}",
            )
        if self.declared is not None:
            raise self._undeclared(label)
        return self._added(label)

    def _boolean(self, level: Label) -> Label | None:
        """The label that a boolean is spelled by, or the boolean that a cell of another type stands for."""
        if self.label_type == "text" and isinstance(level, bool):
            return spelled_booleans(self.vocabulary).get(level)
        if self.label_type != "boolean":
            return None
        label = as_boolean(level)
        if label is None and not self.textual:
            raise KindError(
                f"column {self.name!r} is boolean labels in the model; found {quoted(level)!r}",
                fix="write True or False (1 or 0), or fit again with the kind that it has here",
            )
        return label

    def _added(self, label: Label) -> int:
        code = self._codes[self._key(label)] = len(self._labels)
        self._labels.append(label)
        return code

    def _unseen_code(self, level: Label) -> int:
        if self.unseen == "error":
            raise UnseenLevelError(
                f"column {self.name!r} has the level {quoted(level)!r}, which the model never saw",
                fix=f"correct the cell, or choose unseen='smooth' or unseen='ignore' for {self.name!r}",
            )
        self._has_unseen = True
        return UNSEEN

    def _undeclared(self, label: Label) -> SchemaError:
        declared = listed(map(quoted, self.declared or ()))
        return SchemaError(
            f"column {self.name!r} has the level {quoted(label)!r}, which is not among the declared ones: {declared}",
            fix=f"correct the cell, declare it in levels={{{self.name!r}: [...]}}"
            + (f", or fit again with {keep(self.name, 'number')}" if self.label_type == "integer" else ""),
        )


_find_words = re.compile(r"\w\w+").findall


def words_of(text: str) -> list[str]:
    """The words of a text, in its order."""
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    return _find_words(composed.lower())


class WordCoder:
    """Word counts of one text column; while learning, new words join the vocabulary.

    >>> block = WordCoder(learning=True).encode(["red or dead", None, "Red, red"])
    >>> block.vocabulary, block.counts.toarray().tolist()
    (Vocabulary('red', 'or', 'dead'), [[1, 1, 1], [0, 0, 0], [2, 0, 0]])
    """

    def __init__(self, *, learning: bool, known: Vocabulary | None = None) -> None:
        self.learning = learning
        self._codes: dict[str, int] = {str(word): code for code, word in enumerate(known or ())}
        self._vocabulary = known if known is not None else Vocabulary()

    @property
    def vocabulary(self) -> Vocabulary:
        """The words seen so far."""
        if len(self._vocabulary) != len(self._codes):
            self._vocabulary = Vocabulary.trusted(tuple(self._codes))
        return self._vocabulary

    def encode(self, texts: Sequence[str | None]) -> TextBlock:
        """One row of counts for each text; a missing text and an unseen word count nothing."""
        from scipy.sparse import csr_array

        found = [words_of(text) if text else [] for text in texts]
        lengths = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        codes = self._codes_of(chain.from_iterable(found), int(lengths.sum()))
        rows = np.repeat(np.arange(len(found)), lengths)[codes >= 0]
        codes = codes[codes >= 0]
        shape = (len(found), len(self._codes))
        counts = csr_array((np.ones(len(codes), dtype=np.int64), (rows, codes)), shape=shape)  # sums repeated words
        counts.sort_indices()
        return TextBlock(counts, self.vocabulary)

    def _codes_of(self, words: chain[str], n_words: int) -> IntArray:
        codes = self._codes
        if self.learning:
            return np.fromiter((codes.setdefault(word, len(codes)) for word in words), np.int64, n_words)
        return np.fromiter((codes.get(word, -1) for word in words), np.int64, n_words)


WIDEST = 1 << 16
ROWS_OF_A_PIECE = 1 << 17  # worth a thread
ROOM = 64  # integers from the lowest of the first rows up that later rows may have: as many as a word has bits
_TYPES = ("int64", "int32", "int16", "int8", "uint8")


@dataclass(frozen=True, eq=False)
class IntegerCodes:
    """The codes of the integers from `lowest` up, column after column; -2 for those without a code.

    >>> codes = IntegerCodes.of([Vocabulary([3, 5])])
    >>> codes.encode(np.array([[5], [4], [3], [99]])).tolist()
    [[1], [-2], [0], [-2]]
    """

    lowest: IntArray  # (n_columns,)
    sizes: IntArray  # (n_columns,)
    code_of: CodeArray  # (sum of sizes,)

    @classmethod
    def of(cls, vocabularies: Sequence[Vocabulary]) -> IntegerCodes | None:
        """From the levels of each column; None if they are not integers, or lie too far apart for a table."""
        tables = {}  # by vocabulary: thousands of columns share a few
        for vocabulary in {id(levels): levels for levels in vocabularies}.values():
            table = _table(vocabulary)
            if table is None:
                return None
            tables[id(vocabulary)] = table
        chosen = [tables[id(vocabulary)] for vocabulary in vocabularies]
        lowest = np.array([low for low, _ in chosen], dtype=np.int64)
        sizes = np.array([len(part) for _, part in chosen], dtype=np.int64)
        parts = [part for _, part in chosen]
        return cls(lowest, sizes, np.concatenate(parts) if parts else np.empty(0, np.int32))

    @property
    def starts(self) -> IntArray:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64) if len(self.sizes) else self.sizes

    @property
    def dtype(self) -> Any:
        """The smallest type that holds the codes: one byte where there are few levels."""
        return np.int8 if self.code_of.max(initial=0) < 128 else np.int32

    @property
    def are_integers(self) -> bool:
        """Whether each integer is its own code: the levels of every column are 0, 1, 2, ..."""
        own = np.arange(len(self.code_of)) - np.repeat(self.starts, self.sizes)
        return not self.lowest.any() and bool((self.code_of == own).all())

    def encode(self, values: Any, out: Any = None) -> Any:
        """(n_rows, n_columns) the codes of a matrix of integers."""
        codes = np.empty(values.shape, dtype=self.dtype) if out is None else out
        _kernels.recode_integers(codes, kernel_integers(values), self.lowest, self.sizes, self.starts, self.code_of)
        return codes


def integer_levels(values: Any) -> list[Vocabulary] | None:
    """The different integers of each column, in order; None if they lie too far apart for a table.

    >>> integer_levels(np.array([[7, 1], [5, 1]]))
    [Vocabulary(5, 7), Vocabulary(1)]
    """
    if len(values) == 0:
        return None
    cells = kernel_integers(values)
    for n_rows in (ROWS_OF_A_PIECE, len(cells)):  # the first rows show most often where all values lie
        lowest, highest = _extents(cells[:n_rows])
        if not _is_narrow(lowest.astype(object), highest.astype(object)):
            return None
        sizes = highest - lowest + 1
        if n_rows < len(cells):
            sizes = np.maximum(sizes, ROOM)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        seen, are_inside = _seen(cells, lowest, sizes, starts)
        if are_inside:
            break
    marks = seen.tobytes()
    known: dict[tuple[int, bytes], Vocabulary] = {}  # columns with the same integers share their levels
    found = []
    for start, size, low in zip(starts.tolist(), sizes.tolist(), lowest.tolist(), strict=True):
        key = (low, marks[start : start + size])
        if key not in known:
            known[key] = Vocabulary.trusted(tuple((np.flatnonzero(seen[start : start + size]) + low).tolist()))
        found.append(known[key])
    return found


def _extents(cells: Any) -> tuple[IntArray, IntArray]:
    """(n_columns,) the least and the largest integer of each column."""

    def of_piece(part: Any) -> tuple[IntArray, IntArray]:
        lowest, highest = (part[0].astype(np.int64) for _ in range(2))
        _kernels.widen_extents(part, lowest, highest)
        return lowest, highest

    lows, highs = zip(*each(of_piece, _pieces(cells)), strict=True)
    return np.minimum.reduce(lows), np.maximum.reduce(highs)


def _pieces(cells: Any) -> list[Any]:
    return [cells[first : first + ROWS_OF_A_PIECE] for first in range(0, len(cells), ROWS_OF_A_PIECE)]


def _seen(cells: Any, lowest: IntArray, sizes: IntArray, starts: IntArray) -> tuple[Any, bool]:
    """(sum of sizes,) 1 for each integer that is in its column; and whether there are no others."""

    def of_piece(part: Any) -> tuple[Any, bool]:
        seen = np.zeros(int(sizes.sum()), dtype=np.uint8)
        return seen, _kernels.mark_integers(part, lowest, sizes, starts, seen)

    found, are_inside = zip(*each(of_piece, _pieces(cells)), strict=True)
    return np.bitwise_or.reduce(found), all(are_inside)


def _table(vocabulary: Vocabulary) -> tuple[int, CodeArray] | None:
    """The least integer, and the code of each integer from there on; None if a table cannot hold them."""
    levels = [label for label in vocabulary if type(label) is int]
    if len(levels) < len(vocabulary):
        return None
    lowest, highest = min(levels, default=0), max(levels, default=-1)
    if not _is_narrow(np.array([lowest], dtype=object), np.array([highest], dtype=object)):
        return None
    part = np.full(highest - lowest + 1, UNSEEN, dtype=np.int32)
    part[np.array([level - lowest for level in levels], dtype=np.int64)] = np.arange(len(levels))
    return lowest, part


def kernel_integers(values: Any) -> Any:
    """The matrix in a type that the kernels know."""
    return values if values.dtype.name in _TYPES else values.astype(np.int64)


def _is_narrow(lowest: Any, highest: Any) -> bool:
    inside = min(lowest, default=0) >= -(1 << 62) and max(highest, default=0) <= 1 << 62
    return inside and max(highest - lowest, default=0) < WIDEST
