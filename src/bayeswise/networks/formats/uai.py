"""UAI, the format of the UAI competitions: numbers only; nodes and states are named by their position.

BAYES, the number of variables, their numbers of states, the number of tables, then for each table the number of its
variables and the variables, the child last, and for each table its cells, the last variable changing fastest.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from bayeswise.foundation.errors import SourceError
from bayeswise.networks.formats.description import Description
from bayeswise.networks.formats.tokens import MOST_CELLS, MOST_NODES, MOST_STATES, n_cells_of
from bayeswise.networks.node import Node


class _Words:
    """A cursor over the words of a text."""

    def __init__(self, text: str, where: str) -> None:
        lines = (line.partition("#")[0] for line in text.splitlines())  # pyAgrum writes comments
        self.words, self.where, self.place = [word for line in lines for word in line.split()], where, 0

    def fail(self, what: str, fix: str | None = None) -> NoReturn:
        raise SourceError(f"{self.where}, word {self.place}: {what}", fix=fix)

    def take(self, n_words: int = 1) -> list[str]:
        taken = self.words[self.place : self.place + n_words]
        self.place += len(taken)
        if len(taken) < n_words:
            self.fail("the file ends too early", fix="give the whole file")
        return taken

    def number(self, what: str, least: int, most: int) -> int:
        (word,) = self.take()
        if not (word.isascii() and word.isdigit() and len(word) < 19 and least <= int(word) <= most):
            self.fail(f"{what} is {word[:40]!r}", fix=f"a whole number from {least} to {most}")
        return int(word)


def parse(text: str, where: str) -> Description:
    """The network that a text in UAI describes; Markov networks are refused."""
    words = _Words(text, where)
    (kind,) = words.take()
    if kind.upper() != "BAYES":
        words.fail(f"the file begins with {kind[:40]!r}", fix="only BAYES files describe belief networks")
    n_nodes = words.number("the number of variables", 1, MOST_NODES)
    sizes = [words.number("a number of states", 1, MOST_STATES) for _ in range(n_nodes)]
    n_tables = words.number("the number of tables", n_nodes, n_nodes)
    scopes = []
    for _ in range(n_tables):
        n_inside = words.number("the number of variables of a table", 1, n_nodes)
        scopes.append([words.number("a variable", 0, n_nodes - 1) for _ in range(n_inside)])
    nodes: dict[int, Node] = {}
    n_cells = 0
    for *parents, child in scopes:
        if child in nodes:
            words.fail(f"variable {child} has two tables")
        n_cells += n_cells_of(sizes[each] for each in (*parents, child))
        if n_cells > MOST_CELLS:
            words.fail(f"the tables have more than {MOST_CELLS} cells")
        table = _cells(words, n_cells_of(sizes[each] for each in (*parents, child)))
        names = [str(parent) for parent in parents]
        nodes[child] = Node(str(child), list(range(sizes[child])), table.reshape(-1, sizes[child]), names)
    if words.place < len(words.words):
        words.fail(f"there is more after the last table: {words.words[words.place][:40]!r}")
    return Description("network", [nodes[place] for place in sorted(nodes)])


def _cells(words: _Words, n_needed: int) -> np.ndarray:
    words.number("the number of cells", n_needed, n_needed)
    try:
        return np.array(list(map(float, words.take(n_needed))))
    except ValueError as error:
        words.fail(f"a cell is not a number: {error}")


def text(described: Description) -> str:
    """The network in UAI, which has no names or labels."""
    described.refuse_diagram("UAI")
    states = described.states()
    place = {name: k for k, name in enumerate(states)}
    lines = ["BAYES", str(len(states)), " ".join(str(len(labels)) for labels in states.values()), str(len(states))]
    for node in described.nodes:
        scope = [place[name] for name in (*node.parents, node.name)]
        lines.append(" ".join(map(str, (len(scope), *scope))))
    for node in described.nodes:
        cells = node.table.ravel().tolist()
        lines += [str(len(cells)), " ".join(map(repr, cells))]
    return "\n".join(lines) + "\n"
