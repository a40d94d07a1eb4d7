"""The picture of a diagram: rounded chance nodes, square decisions, utilities as diamonds; dashed is what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.render.graph.picture import MOST_NODES, Bar, DrawnNode, Kind, Picture
from bayeswise.render.numbers import number, percent
from bayeswise.render.page import fragment, picture, text_block

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram
    from bayeswise.diagrams.solving.solution import Solution


def picture_of(diagram: InfluenceDiagram, solution: Solution | None = None, title: str = "") -> Picture:
    """The nodes with their states; with a solution the beliefs, the options and the utilities it leads to."""
    nodes = [_inner(diagram, name, solution) for name in diagram.names]
    nodes += [_utility(name, solution) for name in diagram.utilities]
    known = [(node, name) for name in diagram.decisions for node in diagram.parents(name)]
    edges = [(parent, name) for name in diagram if name not in diagram.decisions for parent in diagram.parents(name)]
    return Picture.of(nodes, [*edges, *known], dashed=known, title=title)


def _inner(diagram: InfluenceDiagram, name: str, solution: Solution | None) -> DrawnNode:
    kind = Kind.decision if name in diagram.decisions else Kind.chance
    if solution is None:
        return DrawnNode(name, kind=kind, notes=(", ".join(map(str, diagram.states(name)[:8])),))
    seen = solution.evidence
    bars = tuple(
        Bar(str(state), p, percent(p), name in seen and state == seen[name])
        for state, p in solution.query(name).items()
    )
    return DrawnNode(name, bars, kind=kind, marked=name in seen)


def _utility(name: str, solution: Solution | None) -> DrawnNode:
    notes = (number(solution.parts[name]),) if solution is not None else ()
    return DrawnNode(name, kind=Kind.utility, notes=notes)


def notebook_html(diagram: InfluenceDiagram, solution: Solution | None = None) -> str:
    """What a notebook shows: the picture where that can be read, and the answer in words."""
    said = text_block(str(solution) if solution is not None else repr(diagram))
    if len(diagram) > MOST_NODES:
        return fragment(said)
    return fragment(picture(picture_of(diagram, solution).svg()), said if solution is not None else "")
