"""Whether a posterior means what it says: of all rows that were given 70 %, is it 70 %?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import columns_for
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, row_number
from bayeswise.foundation.logspace import log
from bayeswise.models.calibrated import CalibratedModel
from bayeswise.models.calibrated import calibrated as calibrated_by_rows
from bayeswise.models.from_table import Progress
from bayeswise.models.held_out import HeldOut
from bayeswise.posteriors.calibration_fits import isotonic_steps
from bayeswise.posteriors.normalise import SUM_TOLERANCE
from bayeswise.render.numbers import percent, plural
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
    level: float = 0.95  # of the bands

    @property
    def outside(self) -> int:
        """How many bins have a mean probability that is not within their band."""
        return int(np.count_nonzero((self.predicted < self.low) | (self.predicted > self.high)))

    @property
    def verdict(self) -> str:
        """How many bins are outside their bands, and how often chance alone puts as many there."""
        n_bins, outside, miss = len(self.count), self.outside, 1.0 - self.level
        bands = f"the {100 * self.level:.4g} % interval"
        if outside == 0:
            return f"All {n_bins} bins are within {bands}." if n_bins > 1 else f"The bin is within {bands}."
        by_chance = math.fsum(
            math.comb(n_bins, k) * miss**k * self.level ** (n_bins - k) for k in range(outside, n_bins + 1)
        )
        said = f"{outside} of {plural(n_bins, 'bin')} {'is' if outside == 1 else 'are'} outside {bands}"
        if by_chance < miss:
            return f"{said}, more than chance explains: there the posteriors are not calibrated."
        return f"{said}; as many are in {percent(by_chance)} of tables whose posteriors are calibrated."

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
    return Reliability(state, shown, predicted, observed, low, high, level)


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


# -- calibration by what is at stake --------------------------------------------------------------------------


def stakes(costs: Costs, columns: Mapping[str, FloatArray], n_rows: int) -> FloatArray:
    """(n_rows,) the most expensive mistake: max over states of (max over actions of the cost - min over actions of it).

    >>> loan = Costs({"lend": {"good": "-0.1 * amount", "bad": "amount"}, "refuse": 0})
    >>> stakes(loan, {"amount": np.array([200.0, 3000.0])}, 2).tolist()
    [200.0, 3000.0]
    """
    by_action = costs.of_rows(columns, n_rows)
    largest = np.zeros(n_rows)
    for state in zip(*by_action, strict=True):
        cells = [np.broadcast_to(cell, (n_rows,)) for cell in state]
        np.maximum(largest, np.max(cells, axis=0) - np.min(cells, axis=0), out=largest)
    return largest


def weights_by_stakes(stake: FloatArray) -> FloatArray:
    """(n_rows,) in proportion to the stakes s, together as many as the rows that they are worth: (sum s)^2 / sum s^2.

    >>> weights_by_stakes(np.array([200.0, 200.0, 200.0])).tolist()
    [1.0, 1.0, 1.0]
    >>> weights_by_stakes(np.array([1.0, 3.0])).round(3).tolist()  # 1.6 rows
    [0.4, 1.2]
    """
    largest = stake.max(initial=0.0)
    if not largest > 0.0:
        return np.ones_like(stake)
    share = stake / largest  # squares of large stakes would not be finite
    return np.asarray(share * (share.sum() / (share @ share)))


def calibrated(
    model: Any, table: Any, costs: Costs | None = None, *, method: str = "auto", progress: Progress | None = None
) -> CalibratedModel:
    """The model with a calibration fitted to the rows it has learned, each left out, exactly.

    Where the rows have selected something (cuts, a graph, families) and are too many to be left out one by one, it is
    fitted to ten folds. Where the costs depend on the row, rows count by what is at stake in them.

    >>> import bayeswise as bw
    >>> rows = [{"wind": w, "wind again": w, "play": p} for w, p in zip("aabb" * 25, "yyny" * 25)]
    >>> model = bw.fit(rows, target="play", model="naive-bayes")
    >>> row = [{"wind": "b", "wind again": "b"}]  # every second time, said twice
    >>> [each.predict_proba(row).round(2).tolist() for each in (model, calibrated(model, rows, method="platt"))]
    [[[0.73, 0.27]], [[0.48, 0.52]]]
    """
    return calibrated_by_rows(
        model, table, method, row_weights=lambda known: _by_stakes(known, table, costs), progress=progress
    )


def _by_stakes(known: HeldOut, table: Any, costs: Costs | None) -> FloatArray | float:
    if costs is None or costs.constant:
        return 1.0
    n_rows = len(known.kept)
    aligned = costs.aligned(known.states)
    columns = {name: cells[known.kept] for name, cells in columns_for(aligned, table, n_rows).items()}
    return weights_by_stakes(stakes(aligned, columns, len(known.truth)))
