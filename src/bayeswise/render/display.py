"""What the matplotlib displays share: the data in the constructor, `plot(ax)` draws. matplotlib is loaded only then."""

from __future__ import annotations

import os
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from bayeswise.foundation.atomic import replacing
from bayeswise.foundation.errors import NotInstalledError, UsageError
from bayeswise.render.labels import shown
from bayeswise.render.plain import Tabular
from bayeswise.render.theme import FAINT, INK, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Display(Tabular):
    """A picture of one value; `draw` and, where it depends on the data, `size` are what a display adds."""

    inches: ClassVar[tuple[float, float]] = (7.0, 4.2)  # of a new figure, where that does not depend on the data
    ax_: Axes | None = None
    figure_: Any = None

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into the axes, or into a new figure; afterwards they are `ax_` and `figure_`."""
        if ax is None:
            _, ax = pyplot().subplots(figsize=self.size(), layout="constrained")
        self.draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @abstractmethod
    def draw(self, ax: Axes) -> None:
        """Draw into the axes."""

    def size(self) -> tuple[float, float]:
        """Inches of a new figure."""
        return self.inches

    def save(self, path: str | os.PathLike[str], *, dpi: float = 150) -> Path:
        """Draw, if that was not done yet, and write a picture by its suffix: .png, .svg or .pdf."""
        form = picture_form(path)
        figure = (self if self.figure_ is not None else self.plot()).figure_
        with replacing(path) as file:
            figure.savefig(file, format=form, dpi=dpi, bbox_inches="tight", metadata=_METADATA[form])
        return Path(path)


# without a date and the name of a library: the same picture has the same bytes
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def picture_form(path: str | os.PathLike[str]) -> str:
    """The form of a picture by the suffix of its file.

    >>> picture_form("classes.svg")
    'svg'
    """
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in _METADATA:
        raise UsageError(
            f"{Path(path).name}: pictures are not written as {form or 'files without a suffix'}",
            fix="name a file that ends in .png, .svg or .pdf",
        )
    return form


def pyplot() -> Any:
    """matplotlib.pyplot, loaded when something is drawn."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise NotInstalledError(
            "matplotlib is not installed, so nothing can be drawn", fix="pip install 'bayeswise[plot]'"
        ) from None
    return plt


def label(text: object, width: int = 30) -> str:
    """One line of at most that many cells; a dollar sign is escaped, as matplotlib reads it as mathematics.

    >>> label("price in $ or €")
    'price in \\\\$ or €'
    """
    return shown(text, width).replace("$", r"\$")


def titled(ax: Axes, title: str, pad: float | None = None) -> None:
    """The title, above the left edge of the axes; so many points above it, where a legend stands between."""
    ax.set_title(title, loc="left", fontsize="medium", color=INK, pad=pad)


def bare(ax: Axes, *keep: str, grid: Literal["x", "y", "both"] | None = None) -> None:
    """Take the frame away, but for the sides that are named; faint lines behind: "x", "y" or "both"."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
        spine.set_color(NEUTRAL)
    ax.tick_params(length=3, color=NEUTRAL, labelcolor=INK)
    if grid:
        ax.grid(axis=grid, color=FAINT, linewidth=0.6)
        ax.set_axisbelow(True)


def note(ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float] = (0, 0), **settings: Any) -> None:
    """A small text beside a point, so many points of type away from it, through which nothing shines."""
    ground = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.85, "pad": 0.8}
    usual = {"fontsize": "small", "color": INK, "zorder": 6, "bbox": ground, "ha": "center", "va": "center"}
    ax.annotate(text, at, xytext=offset, textcoords="offset points", **{**usual, **settings})
