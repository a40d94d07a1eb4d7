"""One palette for everything that is drawn: SVG, pages and matplotlib take their colours from here."""

from __future__ import annotations

from typing import NamedTuple

# Distinguishable with colour blindness and in grey print.
FOR, AGAINST, NEUTRAL, INK = "#2f6fb5", "#e08a2c", "#6b7280", "#1f2937"
STATES = (FOR, AGAINST, "#3f9b6c", "#8e5ea8", "#b8505a", "#9a9a9a")
ERROR = STATES[4]
FAINT, GROUND, DARK_GROUND = "#d1d5db", "#ffffff", "#111827"
_GOLD = "#b5872a"


def state_colour(place: int) -> str:
    """The colour of a state, an action or a line, by its place; after the last one they begin again."""
    return STATES[place % len(STATES)]


def mixed(colour: str, share: float) -> str:
    """A paler colour: so much of it, the rest white.

    >>> mixed("#000000", 0.5), mixed("#2f6fb5", 1.0)
    ('#808080', '#2f6fb5')
    """
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in parts)


class NodeColours(NamedTuple):
    """The head of a node, its outline and its bars."""

    head: str
    outline: str
    bar: str

    @classmethod
    def of(cls, colour: str) -> NodeColours:
        """Three strengths of one colour."""
        return cls(mixed(colour, 0.16), mixed(colour, 0.65), mixed(colour, 0.9))


CHANCE, DECISION, UTILITY, OBSERVED = map(NodeColours.of, (FOR, STATES[2], _GOLD, AGAINST))
EDGE, TRACK = mixed(NEUTRAL, 0.9), mixed(NEUTRAL, 0.12)
