"""What one pass over a source tells about each column; independent of the order of rows and of chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayeswise._kernels import Profiler
from bayeswise.foundation.threads import each
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.source import InvalidValue, RawColumn, Source, Storage, first_not_utf8

EXACT_DISTINCT = 1 << 20
"""Up to this many different values are counted exactly (in narrow tables), more are estimated to about 1 %."""

COUNTED_LEVELS = 1 << 16
COUNTED_BYTES = 1 << 23
"""Levels are counted while there are no more than this, and no more bytes of text; otherwise `levels` is empty."""

KEPT_LEVELS = 1000
"""Up to this many levels are reported; of more, the most frequent ones."""


@dataclass(frozen=True)
class ColumnProfile:
    """The cells of one column, counted by what they look like.

    rows = missing + sum(null_words) + integers + decimals + infinite + booleans + invalid: each cell is one of these.
    In a text column integers and decimals are cells that read as numbers (zero-padded ones, such as "0007", are among
    the integers) and invalid values are all other texts. Whole numbers in a float column are integers.
    """

    name: str
    storage: Storage
    rows: int
    missing: int
    """Cells that are null or NaN (null words are counted apart)."""
    null_words: Mapping[str, int]
    """Null words as they were written, with their counts."""
    integers: int
    zero_padded: int
    """Integers written with leading zeros, such as "0007"."""
    decimals: int
    invalid: int
    """Cells that are not numbers: texts, dates, lists."""
    invalid_examples: tuple[InvalidValue, ...]
    """The first five of them."""
    booleans: int
    infinite: int
    wide_integers: int
    """Integers that a double cannot hold exactly (they are among `integers`)."""
    distinct: int
    """The number of different values, missing ones left out."""
    distinct_exact: bool
    minimum: float
    maximum: float
    """The extremes of the finite numbers; NaN if there are none."""
    levels: tuple[tuple[Label, int], ...]
    """The most frequent values with counts, by falling count, then by value."""
    levels_complete: bool
    """True if `levels` holds every value."""
    longest: int
    """The length of the longest text, in characters."""
    words: float
    """The mean number of words per text cell; 0 without text."""
    declared: tuple[Label, ...] | None = field(default=None)

    @property
    def present(self) -> int:
        """The number of cells that hold a value."""
        return self.rows - self.missing - sum(self.null_words.values())


def profile(source: Source, columns: Sequence[str] | None = None) -> Mapping[str, ColumnProfile]:
    """Profile the named columns (all by default) in one pass.

    >>> from bayeswise.tables.source import open_source
    >>> golf = profile(open_source([{"wind": "weak", "degrees": 20}, {"wind": "strong", "degrees": None}]))
    >>> golf["wind"].levels, golf["degrees"].missing, golf["degrees"].maximum
    ((('strong', 1), ('weak', 1)), 1, 20.0)
    """
    raw = {column.name: column for column in source.columns}
    names = list(raw) if columns is None else list(columns)
    profilers = {name: Profiler(_exact_distinct(len(names)), COUNTED_LEVELS, COUNTED_BYTES) for name in names}
    for chunk in source.chunks(names):
        each(lambda column, chunk=chunk: chunk.profile(*column), profilers.items())  # type: ignore[misc]
    return {name: _column_profile(source, raw[name], profiler) for name, profiler in profilers.items()}


def _exact_distinct(n_columns: int) -> int:
    """Wide tables count fewer values exactly, so that all columns together stay below some 100 MB."""
    return max(1 << 12, min(EXACT_DISTINCT, (1 << 22) // max(1, n_columns)))


def _column_profile(source: Source, column: RawColumn, profiler: Profiler) -> ColumnProfile:
    try:
        counts: dict[str, Any] = profiler.result(KEPT_LEVELS)
    except UnicodeDecodeError:
        raise first_not_utf8(source, column.name) from None
    counts["null_words"] = dict(counts["null_words"])
    counts["levels"] = tuple(counts["levels"])
    counts["invalid_examples"] = tuple(InvalidValue(*example) for example in counts["invalid_examples"])
    return ColumnProfile(name=column.name, storage=column.storage, declared=column.declared, **counts)
