"""Statistics by one pass over a table, on this machine or where its partitions are: the same merge, the same bytes.

A fit of a table that is spread has two passes, for its profile and for the statistics of the schema. The schema
of the first rows is nearly always that of all rows: statistics are computed beside the profile for that
schema (`foresee`), and only if it proves to be another one is there a second pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeswise import statistics
from bayeswise.engines.local import Summary, merged, of_no_rows, summarise
from bayeswise.engines.request import Request
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, NotStreamableError, listed
from bayeswise.statistics import Grouped, Product
from bayeswise.statistics.numbers.scatter import PairSums
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.encoding.plan import plan_for
from bayeswise.tables.partitions import NearSource, Pass, RowAnswer, SpreadSource, Watch
from bayeswise.tables.schema.column_evidence import InvalidCount
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.profile import ProfilePass, SeenChunks, SpreadProfile
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Chunk, InvalidValue, Source
from bayeswise.tables.sources.table import TableSource, row_by_row

REPORT_TYPES = (Report, InvalidCount, InvalidValue)


def statistic_types() -> tuple[type, ...]:
    """All that answers about statistics may hold."""
    found = (getattr(statistics, name) for name in statistics.__all__)
    return (*(each for each in found if isinstance(each, type)), PairSums, Vocabulary)


@dataclass(frozen=True)
class Swept:
    """The statistics of a request, and a report on the rows."""

    summary: Summary
    report: Report


@dataclass(frozen=True)
class Coded:
    """How batches of a schema become those that a request is about, and their schema."""

    schema: Schema
    batch: Callable[[Batch], Batch]


@dataclass(frozen=True)
class StatisticsPass(Pass[Swept]):
    """The statistics of a request, of rows with a target."""

    schema: Schema
    request: Request
    coded: Coded | None = None
    name: ClassVar[str] = "statistics"

    @property
    def types(self) -> tuple[type, ...]:
        return (Swept, Summary, *REPORT_TYPES, *statistic_types())

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.schema.numbers

    def of(self, source: Source, progress: Callable[[int], None] | None = None) -> Swept:
        encoder = Encoder(self.schema, learning=True, whole=False, by_rows=False)
        batches: Iterable[Batch] = encoder.batches(source)
        if not self.schema.texts:
            batches = joined(batches)
        schema = self.schema
        if self.coded is not None:
            schema, batches = self.coded.schema, map(self.coded.batch, batches)
        found = summarise(batches, schema, self.request, progress=progress)
        return Swept(found, encoder.report)

    def merged(self, one: Swept, other: Swept) -> Swept:
        return Swept(merged(one.summary, other.summary), one.report.merge(other.report))


ROWS_TOGETHER = 32_768


def joined(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same rows in fewer batches, since each of them costs a merge: small ones are put together."""
    waiting: list[Batch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.n_rows for each in waiting) >= ROWS_TOGETHER:
            yield Batch.concat(waiting)
            waiting = []
    if waiting:
        yield Batch.concat(waiting)


def swept(
    source: Source | SpreadSource | NearSource,
    schema: Schema,
    request: Request,
    *,
    progress: Callable[[int], None] | None = None,
    coded: Coded | None = None,
) -> tuple[Grouped[Product], Report]:
    """The statistics of all rows of a table, and a report on the rows."""
    work = StatisticsPass(schema, request, coded)
    if isinstance(source, SpreadSource):
        refuse_growing(request, schema if coded is None else coded.schema, source)
        answer = source.ask(work, columns_of(schema, source))
    elif isinstance(source, NearSource):
        answer = source.ask(work, columns_of(schema, source))
    else:
        answer = work.of(source, progress)
    answer.report.check(schema, source.description)
    return answer.summary.statistics, answer.report


def columns_of(schema: Schema, source: Any) -> list[str]:
    """The columns of a source that are read for a schema, with its target and weight."""
    target = schema.target.name if schema.target else None
    return plan_for(schema, source, [name for name in (target, schema.weight) if name is not None]).columns(source)


def refuse_growing(request: Request, schema: Schema, source: SpreadSource) -> None:
    """A statistic that grows with the rows does not travel."""
    growing = {
        statistics.Sample: ("keeps every value", "choose a family with sums: normal, log-normal"),
        statistics.RowsWithMissing: (
            "keeps every row with a missing cell for EM",
            "choose missing='ignore' (--missing ignore)",
        ),
    }
    for name, part in of_no_rows(schema, request).part.parts.items():
        for kind, (what, fix) in growing.items():
            if isinstance(part, kind):
                columns = listed(map(repr, request.statistics[name].columns), 5)
                raise NotStreamableError(
                    f"the statistic of {columns} has no fixed size: it {what}, and the rows of a {source.description} "
                    "are spread over machines",
                    fix=fix,
                )


# -- the profile and the statistics by one pass ---------------------------------------------------------------
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
        rows = _SeenSource(source, self.profile, [column.name for column in source.columns])
        found = None
        with suppress(BayeswiseError):  # it is raised by a pass of its own if the schema proves to be this one
            found = self.statistics.of(rows)
        rows.finish()
        return rows.seen.profile, found

    def merged(self, one: tuple[SpreadProfile, Any], other: tuple[SpreadProfile, Any]) -> tuple[SpreadProfile, Any]:
        both = self.profile.merged(one[0], other[0])
        found = None if one[1] is None or other[1] is None else self.statistics.merged(one[1], other[1])
        return both, found


class _SeenSource:
    """A partition whose chunks are profiled on their way to a sweep."""

    n_rows: int | None = None

    def __init__(self, source: Source, work: ProfilePass, columns: Sequence[str]) -> None:
        self.description, self.columns = source.description, source.columns
        self.textual, self.null_words = source.textual, source.null_words
        self.seen = SeenChunks(work, source)
        self._chunks = iter(source.chunks(columns))
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
    if rehearsal.profile is None or rehearsal.statistics is None:
        return source if source.textual else source.source
    columns = {*rehearsal.profile.columns, *columns_of(rehearsal.statistics.schema, source)}
    names = [column.name for column in source.columns if column.name in columns]
    rows, found = _SeenSource(source.source, rehearsal.profile, names), None
    with suppress(BayeswiseError):  # as in `ProfileAndStatistics`
        found = rehearsal.statistics.of(rows, progress)
    rows.finish()
    source.known = [(rehearsal.profile, rows.seen.profile)]
    if found is not None:
        source.known.append((rehearsal.statistics, found))
    return source


class _NearRehearsal(NearSource):
    """The first chunk of a table, for a profile, then for statistics, and nothing else."""

    def __init__(self, source: NearSource) -> None:
        super().__init__(source.source)
        self.profile: ProfilePass | None = None
        self.statistics: StatisticsPass | None = None

    def ask(self, work: Pass[Any], columns: Sequence[str]) -> Any:
        if isinstance(work, ProfilePass) and self.profile is None:
            self.profile = work
            return work.of(_FirstChunk(self.source))
        if isinstance(work, StatisticsPass):
            self.statistics = work
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
