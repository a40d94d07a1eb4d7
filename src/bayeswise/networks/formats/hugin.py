"""Hugin .net files: nodes, decisions and utilities, and potentials whose data are nested by parent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SourceError
from bayeswise.networks.formats.description import DescribedDecision, DescribedUtility, Description, cells_text
from bayeswise.networks.formats.tokens import (
    MOST_CELLS,
    MOST_NODES,
    MOST_STATES,
    Tokens,
    n_cells_of,
    quoted,
    shown_token,
    unquoted,
)
from bayeswise.networks.node import Node
from bayeswise.render.labels import guess


@dataclass
class _Draft:
    """What has been read so far, by the names in the file."""

    kinds: dict[str, str] = field(default_factory=dict)  # node, decision or utility
    states: dict[str, list[str]] = field(default_factory=dict)  # of nodes and decisions
    titles: dict[str, str] = field(default_factory=dict)
    given: dict[str, tuple[list[str], Any]] = field(default_factory=dict)  # parents and table


def parse(text: str, where: str) -> Description:
    """The network or diagram that a Hugin file describes.

    >>> parse('net{} node a { states = ("yes" "no"); } potential (a) { data = (0.3 0.7); }', "a.net").nodes
    [Node(a: yes, no)]
    """
    tokens = Tokens(text, where, marks="{}();|=", comment="%", blocks=False)
    draft, name = _Draft(), "network"
    while tokens.next:
        tokens.forget_passed()
        word = tokens.take()
        if word == "net":
            name = (_fields(tokens).get("name") or ['"network"'])[0]
        elif word in ("node", "decision", "utility"):
            _node(tokens, draft, word)
        elif word == "discrete":
            pass  # the default of nodes and utilities
        elif word == "potential":
            _potential(tokens, draft)
        else:
            tokens.fail(f"expected net, node, decision, utility or potential; found {shown_token(word)}", back=1)
    return _described(draft, unquoted(name), where)


def _described(draft: _Draft, name: str, where: str) -> Description:
    description = Description(name)
    for node, kind in draft.kinds.items():
        if node not in draft.given and kind != "decision":
            raise SourceError(f"{where}: the node {node!r} has no potential", fix="add one")
        above, table = draft.given.get(node, ([], None))
        title, parents = draft.titles[node], tuple(draft.titles[parent] for parent in above)
        if kind == "decision":
            description.pieces.append(DescribedDecision(title, tuple(draft.states[node]), parents))
        elif kind == "utility":
            description.pieces.append(DescribedUtility(title, parents, table.ravel()))
        else:
            description.pieces.append(Node(title, draft.states[node], table, parents))
    return description


def _fields(tokens: Tokens) -> dict[str, list[str]]:
    """`name = value ... ;` up to the closing brace."""
    tokens.expect("{")
    fields: dict[str, list[str]] = {}
    while tokens.next != "}":
        key = tokens.name("a field")
        tokens.expect("=")
        fields[key] = tokens.until(";")
    tokens.expect("}")
    return fields


def _node(tokens: Tokens, draft: _Draft, kind: str) -> None:
    name = tokens.name("the name of a node")
    if name in draft.kinds:
        tokens.fail(f"the node {name!r} is defined twice", back=1)
    if len(draft.kinds) >= MOST_NODES:
        tokens.fail(f"more than {MOST_NODES} nodes", back=1)
    fields = _fields(tokens)
    levels = [unquoted(word) for word in fields.get("states", []) if word not in "()"]
    if kind != "utility":
        if not 1 <= len(levels) <= MOST_STATES:
            tokens.fail(f"the node {name!r} has {len(levels)} states; 1 to {MOST_STATES} are allowed", back=1)
        draft.states[name] = levels
    draft.kinds[name] = kind
    # names that are not identifiers are in an attribute of ours, which Hugin keeps
    draft.titles[name] = unquoted((fields.get("bayeswise_name") or [name])[0])


def _potential(tokens: Tokens, draft: _Draft) -> None:
    tokens.expect("(")
    names = [unquoted(word) for word in tokens.until(")")]
    if names[1:2] == ["|"]:
        del names[1]
    if not names:
        tokens.fail("a potential has no node", back=1)
    for place, name in enumerate(names):
        known = draft.states if place else draft.kinds
        if name not in known:
            tokens.fail(f"there is no node {name!r} before this line", back=1, fix=guess(name, list(known)))
    node, parents = names[0], names[1:]
    if node in draft.given:
        tokens.fail(f"the potential of {node!r} is defined twice", back=1)
    n_rows = n_cells_of(len(draft.states[parent]) for parent in parents)
    n_cells = n_rows * len(draft.states.get(node, [0]))
    if n_cells > MOST_CELLS:
        tokens.fail(f"the table of {node!r} has more than {MOST_CELLS} cells", back=1)
    fields = _fields(tokens)
    if draft.kinds[node] == "decision":  # its potential lists its informational parents, and has no numbers
        draft.given[node] = (parents, None)
        return
    numbers = tokens.numbers([word for word in fields.get("data", []) if word not in "()"])
    if len(numbers) != n_cells:
        tokens.fail(f"the potential of {node!r} has {len(numbers)} numbers; {n_cells} are needed", back=1)
    draft.given[node] = (parents, np.array(numbers).reshape(n_rows, -1))


def text(described: Description) -> str:
    """The network or diagram as a Hugin file; reading it gives back the same."""
    return "\n".join(_lines(described)) + "\n"


def _lines(described: Description) -> Iterator[str]:
    states = described.states()
    words = {piece.name: _identifier(piece.name, k) for k, piece in enumerate(described.pieces)}
    kinds = {Node: "node", DescribedDecision: "decision", DescribedUtility: "utility"}
    yield f"net\n{{\n    name = {quoted(described.name, always=True)};\n}}"
    for piece in described.pieces:
        name, word = piece.name, words[piece.name]
        title = "" if word == name else f"    bayeswise_name = {quoted(name, always=True)};\n"
        levels = " ".join(quoted(state, always=True) for state in piece.states)
        body = f"    states = ( {levels} );\n" if levels else ""
        yield f"{kinds[type(piece)]} {word}\n{{\n{title}{body}}}"
    for piece in described.pieces:
        given = f" | {' '.join(words[parent] for parent in piece.parents)}" if piece.parents else ""
        if not isinstance(piece, DescribedDecision):
            data = cells_text(piece, states, comma=" ", between="")
            yield f"potential ( {words[piece.name]}{given} )\n{{\n    data = {data};\n}}"
        elif given:
            yield f"potential ( {words[piece.name]}{given} )\n{{\n}}"


def _identifier(name: str, place: int) -> str:
    plain = name.isascii() and name.isidentifier() and not (name.startswith("node_") and name[5:].isdigit())
    reserved = ("net", "node", "potential", "decision", "utility", "discrete")
    return name if plain and name not in reserved else f"node_{place}"
