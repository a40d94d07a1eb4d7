"""The counts behind a classifier by EM: expected counts of each table, with the rows that have missing cells.

EM depends on the counts and on the distinct rows with missing values, so a model that keeps both merges and forgets
exactly, and its tables are estimated again. It starts from the tables of the present cells.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.settings.network import NetworkSettings
from bayeswise.networks.classifiers.column_graph import Graph
from bayeswise.networks.classifiers.counted import Counted, pseudo_rows_of
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import silent
from bayeswise.networks.learning.em.fitted_tables import Climb, em_steps
from bayeswise.networks.learning.em.incomplete import IncompleteRows, Layout
from bayeswise.statistics import RowsWithMissing
from bayeswise.tables.schema.labels import Vocabulary

_TOLERANCE = 1e-9  # of the objective: the last step gains less
_MOST_STEPS = 2_000


def completed(
    counted: Counted, incomplete: RowsWithMissing, graph: Graph, settings: NetworkSettings, class_weight: FloatArray
) -> Counted:
    """Counts in which each family has the weight of all rows, with expected counts for missing cells."""
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
    """The distinct rows with missing values, once for each of their classes; the class is the last column."""
    codes, weight = incomplete.over(counted.levels), incomplete.weight.to_floats()
    state, row = np.nonzero(weight)
    states = [Vocabulary(range(max(int(size), 1))) for size in counted.sizes]
    with_class = np.column_stack([codes[row], state]).astype(np.int32)
    names = (*(f"c{place}" for place in range(len(states))), "class")
    return CodedRows(names, (*states, Vocabulary(range(n_states))), with_class, weight[state, row])


class _Shape:
    """The tables of a graph concatenated; the class is the last node, and the first parent of a column."""

    def __init__(self, counted: Counted, graph: Graph, n_states: int) -> None:
        self.graph, self.sizes = graph, tuple(int(size) for size in counted.sizes)
        self.n_states, n_columns = n_states, len(self.sizes)
        above = [
            (*((n_columns,) if by_class else ()), *parents)
            for parents, by_class in zip(graph.parents, graph.given_class, strict=True)
        ]
        self.layout = Layout((*(max(size, 1) for size in self.sizes), n_states), (*above, graph.class_parents))

    def flat(self, counted: Counted, class_weight: FloatArray) -> FloatArray:
        """The counts of the present cells."""
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
        """The pseudo-counts of each cell; a class without parents has none."""
        flat = np.zeros(self.layout.starts[-1])
        for node, table in enumerate(self.layout.tables(flat)):
            if node < len(self.sizes) or self.graph.class_parents:
                table[:] = pseudo_rows_of(settings.prior, settings.smoothing, table.shape[1], len(table))
        return flat

    def counted(self, counted: Counted, flat: FloatArray) -> Counted:
        """The counts, with expected ones for the families."""
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
