"""Tables for tests of network classifiers: columns that depend on the class and on each other, with missing values."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeswise.networks.classifiers import NetworkClassifierModel, learned_network

Table = dict[str, list[Any]]


def fit_network(table: Any, target: str, **overrides: Any) -> NetworkClassifierModel:
    """The classifier of any structure, by its settings."""
    return learned_network(table, target, **overrides)[0]


def dependent_table(seed: int, n_rows: int = 60, n_columns: int = 4, missing: float = 0.0, n_classes: int = 3) -> Table:
    """Each column copies the class or an earlier column half of the time; the class stands under "y"."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(0, n_classes, n_rows)
    columns: list[Any] = []
    for k in range(n_columns):
        n_levels = int(generator.integers(2, 4))
        source = columns[int(generator.integers(k))] if k and generator.random() < 0.6 else classes
        noise = generator.integers(0, n_levels, n_rows)
        columns.append(np.where(generator.random(n_rows) < 0.5, source % n_levels, noise))
    table: Table = {f"c{k}": [f"v{code}" for code in column] for k, column in enumerate(columns)}
    for cells in table.values():
        for row in np.flatnonzero(generator.random(n_rows) < missing).tolist():
            cells[row] = None
    table["y"] = [f"k{code}" for code in classes]
    return table


def rows_of(table: Table, rows: Any) -> Table:
    return {name: [cells[row] for row in rows] for name, cells in table.items()}


def without_class(table: Table) -> Table:
    return {name: cells for name, cells in table.items() if name != "y"}
