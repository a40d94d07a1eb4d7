"""What a first pass finds about columns before they become nodes: which hold numbers, and notes for the user.

The rules are those of `look` and `fit`: up to 1 % of the cells of a column of numbers may be invalid, and are missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.networks.node import cuts_of
from bayeswise.render.numbers import reads_as_number
from bayeswise.tables.schema import column_evidence as evidence
from bayeswise.tables.schema.kinds import Finding, infer_kind
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.notes import cells_of, keep, leave_out
from bayeswise.tables.schema.overrides import Override
from bayeswise.tables.schema.profile import profile
from bayeswise.tables.source import Source


@dataclass(frozen=True)
class Cutting:
    """Which columns of numbers are cut into intervals, and where."""

    cuts: Mapping[str, Sequence[float]]
    beyond: int | None  # a column of more distinct numbers is cut
    numbers: Collection[str]
    labels: Collection[str]
    findings: Mapping[str, Finding]  # of columns that may be cut, or that may get a note

    @classmethod
    def in_table(
        cls,
        source: Source,
        given: Mapping[str, Sequence[Any]],
        cuts: Mapping[str, Sequence[float]],
        beyond: int | None,
        numbers: Collection[str],
        labels: Collection[str],
    ) -> Cutting:
        """By one pass over the columns whose states are not fixed by `given`."""
        declared = [name for name, states in given.items() if name in cuts or (name in numbers and not states)]
        declared += [name for name, states in given.items() if states and cuts_of(states) is not None]
        open_ones = [name for name, states in given.items() if not states and beyond is not None]
        names = list(dict.fromkeys([*declared, *open_ones]))
        kinds = {**dict.fromkeys(labels, Override("category")), **dict.fromkeys(declared, Override("number"))}
        profiles = profile(source, names) if names else {}
        found = {name: infer_kind(profiles[name], source.textual, kinds.get(name, Override())) for name in names}
        return cls(cuts, beyond, numbers, labels, found)

    def may_be_cut(self, name: str) -> bool:
        """Whether the numbers in a column are needed."""
        found = self.findings.get(name)
        if found is None:
            return False
        is_sure = found.column.kind == "ignored" and evidence.is_numeric(found.profile, found.textual)
        return found.column.kind == "number" or (is_sure and not evidence.invalid(found.profile))

    def of(
        self, name: str, levels: Sequence[Label], values: FloatArray, given: Sequence[Any]
    ) -> tuple[bool, Sequence[float] | None]:
        """Whether a column is cut, and its given cuts; `values` are its labels as numbers, NaN if they are not."""
        if not self.may_be_cut(name):
            return False, None
        cuts = self.cuts.get(name)
        if cuts is None and given and not any(level in given for level in levels):
            cuts = cuts_of(given)
        n_numbers = len(np.unique(values[~np.isnan(values)]))
        many = name in self.numbers or (self.beyond is not None and n_numbers > self.beyond)
        is_cut = cuts is not None or (not given and many)
        problem = self.findings[name].problem
        if is_cut and problem is not None:
            raise problem
        return is_cut, cuts

    def invalid(self, cut: Collection[str]) -> dict[str, str]:
        """The cells that are not numbers, of columns that are cut."""
        profiles = {name: self.findings[name].profile for name in cut}
        return {
            name: evidence.places_of(found.invalid_examples, found.invalid)
            for name, found in profiles.items()
            if found.invalid
        }

    def notes(self, n_states: Mapping[str, int], cut: Collection[str]) -> tuple[str, ...]:
        """Notes on columns that became nodes, each with a fix."""
        return tuple(
            note
            for name, found in self.findings.items()
            if name in n_states
            for note in _notes_on(found, n_states[name], name in cut)
        )


def _notes_on(found: Finding, n_states: int, is_cut: bool) -> list[str]:
    column, cells = found.column, found.profile
    name, kind = column.name, column.kind
    if not cells.present:
        return []
    if kind in ("ignored", "text"):
        states = "1 state" if n_states == 1 else f"{n_states:,} states"
        node = f"cut into {n_states} intervals" if is_cut else f"a node of {states}"
        return [f"{name}: {column.reason}; it is {node}. Fix: leave it out, {leave_out(name)}"]
    if kind == "number" and not is_cut:
        few = cells.invalid and not evidence.too_many_invalid(cells.invalid, cells.present)
        where = evidence.places_of(cells.invalid_examples, cells.invalid)
        what = f"{cells_of(cells.invalid)} not numeric and taken as a state: {where}"
        return [f"{name}: {what}. Fix: correct them, or {keep(name, 'number')}"] if few else []
    ended = [(advice.what + "." * (advice.what[-1] != "?"), advice.fix) for advice in found.advice]
    return [f"{name}: {what} Fix: {fix}" for what, fix in ended]


# -- labels as numbers ----------------------------------------------------------------------------------------


def numbers_by_level(n_levels: int, codes: CodeArray, values: FloatArray) -> FloatArray:
    """(n_levels,) the number that cells of each level are read as; NaN where they are not numbers.

    >>> numbers_by_level(3, np.array([0, 2, -1, 0]), np.array([1.5, 7.0, np.nan, 1.5])).tolist()
    [1.5, nan, 7.0]
    """
    found = np.full(n_levels + 1, np.nan)
    found[codes] = values
    return found[:-1]


def as_numbers(levels: Sequence[Label]) -> FloatArray:
    """(n_levels,) labels as numbers; NaN where they are not.

    >>> as_numbers([3, "2.5", "12k"]).tolist()
    [3.0, 2.5, nan]
    """
    return np.array([float(level) if reads_as_number(level) else np.nan for level in levels], dtype=np.float64)
