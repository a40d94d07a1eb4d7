"""How wide a text is likely to be, how large a node is drawn, and which of its bars have room."""

from __future__ import annotations

import math
import re
import unicodedata

from bayeswise.foundation.dataclass import dataclass
from bayeswise.render.graph.picture import Bar, DrawnNode, Kind
from bayeswise.render.numbers import percent

# shares of the height of the letters, on the wide side, since fonts differ from machine to machine
_NARROW = frozenset("iljtfrI.,;:'`|!()[]{}/\\-\" ")
_WIDE = frozenset("mwMWQ@%")
_MOST_SHOWN = 400  # letters; no box has room for more
_SPACES = re.compile(r"[\t\r\n\u2028\u2029]+")


def width(text: str, size: float) -> float:
    """How many pixels a text of letters of that size takes, about; of a very long one, its beginning.

    >>> width("", 10), width("ill", 10) < width("mmm", 10) < width("\u4e2d\u6587\u5b57", 10)
    (0.0, True)
    """
    return math.fsum(map(_share, text[:_MOST_SHOWN])) * size


def _share(letter: str) -> float:
    if letter in _NARROW:
        return 0.40
    if letter in _WIDE:
        return 0.95
    if letter.isascii():
        return 0.72 if letter.isupper() else 0.63
    if unicodedata.combining(letter):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(letter) in "WF" else 0.75


def shortened(text: str, size: float, room: float) -> str:
    """The text in one line, its middle left out where it is wider than the room.

    >>> shortened("a long name that nobody reads", 10, 100)
    'a long n\u2026dy reads'
    """
    text = _SPACES.sub(" ", text)
    if len(text) <= _MOST_SHOWN and width(text, size) <= room:
        return text

    def cut(keep: int) -> str:
        return f"{text[: (keep + 1) // 2]}\u2026{text[len(text) - keep // 2 :]}"

    low, high = 0, min(len(text) - 1, _MOST_SHOWN)
    while low < high:  # the most letters that fit
        keep = (low + high + 1) // 2
        low, high = (keep, high) if width(cut(keep), size) <= room else (low, keep - 1)
    return cut(low)


NAME_SIZE, TEXT_SIZE = 13.0, 11.0
LINE = 17.0
HEADER = 26.0
PADDING = 9.0
BAR = 64.0
_NARROWEST, _WIDEST = 96.0, 270.0
_MOST_BARS = 9
_DIAMOND = 1.7  # the text of a diamond takes 1/1.7 of its width, and so 1 - 1/1.7 of its height


@dataclass(frozen=True)
class Box:
    """A node with its place: the left and upper edge, the size, and the bars that are shown."""

    node: DrawnNode
    bars: tuple[Bar, ...]
    width: float
    height: float
    label_room: float
    value_room: float
    left: float = 0.0
    top: float = 0.0

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    @property
    def reach(self) -> float:
        """How far from the middle edges may touch it."""
        return self.width * (0.12 if self.node.kind is Kind.utility else 0.36)

    def edge_at(self, x: float) -> float:
        """How far below its upper edge (or above its lower edge) the outline is at x."""
        if self.node.kind is not Kind.utility:
            return 0.0
        return abs(x - self.middle) / self.width * self.height


def box_of(node: DrawnNode) -> Box:
    """The box that a node needs."""
    bars = few(node.bars)
    words = [width(node.name, NAME_SIZE), *(width(note, TEXT_SIZE) for note in node.notes)]
    height = HEADER + len(node.notes) * LINE
    if node.kind is Kind.utility:
        words += [width(line_of(bar), TEXT_SIZE) for bar in bars]
        room = min(max(words), _WIDEST / _DIAMOND * 1.3)
        inside = 18.0 + (len(node.notes) + len(bars)) * LINE
        return Box(node, bars, max(_NARROWEST, room * _DIAMOND), inside / (1 - 1 / _DIAMOND), room, 0.0)
    label_room = min(110.0, max((width(bar.label, TEXT_SIZE) for bar in bars), default=0.0))
    value_room = max((width(bar.value, TEXT_SIZE) for bar in bars), default=0.0)
    if bars:
        words.append(label_room + BAR + value_room + 12.0)
        height += len(bars) * LINE + 8.0
    return Box(node, bars, min(_WIDEST, max(_NARROWEST, max(words) + 2 * PADDING)), height, label_room, value_room)


def line_of(bar: Bar) -> str:
    """A bar in words, for a node that has no room for bars."""
    return f"{bar.label} {bar.value}".strip()


def few(bars: tuple[Bar, ...]) -> tuple[Bar, ...]:
    """All bars, or the longest of them in their order and one line for the others.

    >>> few(tuple(Bar(str(k), k / 66) for k in range(12)))[-1]
    Bar(label='4 others', share=0.09..., value='9.1 %', marked=False)
    """
    if len(bars) <= _MOST_BARS:
        return bars
    longest = sorted(range(len(bars)), key=lambda k: (not bars[k].marked, -bars[k].share))[: _MOST_BARS - 1]
    shown = tuple(bars[k] for k in sorted(longest))
    rest = max(0.0, math.fsum(bar.share for bar in bars) - math.fsum(bar.share for bar in shown))
    return (*shown, Bar(f"{len(bars) - len(shown)} others", rest, percent(rest)))
