"""Noise with heavy tails, by EM: each round is a least squares in which far rows weigh less.

    student-t   u = (df + 1) / (df + r^2 / noise^2)        laplace   u = 1 / |r|

Weights and the scale of the noise maximise their joint posterior, flat in log noise, for w ~ N(0, (noise scale)^2) or,
with a laplace prior, p(w) ~ exp(-|w| / (scale noise^2)) (student-t) and exp(-|w| / (scale noise)) (laplace).
"""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError
from bayeswise.models.regression.row_blocks import Rows
from bayeswise.models.regression.solving.newton import Certificate, Penalty, solve_symmetric
from bayeswise.models.regression.solving.normal_equations import sparse_minimum
from bayeswise.models.settings.regression import LinearSettings

MOST_ROUNDS = 2_000
TIGHT, ROUGH = 1e-11, 1e-4
MOST_CELLS_TO_TURN = 1 << 20
LARGEST_GAP = 1e-7
REFUSED = "choose another prior or likelihood, or measure the columns in other units"


@dataclass(frozen=True)
class Iterated:
    """Standardised weights, the intercept last, and the scale of the noise."""

    weights: FloatArray
    noise: float
    certificate: Certificate


def fit_robust(
    rows: Rows, target: FloatArray, penalty: Penalty, settings: LinearSettings, tolerance: float = TIGHT
) -> Iterated:
    """EM until a round changes no fitted value by more than so much of the noise; `gradient_norm` is that change."""
    by = rows.by
    if settings.likelihood == "laplace" and penalty.kind == "laplace":
        return _least_absolute(rows, by, target, penalty, settings)
    weights = _weighted_squares(rows, by, target, penalty, settings, 1.0)
    residual = target - rows.scores(weights)
    noise = float(np.sqrt((by @ residual**2) / by.sum()))
    smallest = noise * 1e-2
    # Noise of this size is rounding: the rows lie on a plane, and there is nothing left to find.
    none = 1e-13 * float(np.abs(target).max(initial=0.0))
    change = 0.0 if noise <= none else np.inf
    rounds = 0
    while change > tolerance and rounds < MOST_ROUNDS and noise > none:
        rounds += 1
        trust = _trust(residual, noise, settings, smallest)
        held = 1.0 if settings.likelihood == "student-t" else noise
        weights = _weighted_squares(rows, by * trust, target, penalty, settings, held, weights)
        fresh = target - rows.scores(weights)
        new = _noise(fresh, by, trust, weights, penalty, settings)
        change = (float(np.abs(fresh - residual).max()) + abs(new - noise)) / max(new, 1e-300)
        residual, noise = fresh, new
        change = 0.0 if noise <= none else change
        if settings.likelihood == "laplace" and change < 0.01 * smallest / max(noise, 1e-300):
            smallest = max(smallest * 0.3, noise * 1e-12)
            change = max(change, 2.0 * tolerance) if smallest > noise * 1.1e-12 else change
    return Iterated(weights, noise, Certificate(change, rounds, change <= tolerance, tolerance))


def _least_absolute(
    rows: Rows, by: FloatArray, target: FloatArray, penalty: Penalty, settings: LinearSettings
) -> Iterated:
    """min of sum |y - w . z| + |w|_1 / scale, whatever the noise: a linear program, solved at a vertex.

    Its dual has one variable for each row, within the row's weight, and one constraint for each column; the weights
    are the multipliers of the constraints. The certificate is the gap between both, for each row.
    """
    centre, spread = float(np.median(target)), float(np.abs(target - np.median(target)).max()) or 1.0
    z = np.column_stack([(rows.matrix - rows.centre) / rows.unit, np.full(rows.n_rows, float(settings.fit_intercept))])
    y = (target - (centre if settings.fit_intercept else 0.0)) / spread
    most = np.where(penalty.free, 0.0, 1.0 / penalty.scale)
    from scipy.optimize import linprog  # late: it takes longer to import than a small table

    found = linprog(
        -y,
        A_ub=np.vstack([z.T, -z.T]),
        b_ub=np.append(most, most),
        bounds=np.column_stack([-by, by]),
        method="highs",
    )
    if found.status != 0:
        raise FitError(f"the weights of least absolute deviations were not found: {found.message}", fix=REFUSED)
    above, below = np.split(-found.ineqlin.marginals, 2)
    weights = (above - below) * spread
    weights[-1] = weights[-1] + centre if settings.fit_intercept else 0.0
    residual = target - rows.scores(weights)
    value = float(by @ np.abs(residual)) + float(np.abs(weights[:-1]).sum()) / penalty.scale
    gap = abs(value + found.fun * spread) / max(value, 1e-300) if value > 0 else 0.0
    noise = _noise(residual, by, residual, weights, penalty, settings)
    return Iterated(weights, noise, Certificate(gap, max(int(found.nit), 1), gap <= LARGEST_GAP, LARGEST_GAP))


def _trust(residual: FloatArray, noise: float, settings: LinearSettings, smallest: float) -> FloatArray:
    """(n_rows,) how much each row counts."""
    if settings.likelihood == "student-t":
        return np.asarray((settings.df + 1.0) / (settings.df + (residual / noise) ** 2))
    return np.asarray(1.0 / np.maximum(np.abs(residual), smallest))


def _noise(
    residual: FloatArray,
    by: FloatArray,
    trust: FloatArray,
    weights: FloatArray,
    penalty: Penalty,
    settings: LinearSettings,
) -> float:
    """The scale of the noise that goes with the weights."""
    total = float(by.sum())
    held = weights[:-1]
    n_held = 0 if penalty.kind is None else len(held)
    squares, sizes = float(held @ held) / penalty.scale**2, float(np.abs(held).sum()) / penalty.scale
    if settings.likelihood == "student-t":
        left = float(by @ (trust * residual**2))
        if penalty.kind == "laplace":
            return float(np.sqrt((left + 2.0 * sizes) / (total + 2.0 * n_held)))
        extra = squares if penalty.kind == "gaussian" else 0.0
        return float(np.sqrt((left + extra) / (total + n_held)))
    left = float(by @ np.abs(residual))
    if penalty.kind == "gaussian":
        return float((left + np.sqrt(left**2 + 4.0 * (total + n_held) * squares)) / (2.0 * (total + n_held)))
    return (left + (sizes if penalty.kind == "laplace" else 0.0)) / (total + n_held)


def _weighted_squares(
    rows: Rows,
    by: FloatArray,
    target: FloatArray,
    penalty: Penalty,
    settings: LinearSettings,
    held: float,
    start: FloatArray | None = None,
) -> FloatArray:
    """The weights of least weighted squares; `held` divides a gaussian penalty."""
    if settings.likelihood == "laplace" and penalty.kind != "laplace" and rows.matrix.size <= MOST_CELLS_TO_TURN:
        return _turned(rows, by, target, penalty, settings, held)
    products, moment = rows.products(by), rows.moment(by * target)
    if not settings.fit_intercept:
        products[-1], products[:, -1], products[-1, -1], moment[-1] = 0.0, 0.0, 1.0, 0.0
    if penalty.kind == "laplace":
        return sparse_minimum(products, moment, penalty.absolute, start)
    return solve_symmetric(products + np.diag(penalty.curvature(moment)) / held, moment)


def _turned(
    rows: Rows, by: FloatArray, target: FloatArray, penalty: Penalty, settings: LinearSettings, held: float
) -> FloatArray:
    """The same by orthogonal transformations: rows that are fitted exactly outweigh the others by twelve digits."""
    root = np.sqrt(by)[:, None]
    z = np.column_stack([(rows.matrix - rows.centre) / rows.unit, np.full(rows.n_rows, float(settings.fit_intercept))])
    prior = np.diag(np.sqrt(penalty.curvature(z[0]) / held))
    above = np.vstack([root * z, prior])
    right = np.append(root[:, 0] * target, np.zeros(len(prior)))
    return np.asarray(np.linalg.lstsq(above, right, rcond=1e-15)[0])
