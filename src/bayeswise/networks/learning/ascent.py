"""Ways up the likelihood of rows with missing values: EM, and gradient ascent; neither ever goes down.

Both maximise  sum_rows w log P(row) + sum_cells imagined log theta:  the likelihood, or under a Dirichlet prior the
posterior density. Each yields a point for each step, the start first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.networks.learning.incomplete import IncompleteRows, Layout, Point

_SUFFICIENT = 1e-4  # the share of the promised gain that a step must bring (Armijo)
_HALVINGS = 40
_REMEMBERED = 10


def em_steps(rows: IncompleteRows, tables: FloatArray, imagined: FloatArray) -> Iterator[Point]:
    """Dempster, Laird and Rubin: expect how often each cell was used, then count as if it had been seen.

    After two such steps a leap the same way is tried, and taken if it gains (SQUAREM, Varadhan and Roland 2008), for
    plain EM creeps where much is hidden.
    """
    layout, first = rows.layout, rows.at(tables, imagined)
    yield first
    while True:
        second = rows.at(layout.normalised(first.counts + imagined), imagined)
        yield second
        third = rows.at(layout.normalised(second.counts + imagined), imagined)
        yield third
        leap = _leap(layout, first.tables, second.tables, third.tables)
        first = third
        if leap is not None:
            found = rows.at(leap, imagined)
            if found.objective > third.objective:
                yield found
                first = found


def _leap(layout: Layout, first: FloatArray, second: FloatArray, third: FloatArray) -> FloatArray | None:
    """first + 2 s step + s^2 bend, with s = |step| / |bend|; no entry falls below a tenth of where it was."""
    step, bend = second - first, (third - second) - (second - first)
    length = float(np.linalg.norm(step)) / max(float(np.linalg.norm(bend)), 1e-300)
    if not 1.0 < length < 1e8:
        return None
    return layout.normalised(np.maximum(first + 2.0 * length * step + length * length * bend, 0.1 * third))


def gradient_steps(rows: IncompleteRows, tables: FloatArray, imagined: FloatArray) -> Iterator[Point]:
    """Russell et al. (1995): d log P / d theta = expected count / theta, each step along the slope, as far as it gains.

    Tables are softmax of b, so that they stay distributions:  d/db = n_jk - theta_jk n_j,  n with what is imagined. The
    slope is bent by the curvature that the last steps met (limited-memory BFGS).
    """
    layout, point = rows.layout, rows.at(tables, imagined)
    yield point
    met: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=_REMEMBERED)  # steps, and the falls of the slope on them
    gradient, scale = _gradient(layout, point, imagined)
    while True:
        direction = _bent(gradient, scale, met)
        found = _searched(rows, point, imagined, direction, float(gradient @ direction))
        if found is None and met:
            met.clear()
            direction = gradient * scale
            found = _searched(rows, point, imagined, direction, float(gradient @ direction))
        if found is None:
            return
        point, step = found
        before = gradient
        gradient, scale = _gradient(layout, point, imagined)
        met.append((step * direction, before - gradient))
        yield point


def _gradient(layout: Layout, point: Point, imagined: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The gradient, and 1 / how often each row of a table was used: about its curvature."""
    counts = point.counts + imagined
    gradient, scale = np.zeros_like(counts), np.zeros_like(counts)
    views = (layout.tables(flat) for flat in (counts, point.tables, gradient, scale))
    for seen, table, slope, inverse in zip(*views, strict=True):
        total = np.broadcast_to(seen.sum(axis=1, keepdims=True), seen.shape)
        slope[:] = seen - table * total
        np.divide(1.0, total, out=inverse, where=total > 0.0)
    return gradient, scale


def _bent(gradient: FloatArray, scale: FloatArray, met: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """The inverse curvature times the gradient, by two loops over what was met (Nocedal 1980)."""
    direction, kept = gradient.copy(), [(s, y, float(s @ y)) for s, y in met if s @ y > 1e-12 * float(y @ y)]
    shares: list[float] = []
    for step, fall, product in reversed(kept):
        shares.append(float(step @ direction) / product)
        direction -= shares[-1] * fall
    direction *= scale
    for step, fall, product in kept:
        direction += (shares.pop() - float(fall @ direction) / product) * step
    return direction


def _searched(
    rows: IncompleteRows, point: Point, imagined: FloatArray, direction: FloatArray, slope: float
) -> tuple[Point, float] | None:
    """The whole step, or halved until it gains enough."""
    step = 1.0
    for _ in range(_HALVINGS):
        found = rows.at(_moved(rows.layout, point.tables, step * direction), imagined)
        if found.objective >= point.objective + _SUFFICIENT * step * slope and found.objective > point.objective:
            return found, step
        step /= 2.0
    return None


def _moved(layout: Layout, tables: FloatArray, change: FloatArray) -> FloatArray:
    """softmax(log tables + change), row by row."""
    found = np.empty_like(tables)
    for table, move, out in zip(layout.tables(tables), layout.tables(change), layout.tables(found), strict=True):
        weight = table * np.exp(move - move.max(axis=1, keepdims=True))
        out[:] = weight / weight.sum(axis=1, keepdims=True)
    return found
