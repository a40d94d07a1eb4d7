"""A picture as SVG, of which nothing is fetched or run: boxes with bars, curves with arrows; and for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bayeswise.render.graph.boxes import HEADER, LINE, NAME_SIZE, PADDING, TEXT_SIZE, Box, few, line_of, shortened
from bayeswise.render.graph.boxes import width as width_of
from bayeswise.render.graph.layout import Layout, Place, Route, layout_of
from bayeswise.render.graph.picture import Bar, DrawnNode, Kind, Legend, Picture, Width, line_width
from bayeswise.render.labels import allowed, markup
from bayeswise.render.theme import CHANCE, DECISION, EDGE, GROUND, INK, NEUTRAL, OBSERVED, TRACK, UTILITY, NodeColours

_MARGIN = 20.0
_TITLE = 30.0
_LEGEND = 56.0  # two lines under the drawing
_SAMPLE = 44.0
_COLOURS = {Kind.chance: CHANCE, Kind.decision: DECISION, Kind.utility: UTILITY}
_FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"


def svg_text(picture: Picture) -> str:
    """The drawing as one SVG element."""
    return "".join(_pieces(picture, layout_of(picture)))


def colours_of(node: DrawnNode) -> NodeColours:
    """Those of its kind, or of what was observed."""
    return OBSERVED if node.marked else _COLOURS[node.kind]


def _pieces(picture: Picture, layout: Layout) -> Iterator[str]:
    head = _TITLE if picture.title else 0.0
    below = layout.height + 2 * _MARGIN + head  # where the legend begins
    width, height = layout.width + 2 * _MARGIN, below
    if picture.legend is not None:
        width, height = max(width, _legend_width(picture.legend) + 2 * _MARGIN), below + _LEGEND
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="{_FONT}" fill="{INK}">'
        f"<title>{markup(picture.title or 'network')}</title>"
        f'<rect width="100%" height="100%" fill="{GROUND}"/>'
    )
    if picture.title:
        shown = markup(shortened(picture.title, 16.0, width - 2 * _MARGIN))
        yield f'<text x="{_MARGIN:g}" y="{_MARGIN + 12:g}" font-size="16" font-weight="bold">{shown}</text>'
    yield f'<g transform="translate({_MARGIN:g} {_MARGIN + head:g})">'
    yield f'<g fill="none" stroke="{EDGE}" stroke-width="1.4">'
    for route in layout.routes:
        yield _curve(route, route.edge in picture.dashed, picture.widths.get(route.edge))
    yield f'</g><g fill="{EDGE}">'
    for route in layout.routes:
        yield f'<path d="M{_places(route.head(picture.widths.get(route.edge)))}z"/>'
    yield "</g>"
    for box in layout.boxes:
        yield from _box(box)
    yield "</g>"
    if picture.legend is not None:
        yield from _legend(picture.legend, below)
    yield "</svg>"


def _n(value: float) -> str:
    """A coordinate with one digit after the point, if it needs one."""
    return f"{value:.1f}".removesuffix(".0")


def _curve(route: Route, dashed: bool, width: Width | None) -> str:
    names = f"{route.edge[0]} \N{RIGHTWARDS ARROW} {route.edge[1]}"
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    wide = "" if width is None else f' stroke-width="{line_width(width):.2f}"'
    said = names if width is None else f"{names}: {width.value}"
    path = "".join(f"{letter}{_places(points)}" for letter, points in route.strokes(width))
    return f'<path d="{path}"{dash}{wide}><title>{markup(said)}</title></path>'


def _places(points: Sequence[Place]) -> str:
    return " ".join(f"{_n(x)} {_n(y)}" for x, y in points)


# -- what the widths of edges mean ----------------------------------------------------------------------------


def _legend_width(legend: Legend) -> float:
    samples = sum(_SAMPLE + 8.0 + width_of(sample.value, TEXT_SIZE) + 18.0 for sample in legend.samples)
    return max(width_of(_said(legend), TEXT_SIZE), samples)


def _said(legend: Legend) -> str:
    return f"width of an edge: {legend.words}"


def _legend(legend: Legend, top: float) -> Iterator[str]:
    yield f'<g font-size="{TEXT_SIZE:g}" fill="{NEUTRAL}">'
    yield f'<text x="{_MARGIN:g}" y="{_n(top + 4.0)}">{markup(_said(legend))}</text>'
    x, y = _MARGIN, top + 24.0
    for sample in legend.samples:
        line = f'stroke="{EDGE}" stroke-width="{line_width(sample):.2f}"'
        yield f'<path d="M{_n(x)} {_n(y)}h{_SAMPLE:g}" {line}/>'
        yield f'<text x="{_n(x + _SAMPLE + 8.0)}" y="{_n(y + 4.0)}">{markup(sample.value)}</text>'
        x += _SAMPLE + 8.0 + width_of(sample.value, TEXT_SIZE) + 18.0
    yield "</g>"


# -- nodes ----------------------------------------------------------------------------------------------------


def _box(box: Box) -> Iterator[str]:
    node = box.node
    fill, outline, _ = colours_of(node)
    lines = [node.name, *node.notes, *(line_of(bar) for bar in node.bars[:100])]
    yield f'<g transform="translate({_n(box.left)} {_n(box.top)})"><title>{markup(chr(10).join(lines))}</title>'
    if node.kind is Kind.utility:
        yield from _diamond(box, fill, outline)
    else:
        yield from _card(box, fill, outline)
    yield "</g>"


def _diamond(box: Box, fill: str, outline: str) -> Iterator[str]:
    w, h = box.width, box.height
    yield (
        f'<path d="M{_n(w / 2)} 0L{_n(w)} {_n(h / 2)}L{_n(w / 2)} {_n(h)}L0 {_n(h / 2)}z" '
        f'fill="{fill}" stroke="{outline}" stroke-width="1.3"/>'
    )
    below = [*box.node.notes, *map(line_of, box.bars)]
    y = h / 2 - len(below) * LINE / 2 + 4.5
    yield _centred(box.node.name, w / 2, y, NAME_SIZE, box.label_room, bold=True)
    for k, line in enumerate(below):
        yield _centred(line, w / 2, y + (k + 1) * LINE, TEXT_SIZE, box.label_room)


def _card(box: Box, fill: str, outline: str) -> Iterator[str]:
    w, h = box.width, box.height
    round_ = 7 if box.node.kind is Kind.chance else 0
    head = HEADER + len(box.node.notes) * LINE
    yield f'<rect width="{_n(w)}" height="{_n(h)}" rx="{round_}" fill="{GROUND}" stroke="none"/>'
    if box.bars:
        corner = f"a{round_} {round_} 0 0 1 {round_}"
        yield (
            f'<path d="M0 {_n(head)}V{round_}{corner} -{round_}H{_n(w - round_)}{corner} {round_}V{_n(head)}z" '
            f'fill="{fill}"/>'
        )
    body = "none" if box.bars else fill
    yield (
        f'<rect width="{_n(w)}" height="{_n(h)}" rx="{round_}" fill="{body}" stroke="{outline}" stroke-width="1.3"/>'
    )
    room = w - 2 * PADDING
    yield _centred(box.node.name, w / 2, 17.5, NAME_SIZE, room, bold=True)
    for k, note in enumerate(box.node.notes):
        yield _centred(note, w / 2, 17.5 + (k + 1) * LINE, TEXT_SIZE, room)
    for k, bar in enumerate(box.bars):
        yield from _bar(box, bar, head + 4.0 + k * LINE)


def _bar(box: Box, bar: Bar, top: float) -> Iterator[str]:
    colour = colours_of(box.node).bar
    base = top + LINE - 5.0
    start = PADDING + box.label_room + 6.0
    room = box.width - start - PADDING - box.value_room - 6.0
    weight = ' font-weight="bold"' if bar.marked else ""
    label = markup(shortened(bar.label, TEXT_SIZE, box.label_room))
    yield (
        f'<text x="{_n(start - 6.0)}" y="{_n(base)}" font-size="{TEXT_SIZE:g}" text-anchor="end"{weight}>{label}</text>'
        f'<rect x="{_n(start)}" y="{_n(top + 4)}" width="{_n(room)}" height="{LINE - 7:g}" fill="{TRACK}"/>'
    )
    share = min(1.0, max(0.0, bar.share))
    if share > 0.0:
        yield (
            f'<rect x="{_n(start)}" y="{_n(top + 4)}" width="{max(0.5, room * share):.2f}" height="{LINE - 7:g}" '
            f'fill="{colour}"/>'
        )
    yield (
        f'<text x="{_n(box.width - PADDING)}" y="{_n(base)}" font-size="{TEXT_SIZE:g}" text-anchor="end" '
        f'fill="{NEUTRAL}">{markup(bar.value)}</text>'
    )


def _centred(words: str, x: float, y: float, size: float, room: float, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else f' fill="{NEUTRAL}"'
    shown = markup(shortened(words, size, room + 1.0))
    return f'<text x="{_n(x)}" y="{_n(y)}" font-size="{size:g}" text-anchor="middle"{weight}>{shown}</text>'


# -- Graphviz ------------------------------------------------------------------------------------------------
_STYLES = {Kind.chance: "style=rounded", Kind.decision: "style=solid", Kind.utility: "shape=diamond"}


def dot_text(picture: Picture) -> str:
    """In the language of Graphviz; the lines of a node are its name, its notes and its bars."""
    below = [picture.title] if picture.title else []
    if picture.legend is not None:
        samples = ", ".join(f"{sample.value} {line_width(sample):.2g}" for sample in picture.legend.samples)
        below.append(f"width: {picture.legend.words}" + (f" ({samples} points)" if samples else ""))
    lines = [f"  label={quoted(chr(10).join(below))};"] if below else []
    lines += ["  node [shape=box];"]
    lines += [f"  {quoted(node.name)} [{_attributes(node)}];" for node in picture.nodes]
    for start, end in picture.edges:
        lines.append(f"  {quoted(start)} -> {quoted(end)}{_of_edge(picture, (start, end))};")
    return "\n".join(["digraph {", *lines, "}"])


def _of_edge(picture: Picture, edge: tuple[str, str]) -> str:
    parts = ["style=dashed"] if edge in picture.dashed else []
    width = picture.widths.get(edge)
    if width is not None:
        parts += [f"penwidth={line_width(width):.2f}", f"tooltip={quoted(width.value)}"]
    return f" [{', '.join(parts)}]" if parts else ""


def _attributes(node: DrawnNode) -> str:
    parts = [_STYLES[node.kind]] + (["penwidth=2"] if node.marked else [])
    below = [*node.notes, *map(line_of, few(node.bars))]
    if below:
        parts.append(f"label={quoted(chr(10).join([node.name, *below]))}")
    return ", ".join(parts)


def quoted(name: str) -> str:
    r"""A name as Graphviz reads it back.

    >>> print(quoted('say "yes"\n'))
    "say \"yes\"\n"
    """
    escaped = allowed(name).replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'
