"""Statistics by one pass over a table, on this machine or where its partitions are: the same merge, the same bytes.

A fit of a table that is spread has two passes, for its profile and for the statistics of the schema; one_pass.py makes
one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from bayeswise import statistics
from bayeswise.engines.local import Summary, merged, of_no_rows, summarise
from bayeswise.engines.request import Request
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NotStreamableError, listed
from bayeswise.statistics import Grouped, Product
from bayeswise.statistics.numbers.scatter import PairSums
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.encoding.plan import plan_for
from bayeswise.tables.partitions import NearSource, Pass, SpreadSource
from bayeswise.tables.schema.column_evidence import InvalidCount
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import InvalidValue, Source

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
