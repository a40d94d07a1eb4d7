"""What the user asked for, column by column; it beats what was inferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bayeswise.foundation.errors import ParameterError
from bayeswise.tables.labels import Label, label_of
from bayeswise.tables.names import find_name
from bayeswise.tables.schema import KINDS, LABELLED, Kind, MissingPolicy, UnseenPolicy


@dataclass(frozen=True)
class Wish:
    """What was asked for, for one column."""

    kind: Kind | None = None
    levels: tuple[Label, ...] | None = None
    missing: MissingPolicy = "ignore"
    unseen: UnseenPolicy = "smooth"


@dataclass(frozen=True)
class Names:
    """The names of a table, to one of which everything that is asked for must belong."""

    names: tuple[str, ...]
    where: str

    def find(self, name: object, role: str = "column") -> str:
        return find_name(str(name), self.names, where=self.where, role=role)

    def keyed(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What was asked for, by the names of the table."""
        return {self.find(name): value for name, value in asked.items()}

    def each(self, asked: Any) -> dict[str, Any]:
        """One answer for all columns, or a mapping for some of them."""
        return self.keyed(asked) if isinstance(asked, Mapping) else dict.fromkeys(self.names, asked)


def wishes_for(
    names: Names,
    kinds: Mapping[str, Kind],
    levels: Mapping[str, Iterable[Label]],
    ignore: Iterable[str],
    missing: MissingPolicy | Mapping[str, MissingPolicy],
    unseen: UnseenPolicy | Mapping[str, UnseenPolicy],
) -> dict[str, Wish]:
    """One wish for each column.

    >>> wishes_for(Names(("zip",), "a.csv"), {"zip": "category"}, {}, (), "ignore", "error")
    {'zip': Wish(kind='category', levels=None, missing='ignore', unseen='error')}
    """
    by_kind = _checked_kinds(names.keyed(kinds))
    by_levels = {name: tuple(map(label_of, declared)) for name, declared in names.keyed(levels).items()}
    for name in by_levels:
        if by_kind.get(name, "category") not in LABELLED:
            raise ParameterError(f"column {name!r} has levels and cannot be {by_kind[name]}", fix="ask for one of both")
    for name in map(names.find, [ignore] if isinstance(ignore, str) else ignore):
        if by_kind.get(name, "ignored") != "ignored" or name in by_levels:
            raise ParameterError(f"column {name!r} is to be kept and to be ignored", fix="ask for one of both")
        by_kind[name] = "ignored"
    policies = {"missing": names.each(missing), "unseen": names.each(unseen)}
    return {
        name: Wish(
            by_kind.get(name),
            by_levels.get(name),
            **{policy: asked[name] for policy, asked in policies.items() if name in asked},
        )
        for name in names.names
    }


def _checked_kinds(kinds: dict[str, Kind]) -> dict[str, Kind]:
    for name, kind in kinds.items():
        if kind not in KINDS:
            choices = ", ".join(map(repr, KINDS))
            raise ParameterError(f"kind of column {name!r} is {kind!r}", fix=f"choose one of {choices}")
    return kinds
