"""Statistics by one pass over a table, on this machine or where its partitions are: the same merge, the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from bayeswise import statistics
from bayeswise.engines.local import Summary, merged, of_no_rows, summarise
from bayeswise.engines.request import Request
from bayeswise.foundation.errors import NotStreamableError
from bayeswise.statistics import Grouped, Product, RowsWithMissing, Sample
from bayeswise.statistics.scatter import PairSums
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.encoding.invalid_values import InvalidCount
from bayeswise.tables.encoding.plan import plan_for
from bayeswise.tables.partitions import Pass, SpreadSource
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import InvalidValue, Source

REPORT_TYPES = (Report, InvalidCount, InvalidValue)
STATISTIC_TYPES = (
    *(each for name in statistics.__all__ if isinstance(each := getattr(statistics, name), type)),
    PairSums,
    Vocabulary,
)


@dataclass(frozen=True)
class Swept:
    """What a request finds in rows, and what was met on the way."""

    summary: Summary
    report: Report


@dataclass(frozen=True)
class Coded:
    """How batches of a schema become those that a request is about, and their schema."""

    schema: Schema
    batch: Callable[[Batch], Batch]


@dataclass(frozen=True)
class StatisticsPass(Pass[Swept]):
    """The statistics that a request asks for, of rows with a target."""

    schema: Schema
    request: Request
    coded: Coded | None = None
    name: ClassVar[str] = "statistics"

    @property
    def types(self) -> tuple[type, ...]:
        return (Swept, Summary, *REPORT_TYPES, *STATISTIC_TYPES)

    def of(self, source: Source, progress: Callable[[int], None] | None = None) -> Swept:
        encoder = Encoder(self.schema, learning=True, whole=False)
        batches: Iterable[Batch] = encoder.batches(source)
        schema = self.schema
        if self.coded is not None:
            schema, batches = self.coded.schema, map(self.coded.batch, batches)
        found = summarise(batches, schema, self.request, progress=progress)
        return Swept(found, encoder.report)

    def merged(self, one: Swept, other: Swept) -> Swept:
        return Swept(merged(one.summary, other.summary), one.report.merge(other.report))


def swept(
    source: Source | SpreadSource,
    schema: Schema,
    request: Request,
    *,
    progress: Callable[[int], None] | None = None,
    coded: Coded | None = None,
) -> tuple[Grouped[Product], Report]:
    """What a request asks of all rows of a table, and what was met on the way."""
    work = StatisticsPass(schema, request, coded)
    if isinstance(source, SpreadSource):
        refuse_growing(request, schema if coded is None else coded.schema, source)
        found = source.ask(work, columns_of(schema, source))
    else:
        found = work.of(source, progress)
    found.report.check(schema, source.description)
    return found.summary.statistics, found.report


def columns_of(schema: Schema, source: Any) -> list[str]:
    """The columns of a source that are read for a schema, with its target and weight."""
    target = schema.target.name if schema.target else None
    return plan_for(schema, source, [name for name in (target, schema.weight) if name is not None]).columns(source)


_GROWING = {
    Sample: ("keeps every value", "choose a family with sums: normal, log-normal"),
    RowsWithMissing: ("keeps every row with a missing cell for EM", "choose missing='ignore' (--missing ignore)"),
}


def refuse_growing(request: Request, schema: Schema, source: SpreadSource) -> None:
    """A statistic that grows with the rows does not travel."""
    for name, part in of_no_rows(schema, request).part.parts.items():
        for kind, (what, fix) in _GROWING.items():
            if isinstance(part, kind):
                columns = ", ".join(map(repr, request.asks[name].columns[:5]))
                raise NotStreamableError(
                    f"the statistic of {columns} has no fixed size: it {what}, and the rows of a {source.description} "
                    "are spread over machines",
                    fix=fix,
                )
