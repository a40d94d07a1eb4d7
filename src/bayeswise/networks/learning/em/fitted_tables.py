"""Tables from rows with missing values and from hidden variables: by EM or gradient ascent, the best of several starts.

Both maximise  sum_rows w log P(row) + sum_cells pseudo-counts log theta:  the likelihood, or the posterior density
under a Dirichlet prior. Each yields a point for each step, the start first, and the objective never decreases.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import Progress, silent
from bayeswise.networks.learning.em.incomplete import IncompleteRows, Layout, Point
from bayeswise.networks.learning.family_counts import PRIORS
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Node
from bayeswise.render.labels import refuse_unknown

_SUFFICIENT = 1e-4  # the share of the predicted gain that a step must achieve (Armijo)
_HALVINGS = 40
_REMEMBERED = 10


class Expecting(Protocol):
    """Rows that give the expected count of each cell of the tables."""

    @property
    def layout(self) -> Layout: ...
    def at(self, tables: FloatArray, pseudo_counts: FloatArray) -> Point: ...


def em_steps(rows: Expecting, tables: FloatArray, pseudo_counts: FloatArray) -> Iterator[Point]:
    """EM (Dempster, Laird and Rubin): expected counts of each cell, then tables from these counts.

    After two such steps an extrapolation is tried, and taken if it gains (SQUAREM, Varadhan and Roland 2008), as plain
    EM is slow where much is missing.
    """
    layout, first = rows.layout, rows.at(tables, pseudo_counts)
    yield first
    while True:
        second = rows.at(layout.normalised(first.counts + pseudo_counts), pseudo_counts)
        yield second
        third = rows.at(layout.normalised(second.counts + pseudo_counts), pseudo_counts)
        yield third
        further = _extrapolated(layout, first.tables, second.tables, third.tables)
        first = third
        if further is not None:
            candidate = rows.at(further, pseudo_counts)
            if candidate.objective > third.objective:
                yield candidate
                first = candidate


def _extrapolated(layout: Layout, first: FloatArray, second: FloatArray, third: FloatArray) -> FloatArray | None:
    """first + 2 s step + s^2 bend, with s = |step| / |bend|; no entry falls below a tenth of its value."""
    step, bend = second - first, (third - second) - (second - first)
    length = float(np.linalg.norm(step)) / max(float(np.linalg.norm(bend)), 1e-300)
    if not 1.0 < length < 1e8:
        return None
    return layout.normalised(np.maximum(first + 2.0 * length * step + length * length * bend, 0.1 * third))


def gradient_steps(rows: IncompleteRows, tables: FloatArray, pseudo_counts: FloatArray) -> Iterator[Point]:
    """Gradient ascent (Russell et al. 1995): d log P / d theta = expected count / theta, with a line search.

    Tables are softmax of b, so that they stay distributions:  d/db = n_jk - theta_jk n_j,  n with pseudo-counts. The
    direction is that of limited-memory BFGS.
    """
    layout, point = rows.layout, rows.at(tables, pseudo_counts)
    yield point
    history: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=_REMEMBERED)  # steps, and decreases of the gradient
    gradient, scale = _gradient(layout, point, pseudo_counts)
    while True:
        direction = _quasi_newton(gradient, scale, history)
        candidate = _line_search(rows, point, pseudo_counts, direction, float(gradient @ direction))
        if candidate is None and history:
            history.clear()
            direction = gradient * scale
            candidate = _line_search(rows, point, pseudo_counts, direction, float(gradient @ direction))
        if candidate is None:
            return
        point, step = candidate
        before = gradient
        gradient, scale = _gradient(layout, point, pseudo_counts)
        history.append((step * direction, before - gradient))
        yield point


def _gradient(layout: Layout, point: Point, pseudo_counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The gradient, and 1 / the expected count of each row of a table: about its inverse curvature."""
    counts = point.counts + pseudo_counts
    gradient, scale = np.zeros_like(counts), np.zeros_like(counts)
    views = (layout.tables(flat) for flat in (counts, point.tables, gradient, scale))
    for seen, table, slope, inverse in zip(*views, strict=True):
        total = np.broadcast_to(seen.sum(axis=1, keepdims=True), seen.shape)
        slope[:] = seen - table * total
        np.divide(1.0, total, out=inverse, where=total > 0.0)
    return gradient, scale


def _quasi_newton(
    gradient: FloatArray, scale: FloatArray, history: Sequence[tuple[FloatArray, FloatArray]]
) -> FloatArray:
    """The inverse curvature times the gradient, by the two-loop recursion (Nocedal 1980)."""
    direction, kept = gradient.copy(), [(s, y, float(s @ y)) for s, y in history if s @ y > 1e-12 * float(y @ y)]
    shares: list[float] = []
    for step, fall, product in reversed(kept):
        shares.append(float(step @ direction) / product)
        direction -= shares[-1] * fall
    direction *= scale
    for step, fall, product in kept:
        direction += (shares.pop() - float(fall @ direction) / product) * step
    return direction


def _line_search(
    rows: IncompleteRows, point: Point, pseudo_counts: FloatArray, direction: FloatArray, slope: float
) -> tuple[Point, float] | None:
    """The full step, or halved until it gains enough (Armijo); None if it never does."""
    step = 1.0
    for _ in range(_HALVINGS):
        candidate = rows.at(_moved(rows.layout, point.tables, step * direction), pseudo_counts)
        if (
            candidate.objective >= point.objective + _SUFFICIENT * step * slope
            and candidate.objective > point.objective
        ):
            return candidate, step
        step /= 2.0
    return None


def _moved(layout: Layout, tables: FloatArray, change: FloatArray) -> FloatArray:
    """softmax(log tables + change), row by row."""
    moved = np.empty_like(tables)
    for table, move, out in zip(layout.tables(tables), layout.tables(change), layout.tables(moved), strict=True):
        weight = table * np.exp(move - move.max(axis=1, keepdims=True))
        out[:] = weight / weight.sum(axis=1, keepdims=True)
    return moved


WAYS = {"em": em_steps, "gradient": gradient_steps}


@dataclass(frozen=True)
class FittedTables:
    """A network and how it was found; `trace` is the objective after each step of the best start."""

    network: BeliefNetwork
    log_likelihood: float
    trace: tuple[float, ...]
    converged: bool
    interrupted: bool = False


@earlier(strength="smoothing")
def fit_tables(
    rows: CodedRows,
    parents: Mapping[str, Sequence[str]],
    *,
    way: str = "em",
    prior: str = "bdeu",
    smoothing: float = 1.0,
    weights: Any = None,
    starts: int = 3,
    seed: int = 0,
    tolerance: float = 1e-8,
    most_steps: int = 2_000,
    progress: Progress = silent,
) -> FittedTables:
    """Tables of greatest posterior density: sum w log P(row) + sum pseudo_counts log theta; every row is used.

    Without missing cells they are those of counting. The first start has counted tables, the others are drawn at
    random, as are all tables next to a hidden column, where nothing can be counted. A start ends when a step gains less
    than `tolerance` of the objective. Ctrl-C returns the best so far.

    >>> rows = CodedRows.of({"a": ["x", "x", "y", None], "b": ["p", "p", "q", "q"]})
    >>> found = fit_tables(rows, {"b": ["a"]}, prior="none")
    >>> found.network.table("a").round(4).tolist()
    [[0.5, 0.5]]
    """
    refuse_unknown(way, WAYS, "tables are not fitted by")
    check_settings(prior, smoothing, starts, most_steps)
    rows = rows.weighted(weights)
    above = _positions(rows.with_states(), parents)
    seen = IncompleteRows.of(rows, above)
    pseudo_counts = seen.layout.pseudo_counts(prior, smoothing)
    hidden = rows.hidden

    def steps(start: int) -> Iterator[Point]:
        generator = np.random.default_rng([seed, start])
        return WAYS[way](seen, start_tables(seen.layout, seen.available, hidden, start, generator), pseudo_counts)

    best, interrupted = best_of_starts(starts if seen.groups else 1, steps, tolerance, most_steps, progress)
    network = _network(rows, above, seen.layout.tables(best.point.tables))
    return FittedTables(network, best.point.log_likelihood, tuple(best.trace), best.converged, interrupted=interrupted)


def check_settings(prior: str, smoothing: float, starts: int, most_steps: int) -> None:
    """Refuse an unknown prior, and numbers of starts or steps below 1."""
    if prior not in PRIORS or not (math.isfinite(smoothing) and smoothing >= 0.0):
        raise ParameterError(
            f"the prior is {prior!r} with smoothing {smoothing!r}", fix=f"choose one of {', '.join(PRIORS)}, and >= 0"
        )
    if starts < 1 or most_steps < 1:
        raise ParameterError(f"{starts} starts of {most_steps} steps", fix="give at least one of each")


def best_of_starts(
    n_starts: int, steps: Callable[[int], Iterator[Point]], tolerance: float, most_steps: int, progress: Progress
) -> tuple[Climb, bool]:
    """The climb with the best objective, and whether Ctrl-C ended the last one."""
    best: Climb | None = None
    for start in range(n_starts):
        name = f"steps of start {start + 1} of {n_starts}"
        climb = Climb.up(steps(start), tolerance, most_steps, progress, name)
        if best is None or climb.point.objective > best.point.objective:
            best = climb
        if climb.interrupted:
            break
    assert best is not None
    return best, climb.interrupted


@dataclass
class Climb:
    """The best point so far, and the objective after each step."""

    point: Point
    trace: list[float]
    converged: bool = False
    interrupted: bool = False

    @classmethod
    def up(cls, steps: Any, tolerance: float, most: int, progress: Progress, name: str) -> Climb:
        """Steps until one gains too little; Ctrl-C ends them."""
        climb = cls(next(steps), [])
        climb.trace.append(climb.point.objective)
        try:
            for n, point in enumerate(islice(steps, most), start=1):
                gain = point.objective - climb.point.objective
                progress(name, n, None)
                if gain > 0.0:
                    climb.point = point
                    climb.trace.append(point.objective)
                if gain <= tolerance * (1.0 + abs(point.objective)):
                    climb.converged = True
                    break
            else:
                climb.converged = climb.converged or len(climb.trace) <= most
        except KeyboardInterrupt:
            climb.interrupted = True
        return climb


def _positions(rows: CodedRows, parents: Mapping[str, Sequence[str]]) -> list[tuple[int, ...]]:
    places = {name: place for place, name in enumerate(rows.names)}
    for name in (name for child, above in parents.items() for name in (child, *above)):
        refuse_unknown(name, places, "the rows have no column")
    return [tuple(places[parent] for parent in parents.get(name, ())) for name in rows.names]


def start_tables(
    layout: Layout, available: FloatArray, hidden: BoolArray, start: int, generator: np.random.Generator
) -> FloatArray:
    """Initial tables: counted where no column of the family is hidden, random otherwise and in later starts."""
    tables = np.empty(layout.starts[-1])
    counted = layout.normalised(available + layout.pseudo_counts("bdeu", 1.0))
    views = zip(layout.tables(tables), layout.tables(counted), layout.parents, strict=True)
    for node, (table, known, above) in enumerate(views):
        drawn = generator.dirichlet(np.ones(max(table.shape[1], 1)), len(table)).reshape(table.shape)
        unseen = bool(hidden[[node, *above]].any())
        table[:] = known if start == 0 and not unseen else 0.9 * drawn + 0.1 / max(table.shape[1], 1)
    return tables


def _network(rows: CodedRows, parents: list[tuple[int, ...]], tables: list[FloatArray]) -> BeliefNetwork:
    nodes = [
        Node(name, rows.states[k], tables[k], [rows.names[parent] for parent in parents[k]])
        for k, name in enumerate(rows.names)
    ]
    return BeliefNetwork(nodes)
