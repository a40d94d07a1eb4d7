"""Small pictures in SVG, without any package: lines, points with bands, bars; every label escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.render.labels import markup, shortened
from bayeswise.render.numbers import number
from bayeswise.render.theme import FOR, NEUTRAL, state_colour

_WIDTH, _HEIGHT = 460, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 12, 12, 44
_MOST_POINTS = 400
_LETTERS = 'font-family="system-ui, sans-serif" font-size="11" fill="currentColor"'
_GRID = 'stroke="currentColor" stroke-opacity=".15"'
_LETTER = 6.2  # units that a letter takes


class Axes:
    """A frame with two scales into which shapes are drawn; the scales end at round numbers."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], x_name: str, y_name: str) -> None:
        self.x_ticks, self.y_ticks = round_ticks(*_widened(x)), round_ticks(*_widened(y))
        self.x, self.y = _ends(self.x_ticks), _ends(self.y_ticks)
        self.name = f"{y_name} against {x_name}"
        self.shapes = [*self._frame(), *self._names(x_name, y_name)]
        self.legend: list[tuple[str, str]] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point in the drawing."""
        across, up = _along(x, self.x), _along(y, self.y)
        return _LEFT + across * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)

    def line(self, x: FloatArray, y: FloatArray, name: str, colour: str, *, dashed: bool = False) -> None:
        """A line through points; long ones are thinned out."""
        kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_POINTS)).round().astype(int))
        places = " ".join("{:.1f},{:.1f}".format(*self.at(float(x[k]), float(y[k]))) for k in kept)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.shapes.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>')
        if name:
            self.legend.append((name, colour))

    def band(self, x: float, low: float, high: float, middle: float, colour: str) -> None:
        """A point with its interval."""
        (across, top), (_, bottom) = self.at(x, high), self.at(x, low)
        self.shapes.append(
            f'<line x1="{across:.1f}" x2="{across:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" stroke="{colour}"/>'
            f'<circle cx="{across:.1f}" cy="{self.at(x, middle)[1]:.1f}" r="3.5" fill="{colour}"/>'
        )

    def svg(self) -> str:
        """The drawing, with its legend below where there is more than one line."""
        return _drawing(self.name, self.shapes) + (_legend(self.legend) if len(self.legend) > 1 else "")

    def _frame(self) -> list[str]:
        shapes = []
        for y in self.y_ticks:
            _, height = self.at(self.x[0], y)
            shapes.append(
                f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}" {_GRID}/>'
                f'<text x="{_LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{number(y)}</text>'
            )
        for x in self.x_ticks:
            across, base = self.at(x, self.y[0])
            shapes.append(f'<text x="{across:.1f}" y="{base + 16:.1f}" text-anchor="middle">{number(x)}</text>')
        return shapes

    def _names(self, x_name: str, y_name: str) -> list[str]:
        middle = (_HEIGHT - _BOTTOM + _TOP) / 2
        return [
            f'<text x="{(_WIDTH + _LEFT) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{markup(x_name)}</text>',
            f'<text transform="translate(12 {middle}) rotate(-90)" text-anchor="middle">{markup(y_name)}</text>',
        ]


def lines(
    x: FloatArray, y: Mapping[str, FloatArray], x_name: str, y_name: str, marks: Mapping[str, float] | None = None
) -> str:
    """Several lines over one scale; `marks` are places on it, each drawn as an upright line."""
    every = np.concatenate([values[np.isfinite(values)] for values in y.values()])
    axes = Axes((float(x.min()), float(x.max())), (float(every.min()), float(every.max())), x_name, y_name)
    for k, (name, values) in enumerate(y.items()):
        axes.line(x, values, name, state_colour(k), dashed=k > 1)
    for k, (name, place) in enumerate((marks or {}).items(), start=len(y)):
        axes.line(np.array([place, place]), np.array(axes.y), name, state_colour(k), dashed=True)
    return axes.svg()


def bars(name: str, names: Sequence[str], values: Sequence[float], low: Sequence[float], high: Sequence[float]) -> str:
    """Bars from zero with their intervals, one below the other."""
    ends = [0.0, *values, *(v for v in (*low, *high) if np.isfinite(v))]
    left, right = _widened((min(ends), max(ends)))
    rows = []

    def at(value: float) -> float:
        return 190 + _along(min(max(value, left), right), (left, right)) * (_WIDTH - 200)

    for k, (line, value) in enumerate(zip(names, values, strict=True)):
        y = 8 + 24 * k
        start, length = min(at(0.0), at(value)), abs(at(value) - at(0.0))
        reach = f'x1="{at(low[k]):.1f}" x2="{at(high[k]):.1f}" y1="{y + 8}" y2="{y + 8}"'
        rows.append(
            f'<text x="182" y="{y + 12}" text-anchor="end">{markup(shortened(line, 30))}</text>'
            f'<rect x="{start:.1f}" y="{y}" width="{length:.1f}" height="16" fill="{FOR if k == 0 else NEUTRAL}"/>'
            f'<line {reach} stroke="currentColor" stroke-width="1.4"/>'
        )
    return _drawing(name, rows, 16 + 24 * len(rows))


def triangle(name: str, states: Sequence[str], regions: Mapping[str, FloatArray], points: FloatArray) -> str:
    """Regions of three states, corners (n_corners, 3) each, and posteriors (n_rows, 3) as points in them."""
    from rich.cells import cell_len

    corners = np.array([[70.0, 250.0], [390.0, 250.0], [230.0, 22.0]])
    shapes = []
    for k, region in enumerate(regions.values()):
        places = region @ corners
        outline = " ".join(f"{x:.1f},{y:.1f}" for x, y in places.tolist())
        shapes.append(f'<polygon points="{outline}" fill="{state_colour(k)}" fill-opacity="0.55"/>')
    step = max(1, len(points) // _MOST_POINTS)
    for x, y in (points[::step] @ corners).tolist():
        shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.8" fill-opacity=".7"/>')
    for state, (x, y), lift in zip(states, corners.tolist(), (16, 16, -8), strict=True):
        reach = min(0.5 * _LETTER * cell_len(state) + 2.0, 0.5 * _WIDTH)  # half of the text, which stays in the drawing
        middle = min(max(x, reach), _WIDTH - reach)
        shapes.append(f'<text x="{middle:.0f}" y="{y + lift}" text-anchor="middle">{markup(state)}</text>')
    return _drawing(name, shapes) + _legend([(name, state_colour(k)) for k, name in enumerate(regions)])


def _drawing(name: str, shapes: Sequence[str], height: float = _HEIGHT) -> str:
    """One chart; its name is read aloud."""
    head = f'class="chart" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{markup(name)}" {_LETTERS}'
    return f"<svg {head}>{''.join(shapes)}</svg>"


def _legend(lines: Sequence[tuple[str, str]]) -> str:
    """Names with their colours."""
    spans = (f'<span><i style="background:{colour}"></i>{markup(name)}</span>' for name, colour in lines)
    return f'<p class="legend">{"".join(spans)}</p>'


def round_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from just below `low` to just above `high`, in steps of 1, 2 or 5 times a power of ten.

    >>> round_ticks(0.0000013, 0.993), round_ticks(-171, 177)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [-200.0, -100.0, 0.0, 100.0, 200.0])
    """
    rough = high / about - low / about  # the difference itself may be too large for a number
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(factor for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * (1 - 1e-9))
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    largest = np.finfo(np.float64).max
    return [float(np.clip(float(f"{k * step:.12g}"), -largest, largest)) + 0.0 for k in range(first, last + 1)]


def _along(value: float, ends: tuple[float, float]) -> float:
    """The share of the way from one end to the other."""
    return (0.5 * value - 0.5 * ends[0]) / (0.5 * ends[1] - 0.5 * ends[0])


def _ends(ticks: Sequence[float]) -> tuple[float, float]:
    return ticks[0], ticks[-1]


def _widened(ends: tuple[float, float]) -> tuple[float, float]:
    low, high = ends
    if not (np.isfinite(low) and np.isfinite(high)):
        return 0.0, 1.0
    if 0.5 * high - 0.5 * low > 1e-300:
        return low, high
    pad = max(0.5, 1e-6 * abs(low))
    return low - pad, high + pad
