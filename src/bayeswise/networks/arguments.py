"""Validation of arguments: names of nodes, states by node, and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bayeswise.foundation.arguments import whole_number
from bayeswise.foundation.errors import ParameterError


def by_node(given: Any, what: str = "evidence", *, of_each: str = "state") -> Mapping[Any, Any]:
    """A mapping from nodes; None is the empty one.

    >>> by_node(None), by_node({"rain": "yes"})
    ({}, {'rain': 'yes'})
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"{what} takes {{node: {of_each}}}; found {given!r:.80}", fix=f"write {{'node': {of_each}}}"
        )
    return given


def soft_by_node(given: Any, what: str = "soft evidence", of_each: str = "likelihood") -> Mapping[Any, Any]:
    """The same for numbers of each state: {node: {state: likelihood}}."""
    given_by_node = by_node(given, what, of_each=f"{{state: {of_each}}}")
    for name, by_state in given_by_node.items():
        if not isinstance(by_state, Mapping):
            raise ParameterError(
                f"the {what} on {name!r:.80} is {by_state!r:.80}", fix=f"give {{state: {of_each}}} for each node"
            )
    return given_by_node


def names_of(given: Any, what: str = "nodes") -> list[Any]:
    """One name or several.

    >>> names_of("rain"), names_of(("rain", "wet"))
    (['rain'], ['rain', 'wet'])
    """
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable):
        raise ParameterError(f"{what} is {given!r:.80}", fix="give a list")
    return list(given)


def graph_of(given: Any) -> Mapping[str, tuple[str, ...]]:
    """A graph {node: its parents}; None is the empty graph.

    >>> graph_of({"wet": ["rain"]})
    {'wet': ('rain',)}
    """
    given_by_node = by_node(given, "parents", of_each="[parents]")
    for name, above in given_by_node.items():
        if isinstance(above, str) or not isinstance(above, Iterable):
            raise ParameterError(f"the parents of {name!r:.80} are {above!r:.80}", fix="give a list of names")
    graph = {name: tuple(above) for name, above in given_by_node.items()}
    for name in (name for child, above in graph.items() for name in (child, *above)):
        if not isinstance(name, str):
            raise ParameterError(f"the name of a node is a string; found {name!r:.80}", fix="give names of columns")
    return graph


def seed_of(given: Any) -> int:
    """A seed of random numbers."""
    return whole_number(given, "the seed", 0)
