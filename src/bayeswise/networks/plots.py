"""Pictures of a network: the graph with beliefs in its nodes, the weights of findings, a distribution as bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.networks.arguments import names_of
from bayeswise.networks.explaining.account_views import change_text, finding_text
from bayeswise.networks.node import Evidence, Soft
from bayeswise.render.display import Display, bare, label, note, titled
from bayeswise.render.graph.picture import MOST_NODES, Bar, DrawnNode, Legend, Picture, Width
from bayeswise.render.labels import refuse_unknown
from bayeswise.render.numbers import number, percent
from bayeswise.render.page import fragment, picture, text_block
from bayeswise.render.terminal import aligned, bar
from bayeswise.render.theme import AGAINST, FOR, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.networks.explaining.account import FindingWeight, NetworkAccount
    from bayeswise.networks.inference.distribution import Distribution
    from bayeswise.networks.learning.strengths import EdgeStrengths
    from bayeswise.networks.mixed.network import MixedNetwork
    from bayeswise.networks.network import BeliefNetwork


_MOST_BARS = 30


class FindingsDisplay(Display):
    """The weight of each finding given the others: for the state to the right, against it to the left."""

    def __init__(self, account: NetworkAccount) -> None:
        self.account = account

    def to_columns(self) -> dict[str, list[Any]]:
        """finding, alone, beside."""
        source = self.account.findings
        return {
            "finding": [finding_text(each) for each in source],
            "alone": [each.alone for each in source],
            "beside": [each.beside for each in source],
        }

    def size(self) -> tuple[float, float]:
        return 7.5, 1.4 + 0.4 * max(2, len(self._drawn()))

    def _drawn(self) -> list[FindingWeight]:
        return list(self.account.findings[:_MOST_BARS])

    def draw(self, ax: Axes) -> None:
        account, findings = self.account, self._drawn()
        weights = [each.beside or 0.0 for each in findings]
        top = 1.5 * (sum(abs(w) for w in weights if math.isfinite(w)) or 1.0)  # where an infinite weight ends
        ends = [w if math.isfinite(w) else math.copysign(top, w) for w in weights]
        ax.barh(range(len(ends)), ends, height=0.62, color=[FOR if end > 0 else AGAINST for end in ends], zorder=3)
        reach = max([1e-9, *map(abs, ends)])
        for y, (end, finding) in enumerate(zip(ends, findings, strict=True)):
            weight = "  ".join(change_text(finding.beside)) if finding.relevant else "no effect given the others"
            note(ax, weight, (end, y), (4 if end >= 0 else -4, 0), ha="left" if end >= 0 else "right")
        ax.set_xlim(-1.7 * reach, 1.7 * reach)
        ax.set_ylim(len(ends) - 0.4, -0.6)
        ax.set_yticks(range(len(ends)), [label(finding_text(each), 40) for each in findings])
        ax.axvline(0.0, color=NEUTRAL, linewidth=1.0, zorder=1)
        state = f"{label(account.node)} = {label(account.state)}"
        ax.set_xlabel(f"weight of evidence in log-odds:  ◄ against      for {state} ►")
        before, after = percent(account.prior[account.state]), percent(account.posterior[account.state])
        titled(ax, f"Why {state}: {after}, and {before} before the evidence?")
        bare(ax, "bottom", grid="x")


class DistributionDisplay(Display):
    """The probability of each state, or of each combination of states, as bars."""

    def __init__(self, distribution: Distribution) -> None:
        self.distribution = distribution

    def to_columns(self) -> dict[str, list[Any]]:
        """The states of each node, and their probability."""
        source = self.distribution
        keys = [key if isinstance(key, tuple) else (key,) for key in source]
        return {
            **{n: [key[k] for key in keys] for k, n in enumerate(source.nodes)},
            "probability": list(source.values()),
        }

    def size(self) -> tuple[float, float]:
        return 6.5, 1.2 + 0.34 * min(_MOST_BARS, max(2, len(self.distribution)))

    def draw(self, ax: Axes) -> None:
        kept = sorted(self.distribution.items(), key=lambda item: -item[1])[:_MOST_BARS]
        chosen = {key for key, _ in kept}
        bars = [(key, p) for key, p in self.distribution.items() if key in chosen]
        names = [label(", ".join(map(str, key)) if isinstance(key, tuple) else key, 40) for key, _ in bars]
        ax.barh(range(len(bars)), [p for _, p in bars], height=0.7, color=FOR, zorder=3)
        for y, (_, p) in enumerate(bars):
            note(ax, percent(p), (p, y), (4, 0), ha="left")
        ax.set_yticks(range(len(bars)), names)
        ax.set_ylim(len(bars) - 0.4, -0.6)
        ax.set_xlim(0.0, 1.14 * max((p for _, p in bars), default=1.0))
        ax.set_xlabel("probability")
        hidden = len(self.distribution) - len(bars)
        more = f" ({hidden:,} less probable ones are not drawn)" if hidden else ""
        titled(ax, f"P({', '.join(label(node) for node in self.distribution.nodes)}){more}")
        bare(ax, "left", grid="x")


_MOST_CELLS = 1e7  # for the beliefs in a notebook's picture


def picture_of(
    network: BeliefNetwork,
    evidence: Evidence | None = None,
    soft: Soft | None = None,
    nodes: Iterable[str] | None = None,
    beliefs: bool = True,
    title: str = "",
    strengths: EdgeStrengths | Mapping[tuple[str, str], float] | None = None,
    by: str | None = None,
) -> Picture:
    """All nodes or some, with the edges between them; without beliefs where exact ones need too much memory."""
    shown = list(
        network.names if nodes is None else dict.fromkeys(network.names[network.place(n)] for n in names_of(nodes))
    )
    marginals: dict[str, Distribution] = {}
    if beliefs:
        try:
            marginals = network.marginals(evidence, soft=soft)
        except TooLargeError:
            title = f"{title or network.name} (too large for exact beliefs)"
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


def picture_of_mixed(network: MixedNetwork, evidence: Evidence | None, title: str) -> Picture:
    """All nodes: bars for states, mean and standard deviation for numbers; without beliefs where exact ones need too
    much memory."""
    from bayeswise.networks.inference.distribution import Distribution

    seen = dict(evidence or {})
    try:
        beliefs = network.marginals(evidence)
    except TooLargeError:
        beliefs = {}
        title = f"{title or network.name} (too large for exact beliefs)"
    drawn = []
    for name in network:
        belief = beliefs.get(name)
        if belief is None or isinstance(belief, Distribution):
            drawn.append(_node(name, belief, seen, {}))
        else:
            spread = (
                f"= {belief.mean:.4g}" if name in seen else f"{belief.mean:.4g} \N{PLUS-MINUS SIGN} {belief.stddev:.3g}"
            )
            drawn.append(DrawnNode(name, notes=(spread,), marked=name in seen))
    return Picture.of(drawn, list(network.edges), title=title)


def notebook_html(network: BeliefNetwork) -> str:
    """What a notebook shows: the picture if it is legible, with beliefs if they are fast to compute."""
    if len(network) > MOST_NODES:
        return fragment(text_block(repr(network)))
    try:
        is_fast = network.engine.n_cells() <= _MOST_CELLS
    except TooLargeError:
        is_fast = False
    return fragment(picture(picture_of(network, beliefs=is_fast).svg()))


Edge = tuple[str, str]

MEASURES = {
    "posterior": "the probability of the edge, averaged over all graphs",
    "support_either_way": "the share of resampled tables that have the edge, either way round",
    "support": "the share of resampled tables that have the edge, this way round",
    "score_gain": "what the score loses without the edge",
}
_BAR = 20


def widths_of(
    strengths: EdgeStrengths | Mapping[Edge, float], edges: Iterable[Edge], by: str | None = None
) -> tuple[dict[Edge, Width], Legend]:
    """The width of each edge: shares as they are, other numbers by the square root of their ratio to the largest.

    `by` chooses one of the MEASURES of learned strengths; by default the first that was measured.

    >>> widths, legend = widths_of({("a", "b"): 8.0, ("b", "c"): 2.0, ("c", "d"): -1.0}, [("a", "b"), ("c", "d")])
    >>> widths
    {('a', 'b'): Width(share=1.0, value='8'), ('c', 'd'): Width(share=0.0, value='-1')}
    """
    measured, measure, words = _measured(strengths, by)
    drawn = list(edges)
    for parent, child in drawn:
        if not math.isfinite(measured.get((parent, child), math.nan)):
            raise ParameterError(
                f"there is no strength of the edge {parent} -> {child}",
                fix="measure them in this network: strengths_in_table(table, network)",
            )
    if measure in ("posterior", "support", "support_either_way"):
        found = {edge: Width(min(1.0, max(0.0, measured[edge])), percent(measured[edge])) for edge in drawn}
        return found, Legend(words, tuple(Width(share, percent(share)) for share in (0.1, 0.5, 1.0)))
    signed = measure == "score_gain"
    top = max([measured[edge] for edge in drawn], default=0.0)

    def width(value: float) -> Width:
        share = math.sqrt(min(1.0, max(0.0, value / top))) if top > 0.0 else 0.0
        return Width(share, number(value, 3, signed=signed))

    samples = tuple(dict.fromkeys(width(top * share) for share in (0.04, 0.25, 1.0))) if top > 0.0 else ()
    return {edge: width(measured[edge]) for edge in drawn}, Legend(words, samples)


def _measured(strengths: EdgeStrengths | Mapping[Edge, float], by: str | None) -> tuple[dict[Edge, float], str, str]:
    """The number of each edge, which measure it is, and what to call it."""
    if isinstance(strengths, Mapping):
        if by is not None:
            raise ParameterError("a table of strengths has one measure", fix="leave out `by`")
        for edge, value in strengths.items():
            if not isinstance(value, Real):
                raise ParameterError(f"the strength of {edge!r:.80} is {value!r:.80}", fix="give a number")
        return {edge: float(value) for edge, value in strengths.items()}, "", "the strength of the edge"
    if isinstance(strengths, str) or not all(hasattr(edge, "in_graph") for edge in names_of(strengths, "strengths")):
        raise ParameterError(f"strengths is {strengths!r:.80}", fix="give {(parent, child): number}")
    if by is not None:
        refuse_unknown(by, MEASURES, "edges have no measure")
    for measure in (by,) if by is not None else MEASURES:
        measured = {(edge.parent, edge.child): float(getattr(edge, measure)) for edge in strengths if edge.in_graph}
        if not any(map(math.isnan, measured.values())):
            return measured, measure, MEASURES[measure]
    need = {"posterior": "averaged=True"}.get(by or "", "resamples=100")
    raise ParameterError(f"{by} was not measured", fix=f"measure it: strengths_in_table(table, network, {need})")


def lines_of(widths: Mapping[Edge, Width], legend: Legend) -> list[str]:
    """The edges in the terminal, each with its bar, the strongest first.

    >>> print("\\n".join(lines_of(*widths_of({("rain", "wet"): 8.0, ("a", "b"): 2.0}, [("a", "b"), ("rain", "wet")]))))
    bars: the strength of the edge
      rain -> wet  ████████████████████  8
      a -> b       ██████████            2
    """
    ranked = sorted(widths, key=lambda edge: -widths[edge].share)
    rows = [(f"{edge[0]} -> {edge[1]}", bar(widths[edge].share, _BAR) or "▏", widths[edge].value) for edge in ranked]
    return [f"bars: {legend.words}", *aligned(rows, (), indent="  ")]
