"""The local sweep: ranges of rows on threads, batches as they come, all of it one merge.

Kernels are single-threaded on the rows they get and release the GIL, so threads, batches, files and partitions are the
same thing: statistics to be merged, in any order, with the same bytes as a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from bayeswise.engines.request import ColumnStatistic, Request
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NonFiniteError, SupportError, TooLargeError
from bayeswise.foundation.threads import available, each
from bayeswise.statistics import Grouped, Product, Weights
from bayeswise.statistics.counts.column_counts import CodedCounts
from bayeswise.tables.batch import Batch, TextBlock
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema, positions_in

ROWS = "rows"


@dataclass(frozen=True)
class Summary:
    """What a sweep found: the statistics of the rows with a target, and how many rows had none."""

    statistics: Grouped[Product]
    n_rows: int
    n_without_target: int


def summarise(
    batches: Iterable[Batch],
    schema: Schema,
    request: Request,
    *,
    progress: Callable[[int], None] | None = None,
) -> Summary:
    """The statistics of a request, grouped by the target (one group named "" if there is none)."""
    declared = schema.target.classes if schema.target else None
    coded: list[_Coded] = []  # one for each time that the codes came to mean more
    for batch in batches:
        found = _of_batch(batch, schema, request)
        if coded and coded[-1].labels == found.labels:
            coded[-1] = coded[-1].merge(found)
        else:
            coded.append(found)
        if progress is not None:
            progress(batch.n_rows)
    if not coded:
        return Summary(_settled(_of_nothing(schema, request, declared)), 0, 0)
    summary = reduce(merged, [part.summary(declared) for part in coded])
    return replace(summary, statistics=_settled(summary.statistics))


@dataclass(frozen=True)
class _Coded:
    """The statistics of rows by code of their class: batches whose codes mean the same merge without their labels."""

    labels: Vocabulary
    part: Product
    n_rows: int
    n_without_target: int

    def merge(self, other: _Coded) -> _Coded:
        n_without_target = self.n_without_target + other.n_without_target
        return _Coded(self.labels, self.part.merge(other.part), self.n_rows + other.n_rows, n_without_target)

    def summary(self, declared: Vocabulary | None) -> Summary:
        return Summary(Grouped.of(self.labels, self.part, declared), self.n_rows, self.n_without_target)


def of_no_rows(schema: Schema, request: Request) -> Grouped[Product]:
    """The statistics of a request, of no rows at all: which parts there are, and over which columns."""
    return _settled(_of_nothing(schema, request, schema.target.classes if schema.target else None))


def _settled(found: Grouped[Product]) -> Grouped[Product]:
    """Counts by code in canonical order."""
    parts = {name: part.settled() if isinstance(part, CodedCounts) else part for name, part in found.part.parts.items()}
    return replace(found, part=Product(parts))


def _of_batch(batch: Batch, schema: Schema, request: Request) -> _Coded:
    labels = batch.group_labels if batch.groups is not None else Vocabulary([""])
    ranges = row_ranges(batch.n_rows, available())
    part = reduce(Product.merge, each(lambda rows: _of_range(batch, schema, request, len(labels), rows), ranges))
    without = 0 if batch.groups is None else int(np.count_nonzero(batch.groups < 0))
    return _Coded(labels, part, batch.n_rows, without)


def _of_range(batch: Batch, schema: Schema, request: Request, n_groups: int, rows: slice) -> Product:
    groups = None if batch.groups is None else batch.groups[rows]
    weights = None if batch.weights is None else batch.weights[rows]
    n_rows = rows.stop - rows.start
    parts: dict[str, Any] = {ROWS: Weights.of(n_rows, groups, n_groups, weights)}
    for name, statistic in request.statistics.items():
        block = _block(batch, schema, statistic, rows)
        refuse_too_large(statistic, block, n_groups)
        try:
            parts[name] = statistic.summarise(*block, groups, n_groups, weights)
        except (NonFiniteError, SupportError) as error:
            row, column = batch.place(rows.start + error.row), statistic.columns[int(error.column)]
            raise error.at(row=row, column=column) from None
    return Product(parts)


def _block(batch: Batch, schema: Schema, statistic: ColumnStatistic, rows: slice) -> tuple[Any, ...]:
    """The columns of a statistic, for a range of rows: numbers, or codes with their vocabularies, or word counts."""
    if statistic.block == "numbers":
        return (_columns(batch.values, schema.numbers, statistic.columns)[rows],)
    if statistic.block == "categories":
        codes = _columns(batch.codes, schema.categories, statistic.columns)[rows]
        if statistic.columns == schema.categories:
            return codes, batch.vocabularies
        positions = positions_in(schema.categories, statistic.columns).tolist()
        return codes, tuple(batch.vocabularies[position] for position in positions)
    text = batch.texts[schema.texts.index(statistic.columns[0])]
    return text.rows(rows).counts, text.vocabulary


def _columns(block: Any, names: tuple[str, ...], selected: tuple[str, ...]) -> Any:
    """A view without a copy where the selected columns are consecutive."""
    if selected == names:
        return block
    positions = positions_in(names, selected).tolist()
    start = positions[0] if positions else 0
    if positions == list(range(start, start + len(positions))):
        return block[:, start : start + len(positions)]
    return block[:, positions]


def _of_nothing(schema: Schema, request: Request, declared: Vocabulary | None) -> Grouped[Product]:
    """The statistics of no rows: what an empty table answers, and where a sweep starts."""
    none = Vocabulary()
    vocabularies = tuple(levels or none for levels in schema.levels_of(schema.categories))
    empty = Batch(
        n_rows=0,
        values=np.zeros((0, len(schema.numbers))),
        codes=np.zeros((0, len(schema.categories)), dtype=np.int32),
        vocabularies=vocabularies,
        texts=tuple(_empty_text() for _ in schema.texts),
        groups=np.zeros(0, dtype=np.int32),
    )
    part = _of_range(empty, schema, request, 0, slice(0, 0))
    return Grouped.of(Vocabulary(), part, declared)


def _empty_text() -> TextBlock:
    from scipy.sparse import csr_matrix  # late: models of numbers and categories do not need it

    return TextBlock(csr_matrix((0, 0)), Vocabulary())


def merged(left: Summary, right: Summary) -> Summary:
    """What both found together."""
    if not left.n_rows or not right.n_rows:
        return right if right.n_rows else left
    return Summary(
        left.statistics.merge(right.statistics),
        left.n_rows + right.n_rows,
        left.n_without_target + right.n_without_target,
    )


MOST_ENTRIES = 1 << 28
"""Entries of 8 bytes in one table of counts or sums; threads and merges hold a few such tables at a time."""

_LIMBS = 6  # 8-byte words of an exact sum of products, in the middle of a merge
_WORDS = {"numbers": "columns of numbers", "categories": "levels", "text": "words"}
_ENTRIES = {"numbers": 16, "categories": 1, "text": 1}  # a number has the limbs of a weight, a sum and a sum of squares


def refuse_too_large(statistic: ColumnStatistic, block: tuple[Any, ...], n_groups: int) -> None:
    """`TooLargeError` for more classes times levels than an ordinary machine holds: often the target is an id."""
    if statistic.in_pairs:
        _refuse_pairs(len(statistic.columns), n_groups)
        return
    width = len(statistic.columns) if statistic.block == "numbers" else sum(map(len, _vocabularies(statistic, block)))
    n_entries = n_groups * width * _ENTRIES[statistic.block]
    if n_entries <= MOST_ENTRIES or (statistic.sparse and n_groups * len(statistic.columns) <= MOST_ENTRIES):
        return
    widths = _widths(statistic, block)
    widest = max(widths, key=lambda name: widths[name])
    raise TooLargeError(
        f"{n_groups:,} classes and {width:,} {_WORDS[statistic.block]} would take {8 * n_entries / 1e9:,.1f} GB; "
        f"at most {8 * MOST_ENTRIES / 1e9:.1f} are taken",
        fix=f"choose a target with fewer classes, or ignore=[{widest!r}] (--ignore {widest})",
    )


def _refuse_pairs(n_columns: int, n_groups: int) -> None:
    """Covariances have an exact sum for each pair of columns in each class."""
    n_entries = max(n_groups, 1) * _LIMBS * 0.5 * n_columns * (n_columns + 1.0)
    if n_entries > MOST_ENTRIES:
        classes = f" in {n_groups:,} classes" if n_groups > 1 else ""
        raise TooLargeError(
            f"the sums of all pairs of {n_columns:,} columns{classes}, which their covariances need, would take "
            f"{8 * n_entries / 1e9:,.1f} GB{'' if n_groups > 1 else ' or more'}; "
            f"at most {8 * MOST_ENTRIES / 1e9:.1f} are taken",
            fix="choose covariance='diagonal' (--covariance diagonal), which keeps variances only, or fewer columns",
        )


def _widths(statistic: ColumnStatistic, block: tuple[Any, ...]) -> dict[str, int]:
    """How many entries of a class each column has."""
    if statistic.block == "numbers":
        return dict.fromkeys(statistic.columns, 1)
    return {name: len(known) for name, known in zip(statistic.columns, _vocabularies(statistic, block), strict=True)}


def _vocabularies(statistic: ColumnStatistic, block: tuple[Any, ...]) -> Sequence[Vocabulary]:
    return block[1] if statistic.block == "categories" else [block[1]]


ROWS_WORTH_A_THREAD = 20_000


def row_ranges(n_rows: int, n_ranges: int) -> list[slice]:
    """At most `n_ranges` ranges, each worth a thread.

    >>> row_ranges(100, 4), row_ranges(50_000, 4)
    ([slice(0, 100, None)], [slice(0, 25000, None), slice(25000, 50000, None)])
    """
    useful = min(n_ranges, n_rows // ROWS_WORTH_A_THREAD)
    if useful <= 1:
        return [slice(0, n_rows)]
    edges = np.linspace(0, n_rows, useful + 1).astype(int).tolist()
    return [slice(first, last) for first, last in pairwise(edges)]


def over_ranges(work: Callable[[slice], None], n_rows: int) -> None:
    """Do the work for every range of rows; the first error is raised."""
    if n_rows < 2 * ROWS_WORTH_A_THREAD:
        work(slice(0, n_rows))
    else:
        each(work, row_ranges(n_rows, available()))
