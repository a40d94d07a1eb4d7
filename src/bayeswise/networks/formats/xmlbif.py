"""XMLBIF 0.3: the same as BIF in XML, with decisions and utilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from bayeswise.foundation.arrays import FloatArray
from bayeswise.networks.formats.description import DescribedDecision, DescribedUtility, Description
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
            element.fail(f"the variable {name!r} is there twice")
        if len(self.kinds) >= MOST_NODES or (kind != "utility" and not 1 <= len(levels) <= MOST_STATES):
            element.fail(f"the variable {name!r} has {len(levels)} states; 1 to {MOST_STATES} are allowed")
        self.kinds[name] = kind
        if kind != "utility":
            self.states[name] = levels

    def description(self) -> Description:
        found = Description((self.element.texts("name") or [""])[0] or "network")
        made: dict[str, Node | DescribedDecision | DescribedUtility] = {}
        for element in self.element.all("definition", "probability"):
            name, parents = self.checked_names(element)
            if name in made:
                element.fail(f"the definition of {name!r} is there twice")
            made[name] = self.piece(element, name, parents)
        for name, kind in self.kinds.items():
            if name not in made and kind != "decision":
                self.element.fail(f"the variable {name!r} has no DEFINITION", fix="add one")
            piece = made.get(name) or DescribedDecision(name, tuple(self.states[name]), ())
            if isinstance(piece, Node):
                found.nodes.append(piece)
            elif isinstance(piece, DescribedDecision):
                found.decisions.append(piece)
            else:
                found.utilities.append(piece)
        return found

    def checked_names(self, element: Element) -> tuple[str, list[str]]:
        name, parents = element.one("for"), element.texts("given")
        if name not in self.kinds:
            element.fail(f"there is no variable {name!r}", guess(name, list(self.kinds)))
        for parent in parents:
            if parent not in self.states:
                element.fail(f"there is no variable {parent!r} with states", guess(parent, list(self.states)))
        return name, parents

    def piece(self, element: Element, name: str, parents: list[str]) -> Node | DescribedDecision | DescribedUtility:
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
    """The description in XMLBIF; every number is written so that it comes back to the last bit."""
    refuse_unwritable(_words(described), "XMLBIF")
    return "\n".join(_lines(described)) + "\n"


def _words(described: Description) -> Iterator[str]:
    yield described.name
    for name, states in described.states().items():
        yield name
        yield from map(str, states)
    yield from (utility.name for utility in described.utilities)


def _lines(described: Description) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>'
    yield f"<NAME>{escape(described.name)}</NAME>"
    for node in described.nodes:
        yield _variable("nature", node.name, map(str, node.states.labels))
    for decision in described.decisions:
        yield _variable("decision", decision.name, map(str, decision.options))
    for utility in described.utilities:
        yield _variable("utility", utility.name, ["utility"])  # pyAgrum wants a state, which says nothing
    for node in described.nodes:
        yield _definition(node.name, node.parents, _numbers(node.table))
    for decision in described.decisions:
        yield _definition(decision.name, decision.knows, None)
    for utility in described.utilities:
        yield _definition(utility.name, utility.parents, _numbers(utility.values))
    yield "</NETWORK>\n</BIF>"


def _variable(kind: str, name: str, states: Iterable[str]) -> str:
    outcomes = "".join(f"<OUTCOME>{escape(state)}</OUTCOME>" for state in states)
    return f'<VARIABLE TYPE="{kind}"><NAME>{escape(name)}</NAME>{outcomes}</VARIABLE>'


def _definition(name: str, parents: tuple[str, ...], numbers: str | None) -> str:
    given = "".join(f"<GIVEN>{escape(parent)}</GIVEN>" for parent in parents)
    table = "" if numbers is None else f"<TABLE>{numbers}</TABLE>"
    return f"<DEFINITION><FOR>{escape(name)}</FOR>{given}{table}</DEFINITION>"


def _numbers(table: FloatArray) -> str:
    return " ".join(map(repr, table.ravel().tolist()))
