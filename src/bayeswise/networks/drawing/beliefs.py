"""The picture of a belief network: in each node what is believed of it, given what was observed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.errors import TooLargeError
from bayeswise.networks.drawing.lettering import percent, safe
from bayeswise.networks.drawing.strengths import widths_of
from bayeswise.networks.drawing.values import MOST_NODES, Bar, DrawnNode, Picture

if TYPE_CHECKING:
    from bayeswise.networks.distribution import Distribution
    from bayeswise.networks.learning.strengths import EdgeStrengths
    from bayeswise.networks.network import BeliefNetwork

_MOST_CELLS = 1e7  # a notebook does not wait for more


def picture_of(
    network: BeliefNetwork,
    evidence: Mapping[str, Any] | None = None,
    soft: Mapping[str, Mapping[Any, float]] | None = None,
    nodes: Iterable[str] | None = None,
    beliefs: bool = True,
    title: str = "",
    strengths: EdgeStrengths | Mapping[tuple[str, str], float] | None = None,
    by: str | None = None,
) -> Picture:
    """All nodes or some, with the edges between them; where exact beliefs need too much memory, without them."""
    shown = list(network.names if nodes is None else dict.fromkeys(network.names[network.place(n)] for n in nodes))
    marginals: dict[str, Distribution] = {}
    if beliefs:
        try:
            marginals = network.marginals(evidence, soft=soft)
        except TooLargeError:
            title = f"{title or network.name} (too entangled for exact beliefs)"
    seen = {name: network.states(name)[network.code(name, state)] for name, state in (evidence or {}).items()}
    drawn = [_node(name, marginals.get(name), seen, soft or {}) for name in shown]
    kept = set(shown)
    edges = [edge for edge in network.edges if kept.issuperset(edge)]
    if strengths is None or not edges:
        return Picture.of(drawn, edges, title=title)
    widths, legend = widths_of(strengths, edges, by)
    return Picture.of(drawn, edges, title=title, widths=widths, legend=legend)


def _node(name: str, belief: Distribution | None, seen: Mapping[str, Any], soft: Mapping[str, Any]) -> DrawnNode:
    if belief is None:
        notes = (f"= {seen[name]}",) if name in seen else ()
        return DrawnNode(name, notes=notes, marked=name in seen)
    bars = tuple(Bar(str(state), p, percent(p), name in seen and state == seen[name]) for state, p in belief.items())
    notes = ("soft evidence",) if name in soft else ()
    return DrawnNode(name, bars, notes=notes, marked=name in seen or name in soft)


def notebook_html(network: BeliefNetwork) -> str:
    """What a notebook shows of a network: its picture where that can be read, with beliefs that are there at once."""
    if len(network) > MOST_NODES:
        return f"<pre>{safe(repr(network))}</pre>"
    try:
        soon = network.engine.n_cells() <= _MOST_CELLS
    except TooLargeError:
        soon = False
    return f'<div style="overflow:auto">{picture_of(network, beliefs=soon).svg()}</div>'
