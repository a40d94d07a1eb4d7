"""What one pass over a source finds about each column; independent of the order of rows and of chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import compress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise._kernels import Profiler
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.threads import each
from bayeswise.tables.partitions import NearSource, Pass, SpreadSource
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.source import Chunk, InvalidValue, RawColumn, Source, Storage, first_not_utf8, not_utf8
from bayeswise.tables.sources.table import CELLS_WORTH_A_THREAD, TableSource

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
    """False where there are too many to count exactly and they are estimated, to about 1 %."""
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

    @property
    def n_distinct(self) -> str:
        """The number of different values, as it is printed."""
        return counted_values(self.distinct, self.distinct_exact)


def counted_values(distinct: int, exact: bool) -> str:
    """A number of different values as it is printed; an estimate with the digits that it has.

    >>> counted_values(1_234_567, True), counted_values(1_234_567, False)
    ('1,234,567', 'about 1,230,000')
    """
    return f"{distinct:,}" if exact else f"about {round(distinct, 3 - len(str(distinct))):,}"


def profile(
    source: Source, columns: Sequence[str] | None = None, kept: Mapping[str, Sequence[str]] | None = None
) -> Mapping[str, ColumnProfile]:
    """Profile the named columns (all by default) in one pass; `kept` are null words that are levels, by column.

    >>> from bayeswise.tables.source import open_source
    >>> golf = profile(open_source([{"wind": "weak", "degrees": 20}, {"wind": "strong", "degrees": None}]))
    >>> golf["wind"].levels, golf["degrees"].missing, golf["degrees"].maximum
    ((('strong', 1), ('weak', 1)), 1, 20.0)
    """
    names = [column.name for column in source.columns] if columns is None else list(columns)
    if isinstance(source, SpreadSource):
        return profiles_of(source, source.ask(ProfilePass(tuple(names)), names), names)
    profilers = {name: empty_profiler(len(names)) for name in names}
    for chunk in source.chunks(names):
        show(chunk, profilers, kept or {})
    return _profiles(source, profilers)


def empty_profiler(n_columns: int) -> Profiler:
    """A profiler of one of `n_columns`; those of wide tables count fewer values exactly, below 100 MB in all."""
    exact_distinct = max(1 << 12, min(EXACT_DISTINCT, (1 << 22) // max(1, n_columns)))
    return Profiler(exact_distinct, COUNTED_LEVELS, COUNTED_BYTES)


def show(chunk: Chunk, profilers: Mapping[str, Profiler], kept: Mapping[str, Sequence[str]]) -> None:
    """Show the cells of a chunk to the profilers of their columns."""
    if chunk.n_rows * len(profilers) >= CELLS_WORTH_A_THREAD:
        each(lambda column: chunk.profile(*column, kept.get(column[0], ())), profilers.items())
        return
    for name, profiler in profilers.items():
        chunk.profile(name, profiler, kept.get(name, ()))


def _profiles(source: Source, profilers: Mapping[str, Profiler]) -> dict[str, ColumnProfile]:
    raw = {column.name: column for column in source.columns}
    return {name: _column_profile(source, raw[name], profiler) for name, profiler in profilers.items()}


def _column_profile(source: Source, column: RawColumn, profiler: Profiler) -> ColumnProfile:
    try:
        counts: dict[str, Any] = profiler.result(KEPT_LEVELS)
    except UnicodeDecodeError:
        found = not_utf8 if isinstance(source, SpreadSource) else partial(first_not_utf8, source)
        raise found(column.name) from None
    counts["null_words"] = dict(counts["null_words"])
    counts["levels"] = tuple(counts["levels"])
    counts["invalid_examples"] = tuple(InvalidValue(*example) for example in counts["invalid_examples"])
    return ColumnProfile(name=column.name, storage=column.storage, declared=column.declared, **counts)


# -- of a table that is spread over partitions ----------------------------------------------------------------
@dataclass(frozen=True)
class SpreadProfile:
    """What is known of columns after a pass: the extremes of those that may be plain numbers, and full profiles.

    A column that looked plain in some partition has no profile; nearly always its extremes are enough.
    """

    names: tuple[str, ...]  # those that may be plain numbers
    low: FloatArray  # (n_names,)
    high: FloatArray
    present: IntArray
    zero_or_one: BoolArray  # whether they hold nothing else
    states: Mapping[str, np.ndarray[Any, Any]]  # of the profilers, as bytes
    storages: Mapping[str, Storage]  # of all columns, as the partitions store them

    @property
    def extremes(self) -> Extremes:
        return self.low, self.high, self.present

    def flags_in(self, names: Sequence[str]) -> list[str]:
        """Those of some names whose columns hold 0 and 1 only."""
        flags = set(compress(self.names, self.zero_or_one))
        return [name for name in names if name in flags]


@dataclass(frozen=True)
class ProfilePass(Pass[SpreadProfile]):
    """Profiles of columns; of those that may be plain numbers only where the first rows of a partition are not."""

    full: tuple[str, ...]
    maybe_plain: tuple[str, ...] = ()
    shared_by: int = 0  # profilers among which memory is divided; 0: those of `full`
    kept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # null words that are levels, by column
    name = "profile"

    @property
    def types(self) -> tuple[type, ...]:
        return (SpreadProfile,)

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.maybe_plain

    def of(self, source: Source) -> SpreadProfile:
        seen = SeenChunks(self, source)
        for chunk in source.chunks(self.columns):
            seen.see(chunk)
        return seen.profile

    @property
    def columns(self) -> list[str]:
        return [*self.full, *self.maybe_plain]

    def merged(self, one: SpreadProfile, other: SpreadProfile) -> SpreadProfile:
        both = [name for name in one.states if name in other.states]
        states = {name: self._absorbed(one.states[name], other.states[name]) for name in both}
        storages = {name: _stored(stored, other.storages[name]) for name, stored in one.storages.items()}
        low, high, present = both_extremes(one.extremes, other.extremes)
        flags = one.zero_or_one & other.zero_or_one
        return SpreadProfile(one.names, low, high, present, flags, states, storages)

    def profiler(self) -> Profiler:
        """An empty one for a column."""
        return empty_profiler(self.shared_by or len(self.full))

    def _absorbed(self, *states: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        profiler = self.profiler()
        for state in states:
            profiler.absorb(state.tobytes())
        return _as_array(profiler.state())


_PADDED, _WIDE, _NOT_INTEGER, _INVALID = 1, 2, 4, 8  # how texts are written, as `Chunk.spelling` says it


class SeenChunks:
    """What a pass for profiles has seen of a partition so far.

    Texts are plain numbers if all are numbers without leading zeros, and flags if all are the integers 0 and 1. A
    column of a text file whose first cells are not plain numbers is not read as numbers any longer. What these cells
    show may be known `already`.
    """

    def __init__(self, work: ProfilePass, source: Source, already: SpreadProfile | None = None) -> None:
        self._source, self._names = source, work.maybe_plain if already is None else already.names
        self._extremes = no_extremes(len(self._names))
        self._flags = np.ones(len(self._names), dtype=np.bool_)
        self._spelling = np.zeros(len(self._names), dtype=np.int64)
        self._profilers = {name: work.profiler() for name in (work.columns if already is None else already.states)}
        self._kept = work.kept
        self._is_first = already is None

    def see(self, chunk: Chunk) -> None:
        if self._names:
            values, invalid = chunk.block(self._names)
            self._extremes = both_extremes(self._extremes, extremes_of(values))
            self._flags &= ~((self._extremes[0] < 0.0) | (self._extremes[1] > 1.0))
            self._flags[self._flags] = of_zero_and_one(values[:, self._flags])
            if self._source.textual:
                self._spelling |= [chunk.spelling(name) | _INVALID * bool(invalid[name]) for name in self._names]
            if self._is_first:
                self._drop_profilers()
        self._is_first = False
        show(chunk, self._profilers, self._kept)

    def _drop_profilers(self) -> None:
        """Of columns that look plain in the first chunk; the others of a text file need not be read as numbers."""
        plain = is_plain(*self._of_clear_texts())
        for name in compress(self._names, plain):
            del self._profilers[name]
        if self._source.textual:
            low, high, present = self._extremes
            self._names = tuple(compress(self._names, plain))
            self._extremes = low[plain], high[plain], present[plain]
            self._flags, self._spelling = self._flags[plain], self._spelling[plain]

    def _of_clear_texts(self) -> Extremes:
        """The extremes, infinite where texts need a full profile."""
        low, high, present = self._extremes
        written_otherwise = self._flags & (self._spelling & _NOT_INTEGER > 0)
        unclear = written_otherwise | (self._spelling & (_PADDED | _WIDE | _INVALID) > 0)
        return low, np.where(unclear, np.inf, high), present

    @property
    def profile(self) -> SpreadProfile:
        states = {name: _as_array(profiler.state()) for name, profiler in self._profilers.items()}
        storages = {column.name: column.storage for column in self._source.columns}
        return SpreadProfile(self._names, *self._of_clear_texts(), self._flags, states, storages)


def _as_array(state: bytes) -> np.ndarray[Any, Any]:
    return np.frombuffer(state, dtype=np.uint8)


def _stored(one: Storage, other: Storage) -> Storage:
    """How objects are called whose cells are of two kinds.

    >>> _stored("null", "text"), _stored("integer", "float"), _stored("text", "integer"), _stored("text", "nested")
    ('text', 'float', 'object', 'nested')
    """
    if one == other or "null" in (one, other):
        return other if one == "null" else one
    if {one, other} == {"integer", "float"}:
        return "float"
    opaque: tuple[Storage, ...] = ("nested", "binary")
    return next((each for each in opaque if each in (one, other)), "object")


def profiles_of(
    source: SpreadSource | NearSource, found: SpreadProfile, names: Sequence[str], shared_by: int = 0
) -> dict[str, ColumnProfile]:
    """The profiles that profilers of all partitions have counted; what objects are is seen in their cells."""
    profilers = {name: empty_profiler(shared_by or len(names)) for name in names}
    for name, profiler in profilers.items():
        profiler.absorb(found.states[name].tobytes())
    profiles = _profiles(source, profilers)
    source.n_rows = next((column.rows for column in profiles.values()), source.n_rows)
    return {
        name: replace(column, storage=found.storages[name]) if column.storage == "object" else column
        for name, column in profiles.items()
    }


# -- extremes, by which most columns are known to be plain numbers without a full profile ---------------------
_WIDEST = 2.0**53
_FOLD = 64

Extremes: TypeAlias = tuple[FloatArray, FloatArray, IntArray]  # the least, the largest, the number of cells


def extremes(source: Source, names: list[str]) -> Extremes:
    """The least, the largest and the number of cells of each column; NaN where there is none."""
    stated = source.stated_extremes(names) if isinstance(source, TableSource) else {}
    others = [name for name in names if name not in stated]
    found = no_extremes(len(others))
    for chunk in source.chunks(others) if others else ():
        found = both_extremes(found, extremes_of(chunk.block(others)[0]))
    if not stated:
        return found
    swept = dict(zip(others, zip(*found, strict=True), strict=True))
    low, high, present = zip(*(stated.get(name) or swept[name] for name in names), strict=True)
    return np.array(low), np.array(high), np.array(present, dtype=np.int64)


def no_extremes(n_columns: int) -> Extremes:
    """Those of no rows."""
    low, high = np.full((2, n_columns), np.nan)
    return low, high, np.zeros(n_columns, dtype=np.int64)


def extremes_of(values: FloatArray) -> Extremes:
    """Those of some rows, (n_rows, n_columns)."""
    n_columns = values.shape[1]
    low, high, present = np.full(n_columns, np.inf), np.full(n_columns, -np.inf), np.zeros(n_columns, dtype=np.int64)
    _kernels.widen_extremes(values, low, high, present)
    low[present == 0] = high[present == 0] = np.nan
    return low, high, present


def both_extremes(one: Extremes, other: Extremes) -> Extremes:
    """Those of all rows of both."""
    return np.fmin(one[0], other[0]), np.fmax(one[1], other[1]), one[2] + other[2]


def by_column(combine: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
    """Reduce the rows, 64 side by side, since NumPy is slow along short rows.

    >>> by_column(np.add, np.ones((200, 3))).tolist()
    [200.0, 200.0, 200.0]
    """
    n_rows, n_columns = values.shape
    whole = n_rows - n_rows % _FOLD
    if whole == 0 or n_columns == 0 or values.strides[0] == values.itemsize:
        return np.asarray(combine.reduce(values, axis=0))
    folded = combine.reduce(values[:whole].reshape(whole // _FOLD, _FOLD * n_columns), axis=0)
    rows = np.concatenate([folded.reshape(_FOLD, n_columns), values[whole:]])
    return np.asarray(combine.reduce(rows, axis=0))


def is_plain(low: FloatArray, high: FloatArray, present: IntArray) -> BoolArray:
    """Finite, not constant, not consecutive, and within what doubles hold exactly."""
    with np.errstate(invalid="ignore", over="ignore"):
        gapless = high - low + 1 == present
        return np.asarray((low < high) & (low >= -_WIDEST) & (high <= _WIDEST) & ~gapless)


def of_zero_and_one(values: FloatArray) -> BoolArray:
    """(n_columns,) whether a column of values holds 0, 1 and missing cells only."""
    return by_column(np.logical_and, (values == 0.0) | (values == 1.0) | np.isnan(values))
