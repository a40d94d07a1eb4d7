"""The profile of a table and the statistics of its schema by one pass.

A fit has two passes, for the profile and for the statistics of the schema that follows from it. The schema of the first
rows is nearly always that of all rows: statistics are computed beside the profile for that schema (`foresee`), and only
if it proves to be another one is there a second pass. Threads share the pass over a text file: each takes the next rows
when it has none, and what they found is merged as that of partitions.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeswise.engines.passes import StatisticsPass, Swept, columns_of
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError
from bayeswise.foundation.threads import Shared, alone, available
from bayeswise.tables.partitions import NearSource, Pass, RowAnswer, SpreadSource, T, Watch
from bayeswise.tables.schema.profile import ProfilePass, SeenChunks, SpreadProfile
from bayeswise.tables.source import Chunk, InvalidValue, Source
from bayeswise.tables.sources.table import TableSource, row_by_row

FORESEEN_ROWS = 1000


@dataclass(frozen=True)
class ProfileAndStatistics(Pass[tuple[SpreadProfile, Any]]):
    """A profile, and beside it the pass that is probably needed next; None if a partition cannot answer that."""

    profile: ProfilePass
    statistics: Pass[Any]
    name: ClassVar[str] = "profile and statistics"

    @property
    def types(self) -> tuple[type, ...]:
        return (*self.profile.types, *self.statistics.types)

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.profile.numbers

    def of(self, source: Source) -> tuple[SpreadProfile, Any]:
        chunks = source.chunks([column.name for column in source.columns])
        return _profiled(_SeenSource(source, SeenChunks(self.profile, source), chunks), self.statistics.of)

    def merged(self, one: tuple[SpreadProfile, Any], other: tuple[SpreadProfile, Any]) -> tuple[SpreadProfile, Any]:
        both = self.profile.merged(one[0], other[0])
        found = None if one[1] is None or other[1] is None else self.statistics.merged(one[1], other[1])
        return both, found


def _profiled(rows: _SeenSource, statistics: Callable[[Source], T]) -> tuple[SpreadProfile, T | None]:
    """The profile of some rows, and their statistics where these can be computed."""
    found = None
    with suppress(BayeswiseError):  # it is raised by a pass of its own if the schema proves to be this one
        found = statistics(rows)
    rows.finish()
    return rows.seen.profile, found


class _SeenSource:
    """A partition whose chunks are profiled on their way to a sweep."""

    n_rows: int | None = None

    def __init__(self, source: Source, seen: SeenChunks, chunks: Iterable[Chunk]) -> None:
        self.description, self.columns = source.description, source.columns
        self.textual, self.null_words = source.textual, source.null_words
        self.seen = seen
        self._chunks = iter(chunks)
        self._error: BayeswiseError | None = None

    def chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        while (chunk := self._next()) is not None:
            yield chunk

    def _next(self) -> Chunk | None:
        try:
            chunk = next(self._chunks, None)
            if chunk is None:
                return None
            once = _DecodedOnce(chunk)
            self.seen.see(once)
        except BayeswiseError as error:
            self._error = error
            raise
        return once

    def finish(self) -> None:
        """The chunks that a sweep has left; what is wrong with the rows themselves is raised again."""
        if self._error is not None:
            raise self._error
        while self._next() is not None:
            pass


class _DecodedOnce:
    """A chunk of which the profile and the sweep read the same matrix."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self._places: dict[str, int] = {}  # of the columns in the matrix that was read first
        self.n_rows, self.first_row = chunk.n_rows, chunk.first_row
        self.numbers, self.labels, self.texts = chunk.numbers, chunk.labels, chunk.texts
        self.cells, self.profile, self.spelling = chunk.cells, chunk.profile, chunk.spelling

    def matrix(self, columns: Sequence[str]) -> tuple[NDArray[np.float64], Mapping[str, Sequence[InvalidValue]]]:
        values, invalid = self.block(columns)
        return row_by_row(values), invalid

    def block(self, columns: Sequence[str]) -> tuple[NDArray[np.float64], Mapping[str, Sequence[InvalidValue]]]:
        if not self._places:
            self._values, self._invalid = self._chunk.block(columns)
            self._places = {name: place for place, name in enumerate(columns)}
            return self._values, self._invalid
        if not columns or not self._places.keys() >= set(columns):
            return self._chunk.block(columns)
        places = [self._places[name] for name in columns]
        first, end = places[0], places[0] + len(places)
        values = self._values[:, first:end] if places == list(range(first, end)) else self._values[:, places]
        return values, {name: self._invalid[name] for name in columns}


def foresee(source: SpreadSource, fit: Callable[[Any], object]) -> None:
    """Make the profile and the probable statistics of a fit in one pass: those that it needs of the first rows."""
    rehearsal = _Rehearsal(source)
    with warnings.catch_warnings(), suppress(_Stopped, BayeswiseError):
        warnings.simplefilter("ignore")
        fit(rehearsal)
    if rehearsal.profile is not None and rehearsal.statistics is not None:
        profile, (statistics, columns) = rehearsal.profile, rehearsal.statistics
        both = ProfileAndStatistics(profile, statistics)
        of_profile, of_statistics = source.ask(both, [*profile.columns, *columns])
        source.known = [(profile, of_profile), *([] if of_statistics is None else [(statistics, of_statistics)])]


def foresee_near(
    source: NearSource, fit: Callable[[Any], object], progress: Callable[[int], None] | None
) -> NearSource | Source:
    """The same for a file on this machine; the rows to foresee from are its first chunk. The source to fit.

    Where nothing was foreseen, it is the file itself unless that is text: what it states of its columns needs no pass.
    """
    rehearsal = _NearRehearsal(source)
    with warnings.catch_warnings(), suppress(_Stopped, BayeswiseError):
        warnings.simplefilter("ignore")
        fit(rehearsal)
    foreseen = rehearsal.foreseen
    if foreseen is None:
        return source if source.textual else source.source
    of_profile, of_statistics = _by_threads(source, foreseen, progress) or _by_one_thread(source, foreseen, progress)
    source.known = [(foreseen.profile, of_profile)]
    if of_statistics is not None:
        source.known.append((foreseen.statistics, of_statistics))
    return source


@dataclass(frozen=True)
class _Foreseen:
    """The passes that a fit of the first rows needs."""

    profile: ProfilePass
    first: SpreadProfile  # what it finds in the first rows
    statistics: StatisticsPass

    def columns(self, source: NearSource) -> list[str]:
        """Those that both read."""
        columns = {*self.profile.columns, *columns_of(self.statistics.schema, source)}
        return [column.name for column in source.columns if column.name in columns]


def _by_one_thread(
    source: NearSource, work: _Foreseen, progress: Callable[[int], None] | None
) -> tuple[SpreadProfile, Swept | None]:
    chunks = source.chunks(work.columns(source))
    rows = _SeenSource(source.source, SeenChunks(work.profile, source.source), chunks)
    return _profiled(rows, lambda rows: work.statistics.of(rows, progress))


MOST_THREADS = 8
"""Threads that share a pass, each with its own profilers: one thread that finds records keeps no more of them busy."""


def _by_threads(
    source: NearSource, work: _Foreseen, progress: Callable[[int], None] | None
) -> tuple[SpreadProfile, Swept | None] | None:
    """By all threads, each of which takes pieces in turn as if they were a partition.

    None where one thread has to do it, and after an error: that thread comes to the first one in the order of rows.
    """
    table, n_threads = source.source, min(available(), MOST_THREADS)
    if n_threads == 1 or not isinstance(table, TableSource) or not table.for_many or work.statistics.schema.texts:
        return None
    turns, one_at_a_time = table.in_turns(work.columns(source)), threading.Lock()

    def count(rows: int) -> None:
        with one_at_a_time:
            if progress is not None:
                progress(rows)

    def answered(_: int) -> tuple[SpreadProfile, Swept | None]:
        try:
            with alone():
                rows = _SeenSource(table, SeenChunks(work.profile, table, work.first), turns.chunks())
                return _profiled(rows, lambda rows: work.statistics.of(rows, count))
        except BaseException:
            turns.stop()
            raise

    try:
        parts = Shared(answered, range(n_threads), stop=turns.stop)
        return reduce(ProfileAndStatistics(work.profile, work.statistics).merged, parts)
    except BayeswiseError:
        return None


class _NearRehearsal(NearSource):
    """The first chunk of a table, for a profile, then for statistics, and nothing else."""

    def __init__(self, source: NearSource) -> None:
        super().__init__(source.source)
        self._profile: tuple[ProfilePass, SpreadProfile] | None = None
        self.foreseen: _Foreseen | None = None

    def ask(self, work: Pass[Any], columns: Sequence[str]) -> Any:
        if isinstance(work, ProfilePass) and self._profile is None:
            found = work.of(_FirstChunk(self.source))
            self._profile = work, found
            return found
        if isinstance(work, StatisticsPass) and self._profile is not None:
            self.foreseen = _Foreseen(*self._profile, work)
        raise _Stopped

    def chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        raise _Stopped


class _FirstChunk(NearSource):
    """As much of a table as is read at once."""

    def chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        if isinstance(self.source, TableSource):
            return self.source.first_chunk(columns)
        return islice(self.source.chunks(columns), 1)


class _Stopped(BaseException):
    """Whatever comes after the first statistics is not foreseen; BaseException, since a fit may catch others."""


class _Rehearsal(SpreadSource):
    """The first rows of a table, for a profile, then for statistics, and nothing else."""

    def __init__(self, source: SpreadSource) -> None:
        super().__init__(source.description, source.columns)
        self._source = source
        self.profile: ProfilePass | None = None
        self.statistics: tuple[Pass[Any], Sequence[str]] | None = None

    def ask(self, work: Pass[Any], columns: Sequence[str]) -> Any:
        if isinstance(work, ProfilePass) and self.profile is None:
            rows = self._source.first_rows(work.columns, FORESEEN_ROWS)
            if rows is not None:
                self.profile = work
                return work.of(rows)
        if work.name == StatisticsPass.name:
            self.statistics = work, columns
        raise _Stopped

    def _answered(self, work: Pass[Any], columns: Sequence[str], watch: Watch | None) -> bytes:
        raise _Stopped

    def _gathered(self, columns: Sequence[str]) -> Source:
        raise _Stopped

    def _counted(self) -> int:
        raise _Stopped

    def extended(self, answer: RowAnswer) -> Any:
        raise _Stopped
