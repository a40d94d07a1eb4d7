"""Any table as codes: one column for each node, its levels in canonical order, -1 where a cell is missing.

Rows may have weights: k counts as k rows, and a row of weight 0 is left out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, MissingCellError, ParameterError, SchemaError
from bayeswise.networks.learning.column_findings import Cutting, as_numbers, numbers_by_level
from bayeswise.networks.learning.column_states import (
    MOST_LEVELS,
    cut_cells,
    intervals_of,
    refuse_numbers,
    refuse_too_many,
    typed_levels,
    vocabulary_of,
)
from bayeswise.render.numbers import count
from bayeswise.tables import partitions
from bayeswise.tables.encoding.row_weights import as_weights, checked_weights, refuse_all_zero
from bayeswise.tables.partitions import SpreadSource
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.notes import keep
from bayeswise.tables.schema.null_words import words_among
from bayeswise.tables.source import open_source

if TYPE_CHECKING:
    from bayeswise.networks.learning.counted_rows import ColumnCodes
    from bayeswise.networks.soft_evidence import Separated, SoftCells


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Codes of rows; `states[k]` names the codes of column k."""

    names: tuple[str, ...]
    states: tuple[Vocabulary, ...]
    codes: CodeArray  # (n_rows, n_columns)
    weights: FloatArray | None = None  # (n_rows,) above 0; None if every row counts once
    declared: frozenset[str] = frozenset()  # columns whose states are kept even if no row has them
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # of columns of numbers that were cut
    counted: bool = False  # whether these are distinct rows with counts, and not the rows of a table in order
    soft: SoftCells | None = None  # cells with a likelihood instead of a state, whose codes are -1
    invalid: Mapping[str, str] = field(default_factory=dict)  # cells that are not numbers, of columns that were cut
    notes: tuple[str, ...] = ()  # on columns

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        ignore: Collection[str] = (),
        states: Mapping[str, Sequence[Any]] | None = None,
        columns: Sequence[str] | None = None,
        may_be_hidden: Collection[str] = (),
        weight: str | None = None,
        weights: Any = None,
        cuts: Mapping[str, Sequence[float]] | None = None,
        cut_beyond: int | None = None,
        numbers: Collection[str] = (),
        labels: Collection[str] = (),
        in_order: bool = False,
        may_be_soft: bool = False,
    ) -> CodedRows:
        """The columns of a table that are not ignored; states that are given or declared come first, in their order.

        A hidden node with states and no column becomes a column of missing cells, after the others. `weight` names the
        column of weights, `weights` are weights that are not a column. Columns of numbers are cut into intervals at
        their `cuts`; `numbers` at their quintiles, and with `cut_beyond` those of more distinct ones unless `labels`.
        Numbers are put into states that are intervals; cells among them that are not numbers are missing if they are
        few, and refused otherwise. Of a partitioned table only distinct rows with their weights are collected, unless
        `in_order` keeps them all. Cells may have a likelihood for each state, yes=0.7;no=0.3, if they `may_be_soft`,
        as for EM.

        >>> CodedRows.of({"wind": ["weak", None, "strong"]}).codes.ravel().tolist()
        [1, -1, 0]
        >>> CodedRows.of({"wind": ["weak", "storm", "strong"], "n": [2, 0, 1]}, weight="n").states
        (Vocabulary('strong', 'weak'),)
        """
        from bayeswise.networks.soft_evidence import is_soft, refuse_soft, separated

        if weight is not None and weights is not None:
            raise ParameterError("rows have both weights and a column of weights", fix="give one of them")
        source = open_source(table)
        known = [column.name for column in source.columns]
        hidden = [name for name in states or {} if name in may_be_hidden and name not in known]
        for name in (*ignore, *(name for name in states or {} if name not in hidden)):
            find_name(name, known, where=source.description)
        selected = known if columns is None else [find_name(n, known, where=source.description) for n in columns]
        weight = None if weight is None else find_name(weight, known, where=source.description)
        names = tuple(name for name in selected if name not in ignore and name != weight)
        declared = {column.name: column.declared or () for column in source.columns}
        given = {name: list((states or {}).get(name, declared[name])) for name in names}
        columns_cut = Cutting.in_table(source, given, cuts or {}, cut_beyond, numbers, labels)
        if isinstance(source, SpreadSource) and weights is None and not hidden and not in_order:
            counted = cls._counted(source, given, columns_cut, weight)
            if counted is not None:
                return counted
        weighed: list[FloatArray] = []
        parts: list[list[CodeArray]] = [[] for _ in names]
        levels: list[Sequence[Any]] = [() for _ in names]
        amounts: dict[int, list[FloatArray]] = {k: [] for k, name in enumerate(names) if columns_cut.may_be_cut(name)}
        words = {name: words_among(states, source.null_words) for name, states in given.items()}
        for chunk in source.chunks([*names, *([] if weight is None else [weight])]):
            if weight is not None:
                weighed.append(chunk.numbers(weight)[0])
            for place, name in enumerate(names):
                codes, levels[place] = chunk.labels(name, words[name])
                refuse_too_many(name, levels[place])
                parts[place].append(np.array(codes))
                if place in amounts:
                    amounts[place].append(np.array(chunk.numbers(name)[0]))
        n_rows = sum(map(len, parts[0])) if parts else 0
        weigh = given_or_read(weights, weighed, weight, n_rows)
        kept = None if weigh is None else weigh > 0.0
        cells = [np.concatenate(each) if each else np.zeros(0, np.int32) for each in parts]
        values = {k: numbers_by_level(len(levels[k]), cells[k], np.concatenate(v)) for k, v in amounts.items() if v}
        cells = [_kept(each, kept) for each in cells]
        soft: dict[int, Separated] = {}  # by column
        for k, name in enumerate(names):
            if not may_be_soft:
                refuse_soft(name, levels[k], given[name])
            elif any(is_soft(level, given[name]) for level in levels[k]):
                soft[k] = separated(levels[k], cells[k], given[name])
                levels[k], cells[k] = soft[k].levels, soft[k].cells
                values[k] = as_numbers(levels[k])
            if source.textual:
                levels[k] = typed_levels(levels[k], given[name])
        cut: dict[str, tuple[float, ...]] = {}
        for k, name in enumerate(names):
            if k not in values:
                continue
            is_cut, cuts_given = columns_cut.of(name, levels[k], values[k], given[name])
            if not is_cut:
                continue
            mass = None if weigh is None else weigh[weigh > 0.0]
            cut[name], given[name], cells[k] = cut_cells(values[k], cells[k], mass, cuts_given, given[name])
            levels[k] = given[name]
        for name, seen in zip(names, levels, strict=True):
            if not given[name] and name not in labels:
                refuse_numbers(name, seen)
        vocabularies = tuple(
            vocabulary_of(
                given[name],
                levels[k]
                if kept is None
                else _shown(levels[k], cells[k], len(declared[name]), soft[k].n_named if k in soft else 0),
            )
            for k, name in enumerate(names)
        )
        n_rows = n_rows if kept is None else int(np.count_nonzero(kept))
        codes = np.empty((n_rows, len(names)), dtype=np.int32)
        for place, vocabulary in enumerate(vocabularies):
            found = [vocabulary.code_of_equal(level) for level in levels[place]]
            codes[:, place] = np.append(np.array(found, dtype=np.int32), -1)[cells[place]]
        if hidden:
            codes = np.hstack([codes, np.full((n_rows, len(hidden)), -1, dtype=np.int32)])
            vocabularies += tuple(Vocabulary((states or {})[name]) for name in hidden)
        stay = frozenset(name for name in names if given[name])
        rows = cls(
            (*names, *hidden),
            vocabularies,
            codes,
            None if weigh is None else weigh[kept],
            stay,
            cut,
            invalid=columns_cut.invalid(cut),
            notes=columns_cut.notes(dict(zip(names, map(len, vocabularies), strict=False)), cut),
        )
        return replace(rows, soft=_soft_cells(rows, soft)) if soft else rows

    @classmethod
    def _counted(
        cls, source: SpreadSource, given: dict[str, list[Any]], columns_cut: Cutting, weight: str | None
    ) -> CodedRows | None:
        """The distinct rows of a partitioned table, each with its weight; None where they are too many."""
        from bayeswise.networks.learning.counted_rows import (
            ColumnCodes,
            TooManyRowsToBring,
            counted_labels,
            different_rows,
        )
        from bayeswise.networks.soft_evidence import refuse_soft

        names = tuple(given)
        cut: dict[str, tuple[float, ...]] = {}
        columns: list[ColumnCodes] = []
        lacking: list[str] = []
        stay = frozenset(name for name in names if given[name])
        for name, counts in zip(names, counted_labels(source, names, weight, MOST_LEVELS), strict=True):
            levels: Sequence[Label] = list(counts.levels)
            refuse_too_many(name, levels)
            refuse_soft(name, levels, given[name])
            if not counts.missing.is_zero().all():
                lacking.append(name)
            if weight is None and source.n_rows is None:
                source.n_rows = int(counts.weight_of_rows.to_floats()[0])
            if weight is not None:
                refuse_all_zero(float(counts.weight_of_rows.to_floats()[0]), 1, f"column {weight!r}")
            values = as_numbers(levels)
            is_cut, cuts_given = columns_cut.of(name, levels, values, given[name])
            if is_cut:
                there = ~np.isnan(values)
                weighed = counts.weight.to_floats()[0][there]
                cut[name], given[name] = intervals_of(values[there], weighed, cuts_given, given[name])
                lacking += [] if there.all() or name in lacking else [name]
                levels, stay = given[name], stay | {name}
            elif not given[name] and name not in columns_cut.labels:
                refuse_numbers(name, levels)
            columns.append(ColumnCodes(name, vocabulary_of(given[name], levels), cut.get(name)))
        notes = columns_cut.notes({column.name: len(column.states) for column in columns}, cut)
        different = different_rows(source, columns, weight)
        if different.are_too_many:
            if source.n_rows is not None and source.n_rows * len(names) > partitions.MOST_CELLS_HERE:
                raise TooManyRowsToBring(source, tuple(columns), weight, stay, tuple(lacking), cut, notes)
            return None
        vocabularies = tuple(column.states for column in columns)
        rows = cls(names, vocabularies, different.codes, different.weights_or_none(), stay, cut, counted=True)
        return replace(rows, invalid=columns_cut.invalid(cut), notes=notes)

    def weighted(self, weights: Any) -> CodedRows:
        """The same rows with weights, without those of weight 0; the states stay."""
        if weights is None:
            return self
        if self.weights is not None:
            raise ParameterError("the rows have weights already", fix="give one weight for each row, once")
        weigh = weights_of_rows(weights, len(self.codes))
        return replace(self, weights=weigh).of_rows(weigh > 0.0)

    def of_rows(self, chosen: BoolArray) -> CodedRows:
        """Some of the rows."""
        if chosen.all():
            return self
        weights = None if self.weights is None else self.weights[chosen]
        soft = None if self.soft is None else self.soft.of_rows(chosen)
        return replace(self, codes=self.codes[chosen], weights=weights, soft=soft)

    @property
    def hidden(self) -> BoolArray:
        """(n_columns,) which columns have no cell at all."""
        return np.asarray((self.with_soft[0] < 0).all(axis=0))

    @property
    def with_soft(self) -> tuple[CodeArray, Sequence[FloatArray]]:
        """Codes in which n_states + k is the k-th likelihood of the column, and these likelihoods by column."""
        from bayeswise.networks.soft_evidence import no_soft_cells

        if self.soft is None:
            return self.codes, no_soft_cells(self.sizes)
        return self.soft.coded(self.codes, self.sizes), self.soft.likelihoods

    @property
    def code_type(self) -> type[np.uint8] | type[np.uint16]:
        """The smallest type for the codes and one more; searches read rows again and again."""
        return np.uint8 if max(self.sizes, default=0) <= np.iinfo(np.uint8).max else np.uint16

    @property
    def sizes(self) -> list[int]:
        return [len(vocabulary) for vocabulary in self.states]

    def complete(self) -> CodedRows:
        """The same rows; a missing value is refused."""
        if self.codes.min(initial=0) < 0:
            missing = np.argwhere(self.codes < 0)
            row, column = map(int, missing[0])
            n_rows: float = len(np.unique(missing[:, 0]))
            total: float = len(self.codes)
            first = f"the first in row {row + 1}, column {self.names[column]!r}"
            if self.counted and self.weights is not None:
                n_rows, total = math.fsum(self.weights[np.unique(missing[:, 0])]), math.fsum(self.weights)
                first = f"some in column {self.names[column]!r}"
            invalid = "".join(f"; cells of {name!r} are not numbers: {cells}" for name, cells in self.invalid.items())
            correct = "".join(f"correct these cells, or {keep(name, 'category')}; or " for name in self.invalid)
            raise MissingCellError(
                f"{count(n_rows)} of {count(total)} rows have a missing cell, {first}{invalid}; "
                "a graph is learned from whole rows",
                fix=f"{correct}use missing='drop' (--missing drop) to leave these rows out, or missing='em' "
                "(--missing em) to find the graph without them and the tables with them",
            )
        return self

    def without_missing(self) -> CodedRows:
        """Only the complete rows; there must be one."""
        whole = np.asarray((self.codes >= 0).all(axis=1))
        if len(whole) and not whole.any():
            raise FitError(
                f"none of the {len(whole)} rows has every cell, so there is nothing to find a graph in",
                fix="ignore the columns with the most missing values, or give the graph: parents={...}",
            )
        return self.of_rows(whole)

    def with_states(self) -> CodedRows:
        """The same rows; a column without a state is refused."""
        for name, size in zip(self.names, self.sizes, strict=True):
            if size == 0:
                raise FitError(
                    f"column {name!r} has no cell: its states are not known", fix="ignore it, or give states"
                )
        return self


def _soft_cells(rows: CodedRows, soft: Mapping[int, Separated]) -> SoftCells:
    """The likelihoods that cells have, by column."""
    from bayeswise.networks.soft_evidence import SoftCells, likelihood_in_cell, no_soft_cells

    places = np.full(rows.codes.shape, -1, dtype=np.int32)
    likelihoods = no_soft_cells(rows.sizes)
    for k, found in soft.items():
        name, states = rows.names[k], rows.states[k]
        places[:, k] = found.places
        each = [likelihood_in_cell(name, states, cell) for cell in found.written]
        likelihoods[k] = np.array(each).reshape(-1, len(states))
    return SoftCells(places, likelihoods)


def _kept(codes: CodeArray, kept: BoolArray | None) -> CodeArray:
    return codes if kept is None else codes[kept]


def _shown(levels: Sequence[Label], codes: CodeArray, n_declared: int, n_named: int) -> list[Label]:
    """The levels that occur in these rows, those that the table declares, and the last `n_named`, of soft cells."""
    there = np.bincount(codes[codes >= 0], minlength=len(levels)) > 0
    there[:n_declared] = True
    there[len(levels) - n_named :] = True
    return [level for level, seen in zip(levels, there, strict=True) if seen]


_MOST_UNITS = 61  # bits that all weights together may have, so that no sum overflows


def weights_of_rows(weights: Any, n_rows: int, where: str = "weights") -> FloatArray:
    """One finite weight from 0 on for each row, and one of them above 0."""
    checked = checked_weights(as_weights(weights), 0, where)
    if len(checked) != n_rows:
        raise ParameterError(f"there are {len(checked)} weights for {n_rows} rows", fix="give one for each row")
    refuse_all_zero(float(checked.max(initial=0.0)), n_rows, where)
    with np.errstate(over="ignore"):
        if not np.isfinite(checked.sum()):
            raise SchemaError(f"the sum of all {n_rows} {where} is too large", fix="divide them by a common number")
    return checked


def given_or_read(weights: Any, parts: Sequence[FloatArray], column: str | None, n_rows: int) -> FloatArray | None:
    """The given weights, or those of a column; None if every row counts once."""
    if column is not None:
        read = np.concatenate(parts) if parts else np.zeros(0)
        return weights_of_rows(read, len(read), f"column {column!r}")
    return None if weights is None else weights_of_rows(weights, n_rows)


def in_units(weights: FloatArray) -> tuple[IntArray, float]:
    """Weights as integer multiples of a unit, and the unit: 1 for whole weights, else a tiny power of two.

    Sums of integers are exact, so they are the same in any order of the rows.

    >>> in_units(np.array([2.0, 1.0]))
    (array([2, 1]), 1.0)
    >>> units, unit = in_units(np.array([0.1, 0.7]))
    >>> (units * unit).tolist()
    [0.1, 0.7]
    """
    total = math.fsum(weights)
    if total < 2.0**_MOST_UNITS and not np.any(weights % 1.0):
        return weights.astype(np.int64), 1.0
    exponent = math.frexp(total)[1] - _MOST_UNITS
    return np.rint(np.ldexp(weights, -exponent)).astype(np.int64), math.ldexp(1.0, exponent)


def summed_weights(which: IntArray, n_cells: int, weights: FloatArray | None) -> FloatArray:
    """(n_cells,) the weight of the rows in each cell, the same in any order of the rows.

    >>> summed_weights(np.array([0, 1, 0]), 2, np.array([0.5, 1.0, 0.25])).tolist()
    [0.75, 1.0]
    """
    if weights is None:
        return np.bincount(which, minlength=n_cells).astype(np.float64)
    units, unit = in_units(weights)
    total = np.zeros(n_cells, dtype=np.int64)
    np.add.at(total, which, units)
    return np.asarray(total.astype(np.float64) * unit)
