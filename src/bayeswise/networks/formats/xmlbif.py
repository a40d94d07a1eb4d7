"""XMLBIF 0.3: the same as BIF in XML; entities are refused, so a file cannot grow while it is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from bayeswise.foundation.errors import BayeswiseError, NetworkError, SourceError
from bayeswise.networks.formats.tokens import MOST_CELLS, MOST_NODES, MOST_STATES, n_cells_of, refuse_empty

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

_DEEPEST = 16
# control characters, which XML forbids, and the end of line that it replaces
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")


def parse(text: str, where: str) -> BeliefNetwork:
    """The network that a text in XMLBIF describes."""
    from bayeswise.networks.network import BeliefNetwork
    from bayeswise.networks.node import Node

    reader = _Reader(where)
    reader.read(text)
    refuse_empty(reader.states, where)
    for node in reader.states:
        if node not in reader.tables:
            raise SourceError(f"{where}: the variable {node!r} has no DEFINITION", fix="add one")
    try:
        nodes = [Node(n, levels, reader.tables[n], reader.parents[n]) for n, levels in reader.states.items()]
        return BeliefNetwork(nodes, name=reader.name or "network")
    except BayeswiseError as error:
        raise type(error)(f"{where}: {error.what}", fix=error.fix) from None


class _Reader:
    """Collects elements as they end; `path` is where in the document we are."""

    def __init__(self, where: str) -> None:
        self.where, self.name = where, ""
        self.path: list[str] = []
        self.words: list[str] = []
        self.fields: dict[str, list[str]] = {}
        self.states: dict[str, list[str]] = {}
        self.parents: dict[str, list[str]] = {}
        self.tables: dict[str, Any] = {}
        self.n_cells = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.words.append
        self.parser.EntityDeclHandler = self.refuse_entity
        self.parser.buffer_text = True

    def read(self, text: str) -> None:
        try:
            self.parser.Parse(_without_declaration(text).encode("utf-8", "surrogatepass"), True)
        except expat.ExpatError as error:
            place = f"line {error.lineno}, column {error.offset + 1}"
            raise SourceError(f"{self.where}, {place}: {expat.errors.messages[error.code]}") from None

    def fail(self, what: str, fix: str | None = None) -> SourceError:
        place = f"line {self.parser.CurrentLineNumber}, column {self.parser.CurrentColumnNumber + 1}"
        return SourceError(f"{self.where}, {place}: {what}", fix=fix)

    def refuse_entity(self, name: str, *_: object) -> None:
        raise self.fail(f"the entity {name!r} is declared", fix="write the text itself; entities are not read")

    def start(self, tag: str, _: dict[str, str]) -> None:
        self.path.append(tag.upper())
        if len(self.path) > _DEEPEST:
            raise self.fail(f"elements nest more than {_DEEPEST} deep")
        self.words.clear()
        if self.path[-1] in ("VARIABLE", "DEFINITION", "PROBABILITY"):
            self.fields = {}

    def end(self, _: str) -> None:
        tag, content = self.path.pop(), "".join(self.words).strip()
        self.words.clear()
        if tag == "VARIABLE":
            self.variable()
        elif tag in ("DEFINITION", "PROBABILITY"):
            self.definition()
        elif tag == "NAME" and self.path[-1:] == ["NETWORK"]:
            self.name = content
        else:
            self.fields.setdefault(tag, []).append(content)

    def variable(self) -> None:
        name, levels = self.one("NAME"), self.fields.get("OUTCOME", []) or self.fields.get("VALUE", [])
        if name in self.states:
            raise self.fail(f"the variable {name!r} is there twice")
        if len(self.states) >= MOST_NODES or not 1 <= len(levels) <= MOST_STATES:
            raise self.fail(f"the variable {name!r} has {len(levels)} states; 1 to {MOST_STATES} are allowed")
        self.states[name] = levels

    def definition(self) -> None:
        name, parents = self.one("FOR"), self.fields.get("GIVEN", [])
        for each in (name, *parents):
            if each not in self.states:
                from bayeswise.render.labels import guess

                raise self.fail(f"there is no variable {each!r} before this line", guess(each, list(self.states)))
        if name in self.tables:
            raise self.fail(f"the definition of {name!r} is there twice")
        n_rows = n_cells_of(len(self.states[parent]) for parent in parents)
        n_cells = n_rows * len(self.states[name])
        self.n_cells += n_cells
        if self.n_cells > MOST_CELLS:
            raise self.fail(f"the table of {name!r} brings the network to more than {MOST_CELLS} cells")
        try:
            numbers = list(map(float, self.one("TABLE").split()))
        except ValueError as error:
            raise self.fail(f"the table of {name!r} has a word that is not a number: {error}") from None
        if len(numbers) != n_cells:
            raise self.fail(f"the table of {name!r} has {len(numbers)} numbers; {n_cells} are needed")
        self.parents[name], self.tables[name] = parents, np.array(numbers).reshape(n_rows, -1)

    def one(self, tag: str) -> str:
        if len(self.fields.get(tag, [])) != 1:
            raise self.fail(f"expected one {tag}; found {len(self.fields.get(tag, []))}")
        return self.fields[tag][0]


def _without_declaration(text: str) -> str:
    """The text was decoded already, whatever its first line says."""
    return text.partition("?>")[2] if text.startswith("<?xml") else text


def text(network: BeliefNetwork) -> str:
    """The network in XMLBIF; every number is written so that it comes back to the last bit."""
    for word in (network.name, *network, *(state for name in network for state in map(str, network.states(name)))):
        if word != word.strip() or _FORBIDDEN.search(word):
            raise NetworkError(f"XMLBIF cannot hold the name {word!r}", fix="rename it, or write .bif")
    return "\n".join(_lines(network)) + "\n"


def _lines(network: BeliefNetwork) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>'
    yield f"<NAME>{escape(network.name)}</NAME>"
    for name in network:
        outcomes = "".join(f"<OUTCOME>{escape(str(state))}</OUTCOME>" for state in network.states(name))
        yield f'<VARIABLE TYPE="nature"><NAME>{escape(name)}</NAME>{outcomes}</VARIABLE>'
    for name in network:
        given = "".join(f"<GIVEN>{escape(parent)}</GIVEN>" for parent in network.parents(name))
        numbers = " ".join(map(repr, network.table(name).ravel().tolist()))
        yield f"<DEFINITION><FOR>{escape(name)}</FOR>{given}<TABLE>{numbers}</TABLE></DEFINITION>"
    yield "</NETWORK>\n</BIF>"
