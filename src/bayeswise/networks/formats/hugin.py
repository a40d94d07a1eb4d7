"""Hugin .net files: nodes with states, and potentials whose data nest by parent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.errors import BayeswiseError, SourceError
from bayeswise.networks.formats.tokens import (
    MOST_CELLS,
    MOST_NODES,
    MOST_STATES,
    Tokens,
    n_cells_of,
    quoted,
    refuse_empty,
    shown_token,
    unquoted,
)

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork


def parse(text: str, where: str) -> BeliefNetwork:
    """The network that a Hugin file describes; utilities and decisions are refused by name.

    >>> parse('net{} node a { states = ("yes" "no"); } potential (a) { data = (0.3 0.7); }', "a.net")
    BeliefNetwork(1 nodes, 0 edges: a)
    """
    from bayeswise.networks.network import BeliefNetwork
    from bayeswise.networks.node import Node

    tokens = Tokens(text, where, marks="{}();|=", comment="%", blocks=False)
    states: dict[str, list[str]] = {}
    given: dict[str, tuple[list[str], Any]] = {}
    titles: dict[str, str] = {}
    name = "network"
    while tokens.next:
        tokens.forget_passed()
        word = tokens.take()
        if word == "net":
            name = (_fields(tokens).get("name") or ['"network"'])[0]
        elif word == "node":
            _node(tokens, states, titles)
        elif word == "potential":
            _potential(tokens, states, given)
        else:
            tokens.fail(f"expected net, node or potential; found {shown_token(word)}", back=1)
    refuse_empty(states, where)
    for node in states:
        if node not in given:
            raise SourceError(f"{where}: the node {node!r} has no potential", fix="add one")
    try:
        nodes = [
            Node(titles[node], levels, given[node][1], [titles[parent] for parent in given[node][0]])
            for node, levels in states.items()
        ]
        return BeliefNetwork(nodes, name=unquoted(name))
    except BayeswiseError as error:
        raise type(error)(f"{where}: {error.what}", fix=error.fix) from None


def _fields(tokens: Tokens) -> dict[str, list[str]]:
    """`name = value ... ;` up to the closing brace."""
    tokens.expect("{")
    found: dict[str, list[str]] = {}
    while tokens.next != "}":
        key = tokens.name("a field")
        tokens.expect("=")
        found[key] = tokens.until(";")
    tokens.expect("}")
    return found


def _node(tokens: Tokens, states: dict[str, list[str]], titles: dict[str, str]) -> None:
    name = tokens.name("the name of a node")
    if name in states:
        tokens.fail(f"the node {name!r} is there twice", back=1)
    if len(states) >= MOST_NODES:
        tokens.fail(f"more than {MOST_NODES} nodes", back=1)
    fields = _fields(tokens)
    levels = [unquoted(word) for word in fields.get("states", []) if word not in "()"]
    if not 1 <= len(levels) <= MOST_STATES:
        tokens.fail(f"the node {name!r} has {len(levels)} states; 1 to {MOST_STATES} are allowed", back=1)
    states[name] = levels
    # names that are not identifiers travel in a field that Hugin keeps for other programs
    titles[name] = unquoted((fields.get("bayeswise_name") or [name])[0])


def _potential(tokens: Tokens, states: dict[str, list[str]], given: dict[str, tuple[list[str], Any]]) -> None:
    tokens.expect("(")
    names = [unquoted(word) for word in tokens.until(")")]
    if names[1:2] == ["|"]:
        del names[1]
    if not names:
        tokens.fail("a potential is about a node", back=1)
    for name in names:
        if name not in states:
            from bayeswise.render.labels import guess

            tokens.fail(f"there is no node {name!r} before this line", back=1, fix=guess(name, list(states)))
    if names[0] in given:
        tokens.fail(f"the potential of {names[0]!r} is there twice", back=1)
    n_rows = n_cells_of(len(states[parent]) for parent in names[1:])
    n_cells = n_rows * len(states[names[0]])
    if n_cells > MOST_CELLS:
        tokens.fail(f"the table of {names[0]!r} has more than {MOST_CELLS} cells", back=1)
    fields = _fields(tokens)
    numbers = tokens.numbers([word for word in fields.get("data", []) if word not in "()"])
    if len(numbers) != n_cells:
        tokens.fail(f"the potential of {names[0]!r} has {len(numbers)} numbers; {n_cells} are needed", back=1)
    given[names[0]] = (names[1:], np.array(numbers).reshape(n_rows, -1))


def text(network: BeliefNetwork) -> str:
    """The network as a Hugin file; reading it gives back the same network."""
    return "\n".join(_lines(network)) + "\n"


def _lines(network: BeliefNetwork) -> Iterator[str]:
    words = {name: _identifier(name, k) for k, name in enumerate(network)}
    yield f"net\n{{\n    name = {quoted(network.name, always=True)};\n}}"
    for name, word in words.items():
        states = " ".join(quoted(state, always=True) for state in network.states(name))
        title = "" if word == name else f"    bayeswise_name = {quoted(name, always=True)};\n"
        yield f"node {word}\n{{\n{title}    states = ( {states} );\n}}"
    for name, word in words.items():
        parents = network.parents(name)
        given = f" | {' '.join(words[parent] for parent in parents)}" if parents else ""
        sizes = [len(network.states(parent)) for parent in parents]
        yield f"potential ( {word}{given} )\n{{\n    data = {_nested(network.table(name).tolist(), sizes)};\n}}"


def _identifier(name: str, place: int) -> str:
    plain = name.isascii() and name.isidentifier() and not (name.startswith("node_") and name[5:].isdigit())
    return name if plain and name not in ("net", "node", "potential") else f"node_{place}"


def _nested(rows: list[list[float]], sizes: list[int]) -> str:
    """Rows in brackets, and brackets around them for each parent."""
    parts = [f"({' '.join(map(repr, row))})" for row in rows]
    for size in reversed(sizes):
        parts = [f"({''.join(parts[k : k + size])})" for k in range(0, len(parts), size)]
    return parts[0]
