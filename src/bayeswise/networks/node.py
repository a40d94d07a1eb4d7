"""A node: its name, its states, its parents and its table, as one writes them down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bayeswise.foundation.errors import NetworkError
from bayeswise.tables.schema.labels import Vocabulary


@dataclass(frozen=True, eq=False)
class Node:
    """P(name | parents); the table is understood once the states of the parents are known.

    >>> Node("CampFire", ["yes", "no"], {("yes", "yes"): 0.4, ...: 0.1}, parents=["Storm", "BusTourGroup"])
    Node(CampFire | Storm, BusTourGroup: yes, no)
    """

    name: str
    states: Vocabulary
    table: Any
    parents: tuple[str, ...]

    def __init__(self, name: str, states: Iterable[Any], table: Any, parents: Iterable[str] = ()) -> None:
        if not isinstance(name, str) or not name:
            raise NetworkError(f"a node must have a name; found {name!r}", fix="name it")
        if isinstance(parents, str):
            raise NetworkError(f"the parents of {name!r} are the text {parents!r}", fix=f"write [{parents!r}]")
        if isinstance(states, str):
            raise NetworkError(f"the states of {name!r} are the text {states!r}", fix="give a list of states")
        vocabulary = states if isinstance(states, Vocabulary) else Vocabulary(states)
        if not vocabulary:
            raise NetworkError(f"node {name!r} has no state", fix="name its states")
        for field, value in (("name", name), ("states", vocabulary), ("table", table), ("parents", tuple(parents))):
            object.__setattr__(self, field, value)
        if len(set(self.parents)) < len(self.parents):
            raise NetworkError(f"node {name!r} has a parent twice: {', '.join(self.parents)}", fix="name it once")

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        return f"Node({self.name}{given}: {', '.join(map(str, self.states[:8]))})"
