"""Graphs of partitioned tables, by rounds: each pass counts many sets of columns where the rows are.

For tables too large for one machine whose rows are nearly all distinct. The counts of a set of columns give those of
each subset, so that a change of the graph takes a pass over its new sets only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import reduce
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from bayeswise.engines.passes import statistic_types
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import MissingCellError, NotStreamableError, ParameterError
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import Search
from bayeswise.networks.learning.counted_rows import (
    ColumnCodes,
    DifferentRows,
    TooManyRowsToBring,
    coded_chunks,
    columns_and_weight,
)
from bayeswise.networks.learning.family_counts import FamilyCounts
from bayeswise.networks.learning.graph_search import GraphSearch
from bayeswise.networks.learning.search.chow_liu_tree import mutual_information, spanning_tree
from bayeswise.networks.learning.search.scores import Scores
from bayeswise.statistics.counts.pair_counts import PairCounts
from bayeswise.tables.partitions import Pass, SpreadSource
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.source import Source

Scope = tuple[int, ...]  # positions of columns, ascending


@dataclass(frozen=True)
class ScopesPass(Pass[tuple[DifferentRows, ...]]):
    """The distinct rows of some sets of columns; `whole` leaves out rows with a missing cell in any column."""

    columns: tuple[ColumnCodes, ...]
    weight: str | None
    scopes: tuple[Scope, ...]
    whole: bool
    name: ClassVar[str] = "counts"

    @property
    def types(self) -> tuple[type, ...]:
        return (DifferentRows, *statistic_types())

    def of(self, source: Source) -> tuple[DifferentRows, ...]:
        counted = tuple(DifferentRows.empty(len(scope)) for scope in self.scopes)
        for codes, by in coded_chunks(source, self.columns, self.weight, whole=self.whole):
            parts = (DifferentRows.of(codes[:, list(scope)], by) for scope in self.scopes)
            counted = tuple(mine.merge(more) for mine, more in zip(counted, parts, strict=True))
        return counted

    def merged(self, one: tuple[DifferentRows, ...], other: tuple[DifferentRows, ...]) -> tuple[DifferentRows, ...]:
        return tuple(mine.merge(theirs) for mine, theirs in zip(one, other, strict=True))


@dataclass(frozen=True)
class PairsPass(Pass[PairCounts]):
    """The counts of all pairs of columns."""

    columns: tuple[ColumnCodes, ...]
    weight: str | None
    name: ClassVar[str] = "counts"

    @property
    def types(self) -> tuple[type, ...]:
        return statistic_types()

    def of(self, source: Source) -> PairCounts:
        states = [column.states for column in self.columns]
        none = np.zeros((0, len(states)), dtype=np.int32)
        parts = coded_chunks(source, self.columns, self.weight, whole=True)
        counted = (PairCounts.of(codes, states, weights=by, declared=states) for codes, by in parts)
        return reduce(PairCounts.merge, counted, PairCounts.of(none, states, declared=states))

    def merged(self, one: PairCounts, other: PairCounts) -> PairCounts:
        return one.merge(other)


@dataclass
class CountedTable:
    """A partitioned table that is counted in rounds; counts are cached."""

    source: SpreadSource
    columns: tuple[ColumnCodes, ...]
    weight: str | None
    whole: bool
    known: dict[Scope, DifferentRows] = field(default_factory=dict)

    def counted(self, scopes: Iterable[Scope]) -> list[CodedRows]:
        """The distinct rows of each set of columns, counted; one pass for all that are not cached."""
        requested = list(scopes)
        lost = tuple(dict.fromkeys(scope for scope in requested if self._holder(scope) is None))
        if lost:
            work = ScopesPass(self.columns, self.weight, lost, self.whole)
            names = columns_and_weight([column.name for column in self.columns], self.weight)
            answers = self.source.ask(work, names)
            for scope, found in zip(lost, answers, strict=True):
                if found.are_too_many:
                    shown = ", ".join(self.columns[place].name for place in scope)
                    raise NotStreamableError(
                        f"the counts of {shown} together are too many for one machine",
                        fix="put levels together, or choose max_parents",
                    )
                self.known[scope] = found
        return [self._rows(scope) for scope in requested]

    def pairs(self) -> PairCounts:
        """The counts of all pairs."""
        names = columns_and_weight([column.name for column in self.columns], self.weight)
        return self.source.ask(PairsPass(self.columns, self.weight), names)

    def _holder(self, scope: Scope) -> Scope | None:
        """The smallest known set that has these columns."""
        if scope in self.known:
            return scope
        holding = [each for each in self.known if set(scope) <= set(each)]
        return min(holding, key=lambda each: len(self.known[each].codes), default=None)

    def _rows(self, scope: Scope) -> CodedRows:
        holder = self._holder(scope)
        assert holder is not None
        rows = self.known[holder].columns([holder.index(place) for place in scope])
        chosen = [self.columns[place] for place in scope]
        names, states = tuple(each.name for each in chosen), tuple(each.states for each in chosen)
        return CodedRows(names, states, rows.codes, rows.weights_or_none(), counted=True)


class ScoresInRounds(Scores):
    """Scores of families that are counted in rounds."""

    def __init__(self, table: CountedTable, score: str, *, smoothing: float) -> None:
        self.table = table
        names = tuple(column.name for column in table.columns)
        states = tuple(column.states for column in table.columns)
        super().__init__(CodedRows(names, states, np.zeros((0, len(names)), np.int32)), score, smoothing=smoothing)
        pairs: list[Scope] = [*combinations(range(len(names)), 2)] or [(0,)]
        first = table.counted(pairs)[0]
        self.n_rows = len(first.codes) if first.weights is None else math.fsum(first.weights)

    def _counted(self, node: int, above: tuple[int, ...], others: Sequence[int]) -> Any:
        scopes = [tuple(sorted({*above, node, other})) for other in others]
        counted = []
        for other, scope, rows in zip(others, scopes, self.table.counted(scopes), strict=True):
            inside = Scores(rows, self.score, smoothing=self.smoothing)
            places = [scope.index(place) for place in above]
            counted.append(inside.additions(scope.index(node), places, [scope.index(other)])[0])
        return counted

    def _scored(self, node: int, parents: tuple[int, ...]) -> float:
        assert not parents  # `family` adds one at a time
        (rows,) = self.table.counted([(node,)])
        return Scores(rows, self.score, smoothing=self.smoothing).family(0, ())


@dataclass(frozen=True)
class FoundInRounds:
    """The counts of a graph, the states in a given order, and whether the search was interrupted."""

    counts: FamilyCounts
    order: Mapping[str, Vocabulary]
    interrupted: bool


def learned_in_rounds(
    found: TooManyRowsToBring,
    parents: Mapping[str, Sequence[str]] | None,
    search: GraphSearch,
    missing: str,
) -> FoundInRounds:
    """The counts of a graph that is given or found."""
    _refuse_incomplete(found, missing, searched=parents is None)
    table = CountedTable(found.source, found.columns, found.weight, whole=parents is None or missing == "drop")
    names = [column.name for column in table.columns]
    interrupted = False
    if parents is None:
        graph_found = _found(table, search)
        parents = graph_found.by_name(names)
        interrupted = graph_found.interrupted
    graph = {name: tuple(parents.get(name, ())) for name in names}
    scopes = [tuple(sorted(names.index(each) for each in (name, *above))) for name, above in graph.items()]
    rows = table.counted([*scopes, *((place,) for place in range(len(names)))])
    states = {column.name: list(column.states) for column in table.columns if column.name in found.declared}
    families, columns = {}, {}
    for place, name in enumerate(names):
        inside = {key: value for key, value in states.items() if key in (name, *graph[name])}
        families[name] = FamilyCounts.of_rows(rows[place], {name: graph[name]}, states=inside).families[name]
        own = {name: states[name]} if name in states else {}
        columns[name] = FamilyCounts.of_rows(rows[len(names) + place], {}, states=own).columns[name]
    fixed = {column.name: column.states for column in table.columns if column.name in found.declared}
    return FoundInRounds(FamilyCounts(graph, families, columns), fixed, interrupted)


def _refuse_incomplete(rows: TooManyRowsToBring, missing: str, *, searched: bool) -> None:
    if missing in ("em", "gradient"):
        raise NotStreamableError(
            f"missing={missing!r} needs the rows themselves, and these are too many and too different for one machine",
            fix="choose missing='drop', fewer columns, or a sample of the rows: frame.sample(...)",
        )
    if searched and missing == "error" and rows.lacking:
        raise MissingCellError(
            f"some rows have a missing cell in column {rows.lacking[0]!r}; a graph is learned from whole rows",
            fix="use missing='drop' (--missing drop) to leave these rows out",
        )


def _found(table: CountedTable, search: GraphSearch) -> Search:
    if search.method == "chow-liu":
        names = [column.name for column in table.columns]
        root = 0 if search.root is None else names.index(search.root)
        return Search(spanning_tree(mutual_information(table.pairs()), root), 0.0)
    in_order = search.method == "k2" and search.order is not None
    if not in_order and (search.method != "hill-climbing" or search.restarts is None):
        raise ParameterError(
            "the rows are too many and too different for one machine, and each step of a search is a pass over them",
            fix="use method='hill-climbing' with restarts=0 (--method hill-climbing --restarts 0), or 'chow-liu'",
        )
    return search.step_by_step(ScoresInRounds(table, search.score, smoothing=search.smoothing))
