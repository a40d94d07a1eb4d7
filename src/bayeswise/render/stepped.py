"""Pictures of something that changes step by step: small multiples side by side, or an animation file."""

from __future__ import annotations

import io
import math
import os
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayeswise.foundation.atomic import replacing
from bayeswise.foundation.errors import ParameterError, UsageError
from bayeswise.render.display import Display, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        """Write a GIF of one step after the other, each for so many seconds, the last one for three times as long."""
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
