"""Columns that give the target away: each of their values goes with one class, in rows enough to be no accident."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bayeswise.foundation.arrays import CodeArray
from bayeswise.tables.schema.inference import Examination
from bayeswise.tables.schema.kinds import Finding
from bayeswise.tables.schema.notes import Advice, leave_out
from bayeswise.tables.schema.schema import LABELLED
from bayeswise.tables.source import Source

_MOST_VALUES = 1000
_ROWS_PER_VALUE = 10


def find_leaks(source: Source, examination: Examination) -> tuple[Advice, ...]:
    """One more sweep, over the columns with few values beside the target."""
    names = [finding.column.name for finding in examination.findings if _is_suspect(finding)]
    if examination.target is None or examination.target.problem is not None or not names:
        return ()
    target = examination.target.target.name
    tallies = {name: Tally() for name in names}
    for chunk in source.chunks([target, *names]):
        groups = chunk.labels(target)[0]
        for name, tally in tallies.items():
            tally.observe(chunk.labels(name)[0], groups)
    verdicts = {name: tally.verdict() for name, tally in tallies.items()}
    return tuple(
        Advice(name, f"{verdict}; will it be known before the answer?", f"if not: {leave_out(name)}")
        for name, verdict in verdicts.items()
        if verdict
    )


def _is_suspect(finding: Finding) -> bool:
    labelled = finding.column.kind in (*LABELLED, "number", "count")
    return labelled and finding.problem is None and 2 <= finding.profile.distinct <= _MOST_VALUES


@dataclass
class Tally:
    """Which values were met with which classes.

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

    def verdict(self) -> str:
        """What the pairs say, empty if nothing."""
        values = {pair >> 32 for pair in self.pairs}
        classes = {pair & 0xFFFFFFFF for pair in self.pairs}
        if len(classes) < 2 or len(self.pairs) > len(values):
            return ""
        if len(values) == len(classes):
            return "it copies the target" if self.rows >= 2 * len(values) else ""
        return "each of its values goes with one class" if self.rows >= _ROWS_PER_VALUE * len(values) else ""
