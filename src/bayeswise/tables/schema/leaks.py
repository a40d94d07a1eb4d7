"""Columns that give the target away: swept beside it, for as long as no row says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import field
from itertools import compress, islice
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.foundation.arrays import CodeArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.tables.partitions import NearSource
from bayeswise.tables.schema.columns import LABELLED
from bayeswise.tables.schema.notes import Advice, leave_out
from bayeswise.tables.schema.profile import ColumnProfile
from bayeswise.tables.source import Chunk, Source
from bayeswise.tables.sources.table import TableSource

if TYPE_CHECKING:
    from bayeswise.tables.schema.inference import Examination
    from bayeswise.tables.schema.kinds import Finding

_MOST_VALUES = 1000
_ROWS_PER_VALUE = 10
_FIRST_ROWS = 64


def find_leaks(source: Source, examination: Examination) -> tuple[Advice, ...]:
    """Those among the columns with few values."""
    names = [finding.column.name for finding in examination.findings if _is_suspect(finding)]
    if examination.target is None or examination.target.problem is not None:
        return ()
    return _among(source, examination.target.target.name, names)


def _is_suspect(finding: Finding) -> bool:
    labelled = finding.column.kind in (*LABELLED, "number", "count")
    return labelled and finding.problem is None and 2 <= finding.profile.distinct <= _MOST_VALUES


def copies_in_fit(source: Source, examination: Examination, numbers: Sequence[str]) -> tuple[Advice, ...]:
    """Columns that copy the target, for a fit: hardly a row is read unless there is one.

    A column that copies the target has as many cells of its values as there are of the classes. `numbers` are columns
    without a profile: two rows of one class agree in them, which is looked up in memory, but not in a file that is read
    once. A table that is spread over machines is not searched: it would need one more pass.
    """
    table, target = _table_of(source), examination.target
    if table is None or target is None:
        return ()
    profiled = [finding.column.name for finding in examination.findings if _may_copy(finding, target.profile)]
    table.chunk_rows = min(table.chunk_rows, _FIRST_ROWS)
    name = target.target.name
    equal = [] if isinstance(source, NearSource) else _equal_in_two_rows(table, name, numbers)
    return _among(table, name, [*profiled, *equal])


def _may_copy(finding: Finding, target: ColumnProfile) -> bool:
    column = finding.profile
    if not _is_suspect(finding) or column.distinct != target.distinct:
        return False
    missing = column.rows - column.present + target.rows - target.present
    counts = [sorted(count for _, count in each.levels) for each in (column, target)]
    apart: int = sum(abs(one - other) for one, other in zip(*counts, strict=False))
    return apart <= missing


def _table_of(source: Source) -> TableSource | None:
    """The table on this machine behind a source, as a copy; None for others, and for a rehearsal of a fit."""
    if isinstance(source, NearSource) and type(source) is not NearSource:
        return None
    table = getattr(source, "source", source)
    return copy(table) if isinstance(table, TableSource) else None


def _equal_in_two_rows(source: TableSource, target: str, names: Sequence[str]) -> list[str]:
    """Those of some numbers that are equal in two of the first rows, which are of one class."""
    for chunk in source.first_chunk([target, *names]) if names else ():
        groups = chunk.labels(target)[0]
        rows_of = np.bincount(groups[groups >= 0], minlength=1)  # by class
        if rows_of.max() > 1:
            one, other = np.flatnonzero(groups == rows_of.argmax())[:2]
            values = chunk.block(names)[0]
            return list(compress(names, values[one] == values[other]))
    return []


def _among(source: Source, target: str, names: Sequence[str]) -> tuple[Advice, ...]:
    """Leaks among some columns; those that the first chunk refutes are not swept again."""
    tallies: dict[str, Tally] = {}
    for n_chunks in (1, None):
        if not names:
            return ()
        tallies = _tallied(islice(source.chunks([target, *names]), n_chunks), target, names)
        names = list(tallies)
    verdicts = {name: tally.verdict() for name, tally in tallies.items()}
    return tuple(
        Advice(name, f"{verdict}; will it be known before the answer?", f"if not: {leave_out(name)}")
        for name, verdict in verdicts.items()
        if verdict
    )


def _tallied(chunks: Iterable[Chunk], target: str, names: Sequence[str]) -> dict[str, Tally]:
    """The tallies of columns that no row refutes."""
    tallies = {name: Tally() for name in names}
    for chunk in chunks:
        groups = chunk.labels(target)[0]
        for name in list(tallies):
            tallies[name].observe(chunk.labels(name)[0], groups)
            if tallies[name].is_refuted:
                del tallies[name]
        if not tallies:
            break
    return tallies


@dataclass
class Tally:
    """Which values occur with which classes.

    >>> tally = Tally()
    >>> tally.observe(np.array([0, 1, 0, 1], dtype=np.int32), np.array([1, 0, 1, 0], dtype=np.int32))
    >>> tally.verdict()
    'it copies the target'
    """

    rows: int = 0
    pairs: set[int] = field(default_factory=set)

    def observe(self, codes: CodeArray, groups: CodeArray) -> None:
        both = (codes >= 0) & (groups >= 0)
        self.rows += int(np.count_nonzero(both))
        pairs = (codes[both].astype(np.int64) << 32) | groups[both]
        self.pairs.update(np.unique(pairs).tolist())

    @property
    def is_refuted(self) -> bool:
        """Whether some value goes with two classes, or there are too many values; no row can change that."""
        return len(self.pairs) > min(len(self._values), _MOST_VALUES)

    @property
    def _values(self) -> set[int]:
        return {pair >> 32 for pair in self.pairs}

    def verdict(self) -> str:
        """What the pairs say, empty if nothing."""
        values = self._values
        classes = {pair & 0xFFFFFFFF for pair in self.pairs}
        if len(classes) < 2 or self.is_refuted:
            return ""
        if len(values) == len(classes):
            return "it copies the target" if self.rows >= 2 * len(values) else ""
        return "each of its values goes with one class" if self.rows >= _ROWS_PER_VALUE * len(values) else ""
