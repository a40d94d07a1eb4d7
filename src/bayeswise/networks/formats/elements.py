"""XML as a tree of elements; entities are refused, so that a file cannot expand while it is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NetworkError, SourceError
from bayeswise.networks.formats.tokens import MOST_CELLS, n_cells_of

_DEEPEST = 16
_MOST_ELEMENTS = 2_000_000
# control characters, which XML forbids, and the end of line that it replaces
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")


@dataclass
class Element:
    """A tag in lower case, its attributes, its text, and the elements inside."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    column: int
    text: str = ""
    children: Sequence[Element] = ()

    def fail(self, what: str, fix: str | None = None) -> NoReturn:
        raise SourceError(f"{self.file}, line {self.line}, column {self.column}: {what}", fix=fix)

    def all(self, *tags: str) -> Iterator[Element]:
        return (child for child in self.children if child.tag in tags)

    def texts(self, *tags: str) -> list[str]:
        return [child.text.strip() for child in self.all(*tags)]

    def one(self, tag: str) -> str:
        texts = self.texts(tag)
        if len(texts) != 1:
            self.fail(f"expected one {tag.upper()}; found {len(texts)}")
        return texts[0]

    def attribute(self, name: str) -> str:
        if name not in self.attributes:
            self.fail(f"<{self.tag}> has no attribute {name!r}")
        return self.attributes[name]

    def numbers(self, text: str, n_needed: int, what: str) -> FloatArray:
        """The numbers of a table, as many as it has cells."""
        try:
            numbers = np.array(list(map(float, text.split())))
        except ValueError as error:
            self.fail(f"{what} has a word that is not a number: {error}")
        if len(numbers) != n_needed:
            self.fail(f"{what} has {len(numbers)} numbers; {n_needed} are needed")
        return numbers

    def cells(self, sizes: Iterator[int] | list[int], what: str) -> int:
        """The number of cells of a table of these sizes, within the limit."""
        n_cells = n_cells_of(sizes)
        if n_cells > MOST_CELLS:
            self.fail(f"{what} has more than {MOST_CELLS} cells")
        return n_cells


def read_elements(text: str, where: str) -> Element:
    """The outermost element of a document."""
    return _Reader(where).read(text)


class _Reader:
    def __init__(self, where: str) -> None:
        self.where = where
        self.open: list[Element] = []
        self.inside: list[list[Element]] = [[]]  # of the document, then of each open element
        self.words: list[str] = []
        self.n_elements = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.words.append
        self.parser.EntityDeclHandler = self.refuse_entity
        self.parser.buffer_text = True

    def read(self, text: str) -> Element:
        try:
            # the text is decoded already, whatever encoding its first line declares
            body = text.partition("?>")[2] if text.startswith("<?xml") else text
            self.parser.Parse(body.encode("utf-8", "surrogatepass"), True)
        except expat.ExpatError as error:
            place = f"line {error.lineno}, column {error.offset + 1}"
            raise SourceError(f"{self.where}, {place}: {expat.errors.messages[error.code]}") from None
        return self.inside[0][0]

    @property
    def place(self) -> str:
        return f"{self.where}, line {self.parser.CurrentLineNumber}, column {self.parser.CurrentColumnNumber + 1}"

    def refuse_entity(self, name: str, *_: object) -> None:
        raise SourceError(
            f"{self.place}: the entity {name!r} is declared", fix="write the text itself; entities are not read"
        )

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.n_elements += 1
        if len(self.inside) > _DEEPEST or self.n_elements > _MOST_ELEMENTS:
            raise SourceError(f"{self.place}: elements nest more than {_DEEPEST} deep, or are too many")
        self.words.clear()
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        element = Element(tag.lower(), attributes, self.where, line, column)
        self.inside[-1].append(element)
        self.inside.append([])
        self.open.append(element)

    def end(self, _: str) -> None:
        element, children = self.open.pop(), self.inside.pop()
        element.text = "".join(self.words)
        if children:  # most elements have none, and garbage collection counts lists
            element.children = children
        self.words.clear()


def refuse_unwritable(words: Iterator[str], form: str) -> None:
    """Refuse names that XML cannot store, before anything is written."""
    for word in words:
        if word != word.strip() or not word or _FORBIDDEN.search(word):
            raise NetworkError(f"{form} cannot hold the name {word!r}", fix="rename it, or write .bif")
