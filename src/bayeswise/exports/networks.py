"""The log joint of network classifiers: tables of each column given its parents and the class, missing cells summed.

A forest of columns is scored by message passing along its trees, an average over superparents by its sum, any other
graph by its tables where a row is complete and by variable elimination where it is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import mul

import numpy as np

from bayeswise.exports.row_inputs import Row
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import ExportError
from bayeswise.networks.classifiers.coding import MISSING_LEVEL, Coding
from bayeswise.networks.classifiers.graph_scores import GraphScores
from bayeswise.networks.classifiers.model import NetworkClassifierModel
from bayeswise.networks.classifiers.superparent_pairs import SuperparentPairScores
from bayeswise.networks.classifiers.superparents import SuperparentScores
from bayeswise.render.expression import (
    IMPOSSIBLE,
    Cuts,
    Expression,
    below,
    choose,
    either,
    in_slot,
    log,
    log_sum_exp,
    lookup,
    number,
    total,
)
from bayeswise.tables.schema.labels import Vocabulary

MOST_ENTRIES = 20_000
"""Of all tables in variable elimination."""
_GONE = -1


def log_joint(model: NetworkClassifierModel, row: Row) -> list[Expression]:
    """log p(class, row) for each class, up to a constant common to all classes."""
    columns = [
        _Column(name, known, model.coding, row)
        for name, known in zip(model.coding.columns, model.counted.levels, strict=True)
    ]
    scores = model.scores
    if isinstance(scores, SuperparentScores):
        return _of_superparents(scores, columns)
    if isinstance(scores, SuperparentPairScores):
        return _of_superparent_pairs(scores, columns)
    if scores.graph.is_forest:
        return _of_forest(scores, columns)
    return _of_graph(scores, columns)


class _Column:
    """A column in the tables of a network: the slots of a row, and the position of each in a table."""

    def __init__(self, name: str, known: Vocabulary, coding: Coding, row: Row) -> None:
        column = coding.schema[name]
        self.n_levels = len(known)
        if name in coding.schema.numbers:
            labels: tuple[object, ...] = tuple(range(len(coding.cuts[name]) + 1))
            self.slot = Expression("slot", (row.number(name),), Cuts(name, coding.cuts[name]))
        else:
            labels = tuple(level for level in known if level != MISSING_LEVEL or column.labels in ("text", "mixed"))
            self.slot = row.slot(name, Vocabulary(labels))
        missing = known.code(MISSING_LEVEL) if column.missing == "level" and MISSING_LEVEL in known else _GONE
        if column.missing == "level" and missing == _GONE:
            missing = self.n_levels
        unseen = _GONE if column.unseen == "ignore" else self.n_levels
        codes = [known.code(label) if label in known else unseen for label in labels]
        self.places = np.array([*codes, missing, unseen])  # of each slot in a table; _GONE is summed out

    def is_gone(self, *, unseen: bool = False) -> Expression | None:
        """Whether the cell is summed out; None if it never is. With `unseen`, levels without a position are too."""
        gone = self.places == _GONE
        if unseen:
            gone |= self.places == self.n_levels
        slots = np.flatnonzero(gone).tolist()
        return either(*(in_slot(self.slot, place) for place in slots)) if slots else None

    def entries(self, table: FloatArray, axis: int = -1) -> FloatArray:
        """A table by position (levels, then unseen) as one by slot; entries that are summed out are never looked up."""
        padded = np.concatenate([table, np.zeros_like(table.take([0], axis))], axis)
        return padded.take(np.where(self.places == _GONE, table.shape[axis], self.places), axis)


def _choose(condition: Expression | None, then: Expression, otherwise: Expression) -> Expression:
    return otherwise if condition is None else choose(condition, then, otherwise)


# -- a forest -----------------------------------------------------------------------------------------------------
def _of_forest(scores: GraphScores, columns: Sequence[_Column]) -> list[Expression]:
    forest = _Forest(scores, columns)
    roots = [c for c, parent in enumerate(forest.parents) if parent < 0]
    return [
        total([number(log_prior), *(forest.given(c, state, 0) for c in roots)])
        for state, log_prior in enumerate(scores.log_prior.tolist())
    ]


class _Forest:
    """Messages from the leaves up: likelihoods of a column and those below given its parent's level and the class."""

    def __init__(self, scores: GraphScores, columns: Sequence[_Column]) -> None:
        self.columns = columns
        self.parents: list[int] = scores.graph.forest.tolist()
        self.children: list[list[int]] = [[] for _ in columns]
        for c, parent in enumerate(self.parents):
            if parent >= 0:
                self.children[parent].append(c)
        self.tables = scores.tables
        self.gone = [column.is_gone() for column in columns]
        self._found: dict[tuple[int, int, int | None], Expression] = {}

    def given(self, c: int, state: int, above: int | None) -> Expression:
        """log p(cell of c and those below | parent's level, class); the level is that of the row if `above` is None."""
        key = c, state, above
        if key not in self._found:
            self._found[key] = _choose(self.gone[c], self._hidden(*key), self._shown(*key))
        return self._found[key]

    def _shown(self, c: int, state: int, above: int | None) -> Expression:
        column, table = self.columns[c], self.tables[c][state]  # (n_above, n_levels + 1)
        below_it = [self.given(child, state, None) for child in self.children[c]]
        if above is not None:
            return total([lookup([column.slot], column.entries(table[above])), *below_it])
        parent = self.columns[self.parents[c]]
        entries = parent.entries(column.entries(table, 1), 0)
        return total([lookup([parent.slot, column.slot], entries), *below_it])

    def _hidden(self, c: int, state: int, above: int | None) -> Expression:
        """The log of the sum over the levels; 0 where no column is below."""
        if not self.children[c] or not self.columns[c].n_levels:
            return number(0.0)
        terms = []
        for level in range(self.columns[c].n_levels):
            column = self.tables[c][state][:, level]  # (n_above,)
            if above is not None:
                own = number(column[above])
            else:
                parent = self.columns[self.parents[c]]
                own = lookup([parent.slot], parent.entries(column))
            terms.append(total([own, *(self.given(child, state, level) for child in self.children[c])]))
        return log_sum_exp(terms)


# -- superparents -------------------------------------------------------------------------------------------------
def _of_superparents(scores: SuperparentScores, columns: Sequence[_Column]) -> list[Expression]:
    gone = [column.is_gone() for column in columns]
    allowed = [_allowed(column, flags) for column, flags in zip(columns, scores.allowed, strict=True)]
    none = below(total(allowed), 0.5)
    found = []
    for state, log_prior in enumerate(scores.log_prior.tolist()):
        singles = [
            _choose(hidden, number(0.0), lookup([column.slot], column.entries(table[:, state])))
            for column, hidden, table in zip(columns, gone, scores.log_singles, strict=True)
        ]
        terms = [_superparent(scores, columns, gone, parent, state) for parent in range(len(columns))]
        sums = [choose(below(may, 0.5), number(IMPOSSIBLE), term) for may, term in zip(allowed, terms, strict=True)]
        found.append(choose(none, total(singles), log_sum_exp(sums)) + log_prior)
    return found


def _allowed(column: _Column, flags: BoolArray) -> Expression:
    """1 where the row's level may be a superparent; a missing one where any of its levels may."""
    entries = column.entries(np.asarray(flags, dtype=np.float64))
    entries[column.places == _GONE] = float(np.any(flags[: column.n_levels]))
    return lookup([column.slot], entries)


def _superparent(
    scores: SuperparentScores, columns: Sequence[_Column], gone: Sequence[Expression | None], parent: int, state: int
) -> Expression:
    """log p(x_i | class) prod p(x_j | x_i, class), a missing x_i summed out."""
    own = columns[parent]
    single = scores.log_singles[parent][:, state]
    others = [c for c in range(len(columns)) if c != parent]
    tables = {c: columns[c].entries(scores.log_pair(parent, c)[:, :, state], 1) for c in others}
    shown = [
        _choose(gone[c], number(0.0), lookup([own.slot, columns[c].slot], own.entries(tables[c], 0))) for c in others
    ]
    seen = total([lookup([own.slot], own.entries(single)), *shown])
    if gone[parent] is None:
        return seen
    levels = [
        total(
            [
                number(single[level]),
                *(_choose(gone[c], number(0.0), lookup([columns[c].slot], tables[c][level])) for c in others),
            ]
        )
        for level in np.flatnonzero(scores.allowed[parent][: own.n_levels]).tolist()
    ]
    return _choose(gone[parent], log_sum_exp(levels) if levels else number(IMPOSSIBLE), seen)


def _of_superparent_pairs(scores: SuperparentPairScores, columns: Sequence[_Column]) -> list[Expression]:
    gone = [column.is_gone() for column in columns]
    fewer = _of_superparents(scores.of_one, columns)
    if not scores.pairs:
        return fewer
    allowed = [_allowed_pair(scores, columns, pair) for pair in scores.pairs]
    n_allowed = total(allowed)
    terms = []
    for state, log_prior in enumerate(scores.log_prior.tolist()):
        sums = [
            choose(below(may, 0.5), number(IMPOSSIBLE), _superparent_pair(scores, columns, gone, pair, state))
            for pair, may in zip(scores.pairs, allowed, strict=True)
        ]
        terms.append(choose(below(n_allowed, 0.5), fewer[state], log_sum_exp(sums) + log_prior))
    return terms


def _allowed_pair(scores: SuperparentPairScores, columns: Sequence[_Column], pair: tuple[int, int]) -> Expression:
    """1 where the levels of both columns occur together often enough."""
    return _at_pair(columns, pair, scores.allows(scores.frequency(pair)).astype(np.float64))


def _at_pair(columns: Sequence[_Column], pair: tuple[int, int], table: FloatArray) -> Expression:
    """The entry of a table of two columns, 0 where one of them is missing or unseen."""
    one, other = (columns[c] for c in pair)
    padded = np.pad(table, ((0, 1), (0, 1)))
    return lookup([one.slot, other.slot], other.entries(one.entries(padded, 0), 1))


def _superparent_pair(
    scores: SuperparentPairScores,
    columns: Sequence[_Column],
    gone: Sequence[Expression | None],
    pair: tuple[int, int],
    state: int,
) -> Expression:
    """log p(x_i | class) p(x_j | x_i, class) prod p(x_k | x_i, x_j, class) over the present cells."""
    one, other = (columns[c] for c in pair)
    terms = [_at_pair(columns, pair, scores.log_start(pair)[:, :, state])]
    for c, column in enumerate(columns):
        if c not in pair and column.n_levels:
            table = np.pad(scores.log_triple(pair, c)[..., state], ((0, 1), (0, 1), (0, 0)))
            entries = column.entries(other.entries(one.entries(table, 0), 1), 2)
            term = lookup([one.slot, other.slot, column.slot], entries)
            terms.append(_choose(gone[c], number(0.0), term))
    return total(terms)


# -- any graph ----------------------------------------------------------------------------------------------------
def _of_graph(scores: GraphScores, columns: Sequence[_Column]) -> list[Expression]:
    """Unseen levels are treated as missing, as in the model."""
    gone = [found for column in columns if (found := column.is_gone(unseen=True)) is not None]
    whole = _of_complete(scores, columns)
    if not gone:
        return whole
    elimination = _Elimination(scores, columns)
    some = either(*gone)
    return [choose(some, elimination.log_sum(state), each) for state, each in enumerate(whole)]


def _of_complete(scores: GraphScores, columns: Sequence[_Column]) -> list[Expression]:
    terms: list[list[Expression]] = []
    if scores.of_class is None:
        terms.append([number(p) for p in scores.log_prior.tolist()])
    else:
        above = scores.of_class.parents
        of_states = np.moveaxis(scores.of_class.log_table[0], -1, 0)
        terms.append([_cell_of(columns, above, of_states[state]) for state in range(scores.n_states)])
    for family in scores.families:
        scope = (*family.parents, family.column)
        tables = [family.log_table[state if family.by_class else 0] for state in range(scores.n_states)]
        terms.append([_cell_of(columns, scope, table) for table in tables])
    return [total(of_class) for of_class in zip(*terms, strict=True)]


def _cell_of(columns: Sequence[_Column], scope: Sequence[int], table: FloatArray) -> Expression:
    """The entry of a table without positions for unseen levels; in rows that have one it is never used."""
    for axis, c in enumerate(scope):
        if columns[c].n_levels:
            padded = np.concatenate([table, np.zeros_like(table.take([0], axis))], axis)
            table = columns[c].entries(padded, axis)
        else:  # a column without levels counts as one of a single level
            table = (
                table.take(np.zeros(len(columns[c].places), dtype=np.int64), axis)
                if table.shape[axis]
                else (np.zeros((*table.shape[:axis], len(columns[c].places), *table.shape[axis + 1 :])))
            )
    return lookup([columns[c].slot for c in scope], table)


class _Elimination:
    """Variable elimination: the sum over all levels consistent with a row, on tables of expressions."""

    def __init__(self, scores: GraphScores, columns: Sequence[_Column]) -> None:
        self.scores, self.columns = scores, columns
        self.sizes = [column.n_levels for column in columns]
        self.order = self._order()
        self.evidence = [[self._allows(column, level) for level in range(column.n_levels)] for column in columns]

    def _scopes(self) -> list[tuple[int, ...]]:
        scopes = [(*family.parents, family.column) for family in self.scores.families]
        return [*scopes, self.scores.of_class.parents] if self.scores.of_class is not None else scopes

    def _order(self) -> list[int]:
        """The elimination order, greedily by the smallest table."""
        scopes = [{c for c in scope if self.sizes[c]} for scope in self._scopes()]
        left, order, entries = {c for c, size in enumerate(self.sizes) if size}, [], 0
        while left:
            tables = {c: set().union(*(scope for scope in scopes if c in scope)) for c in left}
            cost = {c: math.prod(self.sizes[other] for other in tables[c]) for c in left}
            best = min(left, key=lambda c: (cost[c], c))
            entries += cost[best]
            scopes = [scope for scope in scopes if best not in scope] + [tables[best] - {best}]
            left.remove(best)
            order.append(best)
        if entries * self.scores.n_states > MOST_ENTRIES:
            raise ExportError(
                f"to sum missing cells out of this graph takes tables of {entries * self.scores.n_states:,} entries; "
                f"at most {MOST_ENTRIES:,} are exported",
                fix="fit a model with fewer parents (k=1, or model='tan'), or with fewer levels",
            )
        return order

    @staticmethod
    def _allows(column: _Column, level: int) -> Expression:
        """1 where the row has the level, or a missing or unseen one."""
        entries = ((column.places == level) | (column.places == _GONE) | (column.places == column.n_levels)) * 1.0
        return lookup([column.slot], entries)

    def log_sum(self, state: int) -> Expression:
        """log p(row, class)."""
        factors = self._factors(state)
        for c in self.order:
            mine = [factor for factor in factors if c in factor[0]]
            factors = [factor for factor in factors if c not in factor[0]]
            factors.append(self._without(c, mine))
        share = reduce(mul, (table[()] for _, table in factors), number(1.0))
        none = below(share, 1e-300)
        log_prior = number(0.0) if self.scores.of_class is not None else number(self.scores.log_prior[state])
        return choose(none, number(IMPOSSIBLE), log(choose(none, number(1.0), share)) + log_prior)

    def _factors(self, state: int) -> list[_Factor]:
        factors = []
        for family in self.scores.families:
            table = np.exp(family.log_table[state if family.by_class else 0])
            factors.append(self._factor((*family.parents, family.column), table))
        if self.scores.of_class is not None:
            table = np.exp(self.scores.of_class.log_table[0][..., state])
            factors.append(self._factor(self.scores.of_class.parents, table))
        return factors

    def _factor(self, scope: tuple[int, ...], table: FloatArray) -> _Factor:
        """A factor of constants; a column without levels contributes none."""
        if 0 in table.shape:
            return (), {(): number(1.0)}
        for axis in reversed(range(len(scope))):
            if not self.sizes[scope[axis]]:
                table = np.asarray(table.take(0, axis))
        kept = tuple(c for c in scope if self.sizes[c])
        return kept, {place: number(float(entry)) for place, entry in np.ndenumerate(table)}

    def _without(self, c: int, factors: Sequence[_Factor]) -> _Factor:
        scope = tuple(sorted({other for own, _ in factors for other in own} - {c}))
        table = {}
        for place in product(*(range(self.sizes[other]) for other in scope)):
            at = dict(zip(scope, place, strict=True))
            terms = []
            for level, allowed in enumerate(self.evidence[c]):
                at[c] = level
                terms.append(reduce(mul, (of[tuple(at[other] for other in own)] for own, of in factors), allowed))
            table[place] = total(terms)
        return scope, table


_Factor = tuple[tuple[int, ...], dict[tuple[int, ...], Expression]]
