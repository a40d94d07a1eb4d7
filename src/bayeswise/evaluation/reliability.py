"""Whether a posterior means what it says: of all rows that were given 70 %, is it 70 %?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError, row_number
from bayeswise.foundation.logspace import log
from bayeswise.posteriors.calibration_fits import isotonic_steps
from bayeswise.posteriors.normalise import SUM_TOLERANCE
from bayeswise.render.plain import Tabular
from bayeswise.statistics.intervals import wilson
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.evaluation.plots import ReliabilityDisplay


@dataclass(frozen=True, eq=False)
class Reliability(Tabular):
    """Bins of one state's probability: how often the state was true in each, with a band."""

    state: Label
    count: IntArray | FloatArray  # (n_bins,) rows, or their weight
    predicted: FloatArray  # (n_bins,) the mean probability
    observed: FloatArray  # (n_bins,) the share of rows in which the state was true
    low: FloatArray  # (n_bins,) Wilson band
    high: FloatArray

    @property
    def ece(self) -> float:
        """The expected calibration error: sum of n / N |observed - predicted|."""
        return float(self.count @ np.abs(self.observed - self.predicted) / self.count.sum())

    def plot(self, ax: Any = None) -> ReliabilityDisplay:
        """Draw the bins with their bands."""
        from bayeswise.evaluation.plots import ReliabilityDisplay

        return ReliabilityDisplay(self).plot(ax)

    def to_columns(self) -> dict[str, list[Any]]:
        """predicted, observed, low, high, count of each bin."""
        return {name: getattr(self, name).tolist() for name in ("predicted", "observed", "low", "high", "count")}


@dataclass(frozen=True)
class Score:
    """A proper score taken apart: score = miscalibration - discrimination + uncertainty, exactly."""

    score: float
    miscalibration: float  # what a better calibration would save
    discrimination: float  # what knowing the row saves over knowing only the shares of the states
    uncertainty: float


def reliability(
    probability: Any,
    truth: Any,
    state: Label,
    *,
    bins: int = 10,
    level: float = 0.95,
    weights: Any = None,
    inflation: float = 1.0,
) -> Reliability:
    """Bins of equal numbers of rows; `probability` (n_rows,) of the state, `truth` whether it was true.

    A weight of k counts as k rows; `inflation` is that of the variance where models share learning rows.

    >>> found = reliability([0.2] * 10 + [0.8] * 10, [1] * 3 + [0] * 7 + [1] * 8 + [0] * 2, "spam", bins=2)
    >>> found.observed.tolist(), round(found.ece, 3)
    ([0.3, 0.8], 0.05)
    """
    p, true, mass = _checked(probability, truth, weights)
    order = np.argsort(p, kind="stable")
    rows = [order[part] for part in _equal_parts(p[order], mass[order], bins) if len(part)]
    count = np.array([mass[part].sum() for part in rows])
    predicted, observed = (np.array([np.average(x[part], weights=mass[part]) for part in rows]) for x in (p, true))
    low, high = wilson(observed, count / inflation, level)
    shown = count.astype(np.int64) if weights is None else count
    return Reliability(state, shown, predicted, observed, low, high)


def _equal_parts(ordered: FloatArray, mass: FloatArray, bins: int) -> list[IntArray]:
    """Positions in parts of about equal mass, equal probabilities never apart."""
    until = np.cumsum(mass)
    cuts = np.linspace(0, until[-1], max(1, bins) + 1)[1:-1]
    if (mass == np.floor(mass)).all():
        cuts = cuts.round()  # between rows, each as often as its weight says
    at = np.minimum(np.searchsorted(until, cuts, side="right"), len(ordered) - 1)
    starts = np.searchsorted(ordered, ordered[at], side="left")
    return np.split(np.arange(len(ordered)), np.unique(starts))


def brier_parts(probability: Any, truth: Any, *, weights: Any = None) -> Score:
    """mean (p - y)^2 of one state, taken apart by the isotonic recalibration and by the share of the state.

    >>> parts = brier_parts([0.9, 0.9, 0.9, 0.1], [1, 1, 0, 0])
    >>> round(parts.score, 4), round(parts.miscalibration - parts.discrimination + parts.uncertainty, 4)
    (0.21, 0.21)
    """
    return _parts(probability, truth, weights, lambda p, y: (p - y) ** 2)


def log_parts(probability: Any, truth: Any, *, weights: Any = None) -> Score:
    """mean -log p(what was true) of one state, in nats, taken apart likewise; infinite where a truth had 0."""

    def loss(p: FloatArray, y: FloatArray) -> FloatArray:
        return -log(np.where(y > 0.5, p, 1.0 - p))

    return _parts(probability, truth, weights, loss)


def _parts(probability: Any, truth: Any, weights: Any, loss: Any) -> Score:
    p, true, mass = _checked(probability, truth, weights)
    y = true.astype(np.float64)
    x, curve = isotonic_steps(p, true, mass)
    share = np.full(len(y), np.average(y, weights=mass))
    score, best, base = (float(np.average(loss(each, y), weights=mass)) for each in (p, np.interp(p, x, curve), share))
    return Score(score, score - best, base - best, base)


def _checked(probability: Any, truth: Any, weights: Any) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Rows of a weight above 0: the probability, whether it came true, and the weight."""
    try:
        p = np.asarray(probability, dtype=np.float64)
        mass = np.ones(p.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("probabilities must be numbers", fix="give one for each row") from None
    true = np.asarray(truth).astype(bool)
    if p.ndim != 1 or p.shape != true.shape or not len(p):
        raise ParameterError(
            f"one probability and one truth are needed for each row; found {p.shape} and {true.shape}",
            fix="give as many of both, at least one",
        )
    good = (p >= 0.0) & (p <= 1.0 + SUM_TOLERANCE)  # false for NaN too
    if not good.all():
        row = int(np.argmin(good))
        raise ParameterError(f"the probability of row {row_number(row)} is {p[row]:g}", fix="give a number from 0 to 1")
    if mass.shape != p.shape or not ((mass >= 0.0) & np.isfinite(mass)).all() or not mass.any():
        raise ParameterError("the weights of rows must be numbers from 0 on, not all 0", fix="give one for each row")
    kept = mass > 0.0
    return (p, true, mass) if kept.all() else (p[kept], true[kept], mass[kept])


def classwise_ece(probability: FloatArray, truth: IntArray, states: Sequence[Label], bins: int = 10) -> float:
    """The mean over states of the expected calibration error of each."""
    each = (reliability(probability[:, k], truth == k, state, bins=bins).ece for k, state in enumerate(states))
    return float(np.mean(list(each)))
