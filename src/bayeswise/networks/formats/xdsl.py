"""XDSL, the files of GeNIe and SMILE: tables, noisy-MAX and deterministic nodes, decisions, utilities, their sums.

A cpt lists its states, its parents and its probabilities, the last parent changing fastest and the state fastest of
all. A noisymax has a distribution of the effect for each state of each parent, the last of which is its absence, then
the leak. A node is identified by its id, a word of letters and digits; the name that GeNIe shows is in its extensions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.networks.canonical import NoisyMax
from bayeswise.networks.formats.description import DescribedDecision, DescribedUtility, Description, Piece
from bayeswise.networks.formats.elements import Element, read_elements, refuse_unwritable
from bayeswise.networks.formats.tokens import MOST_NODES, MOST_STATES
from bayeswise.networks.node import Node
from bayeswise.render.labels import guess

_KINDS = ("cpt", "noisymax", "deterministic", "decision", "utility", "mau")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parse(text: str, where: str) -> Description:
    """The network or diagram that an XDSL file describes."""
    root = read_elements(text, where)
    if root.tag != "smile":
        root.fail(f"expected <smile>; found <{root.tag}>", fix="give a file of GeNIe or SMILE")
    if any(True for _ in root.all("dynamic")) or any(True for _ in root.all("submodels_dynamic")):
        root.fail("the network is dynamic: it has temporal arcs", fix="unroll it in GeNIe first")
    return _Reader(root).description()


def _readable_order(nodes: list[Element]) -> list[Element]:
    """The nodes, parents first, in which order GeNIe writes them; in the order of the file if it has no such order."""
    by_name = {element.attribute("id"): element for element in nodes}
    above = {name: _words(element, "parents") for name, element in by_name.items()}
    if len(by_name) < len(nodes) or any(parent not in by_name for parents in above.values() for parent in parents):
        return nodes
    try:
        return [by_name[name] for name in TopologicalSorter(above).static_order()]
    except CycleError:
        return nodes


class _Reader:
    """Nodes in the order of the file, read parents first."""

    def __init__(self, root: Element) -> None:
        self.root = root
        self.titles = _titles(root)
        self.found = Description(self.titles.get((), root.attributes.get("id", "network")))
        self.states: dict[str, list[str]] = {}
        self.utilities: dict[str, DescribedUtility] = {}

    def description(self) -> Description:
        nodes = [element for part in self.root.all("nodes") for element in part.children]
        if len(nodes) > MOST_NODES:
            self.root.fail(f"more than {MOST_NODES} nodes")
        for element in _readable_order(nodes):
            if element.tag not in _KINDS:
                self._refuse(element)
            name = element.attribute("id")
            if name in self.states or name in self.utilities:
                element.fail(f"the node {name!r} is defined twice")
            self._piece(element, name, _words(element, "parents"))
        self.found.pieces += self.utilities.values()
        if self.found.is_diagram:  # whose solver takes tables
            self.found.pieces = [_expanded(each) if isinstance(each, Node) else each for each in self.found.pieces]
        self._restore_order([element.attribute("id") for element in nodes])
        return self.found

    def _restore_order(self, listed: list[str]) -> None:
        """GeNIe's files list parents first; the order of a network that bayeswise wrote is in its extension."""
        order = [
            word
            for extensions in self.root.all("extensions")
            for ours in extensions.all("bayeswise")
            for word in _words(ours, "order")
        ]
        places = {self._title(word): place for place, word in enumerate(order or listed)}
        self.found.pieces.sort(key=lambda piece: places.get(piece.name, len(places)))

    def _refuse(self, element: Element) -> None:
        name = element.attributes.get("id", "?")
        if element.tag == "noisyadder":
            element.fail(f"{name!r} is a {element.tag} node", fix="change it to a CPT in GeNIe (Change type) and save")
        element.fail(f"{name!r} is a node of the kind <{element.tag}>", fix=f"supported are {', '.join(_KINDS)}")

    def _title(self, name: str) -> str:
        return self.titles.get((name,), name)

    def _piece(self, element: Element, name: str, parents: list[str]) -> None:
        if element.tag in ("utility", "mau"):
            self._utility(element, name, parents)
            return
        levels = [state.attribute("id") for state in element.all("state")]
        if not 1 <= len(levels) <= MOST_STATES:
            element.fail(f"the node {name!r} has {len(levels)} states; 1 to {MOST_STATES} are allowed")
        sizes = self._sizes(element, parents)
        above = tuple(map(self._title, parents))
        self.states[name] = levels
        labels = [self.titles.get((name, level), level) for level in levels]
        if element.tag == "decision":
            self.found.pieces.append(DescribedDecision(self._title(name), tuple(labels), above))
            return
        what = f"the table of {name!r}"
        if element.tag == "noisymax":
            self.found.pieces.append(Node(self._title(name), labels, _noisy(element, name, sizes, len(levels)), above))
            return
        n_rows = element.cells(sizes, what)
        if element.tag == "cpt":
            n_cells = element.cells([*sizes, len(levels)], what)
            table = element.numbers(element.one("probabilities"), n_cells, what).reshape(n_rows, -1)
        else:
            table = self._certain(element, name, levels, n_rows)
        self.found.pieces.append(Node(self._title(name), labels, table, above))

    def _certain(self, element: Element, name: str, levels: list[str], n_rows: int) -> FloatArray:
        """A deterministic node names its state for each configuration of its parents."""
        chosen = _words(element, "resultingstates")
        unknown = next((state for state in chosen if state not in levels), None)
        if unknown is not None:
            element.fail(f"{name!r} has no state {unknown!r}", guess(unknown, levels))
        if len(chosen) != n_rows:
            element.fail(f"{name!r} has {len(chosen)} resulting states; {n_rows} are needed")
        return np.eye(len(levels))[[levels.index(state) for state in chosen]]

    def _sizes(self, element: Element, parents: list[str]) -> list[int]:
        for parent in parents:
            if parent not in self.states:
                element.fail(f"there is no node {parent!r} before this line", guess(parent, list(self.states)))
        return [len(self.states[parent]) for parent in parents]

    def _utility(self, element: Element, name: str, parents: list[str]) -> None:
        if element.tag == "mau":
            self._weighted_sum(element, name, parents)
            return
        what = f"the utilities of {name!r}"
        n_cells = element.cells(self._sizes(element, parents), what)
        values = element.numbers(element.one("utilities"), n_cells, what)
        self.utilities[name] = DescribedUtility(self._title(name), tuple(map(self._title, parents)), values)

    def _weighted_sum(self, element: Element, name: str, parents: list[str]) -> None:
        """Utilities are added anyway; the weights of an additive node multiply its parents."""
        words = _words(element, "weights")
        if any(parent not in self.utilities for parent in parents) or list(element.all("expressions")):
            element.fail(f"{name!r} is not a weighted sum of utilities", fix="weights and parents that are utilities")
        weights = element.numbers(" ".join(words), len(parents), f"the weights of {name!r}")
        for parent, weight in zip(parents, weights.tolist(), strict=True):
            old = self.utilities[parent]
            self.utilities[parent] = DescribedUtility(old.name, old.parents, old.table * weight)


def _expanded(node: Node) -> Node:
    table = node.table.table() if isinstance(node.table, NoisyMax) else node.table
    return Node(node.name, node.states, table, node.parents)


def _noisy(element: Element, name: str, sizes: Sequence[int], n_states: int) -> NoisyMax:
    """The parents' states must be in order from strongest to absent, like the states of the effect."""
    if not sizes:
        element.fail(f"{name!r} is a noisymax node without parents", fix="change it to a CPT in GeNIe (Change type)")
    order = [str(place) for size in sizes for place in range(size)]
    if _words(element, "strengths") not in ([], order):
        element.fail(
            f"the parents' states of {name!r} are not in order from strongest to absent",
            fix="order them so in GeNIe, or change the node to a CPT (Change type)",
        )
    n_columns = element.cells([sum(sizes) + 1, n_states], f"the parameters of {name!r}")
    numbers = element.numbers(element.one("parameters"), n_columns, f"the parameters of {name!r}")
    *causes, leak = np.split(numbers.reshape(-1, n_states), np.cumsum(sizes))
    if any(cause[-1, -1] != 1.0 for cause in causes):
        element.fail(f"the absence of a cause of {name!r} has an effect of its own", fix="change it to a CPT in GeNIe")
    return NoisyMax(causes, leak[0])


def _words(element: Element, tag: str) -> list[str]:
    return [word for text in element.texts(tag) for word in text.split()]


def _titles(root: Element) -> dict[tuple[str, ...], str]:
    """The names that bayeswise wrote beside ids: of the network by (), of a node by (id,), of a state by both ids."""
    titles: dict[tuple[str, ...], str] = {}
    for extensions in root.all("extensions"):
        for ours in extensions.all("bayeswise"):
            for title in ours.all("title"):
                key = (title.attributes.get("node"), title.attributes.get("state"))
                titles[tuple(word for word in key if word is not None)] = title.attribute("name")
    return titles


# -- writing ----------------------------------------------------------------------------------------------------


def text(described: Description) -> str:
    """The network or diagram in XDSL; names that are not identifiers are kept in an extension beside the ids."""
    states = described.states()
    names = [piece.name for piece in described.pieces]
    labels = (str(label) for name in states for label in states[name])
    refuse_unwritable((word for word in (described.name, *names, *labels)), "XDSL")
    ids = _Ids(_identifiers(names, "node"), {n: _identifiers(list(map(str, states[n])), "state") for n in states})
    return "\n".join(_lines(described, ids)) + "\n"


class _Ids(NamedTuple):
    """Identifiers by name: of nodes, and of the states of each node."""

    nodes: dict[str, str]
    states: dict[str, dict[str, str]]


def _identifiers(names: Sequence[str], prefix: str) -> dict[str, str]:
    """An identifier for each name: itself where it is one."""
    taken = {name for name in names if _IDENTIFIER.fullmatch(name)}
    identifiers = {}
    for place, name in enumerate(names):
        word = name
        if name not in taken:
            word = f"{prefix}_{place}"
            while word in taken:
                word += "_"
            taken.add(word)
        identifiers[name] = word
    return identifiers


def _lines(described: Description, ids: _Ids) -> Iterator[str]:
    network_id = described.name if _IDENTIFIER.fullmatch(described.name) else "network"
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<smile version="1.0" id={quoteattr(network_id)} numsamples="10000" discsamples="10000">\n<nodes>'
    for piece in _parents_first(described):
        yield from _piece_lines(piece, ids)
    yield "</nodes>\n<extensions>"
    yield from _genie_lines(described, ids)
    yield f"<bayeswise><order>{' '.join(ids.nodes.values())}</order>"
    if described.name != network_id:
        yield f"<title name={quoteattr(described.name)}/>"
    for name, word in ids.nodes.items():
        if word != name:
            yield f"<title node={quoteattr(word)} name={quoteattr(name)}/>"
        for label, state in ids.states.get(name, {}).items():
            if state != label:
                yield f"<title node={quoteattr(word)} state={quoteattr(state)} name={quoteattr(label)}/>"
    yield "</bayeswise>\n</extensions>\n</smile>"


def _parents_first(described: Description) -> Iterator[Piece]:
    waiting = {piece.name: piece for piece in described.pieces if not isinstance(piece, DescribedUtility)}
    while waiting:
        for name, piece in list(waiting.items()):
            if not any(parent in waiting for parent in piece.parents):
                yield waiting.pop(name)
    yield from described.utilities


def _piece_lines(piece: Piece, ids: _Ids) -> Iterator[str]:
    tag, table = {Node: "cpt", DescribedDecision: "decision", DescribedUtility: "utility"}[type(piece)], piece.table
    if isinstance(table, NoisyMax):
        absent = all(cause[-1, -1] == 1.0 for cause in table.causes)
        tag, table = ("noisymax", table) if absent else ("cpt", table.table())
    yield f"<{tag} id={quoteattr(ids.nodes[piece.name])}>"
    yield from (f"<state id={quoteattr(ids.states[piece.name][str(state)])}/>" for state in piece.states)
    if piece.parents:
        yield f"<parents>{' '.join(ids.nodes[parent] for parent in piece.parents)}</parents>"
    if isinstance(table, NoisyMax):
        yield f"<strengths>{' '.join(str(k) for cause in table.causes for k in range(len(cause)))}</strengths>"
        numbers = np.concatenate([*(cause.ravel() for cause in table.causes), table.leak])
        yield f"<parameters>{' '.join(map(repr, numbers.tolist()))}</parameters>"
    elif table is not None:
        inner = "probabilities" if tag == "cpt" else "utilities"
        yield f"<{inner}>{' '.join(map(repr, np.asarray(table).ravel().tolist()))}</{inner}>"
    yield f"</{tag}>"


def _genie_lines(described: Description, ids: _Ids) -> Iterator[str]:
    """The positions of the nodes in GeNIe: in rows, so that none covers another."""
    yield f'<genie version="1.0" app="bayeswise" name={quoteattr(described.name)}>'
    for place, (name, word) in enumerate(ids.nodes.items()):
        left, top = 40 + 180 * (place % 6), 40 + 110 * (place // 6)
        yield f"<node id={quoteattr(word)}><name>{escape(name)}</name>"
        yield f"<position>{left} {top} {left + 140} {top + 60}</position></node>"
    yield "</genie>"
