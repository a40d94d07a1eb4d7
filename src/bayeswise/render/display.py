"""What the matplotlib displays share: the data in the constructor, `plot(ax)` draws. matplotlib is loaded only then.

A `SteppedDisplay` shows what changes step by step: as small multiples side by side, or as an animation file.
"""

from __future__ import annotations

import io
import math
import os
import textwrap
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from bayeswise.foundation.atomic import replacing
from bayeswise.foundation.errors import NotInstalledError, ParameterError, UsageError
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

    def __repr__(self) -> str:
        """The kind of picture and, once it is drawn, its title: a notebook shows it beside the picture."""
        title = "" if self.ax_ is None else " ".join(self.ax_.get_title(loc="left").split())
        return f"{type(self).__name__}({shown(title, 80) if title else ''})"

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

    def slide_size(self) -> tuple[float, float]:
        """Inches in which the picture has room with letters of ordinary size: the fewer, the larger on a slide."""
        return self.size()

    def narrow_height(self) -> float:
        """Inches of height on a page that is narrower than the figure, for letters of the same size."""
        return self.size()[1]

    def save(self, path: str | os.PathLike[str], *, dpi: float = 150, size: Size | None = None) -> Path:
        """Write a picture by its suffix: .png, .svg or .pdf; as it was drawn, or drawn again for a page of some size.

        size   "slide" (13.33 by 7.5 inches), "paper" (a column of 3.3 inches), or (width, height) in inches; lines and
               letters are scaled with the picture, letters down to 6.5 points. A .png has the pixels of such a page,
               a .svg or .pdf its proportions.
        """
        form = picture_form(path)
        if size is None:
            figure = (self if self.figure_ is not None else self.plot()).figure_
            how: dict[str, Any] = {"dpi": dpi, "bbox_inches": "tight"}
        else:
            figure, scale = self.on_page(size)
            how = {"dpi": dpi * scale}
        with replacing(path) as file:
            figure.savefig(file, format=form, metadata=_METADATA[form], **how)
        if size is not None:
            pyplot().close(figure)
        return Path(path)

    def on_page(self, size: Size) -> tuple[Any, float]:
        """A new figure in the proportions of a page, and by how much it is to be scaled; `figure_` stays as it is."""
        own = self.slide_size() if size == "slide" else self.size()
        width, height, scale = _page(size, own, self.narrow_height())
        figure, ax = pyplot().subplots(figsize=(width / scale, height / scale), layout="constrained")
        self.draw(ax)
        return figure, scale


Size: TypeAlias = Literal["slide", "paper"] | tuple[float, float]
_SLIDE = (13.33, 7.5)  # inches
_COLUMN = 3.3
_LEAST_SCALE = 0.65  # letters of 10 points are read at 6.5


def _page(size: Any, own: tuple[float, float], narrow_height: float) -> tuple[float, float, float]:
    """Width and height in inches, and the scale of lines and letters; the height of a paper is what they need.

    >>> _page("slide", (7.0, 4.0), 4.0), _page("paper", (6.6, 4.0), 4.0)
    ((13.33, 7.5, 1.875), (3.3, 2.6, 0.65))
    """
    if size == "slide":
        width, height = _SLIDE
    elif size == "paper":
        width, height = _COLUMN, max(own[1] * _COLUMN / own[0], narrow_height * _LEAST_SCALE)
    elif isinstance(size, tuple) and len(size) == 2 and all(0.5 <= each <= 100.0 for each in size):
        width, height = size
    else:
        raise UsageError(f"there is no page of size {size!r}", fix='use "slide", "paper" or (width, height) in inches')
    return width, height, max(_LEAST_SCALE, min(width / own[0], height / own[1]))


def inches_across(ax: Axes) -> float:
    """The width of axes with the names at their left, about, before they are laid out."""
    figure = ax.get_figure(root=True)
    whole = 7.0 if figure is None else float(figure.get_figwidth())
    return whole * min(1.0, 1.12 * float(ax.get_position().width))


def letters_across(inches: float, points: float = 10.0) -> int:
    """How many letters of a proportional font fit into a line.

    >>> letters_across(5.0), letters_across(5.0, 8.0)
    (64, 81)
    """
    return int(inches * 72.0 / (0.555 * points))


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


def titled(ax: Axes, title: str, pad: float | None = None, *, inches: float | None = None) -> None:
    """The title, above the left edge of the axes, in as many lines as it needs; `pad` points above them."""
    room = max(12, letters_across(inches or inches_across(ax)))
    lines = [line for each in title.split("\n") for line in textwrap.wrap(each, room, break_on_hyphens=False) or [""]]
    ax.set_title("\n".join(lines), loc="left", fontsize="medium", color=INK, pad=pad)


def headed(
    ax: Axes, title: str, handles: Any = None, names: Sequence[str] | None = None, *, right: bool = False, most: int = 5
) -> None:
    """The title, and between it and the axes a legend in as many columns as there is room for, at most `most`."""
    if handles is None or names is None:
        handles, names = ax.get_legend_handles_labels()
    room = letters_across(inches_across(ax), 8.3)
    columns = next(n for n in range(most, 0, -1) if n == 1 or _legend_letters(names, n) <= room)
    lines = math.ceil(len(names) / columns)
    place: dict[str, Any] = {"loc": "lower right" if right else "lower left", "bbox_to_anchor": (float(right), 1.0)}
    how: dict[str, Any] = {"frameon": False, "fontsize": "small", "borderaxespad": 0.2, "handlelength": 1.4}
    ax.legend(handles, names, ncols=columns, **place, **how)
    titled(ax, title, pad=10.0 + 14.0 * lines)


def _legend_letters(names: Sequence[str], columns: int) -> int:
    """How wide a legend is, which matplotlib fills column by column.

    >>> _legend_letters(["a", "bbb", "c"], 2), _legend_letters(["a", "bbb", "c"], 1)
    (16, 9)
    """
    lines = math.ceil(len(names) / columns)
    parts = [names[k : k + lines] for k in range(0, len(names), lines)]
    return sum(6 + max(map(len, part)) for part in parts)


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
    """A small text on a plain background, `offset` points of type away from a point."""
    ground = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.85, "pad": 0.8}
    usual = {"fontsize": "small", "color": INK, "zorder": 6, "bbox": ground, "ha": "center", "va": "center"}
    ax.annotate(text, at, xytext=offset, textcoords="offset points", **{**usual, **settings})


Chosen = Sequence[int] | Literal["all"] | None
_MOST_ACROSS, _ACROSS_NARROW = 4, 2
_MOST_FRAMES = 400
_BELOW, _AROUND = 0.5, 0.85  # inches for the name of an axis, and for it and a title


class SteppedDisplay(Display):
    """One panel for each chosen step; without a choice the first, the last and some between, at most `most_panels`."""

    panel: tuple[float, float] = (2.9, 2.3)  # inches
    margin: float = 0.0  # inches left of the first panels, for labels

    def __init__(self, last: int, steps: Chosen = None, most_panels: int = 3) -> None:
        self.last = last
        self.chosen = steps
        self.most_panels = max(2, most_panels)
        if steps is not None and steps != "all":
            wrong = [step for step in steps if not isinstance(step, int) or not 0 <= step <= last]
            if wrong or not len(steps):
                raise ParameterError(f"the steps go from 0 to {last}; found {list(steps)}", fix="choose among them")

    def steps(self) -> list[int]:
        """How many data each panel has seen."""
        if self.chosen == "all":
            return list(range(self.last + 1))
        if self.chosen is not None:
            return [int(step) for step in self.chosen]
        n_panels = min(self.most_panels, self.last + 1)
        return [round(k * self.last / max(n_panels - 1, 1)) for k in range(n_panels)]

    @abstractmethod
    def draw_step(self, ax: Axes, step: int, *, first: bool) -> None:
        """Draw one step; only a first panel of a row has labels at its left."""

    def size(self) -> tuple[float, float]:
        return self._inches(_MOST_ACROSS)

    def slide_size(self) -> tuple[float, float]:
        wide, narrow = self._inches(_MOST_ACROSS), self._inches(_ACROSS_NARROW)
        return narrow if narrow[1] / 7.5 < wide[0] / 13.33 else wide  # what limits each of them

    def narrow_height(self) -> float:
        return self._inches(_ACROSS_NARROW)[1]

    def _inches(self, most_across: int) -> tuple[float, float]:
        down, across = self._grid(most_across)
        width, height = self.panel
        return self.margin + width * across + 0.3, height * down + 0.25

    def draw(self, ax: Axes) -> None:
        ax.set_axis_off()
        figure = ax.get_figure(root=True)
        narrow = figure is not None and figure.get_figwidth() < 0.75 * self.size()[0]
        most_across = _ACROSS_NARROW if narrow else _MOST_ACROSS
        down, across = self._grid(most_across)
        width, height = self._inches(most_across)
        left = self.margin / width
        one, tall = (1.0 - left) / across, 1.0 / down
        for k, step in enumerate(self.steps()):
            row, column = divmod(k, across)
            place = (left + column * one, 1.0 - (row + 1) * tall + _BELOW / height, one * 0.86, tall - _AROUND / height)
            self.draw_step(ax.inset_axes(place), step, first=column == 0)

    def _grid(self, most_across: int) -> tuple[int, int]:
        """Rows and columns of panels."""
        n = len(self.steps())
        across = min(n, most_across)
        return math.ceil(n / across), across

    def animate(self, path: str | os.PathLike[str], *, seconds: float = 0.8, dpi: float = 110) -> Path:
        """Write a GIF of the steps, each shown for `seconds`, the last one for three times as long."""
        if Path(path).suffix.lower() != ".gif":
            raise UsageError(f"{Path(path).name}: an animation is a GIF", fix="name a file that ends in .gif")
        if not 0.02 <= seconds <= 60.0:
            raise ParameterError(f"seconds is {seconds}", fix="give 0.02 to 60 seconds for each step")
        steps = list(range(self.last + 1)) if self.chosen is None else self.steps()
        if len(steps) > _MOST_FRAMES:
            raise ParameterError(f"there are {len(steps):,} steps", fix=f"choose at most {_MOST_FRAMES} by steps=")
        frames = [self._frame(step, dpi) for step in steps]
        lasting = [round(1000 * seconds)] * (len(frames) - 1) + [round(3000 * seconds)]
        with replacing(path) as file:
            how: dict[str, Any] = {"save_all": True, "append_images": frames[1:], "duration": lasting, "loop": 0}
            frames[0].save(file, format="GIF", **how)
        return Path(path)

    def _frame(self, step: int, dpi: float) -> Any:
        """One step alone, as an image; every frame has the same size and axes."""
        plt = pyplot()
        from PIL import Image

        width, height = self.panel
        inches = (1.6 * width + self.margin + 0.6, 1.5 * height + 0.4)
        figure = plt.figure(figsize=inches)
        left = (self.margin + 0.55) / inches[0]
        self.draw_step(figure.add_axes((left, 0.2, 0.95 - left, 0.66)), step, first=True)
        memory = io.BytesIO()
        figure.savefig(memory, format="png", dpi=dpi)
        plt.close(figure)
        return Image.open(memory).convert("P", palette=Image.Palette.ADAPTIVE)
