"""Pictures of families: the log-likelihood over one or two parameters, and a belief datum by datum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.render.display import Chosen, Display, SteppedDisplay, bare, headed, label, note, titled
from bayeswise.render.numbers import number
from bayeswise.render.theme import AGAINST, ERROR, FOR, INK, NEUTRAL, mixed, state_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.families.belief_history import BeliefHistory
    from bayeswise.families.likelihood import Likelihood

_POINTS = {1: 241, 2: 61}  # along each parameter
_REACH = 3.5  # standard errors around the maximum
_POSITIVE = ("stddev", "scale", "rate", "shape", "alpha", "beta", "df")
_DROPS = (0.5, 2.0, 4.5, 8.0)  # below the maximum: 1, 2, 3 and 4 standard errors of a parabola


class LikelihoodDisplay(Display):
    """One parameter: the curve, its peak, the flat tangent there, and the parabola of its curvature (dashed).

    Two parameters: contours, the peak, and the lines on which each partial derivative is 0; they cross there.
    """

    def __init__(self, likelihood: Likelihood, names: Sequence[str], at: Mapping[str, float]) -> None:
        self.likelihood = likelihood
        self.names = tuple(names)
        self.at = dict(at)
        self.axes_ = [self._range(name) for name in self.names]

    def _range(self, name: str) -> FloatArray:
        place = self.likelihood.names.index(name)
        curvature = float(self.likelihood.second_derivative(**self.at)[place, place])
        centre = self.at[name]
        error = 1.0 / np.sqrt(-curvature) if curvature < 0 else 0.25 * (abs(centre) or 1.0)
        low, high = centre - _REACH * error, centre + _REACH * error
        if name == "probability":
            low, high = max(low, 1e-4), min(high, 1.0 - 1e-4)
        elif name in _POSITIVE:
            low = max(low, 0.15 * centre)
        return np.linspace(low, high, _POINTS[len(self.names)])

    def values(self) -> FloatArray:
        """(n,) the log-likelihood along one parameter, or (n_second, n_first) over two."""
        return self._each(lambda at: self.likelihood.at(**at))

    def slopes(self, name: str) -> FloatArray:
        """The derivative by one parameter, at the same points."""
        return self._each(lambda at: self.likelihood.gradient(**at)[name])

    def _each(self, find: Any) -> FloatArray:
        first = self.axes_[0]
        if len(self.names) == 1:
            return np.array([find({**self.at, self.names[0]: float(x)}) for x in first])
        return np.array(
            [
                [find({**self.at, self.names[0]: float(x), self.names[1]: float(y)}) for x in first]
                for y in self.axes_[1]
            ]
        )

    def to_columns(self) -> dict[str, list[Any]]:
        """The parameters and the log-likelihood at every point."""
        grids = np.meshgrid(*self.axes_)
        named = {name: grid.ravel().tolist() for name, grid in zip(self.names, grids, strict=True)}
        return {**named, "log_likelihood": self.values().ravel().tolist()}

    def size(self) -> tuple[float, float]:
        return (7.0, 4.2) if len(self.names) == 1 else (6.2, 5.0)

    def draw(self, ax: Axes) -> None:
        if len(self.names) == 1:
            self._curve(ax)
        else:
            self._contours(ax)
        fixed = [f"{name} = {number(self.at[name])}" for name in self.likelihood.names if name not in self.names]
        given = f", {', '.join(fixed)}" if fixed else ""
        kind = self.likelihood.family.name
        headed(ax, f"Log-likelihood of {len(self.likelihood.data):,} values, {kind}{given}", most=3)

    def _curve(self, ax: Axes) -> None:
        (name,), (x,), values = self.names, self.axes_, self.values()
        peak = self.likelihood.maximum[name]
        top = self.likelihood.at(**{**self.at, name: peak})
        place = self.likelihood.names.index(name)
        curvature = float(self.likelihood.second_derivative(**{**self.at, name: peak})[place, place])
        low = float(max(values[np.isfinite(values)].min(), top - 12.0))
        ax.plot(x, values, color=FOR, linewidth=1.9, zorder=3, label=f"log p(data | {name})")
        bent = f"curvature {number(curvature)}, standard error {number(1.0 / np.sqrt(-curvature))}"
        how: dict[str, Any] = {"color": AGAINST, "linewidth": 1.3, "linestyle": (0, (4, 3)), "zorder": 2}
        ax.plot(x, top + 0.5 * curvature * (x - peak) ** 2, label=bent if curvature < 0 else "parabola", **how)
        half = 0.16 * (x[-1] - x[0])
        ax.plot([peak - half, peak + half], [top, top], color=ERROR, linewidth=1.4, zorder=4, label="gradient 0")
        ax.plot([peak], [top], marker="o", color=ERROR, markersize=6, zorder=5)
        ax.plot([peak, peak], [low, top], color=NEUTRAL, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
        height = top - low
        note(ax, f"{name} = {number(peak)}", (peak, top), (0, 9), va="bottom")
        ax.set_ylim(low, top + 0.14 * height)
        ax.set_xlim(x[0], x[-1])
        ax.set_xlabel(name)
        ax.set_ylabel(f"log p(data | {name})")
        bare(ax, "bottom", "left", grid="y")

    def _contours(self, ax: Axes) -> None:
        (x, y), values = self.axes_, self.values()
        (one, other), peak = self.names, self.likelihood.maximum
        top = self.likelihood.at(**{**self.at, one: peak[one], other: peak[other]})
        levels = [top - drop for drop in reversed(_DROPS)]
        ax.contourf(x, y, values, levels=[*levels, top + 1e-9], colors=[mixed(FOR, k) for k in (0.1, 0.2, 0.32, 0.46)])
        lines = ax.contour(x, y, values, levels=levels, colors=[FOR], linewidths=0.8, linestyles="solid")
        ax.clabel(lines, fmt=lambda level: f"-{number(top - level)}", fontsize="x-small", colors=[INK])
        for name, colour in ((one, AGAINST), (other, ERROR)):
            ax.contour(x, y, self.slopes(name), levels=[0.0], colors=[colour], linewidths=1.5, linestyles="solid")
            ax.plot([], [], color=colour, label=f"gradient by {name} 0")
        ax.plot([peak[one]], [peak[other]], marker="o", color=INK, markersize=6, zorder=5, label="maximum")
        text = f"{one} = {number(peak[one])}\n{other} = {number(peak[other])}"
        note(ax, text, (peak[one], peak[other]), (9, 9), ha="left", va="bottom")
        ax.set_xlabel(one)
        ax.set_ylabel(other)
        bare(ax, "bottom", "left")


class BeliefDisplay(SteppedDisplay):
    """The density of a belief in a parameter after some data; the prior is dashed, the mean marked."""

    margin = 0.55

    def __init__(
        self, history: BeliefHistory, *, steps: Chosen = None, most_panels: int = 4, parameter: str | None = None
    ) -> None:
        super().__init__(len(history.data), steps, most_panels)
        self.history = history
        self.parameter = parameter
        self.every = [history.marginals(step, parameter) for step in range(len(history.beliefs))]
        shown = [each for step in {0, *self.steps()} for each in self.every[step].values()]
        ends = np.array([each.ppf([0.005, 0.995]) for each in shown])
        narrow = np.array([each.ppf([0.25, 0.75]) for each in shown])
        far = 8.0 * float(np.median(narrow[:, 1] - narrow[:, 0]))
        low = float(max(ends[:, 0].min(), narrow[:, 0].min() - far))
        high = float(min(ends[:, 1].max(), narrow[:, 1].max() + far))
        self.x = np.linspace(low, high, 301)
        heights = [each.pdf(self.x[1:-1]) for each in shown]
        self.top = float(np.quantile(np.max(heights, axis=1), 1.0 - 0.5 / len(heights)))

    def to_columns(self) -> dict[str, list[Any]]:
        """step, datum, and mean and interval of the parameter."""
        return self.history.to_columns(self.parameter)

    def draw_step(self, ax: Axes, step: int, *, first: bool) -> None:
        for k, (name, now) in enumerate(self.every[step].items()):
            colour = state_colour(k)
            before = self.every[0][name]
            if step:
                how: dict[str, Any] = {"color": colour, "linewidth": 1.0, "linestyle": (0, (3, 3)), "zorder": 2}
                ax.plot(self.x, before.pdf(self.x), **how)
            ax.plot(self.x, now.pdf(self.x), color=colour, linewidth=1.8, zorder=3, label=label(name, 16))
            ax.plot([float(now.mean())], [0.0], marker="^", color=colour, markersize=7, clip_on=False, zorder=4)
        ax.set_ylim(0.0, 1.12 * self.top)
        ax.set_xlim(self.x[0], self.x[-1])
        several = len(self.every[0]) > 1
        ax.set_xlabel("probability of each level" if several else next(iter(self.every[0])), fontsize="small")
        if first:
            ax.set_ylabel("density", fontsize="small")
        if several and first:
            ax.legend(frameon=False, fontsize="x-small", loc="upper right", handlelength=1.2)
        ax.tick_params(labelleft=first, labelsize="small")
        data = "datum" if step == 1 else "data"
        titled(
            ax,
            "prior" if not step else f"{step} {data}, last {label(self.history.data[step - 1], 12)}",
            inches=self.panel[0],
        )
        bare(ax, "bottom", "left")
