"""The counts behind a classifier, as floats: of columns, of pairs of columns, and of families of a given graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from bayeswise.engines import ColumnStatistic, Request
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, TooLargeError
from bayeswise.foundation.logspace import log
from bayeswise.models.settings.network import MOST_IN_TRIPLES, Needs
from bayeswise.networks.classifiers.coding import Coding
from bayeswise.networks.classifiers.column_graph import Graph
from bayeswise.statistics import JointCounts, PairCounts, Product, RowsWithMissing
from bayeswise.tables.schema.labels import Vocabulary

COLUMNS, PAIRS, ABOVE_CLASS, INCOMPLETE = "columns", "pairs", "above the class", "rows with holes"  # as files name it


def request_of(coding: Coding, needs: Needs, graph: Graph | None, with_missing: bool = False) -> Request:
    """The counts that the tables of a structure need; EM needs the rows with missing values, too."""
    if with_missing:
        rows = ColumnStatistic("categories", coding.columns, _counter(RowsWithMissing, coding.declared))
        return request_of(coding, needs, graph) | Request({INCOMPLETE: rows})
    names = coding.columns
    if needs in ("pairs", "triples"):
        request = Request({PAIRS: ColumnStatistic("categories", names, _counter(PairCounts, coding.declared))})
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
    return Request({name: ColumnStatistic("categories", columns, _counter(JointCounts, declared))})


def _counter(statistic: Any, declared: Sequence[Vocabulary | None]) -> Any:
    def count(codes: Any, vocabularies: Any, groups: Any, n_groups: int, weights: Any) -> Any:
        return statistic.of(codes, list(vocabularies), groups, n_groups, weights, list(declared))

    return count


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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
        """The counts that `request_of` requests."""
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
    """The counts over all levels of the columns; some may occur only in rows where the family has a missing value."""
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
    """(..., n_levels) log p(level): the posterior mean under a Dirichlet prior, uniform where there are no counts.

    >>> np.exp(log_shares(np.array([[3.0, 1.0], [0.0, 0.0]]), 0.0)).round(12).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    n_levels = counts.shape[-1]
    return log_ratio(counts + pseudo_count, counts.sum(axis=-1, keepdims=True) + pseudo_count * n_levels, n_levels)


def log_unseen(counts: FloatArray, pseudo_count: float) -> FloatArray:
    """(..., 1) log p(unseen level): as if the column had one more level, with its own pseudo-counts."""
    n_levels = counts.shape[-1] + 1
    total = counts.sum(axis=-1, keepdims=True) + pseudo_count * n_levels
    return log_ratio(np.full(total.shape, pseudo_count), total, n_levels)


def log_ratio(above: FloatArray, below: FloatArray, n_levels: int | IntArray) -> FloatArray:
    """log above - log below; where there are no counts, levels have equal shares."""
    known = below > 0.0
    safe = np.where(known, below, 1.0)
    return np.where(known, log(above) - np.log(safe), -np.log(np.maximum(n_levels, 1)))


def with_unseen(counts: FloatArray, pseudo_count: float) -> FloatArray:
    """(..., n_levels + 1) log p of each level, then of an unseen one."""
    return np.concatenate([log_shares(counts, pseudo_count), log_unseen(counts, pseudo_count)], axis=-1)


def with_unseen_parent(counts: FloatArray, pseudo_count: float) -> FloatArray:
    """(n_states, n_above + 1, n_levels + 1): the last configuration of the parent is an unseen level."""
    nothing = np.zeros((counts.shape[0], 1, counts.shape[2]))
    return with_unseen(np.concatenate([counts, nothing], axis=1), pseudo_count)
