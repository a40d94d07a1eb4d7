"""Pairs of columns that say more together than one by one, as products of numbers and indicators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.models.description_length.discretising import codes_of
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema

GRID = 5  # indicators of a number that is crossed with another column
MOST_PAIRS = 8  # columns that are crossed


@dataclass(frozen=True, eq=False)
class Crossing:
    """Pairs of columns whose numbers and indicators are multiplied: those that say more together than one by one."""

    pairs: tuple[tuple[str, str], ...]
    grid: Mapping[str, tuple[float, ...]]  # the quantiles of each number, about which it has indicators here
    centre: Mapping[str, float]
    unit: Mapping[str, float]
    categories: tuple[str, ...]  # of the table

    @classmethod
    def of(
        cls, schema: Schema, batch: Batch, levels: tuple[Vocabulary, ...], weights: FloatArray, mean: FloatArray
    ) -> Crossing:
        """The pairs whose table of the class gains most over their columns as if independent given the class.

        The gain is in nats, less one for each number that the table has more; at most MOST_PAIRS pairs are crossed.
        """
        filled = np.where(np.isnan(batch.values), mean, batch.values)
        grid = {name: _quantiles(filled[:, k]) for k, name in enumerate(schema.numbers)}
        codes = {name: codes_of(filled[:, k], np.array(grid[name])) for k, name in enumerate(schema.numbers)}
        for k, name in enumerate(schema.categories):
            position = np.append(batch.vocabularies[k].positions_in(levels[k]) + 1, [0, 0])
            codes[name] = position[batch.codes[:, k]]  # all that has no indicator is one level
        groups, n_groups = np.asarray(batch.groups), len(batch.group_labels)
        names = [name for name in schema.used if name in codes and codes[name].max(initial=0) > 0]
        gains = {
            (one, other): _gain(codes[one], codes[other], groups, n_groups, weights)
            for k, one in enumerate(names)
            for other in names[k + 1 :]
        }
        pairs = sorted((pair for pair, gain in gains.items() if gain > 0.0), key=lambda pair: -gains[pair])[:MOST_PAIRS]
        used = {name for pair in pairs for name in pair}
        place = {name: k for k, name in enumerate(schema.numbers) if name in used}
        spread = {
            name: float(np.sqrt(np.average((filled[:, k] - mean[k]) ** 2, weights=weights)))
            for name, k in place.items()
        }
        return cls(
            tuple(pairs),
            {name: grid[name] for name in place},
            {name: float(mean[k]) for name, k in place.items()},
            {name: found if found > 0.0 else 1.0 for name, found in spread.items()},
            schema.categories,
        )

    def names(self, levels: tuple[Vocabulary, ...]) -> list[tuple[str, str, int]]:
        """(one, other, which) of each product."""
        size = {name: 1 + len(cuts) for name, cuts in self.grid.items()}
        found = []
        for one, other in self.pairs:
            n_products = size.get(one, self._n_levels(one, levels)) * size.get(other, self._n_levels(other, levels))
            found += [(one, other, k + 1) for k in range(n_products)]
        return found

    def _n_levels(self, name: str, levels: tuple[Vocabulary, ...]) -> int:
        return len(levels[self.categories.index(name)]) if name in self.categories else 0

    def products(
        self, table: Schema, filled: FloatArray, batch: Batch, levels: tuple[Vocabulary, ...]
    ) -> list[FloatArray]:
        """(n_rows, n_products) of each pair."""
        basis: dict[str, FloatArray] = {}
        for name in {name for pair in self.pairs for name in pair}:
            if name in self.grid:
                x = filled[:, table.numbers.index(name)]
                above = x[:, None] >= np.array(self.grid[name])
                basis[name] = np.column_stack([(x - self.centre[name]) / self.unit[name], above])
            else:
                k = table.categories.index(name)
                basis[name] = indicators(batch.codes[:, k], batch.vocabularies[k], levels[k])
        return [
            (basis[one][:, :, None] * basis[other][:, None, :]).reshape(batch.n_rows, -1) for one, other in self.pairs
        ]


def _quantiles(x: FloatArray) -> tuple[float, ...]:
    """Up to GRID numbers that divide the values into parts of the same size."""
    found = np.unique(np.quantile(x, np.arange(1, GRID + 1) / (GRID + 1.0), method="inverted_cdf"))
    return tuple(found[found > x.min(initial=np.inf)].tolist())


def _gain(one: IntArray, other: IntArray, groups: CodeArray, n_groups: int, weights: FloatArray) -> float:
    """Nats that a table of the class by both columns gains over both as if independent, less one for each number."""
    n_one, n_other = int(one.max()) + 1, int(other.max()) + 1
    cells = np.bincount((one * n_other + other) * n_groups + groups, weights, n_one * n_other * n_groups)
    table = cells.reshape(n_one, n_other, n_groups)
    by_class = table.sum(axis=(0, 1))
    first, second = table.sum(axis=1), table.sum(axis=0)  # (n_one, n_groups), (n_other, n_groups)
    independent = first[:, None, :] * second[None, :, :] / np.where(by_class > 0.0, by_class, 1.0)
    together = table / np.maximum(table.sum(axis=2, keepdims=True), 1.0)
    apart = independent / np.maximum(independent.sum(axis=2, keepdims=True), 1e-300)
    seen = table > 0.0
    nats = float((table[seen] * np.log(together[seen] / apart[seen])).sum())
    return nats - float((n_one - 1) * (n_other - 1) * (n_groups - 1))


def indicators(codes: CodeArray, labels: Vocabulary, levels: Vocabulary) -> FloatArray:
    """(n_rows, n_levels) 1 where a row has the level."""
    place = np.append(labels.positions_in(levels), [-1, -1])[codes]  # codes -2 and -1 mean nothing
    block = np.zeros((len(codes), len(levels)))
    rows = np.flatnonzero(place >= 0)
    block[rows, place[rows]] = 1.0
    return block
