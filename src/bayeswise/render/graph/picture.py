"""What is drawn, as plain values: any graph without cycles, be it a network or a diagram of decisions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NetworkError, TooLargeError
from bayeswise.render.numbers import plural

if TYPE_CHECKING:
    from bayeswise.render.graph.plot import GraphDisplay

MOST_NODES = 400


class Kind(StrEnum):
    """What a node stands for: chance is drawn round, a decision square, a utility as a diamond."""

    chance = "chance"
    decision = "decision"
    utility = "utility"


@dataclass(frozen=True)
class Bar:
    """A line of a node: a label, how much of the bar is filled (0 to 1), and the number beside it."""

    label: str
    share: float
    value: str = ""
    marked: bool = False


@dataclass(frozen=True)
class DrawnNode:
    """A node with its bars; `marked` sets it off from the others (observed), `notes` are lines under its name."""

    name: str
    bars: tuple[Bar, ...] = ()
    kind: Kind = Kind.chance
    notes: tuple[str, ...] = ()
    marked: bool = False


@dataclass(frozen=True)
class Width:
    """How wide an edge is drawn, from 0 for the thinnest line to 1 for the widest, and the number that it shows."""

    share: float
    value: str


def line_width(width: Width | None) -> float:
    """How wide the line of an edge is."""
    return 1.4 if width is None else 1.0 + 5.0 * width.share


@dataclass(frozen=True)
class Legend:
    """What the widths of edges mean, and some of them with their numbers."""

    words: str
    samples: tuple[Width, ...] = ()


@dataclass(frozen=True)
class Picture:
    """Nodes, edges (from, to) and a title; edges in `dashed` (information that a decision has) are drawn so.

    Edges may have `widths`, which a legend explains.

    >>> picture = Picture.of([DrawnNode("Storm"), DrawnNode("Camp Fire")], [("Storm", "Camp Fire")])
    >>> picture
    Picture(2 nodes, 1 edge)
    >>> print(picture.dot())
    digraph {
      node [shape=box];
      "Storm" [style=rounded];
      "Camp Fire" [style=rounded];
      "Storm" -> "Camp Fire";
    }
    >>> picture.svg()[:4]
    '<svg'
    """

    nodes: tuple[DrawnNode, ...]
    edges: tuple[tuple[str, str], ...]
    title: str = ""
    dashed: frozenset[tuple[str, str]] = frozenset()
    widths: Mapping[tuple[str, str], Width] = field(default_factory=dict, hash=False)
    legend: Legend | None = None

    @classmethod
    def of(
        cls,
        nodes: Iterable[DrawnNode],
        edges: Iterable[tuple[str, str]],
        *,
        title: str = "",
        dashed: Iterable[tuple[str, str]] = (),
        widths: Mapping[tuple[str, str], Width] | None = None,
        legend: Legend | None = None,
    ) -> Picture:
        """The picture of a graph; names must be different, and edges must lead from one of them to another."""
        drawn, arrows = tuple(nodes), tuple(dict.fromkeys((start, end) for start, end in edges))
        names = {node.name for node in drawn}
        if len(names) < len(drawn):
            raise NetworkError("two nodes of a picture have the same name", fix="rename one of them")
        for edge in arrows:
            if not names.issuperset(edge):
                raise NetworkError(
                    f"the edge {edge[0]!r} -> {edge[1]!r} has an end that is not a node", fix="add the node"
                )
        if len(drawn) > MOST_NODES:
            raise TooLargeError(
                f"a picture of {len(drawn)} nodes cannot be read; {MOST_NODES} are drawn at most",
                fix="draw a part of them: picture(nodes=[...]), in the terminal --around NODE",
            )
        return cls(drawn, arrows, title, frozenset(dashed), widths or {}, legend)

    def svg(self) -> str:
        """The drawing, a text that any browser shows."""
        from bayeswise.render.graph.markup import svg_text

        return svg_text(self)

    def plot(self, ax: Any = None) -> GraphDisplay:
        """Draw it by matplotlib into the axes, or into a new figure."""
        from bayeswise.render.graph.plot import GraphDisplay

        return GraphDisplay(self).plot(ax)

    def dot(self) -> str:
        """The graph in the language of Graphviz, for another layout."""
        from bayeswise.render.graph.markup import dot_text

        return dot_text(self)

    def html(self) -> str:
        """A page that holds the drawing."""
        from bayeswise.render.page import page, picture

        return page(self.title or "network", picture(self.svg()))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture: .svg, .html or .dot, by its suffix; the file is there when all of it is."""
        from pathlib import Path

        from bayeswise.foundation.atomic import write_bytes
        from bayeswise.foundation.errors import ParameterError

        forms = {".svg": self.svg, ".html": self.html, ".dot": self.dot, ".gv": self.dot}
        suffix = Path(path).suffix.lower()
        if suffix not in forms:
            raise ParameterError(
                f"{os.fspath(path)!r} has an unknown suffix for a picture", fix="write .svg, .html or .dot"
            )
        write_bytes(path, forms[suffix]().encode("utf-8"))

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"Picture({plural(len(self.nodes), 'node')}, {plural(len(self.edges), 'edge')})"
