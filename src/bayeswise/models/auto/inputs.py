"""What a member sees of a row: the row as it is, without its texts, or everything as numbers.

Gaussian classes and regressions take numbers. Categories become indicators of their levels, a missing cell the mean of
its column and an indicator that it is missing, a text an indicator for each word that separates the classes. Means,
levels and words are learned from the rows that the member learns from.
Pairs of columns that say more together than one by one are crossed: products of numbers and indicators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.models.auto.text_words import informative_words, presence
from bayeswise.models.description_length.bits import codes_of, cut_points
from bayeswise.store.fields import added_later
from bayeswise.tables.batch import MISSING, Batch
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.schema import Schema

RARE = 5.0  # a level with less weight has no indicator of its own


@dataclass(frozen=True)
class WithoutTexts:
    """The rows of a table without its free text, for members that cannot read it."""

    table: Schema
    keeps_categories: ClassVar[bool] = True

    @classmethod
    def of(cls, schema: Schema, batch: Batch) -> WithoutTexts:
        """Rows determine nothing here."""
        return cls(schema)

    @cached_property
    def schema(self) -> Schema:
        """The columns that the member sees."""
        return self.table.with_forms(_text_ignored)

    def batch(self, batch: Batch) -> Batch:
        """The rows as the member sees them."""
        return replace(batch, texts=()) if batch.texts else batch

    def columns_of(self, name: str) -> tuple[str, ...]:
        """The columns of the table that a column of the member belongs to."""
        return (name,)


def _text_ignored(column: Column) -> Column:
    return replace(column, kind="ignored", reason="free text") if column.kind == "text" else column


@dataclass(frozen=True, eq=False)
class AsNumbers:
    """Every column as one number or several.

    A category is an indicator for each level but rare ones and, unless trees ask, the most frequent one. `fill` stands
    where a number is missing; without it a missing number stays missing. `flagged` columns have an indicator of missing
    cells. Columns with `cuts` have, beside their number, an indicator of being above each of them. Of two columns that
    are crossed, all numbers and indicators are multiplied with each other. Texts are left out unless `words` has an
    indicator for some of theirs.
    """

    table: Schema
    levels: tuple[Vocabulary, ...]  # for each category those with an indicator
    flagged: tuple[str, ...]
    fill: FloatArray | None  # (n_numbers,)
    cuts: Mapping[str, tuple[float, ...]]
    crossed: Crossing | None = None
    words: tuple[Vocabulary, ...] = added_later(())  # for each text those with an indicator
    keeps_categories: ClassVar[bool] = False

    @classmethod
    def of(
        cls,
        schema: Schema,
        batch: Batch,
        *,
        filled: bool = True,
        cut: bool = False,
        crossed: bool = False,
        words: bool = False,
        every_level: bool = False,
    ) -> AsNumbers:
        """The indicators and means of these rows; with `every_level` the most frequent level has one, too."""
        weights = batch.row_weights
        there = ~np.isnan(batch.values)
        incomplete = [
            name
            for name, whole in zip(schema.numbers, np.asarray(there.all(axis=0)), strict=True)
            if not whole and filled
        ]
        incomplete += [name for place, name in enumerate(schema.categories) if (batch.codes[:, place] == MISSING).any()]
        levels = tuple(
            _frequent(batch.codes[:, k], weights, known, every_level) for k, known in enumerate(batch.vocabularies)
        )
        cuts = _cuts(schema, batch, weights) if cut else {}
        mean = _means(batch.values, there, weights) if filled else None
        crossing = Crossing.of(schema, batch, levels, weights, mean) if crossed and mean is not None else None
        groups, n_groups = np.asarray(batch.groups), len(batch.group_labels)
        informative = tuple(informative_words(each, groups, n_groups, weights) for each in batch.texts) if words else ()
        return cls(schema, levels, tuple(incomplete), mean, cuts, crossing, informative)

    def refuse_impossible(self) -> None:
        """Words of more or fewer texts than there are."""
        if self.words and len(self.words) != len(self.table.texts):
            raise SchemaError("the words are not those of the texts")

    # -- which numbers ----------------------------------------------------------------------------------------
    @cached_property
    def features(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """(name, columns of the table) of each number; every name once."""
        found: list[tuple[str, tuple[str, ...]]] = [(name, (name,)) for name in self.table.numbers]
        found += [(f"{name} from {cut:g}", (name,)) for name in self.table.numbers for cut in self.cuts.get(name, ())]
        for name, levels in zip(self.table.categories, self.levels, strict=True):
            found += [(f"{name}={level}", (name,)) for level in levels]
        found += [(f"{name} is missing", (name,)) for name in self.flagged]
        if self.crossed is not None:
            found += [(f"{one} x {other} {k}", (one, other)) for one, other, k in self.crossed.names(self.levels)]
        found += [(f"{name}: {word}", (name,)) for name, word in self._word_features]
        taken: set[str] = set()
        for k, (name, columns) in enumerate(found):
            while name in taken:
                name += "'"
            taken.add(name)
            found[k] = name, columns
        return tuple(found)

    @property
    def _word_features(self) -> list[tuple[str, Label]]:
        """(text, word) of each indicator; without words there are none."""
        return [(name, word) for name, words in zip(self.table.texts, self.words, strict=False) for word in words]

    @cached_property
    def word_of(self) -> dict[str, tuple[str, str]]:
        """The text and the word of each number that stands for one; words are the last of the numbers."""
        words = self._word_features
        names = [name for name, _ in self.features[len(self.features) - len(words) :]]
        return {name: (text, str(word)) for name, (text, word) in zip(names, words, strict=True)}

    @cached_property
    def schema(self) -> Schema:
        """The columns that the member sees: numbers only."""
        columns = tuple(Column(name, "number") for name, _ in self.features)
        return Schema(columns, self.table.target, self.table.weight)

    @cached_property
    def _origin(self) -> dict[str, tuple[str, ...]]:
        return dict(self.features)

    def columns_of(self, name: str) -> tuple[str, ...]:
        """The columns of the table that a number of the member belongs to."""
        return self._origin[name]

    # -- the numbers of rows ----------------------------------------------------------------------------------
    def batch(self, batch: Batch) -> Batch:
        """The rows as the member sees them."""
        parts: list[FloatArray] = []
        values = batch.values
        filled = values if self.fill is None else np.where(np.isnan(values), self.fill, values)
        parts.append(filled)
        for name, cuts in self.cuts.items():
            codes = codes_of(filled[:, self.table.numbers.index(name)], np.array(cuts))
            parts.append((codes[:, None] >= np.arange(1, len(cuts) + 1)).astype(np.float64))
        for place, levels in enumerate(self.levels):
            parts.append(indicators(batch.codes[:, place], batch.vocabularies[place], levels))
        for name in self.flagged:
            if name in self.table.numbers:
                gone = np.isnan(values[:, self.table.numbers.index(name)])
            else:
                gone = batch.codes[:, self.table.categories.index(name)] == MISSING
            parts.append(gone[:, None].astype(np.float64))
        if self.crossed is not None:
            parts += self.crossed.products(self.table, filled, batch, self.levels)
        for place, words in enumerate(self.words):
            parts.append(presence(batch.texts[place], words))
        numbers = np.ascontiguousarray(np.concatenate(parts, axis=1))
        nothing = np.empty((batch.n_rows, 0), dtype=np.int32)
        return replace(batch, values=numbers, codes=nothing, vocabularies=(), texts=())


def _means(values: FloatArray, there: BoolArray, weights: FloatArray) -> FloatArray:
    """(n_numbers,) of the cells that are there; 0 where none is."""
    total = np.array([weights[keep].sum() for keep in there.T])
    columns = [column[keep] for column, keep in zip(values.T, there.T, strict=True)]
    scales = np.array([scale_of(column) for column in columns])
    parts = zip(columns, there.T, scales.tolist(), strict=True)
    sums = np.array([(weights[keep] * (column * scale)).sum() for column, keep, scale in parts])
    return np.where(total > 0.0, sums / np.where(total > 0.0, total, 1.0) / scales, 0.0)


def scale_of(x: FloatArray) -> float:
    """A power of two that makes sums and squares of very large numbers finite; 1 for all others.

    >>> scale_of(np.array([1e300, 2.0])) == 2.0**-600, scale_of(np.array([1e100]))
    (True, 1.0)
    """
    return 2.0**-600 if float(np.abs(x).max(initial=0.0)) > 1e150 else 1.0


def _frequent(codes: CodeArray, weights: FloatArray, known: Vocabulary, every_level: bool) -> Vocabulary:
    """The levels of a category but rare ones and, unless `every_level`, the most frequent one, in canonical order.

    Where there are two, one of them says all.
    """
    order = Vocabulary.of(known)
    there = codes >= 0
    count = np.bincount(codes[there], weights[there], minlength=len(known))[order.positions_in(known)]
    kept = count >= RARE
    if len(count) and not (every_level and kept.sum() > 2):
        kept[np.argmax(count)] = False
    return Vocabulary([label for label, keep in zip(order, kept.tolist(), strict=True) if keep])


def _cuts(schema: Schema, batch: Batch, weights: FloatArray) -> dict[str, tuple[float, ...]]:
    """Where the classes change along each number, by description length; columns without a cut are left out."""
    groups, n_groups = np.asarray(batch.groups), len(batch.group_labels)
    found = {
        name: tuple(cut_points(batch.values[:, place], groups, n_groups, weights=weights).tolist())
        for place, name in enumerate(schema.numbers)
    }
    return {name: cuts for name, cuts in found.items() if cuts}


# -- pairs of columns -------------------------------------------------------------------------------------------
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
        return [_row_products(basis[one], basis[other]) for one, other in self.pairs]


def _row_products(one: FloatArray, other: FloatArray) -> FloatArray:
    """(n_rows, n_one * n_other) every cell of one times every cell of the other, also of no rows."""
    return (one[:, :, None] * other[:, None, :]).reshape(len(one), one.shape[1] * other.shape[1])


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
