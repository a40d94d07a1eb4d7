"""What the displays share: where matplotlib comes from, colours, and labels that it cannot trip over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.foundation.errors import NotInstalledError
from bayeswise.render.labels import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Distinguishable with colour blindness and in grey print.
FOR, AGAINST, NEUTRAL, INK = "#2f6fb5", "#e08a2c", "#6b7280", "#1f2937"
STATES = ("#2f6fb5", "#e08a2c", "#3f9b6c", "#8e5ea8", "#b8505a", "#9a9a9a")
FAINT = "#d1d5db"


def pyplot() -> Any:
    """matplotlib.pyplot, loaded when something is drawn."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise NotInstalledError(
            "matplotlib is not installed, so nothing can be drawn", fix="pip install 'bayeswise[plot]'"
        ) from None
    return plt


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes that were given, or those of a new figure of that size in inches."""
    plt = pyplot()
    if ax is not None:
        return ax
    _, new = plt.subplots(figsize=(width, height), layout="constrained")
    axes: Axes = new
    return axes


def label(text: object, width: int = 30) -> str:
    """One line of at most that many cells; a dollar sign is escaped, as matplotlib reads it as mathematics.

    >>> label("price in $ or €")
    'price in \\\\$ or €'
    """
    return shown(text, width).replace("$", r"\$")


def bare(ax: Axes, *keep: str) -> None:
    """Take the frame away, but for the sides that are named."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
        spine.set_color(NEUTRAL)
    ax.tick_params(length=3, color=NEUTRAL, labelcolor=INK)
