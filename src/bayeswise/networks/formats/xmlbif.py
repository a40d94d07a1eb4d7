"""XMLBIF 0.3: the same as BIF in XML, with decisions and utilities."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from bayeswise.networks.formats.description import DescribedDecision, DescribedUtility, Description, Piece
from bayeswise.networks.formats.elements import Element, read_elements, refuse_unwritable
from bayeswise.networks.formats.tokens import MOST_CELLS, MOST_NODES, MOST_STATES
from bayeswise.networks.node import Node
from bayeswise.render.labels import guess


def parse(text: str, where: str) -> Description:
    """The network or diagram that a text in XMLBIF describes."""
    root = read_elements(text, where)
    networks = [root] if root.tag == "network" else list(root.all("network"))
    if len(networks) != 1:
        root.fail(f"expected one NETWORK; found {len(networks)}")
    return _Reader(networks[0]).description()


class _Reader:
    def __init__(self, network: Element) -> None:
        self.element = network
        self.kinds: dict[str, str] = {}
        self.states: dict[str, list[str]] = {}
        self.n_cells = 0
        for variable in network.all("variable"):
            self.variable(variable)

    def variable(self, element: Element) -> None:
        name, levels = element.one("name"), element.texts("outcome") or element.texts("value")
        kind = element.attributes.get("TYPE", "nature").lower()
        if kind not in ("nature", "decision", "utility"):
            element.fail(f"the variable {name!r} has the type {kind!r}", fix="nature, decision or utility")
        if name in self.kinds:
            element.fail(f"the variable {name!r} is defined twice")
        if len(self.kinds) >= MOST_NODES or (kind != "utility" and not 1 <= len(levels) <= MOST_STATES):
            element.fail(f"the variable {name!r} has {len(levels)} states; 1 to {MOST_STATES} are allowed")
        self.kinds[name] = kind
        if kind != "utility":
            self.states[name] = levels

    def description(self) -> Description:
        described = Description((self.element.texts("name") or [""])[0] or "network")
        made: dict[str, Piece] = {}
        for element in self.element.all("definition", "probability"):
            name, parents = self.checked_names(element)
            if name in made:
                element.fail(f"{name!r} has two definitions")
            made[name] = self.piece(element, name, parents)
        for name, kind in self.kinds.items():
            if name not in made and kind != "decision":
                self.element.fail(f"the variable {name!r} has no DEFINITION", fix="add one")
            described.pieces.append(made.get(name) or DescribedDecision(name, tuple(self.states[name]), ()))
        return described

    def checked_names(self, element: Element) -> tuple[str, list[str]]:
        name, parents = element.one("for"), element.texts("given")
        if name not in self.kinds:
            element.fail(f"there is no variable {name!r}", guess(name, list(self.kinds)))
        for parent in parents:
            if parent not in self.states:
                element.fail(f"there is no variable {parent!r} with states", guess(parent, list(self.states)))
        return name, parents

    def piece(self, element: Element, name: str, parents: list[str]) -> Piece:
        if self.kinds[name] == "decision":
            return DescribedDecision(name, tuple(self.states[name]), tuple(parents))
        what = f"the table of {name!r}"
        sizes = [len(self.states[each]) for each in (*parents, name) if each in self.states]
        n_cells = element.cells(sizes, what)
        self.n_cells += n_cells
        if self.n_cells > MOST_CELLS:
            element.fail(f"{what} brings the network to more than {MOST_CELLS} cells")
        numbers = element.numbers(element.one("table"), n_cells, what)
        if self.kinds[name] == "utility":
            return DescribedUtility(name, tuple(parents), numbers)
        return Node(name, self.states[name], numbers.reshape(-1, len(self.states[name])), parents)


def text(described: Description) -> str:
    """The description in XMLBIF; numbers are read back bit for bit."""
    refuse_unwritable(_words(described), "XMLBIF")
    return "\n".join(_lines(described)) + "\n"


def _words(described: Description) -> Iterator[str]:
    yield described.name
    for piece in described.pieces:
        yield piece.name
        yield from map(str, piece.states)


def _lines(described: Description) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>'
    yield f"<NAME>{escape(described.name)}</NAME>"
    kinds = {Node: "nature", DescribedDecision: "decision", DescribedUtility: "utility"}
    for piece in described.pieces:
        states = map(str, piece.states) if piece.states else ["utility"]  # pyAgrum requires a state
        outcomes = "".join(f"<OUTCOME>{escape(state)}</OUTCOME>" for state in states)
        yield f'<VARIABLE TYPE="{kinds[type(piece)]}"><NAME>{escape(piece.name)}</NAME>{outcomes}</VARIABLE>'
    for piece in described.pieces:
        given = "".join(f"<GIVEN>{escape(parent)}</GIVEN>" for parent in piece.parents)
        numbers = "" if piece.table is None else " ".join(map(repr, piece.table.ravel().tolist()))
        table = f"<TABLE>{numbers}</TABLE>" if numbers else ""
        yield f"<DEFINITION><FOR>{escape(piece.name)}</FOR>{given}{table}</DEFINITION>"
    yield "</NETWORK>\n</BIF>"
