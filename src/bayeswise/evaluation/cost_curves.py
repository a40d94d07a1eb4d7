"""Cost against what can be turned: the threshold, the price of refusing, the prior and the ratio of costs."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.evaluation.evaluate import Evaluation
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError, ParameterError
from bayeswise.render.labels import shown
from bayeswise.render.plain import Tabular
from bayeswise.statistics.intervals import exponent_of
from bayeswise.tables.schema.labels import find_state

if TYPE_CHECKING:
    from bayeswise.evaluation.plots import CurveDisplay

_LEAST_COVERAGE = 0.05


@dataclass(frozen=True, eq=False)
class Curve(Tabular):
    """Points of a curve, named; `x` and the columns of `y` have one number for each point; `marks` are places on x."""

    title: str
    x_name: str
    x: FloatArray
    y: dict[str, FloatArray]
    y_name: str = "cost per case"
    names: dict[str, str] = field(default_factory=dict)  # of lines, for a reader
    marks: dict[str, float] = field(default_factory=dict)
    least_x: float = 0.0  # what lies before, such as the mean of a handful of rows, does not set the scale

    def lines(self) -> dict[str, FloatArray]:
        """The lines by the names that a reader sees."""
        return {self.names.get(name, name.replace("_", " ")): values for name, values in self.y.items()}

    def plot(self, ax: Any = None) -> CurveDisplay:
        """Draw the lines and the marks."""
        from bayeswise.evaluation.plots import CurveDisplay

        return CurveDisplay(self).plot(ax)

    def to_columns(self) -> dict[str, list[Any]]:
        """The points."""
        return {self.x_name: self.x.tolist(), **{name: values.tolist() for name, values in self.y.items()}}


def threshold_curve(evaluation: Evaluation, state: Any, action: Any, otherwise: Any) -> Curve:
    """The cost per case of taking `action` iff P(state) >= threshold, else `otherwise`; every threshold that matters.

    The least point is what tuning on these rows finds; the Bayes rule should come close without tuning.
    """
    decisions = evaluation.decisions
    p = decisions.posterior[:, find_state(state, decisions.states)]
    order = np.argsort(-p, kind="stable")
    paid, exponent = _in_range(evaluation.paid)
    act, other = (paid[:, decisions.costs.action(a)] * evaluation.weights for a in (action, otherwise))
    gain = np.concatenate([[0.0], np.cumsum((act - other)[order])])
    total = np.ldexp((float(other.sum()) + gain) / evaluation.weights.sum(), exponent)
    ordered = p[order]
    last = np.append(ordered[1:] != ordered[:-1], True)  # equal probabilities act together
    thresholds = np.concatenate([[np.nextafter(1.0, 2.0)], ordered[last]])
    return Curve(
        f"Cost per case: {action} if P({state}) is at least the threshold, else {otherwise}",
        "threshold",
        thresholds,
        {"cost_per_case": total[np.concatenate([[True], last])]},
        marks=_threshold(decisions.costs, find_state(state, decisions.states), action, otherwise),
    )


def _threshold(costs: Costs, state: int, action: Any, otherwise: Any) -> dict[str, float]:
    """Where the costs say that the action should change, if there are two states and all rows cost the same."""
    if not costs.constant or len(costs.states) != 2:
        return {}
    quarter = costs.table / 4  # so that no difference of differences overflows
    gain = quarter[costs.action(otherwise)] - quarter[costs.action(action)]  # of the first action, by state
    more, less = gain[state], gain[1 - state]
    return {"threshold of the costs": float(-less / (more - less))} if more > 0 > less else {}


def coverage_curve(evaluation: Evaluation) -> Curve:
    """The cost per case of the rows that are decided, when the least certain ones are refused first.

    Certainty is the expected cost of the best action that decides; coverage is the share of rows decided. Rows of
    the same certainty are decided together, so that their order in the table makes no difference.
    """
    decisions = evaluation.decisions
    kept = [k for k, action in enumerate(decisions.actions) if action != decisions.costs.reject]
    if not kept:
        raise CostError("every action refuses", fix="add one that decides")
    expected = decisions.expected_cost[:, kept]
    best = np.argmin(expected, axis=1)
    at = np.arange(len(best))
    order = np.argsort(expected[at, best], kind="stable")
    weights = evaluation.weights[order]
    paid, exponent = _in_range(evaluation.paid[:, kept][at, best][order])
    certainty = expected[at, best][order]
    last = _ends_of_ties(certainty)
    mass = np.cumsum(weights)[last]
    mean = np.ldexp(np.cumsum(weights * paid)[last] / mass, exponent)
    return Curve(
        "Cost per decided case, the least certain rows refused first",
        "coverage",
        mass / mass[-1],
        {"cost_per_decided_case": mean, "expected_cost": certainty[last]},
        "cost per decided case",
        least_x=_LEAST_COVERAGE,
    )


def cost_curve(evaluation: Evaluation, positive: Any, *, points: int = 101) -> Curve:
    """Normalised expected cost against x = p(+) c(-|+) / (p(+) c(-|+) + p(-) c(+|-)): prior and ratio of costs at once.

    For two states. At each x the Bayes rule on the posterior, moved to that prior, is compared with the lower
    envelope of all thresholds, and with always + and always -, which cost 1 - x and x.
    """
    decisions = evaluation.decisions
    if len(decisions.states) != 2:
        raise ParameterError(
            f"a cost curve is for two states; there are {len(decisions.states)}", fix="join states, or use evaluate"
        )
    if points < 2:
        raise ParameterError(f"a curve of {points} points", fix="give at least 2")
    k = find_state(positive, decisions.states)
    p, true = decisions.posterior[:, k], evaluation.truth == k
    states = decisions.states[k], decisions.states[1 - k]
    weights = evaluation.weights
    shares = np.array([weights[~true].sum(), weights[true].sum()])
    if (shares == 0).any():
        raise ParameterError("the rows have one state only", fix="give rows of both states")
    prior = shares[1] / shares.sum()
    false_positive, false_negative, cuts = _rates(p, true, weights)
    x = np.linspace(0.0, 1.0, points)
    # moving the prior from that of the rows to x moves the threshold on the old posterior
    odds = np.divide(1.0 - x, x, out=np.full(points, np.inf), where=x > 0) * prior / (1.0 - prior)
    at = np.where(np.isinf(odds), 1.1, odds / (1.0 + np.where(np.isinf(odds), 0.0, odds)))
    bayes = np.maximum(np.searchsorted(-cuts, -at, side="right") - 1, 0)  # the last cut that is still at or above
    hull = _corners(false_positive, false_negative)
    y = {
        "bayes_rule": false_negative[bayes] * x + false_positive[bayes] * (1.0 - x),
        "best_threshold": (false_negative[hull, None] * x + false_positive[hull, None] * (1.0 - x)).min(axis=0),
        "always_positive": 1.0 - x,
        "always_negative": x,
    }
    names = {"bayes_rule": "Bayes rule", "always_positive": f"always {shown(states[0])}"}
    names["always_negative"] = f"always {shown(states[1])}"
    title = f"Normalised expected cost: {states[0]} against {states[1]}"
    return Curve(title, "probability_times_cost", x, y, "normalised cost", names)


def _rates(p: FloatArray, true: Any, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """False positive and false negative rates for every threshold p >= cut, from none to all."""
    order = np.argsort(-p, kind="stable")
    ordered = p[order]
    last = np.append(ordered[1:] != ordered[:-1], True)
    hits = np.cumsum((weights * true)[order])[last] / (weights * true).sum()
    alarms = np.cumsum((weights * ~true)[order])[last] / (weights * ~true).sum()
    cuts = np.concatenate([[1.1], ordered[last]])
    return np.concatenate([[0.0], alarms]), 1.0 - np.concatenate([[0.0], hits]), cuts


def _corners(false_positive: FloatArray, false_negative: FloatArray) -> IntArray:
    """The thresholds that are best at some x: corners of the convex hull, walked around once.

    >>> _corners(np.array([0.0, 0.2, 0.5, 1.0]), np.array([1.0, 0.3, 0.2, 0.0])).tolist()
    [0, 1, 3]
    """
    corners: list[int] = []
    points = list(zip(false_positive.tolist(), false_negative.tolist(), strict=True))
    for k, (x, y) in enumerate(points):
        while len(corners) > 1:
            (x0, y0), (x1, y1) = points[corners[-2]], points[corners[-1]]
            if (x1 - x0) * (y - y0) > (y1 - y0) * (x - x0):
                break
            corners.pop()
        corners.append(k)
    return np.array(corners)


def _ends_of_ties(ordered: FloatArray) -> BoolArray:
    """Where each run of equal numbers ends; numbers that differ by rounding alone are equal.

    >>> _ends_of_ties(np.array([0.1, 0.1, 0.3, 0.1 + 0.2, 0.5])).tolist()
    [False, True, False, True, True]
    """
    size = np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
    return np.append(np.diff(ordered) > 8.0 * np.finfo(np.float64).eps * size, True)


def _in_range(values: FloatArray) -> tuple[FloatArray, int]:
    """The values divided by a power of two, if their sums would leave the range of numbers otherwise."""
    exponent = exponent_of(values)
    return (np.ldexp(values, -exponent), exponent) if exponent else (values, 0)
