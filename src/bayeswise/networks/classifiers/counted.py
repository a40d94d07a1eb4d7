"""The counts behind a classifier, as floats: of columns, of pairs of columns, and of families of a given graph.

By EM they are what rows with missing cells let us expect of each table, beside what whole rows show. EM depends on the
counts and on the distinct rows with missing values, so a model that keeps both merges and forgets exactly, and its
tables are found anew. It begins at the tables of the cells that are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from bayeswise.engines import Ask, Request
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import FitError, TooLargeError
from bayeswise.foundation.logspace import log
from bayeswise.models.settings.network import MOST_IN_TRIPLES, Needs, NetworkSettings
from bayeswise.networks.classifiers.coding import Coding
from bayeswise.networks.classifiers.column_graph import Graph
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import silent
from bayeswise.networks.learning.em.fitted_tables import Climb, em_steps
from bayeswise.networks.learning.em.incomplete import IncompleteRows, Layout
from bayeswise.statistics import JointCounts, PairCounts, Product, RowsWithMissing
from bayeswise.tables.schema.labels import Vocabulary

COLUMNS, PAIRS, ABOVE_CLASS, INCOMPLETE = "columns", "pairs", "above the class", "rows with holes"  # as files name it


def request_of(coding: Coding, needs: Needs, graph: Graph | None, with_missing: bool = False) -> Request:
    """What the tables of a structure need of coded rows; EM needs the rows with missing values, too."""
    if with_missing:
        rows = Ask("categories", coding.columns, _counter(RowsWithMissing, coding.declared))
        return request_of(coding, needs, graph) | Request({INCOMPLETE: rows})
    names = coding.columns
    if needs in ("pairs", "triples"):
        request = Request({PAIRS: Ask("categories", names, _counter(PairCounts, coding.declared))})
        for scope in triples_of(len(names)) if needs == "triples" else ():
            request = request | _family(triple_name(scope), scope, coding)
        return request
    request = Request.counts(COLUMNS, names, coding.declared)
    if needs == "families" and graph is not None:
        for place, above in enumerate(graph.parents):
            request = request | _family(f"family {place}", (*above, place), coding)
        if graph.class_parents:
            request = request | _family(ABOVE_CLASS, graph.class_parents, coding)
    return request


def triples_of(n_columns: int) -> list[tuple[int, int, int]]:
    """All triples of columns, whose counts an average over pairs of superparents needs."""
    if n_columns > MOST_IN_TRIPLES:
        raise TooLargeError(
            f"{n_columns} columns have {n_columns * (n_columns - 1) * (n_columns - 2) // 6:,} triples, and those of at "
            f"most {MOST_IN_TRIPLES} columns are counted",
            fix="average over single superparents (structure='aode'), or leave out columns",
        )
    return list(combinations(range(n_columns), 3))


def triple_name(scope: Sequence[int]) -> str:
    """The counts of three columns, as files name them."""
    return f"triple {' '.join(map(str, scope))}"


def _family(name: str, scope: Sequence[int], coding: Coding) -> Request:
    declared = [coding.declared[place] for place in scope]
    columns = tuple(coding.columns[place] for place in scope)
    return Request({name: Ask("categories", columns, _counter(JointCounts, declared))})


def _counter(statistic: Any, declared: Sequence[Vocabulary | None]) -> Any:
    def count(codes: Any, vocabularies: Any, groups: Any, n_groups: int, weights: Any) -> Any:
        return statistic.of(codes, list(vocabularies), groups, n_groups, weights, list(declared))

    return count


@dataclass(frozen=True)
class PairTable:
    """Pair counts as one array; the slots of a column lie side by side, missing last."""

    weight: FloatArray  # (n_states, n_slots, n_slots)
    sizes: IntArray  # (n_columns,) levels of each column

    @classmethod
    def of(cls, counts: PairCounts) -> PairTable:
        return cls(counts.weight.to_floats(), np.array([len(levels) for levels in counts.levels], dtype=np.int64))

    @cached_property
    def starts(self) -> IntArray:
        """(n_columns,) the first slot of each column."""
        return np.concatenate([[0], np.cumsum(self.sizes + 1)[:-1]]).astype(np.int64)

    def slots(self, column: int) -> slice:
        return slice(int(self.starts[column]), int(self.starts[column] + self.sizes[column]))

    def pair(self, one: int, other: int) -> FloatArray:
        """(n_states, n_levels of one, n_levels of other) over rows that have both cells."""
        return self.weight[:, self.slots(one), self.slots(other)]

    def single(self, column: int) -> FloatArray:
        """(n_states, n_levels)."""
        places = np.arange(self.weight.shape[1])[self.slots(column)]
        return np.asarray(self.weight[:, places, places])

    def missing(self, column: int) -> FloatArray:
        """(n_states,) the weight of rows without the cell."""
        place = int(self.starts[column] + self.sizes[column])
        return np.asarray(self.weight[:, place, place])

    @cached_property
    def present(self) -> FloatArray:
        """The weight of pairs of levels alone: missing slots are zero."""
        weight = self.weight.copy()
        missing = self.starts + self.sizes
        weight[:, missing, :] = 0.0
        weight[:, :, missing] = 0.0
        return weight


@dataclass(frozen=True)
class Counted:
    """The counts of one model; the first axis is always the classes."""

    levels: tuple[Vocabulary, ...]
    singles: tuple[FloatArray, ...]  # (n_states, n_levels) of each column
    missing: tuple[FloatArray, ...]  # (n_states,) the rows without its cell
    pairs: PairTable | None
    families: tuple[FloatArray, ...]  # (n_states, *levels of the parents, n_levels) of each column of a given graph
    above_class: FloatArray | None  # (n_states, *levels of the parents of the class)
    triples: Mapping[tuple[int, ...], FloatArray] = field(
        default_factory=dict
    )  # (n_states, *levels of each) by columns

    @classmethod
    def of(cls, part: Product, columns: Sequence[str], graph: Graph | None) -> Counted:
        """The counts that `request_of` asked for."""
        if PAIRS in part.parts:
            pairs = PairTable.of(part[PAIRS])
            singles = tuple(pairs.single(place) for place in range(len(columns)))
            missing = tuple(pairs.missing(place) for place in range(len(columns)))
            levels = part[PAIRS].levels
            triples: dict[tuple[int, ...], FloatArray] = {
                scope: _over(part[triple_name(scope)], scope, levels)
                for scope in (triples_of(len(columns)) if len(columns) <= MOST_IN_TRIPLES else ())
                if triple_name(scope) in part.parts
            }
            return cls(levels, singles, missing, pairs, (), None, triples)
        counts = [part[COLUMNS][name] for name in columns]
        levels = tuple(each.levels for each in counts)
        singles = tuple(each.weight.to_floats() for each in counts)
        missing = tuple(each.missing.to_floats() for each in counts)
        if graph is None:
            return cls(levels, singles, missing, None, (), None)
        families = [
            _over(part[f"family {place}"], (*above, place), levels) for place, above in enumerate(graph.parents)
        ]
        above = _over(part[ABOVE_CLASS], graph.class_parents, levels) if graph.class_parents else None
        return cls(levels, singles, missing, None, tuple(families), above)

    @cached_property
    def sizes(self) -> IntArray:
        """(n_columns,) the levels of each column."""
        return np.array([len(levels) for levels in self.levels], dtype=np.int64)

    def family(self, column: int, parents: Sequence[int]) -> FloatArray:
        """(n_states, *levels of the parents, n_levels) over rows that have all these cells."""
        if self.families:
            return self.families[column]
        if not parents:
            return self.singles[column]
        return self.needed_pairs.pair(parents[0], column)

    @property
    def needed_pairs(self) -> PairTable:
        if self.pairs is None:
            raise FitError("the model holds no counts of pairs of columns", fix="fit it again with this structure")
        return self.pairs


def _over(counts: JointCounts, scope: Sequence[int], levels: Sequence[Vocabulary]) -> FloatArray:
    """A row with a missing value in the family may show a level that the family never saw."""
    return counts._weight_over(tuple(levels[place] for place in scope)).to_floats()


def pseudo_rows_of(prior: str, smoothing: float, n_levels: int, n_configurations: int) -> float:
    """The pseudo-counts of one cell of a table; the configurations are those of all parents, the class among them.

    >>> [pseudo_rows_of(prior, 2.0, 4, 5) for prior in ("laplace", "m-estimate", "bdeu")]
    [2.0, 0.5, 0.1]
    """
    if prior == "laplace":
        return float(smoothing)
    return smoothing / max(n_levels * (n_configurations if prior == "bdeu" else 1), 1)


def log_shares(counts: FloatArray, pseudo_count: float) -> FloatArray:
    """(..., n_levels) log p(level): the posterior mean under a Dirichlet prior, uniform where nothing is known.

    >>> np.exp(log_shares(np.array([[3.0, 1.0], [0.0, 0.0]]), 0.0)).round(12).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    n_levels = counts.shape[-1]
    return log_ratio(counts + pseudo_count, counts.sum(axis=-1, keepdims=True) + pseudo_count * n_levels, n_levels)


def log_unseen(counts: FloatArray, pseudo_count: float) -> FloatArray:
    """(..., 1) log p(a level that no row showed): as if the column had one more level, with its own pseudo-counts."""
    n_levels = counts.shape[-1] + 1
    total = counts.sum(axis=-1, keepdims=True) + pseudo_count * n_levels
    return log_ratio(np.full(total.shape, pseudo_count), total, n_levels)


def log_ratio(above: FloatArray, below: FloatArray, n_levels: int | IntArray) -> FloatArray:
    """log above - log below; where nothing is known, levels have equal shares."""
    known = below > 0.0
    safe = np.where(known, below, 1.0)
    return np.where(known, log(above) - np.log(safe), -np.log(np.maximum(n_levels, 1)))


def with_unseen(counts: FloatArray, pseudo_count: float) -> FloatArray:
    """(..., n_levels + 1) log p of each level, then of an unseen one."""
    return np.concatenate([log_shares(counts, pseudo_count), log_unseen(counts, pseudo_count)], axis=-1)


def with_unseen_parent(counts: FloatArray, pseudo_count: float) -> FloatArray:
    """(n_states, n_above + 1, n_levels + 1): the last configuration of the parent is a level that no row showed."""
    nothing = np.zeros((counts.shape[0], 1, counts.shape[2]))
    return with_unseen(np.concatenate([counts, nothing], axis=1), pseudo_count)


_TOLERANCE = 1e-9  # of the objective: less than that a last step gains
_MOST_STEPS = 2_000


def completed(
    counted: Counted, incomplete: RowsWithMissing, graph: Graph, settings: NetworkSettings, class_weight: FloatArray
) -> Counted:
    """Counts in which each family has the weight of all rows: that of missing cells as the tables expect it."""
    if not len(incomplete.cells):
        return counted
    shape = _Shape(counted, graph, len(class_weight))
    seen = IncompleteRows.of(_rows(incomplete, counted, len(class_weight)), shape.layout.parents)
    available = shape.flat(counted, class_weight)
    whole = np.maximum(available - seen.available, 0.0)
    all_rows = replace(seen, complete=whole, available=available)
    pseudo_counts = shape.pseudo_counts(settings)
    start = shape.layout.normalised(available + pseudo_counts)
    found = Climb.up(em_steps(all_rows, start, pseudo_counts), _TOLERANCE, _MOST_STEPS, silent, "steps of EM")
    return shape.counted(counted, found.point.counts)


def _rows(incomplete: RowsWithMissing, counted: Counted, n_states: int) -> CodedRows:
    """The rows with missing values, the class last; each once for each class that it was seen in."""
    codes, weight = incomplete.over(counted.levels), incomplete.weight.to_floats()
    state, row = np.nonzero(weight)
    states = [Vocabulary(range(max(int(size), 1))) for size in counted.sizes]
    with_class = np.column_stack([codes[row], state]).astype(np.int32)
    names = (*(f"c{place}" for place in range(len(states))), "class")
    return CodedRows(names, (*states, Vocabulary(range(n_states))), with_class, weight[state, row])


class _Shape:
    """The tables of a graph one after the other; the class is the last node, and the first parent of a column."""

    def __init__(self, counted: Counted, graph: Graph, n_states: int) -> None:
        self.graph, self.sizes = graph, tuple(int(size) for size in counted.sizes)
        self.n_states, n_columns = n_states, len(self.sizes)
        above = [
            (*((n_columns,) if by_class else ()), *parents)
            for parents, by_class in zip(graph.parents, graph.given_class, strict=True)
        ]
        self.layout = Layout((*(max(size, 1) for size in self.sizes), n_states), (*above, graph.class_parents))

    def flat(self, counted: Counted, class_weight: FloatArray) -> FloatArray:
        """The counts of the cells that are there."""
        flat = np.zeros(self.layout.starts[-1])
        *tables, of_class = self.layout.tables(flat)
        for column, table in enumerate(tables):
            counts = counted.family(column, self.graph.parents[column])
            if counts.size:
                table[:] = (counts if self.graph.given_class[column] else counts.sum(axis=0)).reshape(table.shape)
        above = counted.above_class if self.graph.class_parents else class_weight[:, None]
        if above is not None and above.size:
            of_class[:] = np.moveaxis(above, 0, -1).reshape(of_class.shape)
        return flat

    def pseudo_counts(self, settings: NetworkSettings) -> FloatArray:
        """What the prior adds to each cell; the class by itself has none."""
        flat = np.zeros(self.layout.starts[-1])
        for node, table in enumerate(self.layout.tables(flat)):
            if node < len(self.sizes) or self.graph.class_parents:
                table[:] = pseudo_rows_of(settings.prior, settings.smoothing, table.shape[1], len(table))
        return flat

    def counted(self, counted: Counted, flat: FloatArray) -> Counted:
        """The counts with the expected ones in place of those of the families."""
        *tables, of_class = self.layout.tables(flat)
        families = tuple(self._family(column, table) for column, table in enumerate(tables))
        sizes = [self.layout.sizes[place] for place in self.graph.class_parents]
        above = np.moveaxis(of_class.reshape(*sizes, self.n_states), -1, 0) if self.graph.class_parents else None
        return replace(counted, families=families, above_class=above)

    def _family(self, column: int, table: FloatArray) -> FloatArray:
        """(n_states or 1, *levels of the parents, n_levels); a column without levels has none here, either."""
        above = [self.layout.sizes[place] for place in self.graph.parents[column]]
        first = self.n_states if self.graph.given_class[column] else 1
        return table.reshape(first, *above, -1)[..., : self.sizes[column]]
