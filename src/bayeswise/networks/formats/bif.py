"""Bayesian Interchange Format (BIF 0.15): variables with states, and a table for each of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SourceError
from bayeswise.networks.formats.description import Description
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
    """What has been read so far."""

    name: str = "network"
    states: dict[str, list[str]] = field(default_factory=dict)
    parents: dict[str, list[str]] = field(default_factory=dict)
    tables: dict[str, Any] = field(default_factory=dict)
    n_cells: int = 0


def parse(text: str, where: str) -> Description:
    """The network that a text in BIF describes.

    >>> parse('variable a { type discrete [ 2 ] { yes, no }; } probability ( a ) { table 0.3, 0.7; }', "a.bif").nodes
    [Node(a: yes, no)]
    """
    tokens = Tokens(text, where, marks="{}()[];|", comment="//")
    draft = _Draft()
    while tokens.next:
        _block(tokens, draft)
        tokens.forget_passed()
    for name in draft.states:
        if name not in draft.tables:
            raise SourceError(f"{where}: the variable {name!r} has no probability block", fix="add one")
    nodes = (Node(n, levels, draft.tables[n], draft.parents[n]) for n, levels in draft.states.items())
    return Description(draft.name, [*nodes])


def _block(tokens: Tokens, draft: _Draft) -> None:
    word = tokens.take()
    if word == "network":
        draft.name = tokens.name("the name of the network")
        tokens.expect("{")
        _properties(tokens)
    elif word == "variable":
        _variable(tokens, draft)
    elif word == "probability":
        _probability(tokens, draft)
    else:
        tokens.fail(f"expected network, variable or probability; found {shown_token(word)}", back=1)


def _properties(tokens: Tokens) -> None:
    """Skip `property ...;` up to the closing brace."""
    while tokens.next != "}":
        if tokens.next != "property":
            tokens.fail(f"expected property or }}; found {shown_token(tokens.next)}")
        tokens.until(";")
    tokens.expect("}")


def _variable(tokens: Tokens, draft: _Draft) -> None:
    name = tokens.name("the name of a variable")
    if name in draft.states:
        tokens.fail(f"the variable {name!r} is defined twice", back=1)
    if len(draft.states) >= MOST_NODES:
        tokens.fail(f"more than {MOST_NODES} variables", back=1)
    tokens.expect("{")
    while tokens.next not in ("}", ""):
        word = tokens.take()
        if word == "type":
            draft.states[name] = _states(tokens, name)
        elif word == "property":
            tokens.until(";")
        else:
            tokens.fail(f"expected type or property; found {shown_token(word)}", back=1)
    tokens.expect("}")
    if name not in draft.states:
        tokens.fail(f"the variable {name!r} has no type", back=1, fix="write type discrete [ 2 ] { yes, no };")


def _states(tokens: Tokens, name: str) -> list[str]:
    if tokens.next != "discrete":
        tokens.fail(f"the variable {name!r} is of type {shown_token(tokens.next)}; only discrete ones are known")
    tokens.take()
    tokens.expect("[")
    n_states = tokens.number()
    if not 1 <= n_states <= MOST_STATES:
        tokens.fail(f"the variable {name!r} has {n_states} states; 1 to {MOST_STATES} are allowed", back=1)
    tokens.expect("]")
    tokens.expect("{")
    states = [unquoted(token) for token in tokens.until("}")]
    if len(states) != n_states:
        tokens.fail(f"the variable {name!r} declares {n_states} states and names {len(states)}", back=1)
    if len(set(states)) < n_states:
        tokens.fail(f"the variable {name!r} has a state twice", back=1)
    tokens.expect(";")
    return states


def _probability(tokens: Tokens, draft: _Draft) -> None:
    tokens.expect("(")
    name = _known(tokens, draft)
    if name in draft.tables:
        tokens.fail(f"the probabilities of {name!r} are defined twice", back=1)
    parents: list[str] = []
    if tokens.next == "|":
        tokens.take()
        parents = _parents(tokens, draft, name)
    elif tokens.next != ")":  # JavaBayes writes no | between a variable and its parents
        parents = _parents(tokens, draft, name)
    tokens.expect(")")
    tokens.expect("{")
    n_rows = n_cells_of(len(draft.states[parent]) for parent in parents)
    draft.n_cells += n_rows * len(draft.states[name])
    if draft.n_cells > MOST_CELLS:
        tokens.fail(f"the table of {name!r} brings the network to more than {MOST_CELLS} cells")
    draft.parents[name] = parents
    draft.tables[name] = _table(tokens, draft, name, parents, n_rows)


def _parents(tokens: Tokens, draft: _Draft, name: str) -> list[str]:
    parents: dict[str, None] = {}
    while not parents or tokens.next != ")":
        parent = _known(tokens, draft)
        if parent in parents:
            tokens.fail(f"the variable {name!r} has the parent {parent!r} twice", back=1)
        parents[parent] = None
    return list(parents)


def _known(tokens: Tokens, draft: _Draft) -> str:
    name = tokens.name("the name of a variable")
    if name not in draft.states:
        tokens.fail(f"there is no variable {name!r} before this line", back=1, fix=guess(name, list(draft.states)))
    return name


def _table(tokens: Tokens, draft: _Draft, name: str, parents: list[str], n_rows: int) -> Any:
    states = [{state: k for k, state in enumerate(draft.states[parent])} for parent in parents]
    width = len(draft.states[name])
    regular = _regular_table(tokens, states, n_rows, width) if parents else None
    if regular is not None:
        return regular
    rows: dict[int, list[float]] = {}
    default: list[float] | None = None
    while tokens.next != "}":
        word = tokens.take()
        if word == "table":
            return _whole_table(tokens, name, n_rows, width)
        if word == "property":
            tokens.until(";")
        elif word == "default":
            default = _row(tokens, name, width)
        elif word == "(":
            place = _configuration(tokens, parents, states)
            if place in rows:
                tokens.fail(f"the table of {name!r} has a row twice", back=1)
            rows[place] = _row(tokens, name, width)
        else:
            tokens.fail(f"expected a row of {name!r}; found {shown_token(word)}", back=1)
    if len(rows) < n_rows and default is None:
        tokens.fail(f"the table of {name!r} has {len(rows)} of {n_rows} rows", fix="add the others, or a default")
    tokens.expect("}")
    table = np.empty((n_rows, width))
    if default is not None:
        table[:] = default
    for place, row in rows.items():
        table[place] = row
    return table


def _regular_table(tokens: Tokens, states: list[dict[str, int]], n_rows: int, width: int) -> Any:
    """All rows at once where each of them is `(state, ...) number, ...;`; None where one is anything else."""
    n_parents = len(states)
    step = n_parents + width + 3  # tokens of a row
    tokens.ensure(n_rows * step + 1)
    start, end = tokens.position, tokens.position + n_rows * step
    part = tokens.tokens[start:end]
    if tokens.tokens[end : end + 1] != ["}"]:
        return None
    for at, mark in ((0, "("), (n_parents + 1, ")"), (step - 1, ";")):
        if part[at::step].count(mark) < n_rows:
            return None
    try:
        places = [0] * n_rows
        for k, codes in enumerate(states):
            words = part[1 + k :: step]
            places = [place * len(codes) + codes[word] for place, word in zip(places, words, strict=True)]
        columns = [list(map(float, part[n_parents + 2 + k :: step])) for k in range(width)]
    except (KeyError, ValueError):
        return None  # a name in quotes, or an error to be reported with its position
    if len(set(places)) < n_rows:
        return None
    table = np.empty((n_rows, width))
    table[places] = np.array(columns).T
    tokens.position = end + 1
    return table


def _whole_table(tokens: Tokens, name: str, n_rows: int, width: int) -> Any:
    """All numbers at once; in this form the parents change fastest, not the node."""
    numbers = tokens.numbers(tokens.until(";"))
    if len(numbers) != n_rows * width:
        tokens.fail(f"the table of {name!r} has {len(numbers)} numbers; {n_rows * width} are needed", back=1)
    tokens.expect("}")
    return np.array(numbers).reshape(width, n_rows).T


def _row(tokens: Tokens, name: str, width: int) -> list[float]:
    numbers = tokens.numbers(tokens.until(";"))
    if len(numbers) != width:
        tokens.fail(f"a row of {name!r} has {len(numbers)} numbers for {width} states", back=1)
    return numbers


def _configuration(tokens: Tokens, parents: list[str], states: list[dict[str, int]]) -> int:
    words = tokens.until(")")
    if len(words) != len(parents):
        tokens.fail(f"{len(words)} states for {len(parents)} parents: {', '.join(parents)}", back=1)
    place = 0
    for word, parent, codes in zip(words, parents, states, strict=True):
        code = codes.get(word) if word[0] != '"' else codes.get(unquoted(word))
        if code is None:
            tokens.fail(f"{parent!r} has no state {unquoted(word)!r}", back=1)
        place = place * len(codes) + code
    return place


def text(described: Description) -> str:
    """The network in BIF; numbers are read back bit for bit."""
    described.refuse_diagram("BIF")
    return "\n".join(_lines(described)) + "\n"


def quoted_names(described: Description) -> tuple[str, ...]:
    """A note if states have names that are written in quotes, which few programs read."""
    states = dict.fromkeys(str(state) for labels in described.states().values() for state in labels)
    first = next((name for name in states if quoted(name) != name), None)
    if first is None:
        return ()
    return (
        f"names of states such as {quoted(first)} are in quotes, which pyAgrum and others do not read in BIF; they "
        "read them in .net and .xdsl",
    )


def _lines(described: Description) -> Iterator[str]:
    states = {name: [quoted(state) for state in labels] for name, labels in described.states().items()}
    yield f"network {quoted(described.name)} {{\n}}"
    for name, words in states.items():
        yield f"variable {quoted(name)} {{"
        yield f"  type discrete [ {len(words)} ] {{ {', '.join(words)} }};\n}}"
    for node in described.nodes:
        rows = node.table.tolist()
        given = f" | {', '.join(map(quoted, node.parents))}" if node.parents else ""
        yield f"probability ( {quoted(node.name)}{given} ) {{"
        if not node.parents:
            yield f"  table {', '.join(map(repr, rows[0]))};"
        else:
            for key, row in zip(itertools.product(*(states[parent] for parent in node.parents)), rows, strict=True):
                yield f"  ({', '.join(key)}) {', '.join(map(repr, row))};"
        yield "}"
