"""A picture drawn by matplotlib: the same layout and colours as its SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.render.display import Display, label, titled
from bayeswise.render.graph.boxes import HEADER, LINE, NAME_SIZE, PADDING, TEXT_SIZE, Box, line_of, shortened
from bayeswise.render.graph.layout import Route, layout_of
from bayeswise.render.graph.markup import colours_of
from bayeswise.render.graph.picture import Kind, Picture, line_width
from bayeswise.render.theme import EDGE, GROUND, INK, NEUTRAL, TRACK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 12.0
_POINTS = 72.0  # of type in an inch; a unit of the layout is one of them, where there is room
_ROUND = 6.0


class GraphDisplay(Display):
    """Nodes with their bars, edges with their widths; what is drawn shrinks with the axes."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.layout = layout_of(picture)
        self._scale = 1.0

    def to_columns(self) -> dict[str, list[Any]]:
        """node, label, share and value of every bar."""
        bars = [(node.name, bar) for node in self.picture.nodes for bar in node.bars]
        names = ("label", "share", "value")
        return {"node": [name for name, _ in bars], **{each: [getattr(bar, each) for _, bar in bars] for each in names}}

    def size(self) -> tuple[float, float]:
        head = 24.0 if self.picture.title else 0.0
        return (self.layout.width + 2 * _MARGIN) / _POINTS, (self.layout.height + 2 * _MARGIN + head) / _POINTS

    def draw(self, ax: Axes) -> None:
        width, height = self.layout.width + 2 * _MARGIN, self.layout.height + 2 * _MARGIN
        figure = ax.get_figure(root=True)
        if figure is not None:
            inches, place = figure.get_size_inches(), ax.get_position()
            # a new figure is made for the picture; axes that were given may be smaller
            room = min(inches[0] * max(place.width, 0.5) / width, inches[1] * max(place.height, 0.5) / height)
            self._scale = 1.0 if len(figure.axes) == 1 and tuple(inches) == self.size() else min(1.0, _POINTS * room)
        ax.set_xlim(-_MARGIN, self.layout.width + _MARGIN)
        ax.set_ylim(self.layout.height + _MARGIN, -_MARGIN)
        ax.set_aspect("equal")
        ax.set_axis_off()
        for route in self.layout.routes:
            self._edge(ax, route)
        for box in self.layout.boxes:
            self._box(ax, box)
        if self.picture.title or self.picture.legend is not None:
            words = f"width of an edge: {self.picture.legend.words}" if self.picture.legend is not None else ""
            titled(ax, "\n".join(label(line, 100) for line in (self.picture.title, words) if line))

    def _edge(self, ax: Axes, route: Route) -> None:
        from matplotlib.patches import PathPatch, Polygon
        from matplotlib.path import Path

        width = self.picture.widths.get(route.edge)
        kinds = {"M": Path.MOVETO, "L": Path.LINETO, "C": Path.CURVE4}
        strokes = [(kinds[letter], place) for letter, places in route.strokes(width) for place in places]
        path = Path([place for _, place in strokes], [kind for kind, _ in strokes])
        style = (0, (4, 3)) if route.edge in self.picture.dashed else "-"
        thick = self._scale * line_width(width)
        ax.add_patch(PathPatch(path, facecolor="none", edgecolor=EDGE, linewidth=thick, linestyle=style))
        ax.add_patch(Polygon(route.head(width), facecolor=EDGE, linewidth=0))

    def _box(self, ax: Axes, box: Box) -> None:
        from matplotlib.patches import FancyBboxPatch, Polygon, Rectangle

        node, (x, y, w, h) = box.node, (box.left, box.top, box.width, box.height)
        head, outline, _ = colours_of(node)
        edge: dict[str, Any] = {"edgecolor": outline, "linewidth": 1.2 * self._scale}
        if node.kind is Kind.utility:
            corners = [(x + w / 2, y), (x + w, y + h / 2), (x + w / 2, y + h), (x, y + h / 2)]
            ax.add_patch(Polygon(corners, facecolor=head, zorder=3, **edge))
            lines = [*node.notes, *map(line_of, box.bars)]
            self._lines(ax, box, y + h / 2 - len(lines) * LINE / 2, lines, box.label_room)
            return
        style = f"round,pad=0,rounding_size={_ROUND}" if node.kind is Kind.chance else "square,pad=0"
        ground = GROUND if box.bars else head
        ax.add_patch(FancyBboxPatch((x, y), w, h, boxstyle=style, facecolor=ground, zorder=3, **edge))
        if box.bars:
            band = HEADER + len(node.notes) * LINE
            strip = Rectangle((x, y), w, band, facecolor=head, edgecolor="none", zorder=3.1)
            ax.add_patch(strip)
            outside = FancyBboxPatch((x, y), w, h, boxstyle=style, facecolor="none", zorder=3.2, **edge)
            ax.add_patch(outside)
            strip.set_clip_path(outside)
        self._lines(ax, box, y + HEADER / 2, list(node.notes), w - 2 * PADDING)
        for k in range(len(box.bars)):
            self._bar(ax, box, k)

    def _lines(self, ax: Axes, box: Box, y: float, notes: list[str], room: float) -> None:
        """The name, and the text below it."""
        middle = box.left + box.width / 2
        self._text(ax, middle, y, shortened(box.node.name, NAME_SIZE, room + 1.0), NAME_SIZE, weight="bold")
        for k, line in enumerate(notes, start=1):
            self._text(ax, middle, y + k * LINE, shortened(line, TEXT_SIZE, room + 1.0), TEXT_SIZE, color=NEUTRAL)

    def _bar(self, ax: Axes, box: Box, k: int) -> None:
        from matplotlib.patches import Rectangle

        bar = box.bars[k]
        top = box.top + HEADER + len(box.node.notes) * LINE + 4.0 + k * LINE
        start = box.left + PADDING + box.label_room + 6.0
        room = box.left + box.width - start - PADDING - box.value_room - 6.0
        share, middle = min(1.0, max(0.0, bar.share)), top + LINE / 2
        for length, colour in ((room, TRACK), (room * share, colours_of(box.node).bar)):
            ax.add_patch(Rectangle((start, top + 4.0), length, LINE - 7.0, facecolor=colour, linewidth=0, zorder=4))
        weight = "bold" if bar.marked else "normal"
        name = shortened(bar.label, TEXT_SIZE, box.label_room)
        self._text(ax, start - 6.0, middle, name, TEXT_SIZE, ha="right", weight=weight)
        self._text(ax, box.left + box.width - PADDING, middle, bar.value, TEXT_SIZE, ha="right", color=NEUTRAL)

    def _text(self, ax: Axes, x: float, y: float, words: str, size: float, **settings: Any) -> None:
        usual = {"ha": "center", "va": "center", "color": INK, "zorder": 5}
        ax.text(x, y, label(words, 200), fontsize=0.9 * size * self._scale, **{**usual, **settings})
