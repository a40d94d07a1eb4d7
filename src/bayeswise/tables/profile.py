"""What one pass over a source tells about each column; independent of the order of rows and of chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bayeswise.tables.source import Label, Source, Storage, Stray

EXACT_DISTINCT = 1 << 20
"""Up to this many different values are counted exactly, more are estimated (HyperLogLog, about 1 %)."""

KEPT_LEVELS = 1000
"""Up to this many different values are kept with their counts; of more, the most frequent ones."""


@dataclass(frozen=True)
class ColumnProfile:
    """The cells of one column, counted by what they look like.

    `rows = missing + sum(null_words) + integers + decimals + infinite + booleans + strays`: every cell is one of these.
    In a text column `integers` and `decimals` are cells that read as numbers (`zero_padded`, such as "0007", are
    among the integers) and `strays` are all other texts.
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
    strays: int
    """Cells that are no number: texts, dates, lists."""
    stray_examples: tuple[Stray, ...]
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
    """Profile the named columns (all by default) in one pass."""
    raise NotImplementedError
