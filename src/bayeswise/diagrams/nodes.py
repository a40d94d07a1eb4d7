"""The nodes of a diagram as one writes them down: chance, decision, utility and cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from bayeswise.foundation.errors import NetworkError
from bayeswise.networks import Node
from bayeswise.tables.labels import Vocabulary

Chance: TypeAlias = Node  # P(name | parents), as in a network; parents may be decisions


@dataclass(frozen=True, eq=False)
class Decision:
    """What can be done, and what is known when it has to be done; what earlier decisions knew is not forgotten.

    >>> Decision("drill", ["yes", "no"], knows=["report"])
    Decision(drill | report: yes, no)
    """

    name: str
    options: Vocabulary
    knows: tuple[str, ...]

    def __init__(self, name: str, options: Iterable[Any], knows: Iterable[str] = ()) -> None:
        as_node = Node(name, options, None, _names(name, knows, "what {name!r} knows is"))
        for field, value in (("name", name), ("options", as_node.states), ("knows", as_node.parents)):
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        return f"Decision{repr(Node(self.name, self.options, None, self.knows))[4:]}"


@dataclass(frozen=True, eq=False)
class Utility:
    """What is gained in each combination of states of the parents; several utilities add up.

    The table is nested by the states of the parents, or numbers in their order; a number in place of a level holds
    for all of it. A `bw.Costs` may stand for the table where the parents are a decision and a chance node.

    >>> Utility("gain", {"no": 0, "yes": {"dry": -70, "wet": 50, "soaking": 200}}, parents=["drill", "oil"])
    Utility(gain | drill, oil)
    """

    name: str
    table: Any
    parents: tuple[str, ...]
    is_cost = False

    def __init__(self, name: str, table: Any, parents: Iterable[str] = ()) -> None:
        if not isinstance(name, str) or not name:
            raise NetworkError(f"a utility must have a name; found {name!r}", fix="name it")
        above = tuple(_names(name, parents, "the parents of {name!r} are"))
        if len(set(above)) < len(above):
            raise NetworkError(f"utility {name!r} has a parent twice: {', '.join(above)}", fix="name it once")
        for field, value in (("name", name), ("table", table), ("parents", above)):
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        return f"{type(self).__name__}({self.name}{given})"


class Cost(Utility):
    """A utility whose table says what is lost: each sign is turned.

    >>> Cost("price of the test", {"yes": 10, "no": 0}, parents=["test"])
    Cost(price of the test | test)
    """

    is_cost = True


def _names(name: str, given: Iterable[str], what: str) -> list[str]:
    if isinstance(given, str):
        raise NetworkError(f"{what.format(name=name)} the text {given!r}", fix=f"write [{given!r}]")
    return list(given)
