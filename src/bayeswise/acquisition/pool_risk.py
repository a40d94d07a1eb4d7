"""The cost of decisions on a pool, measured on queried labels, though they are not a random sample.

A query draws its row with a probability that is known: 1 - share + share / n for the best of n open rows, share / n for
each other. At each step

    R_m = (sum of the costs of the rows labelled before + cost of this row / its probability) / N

is an unbiased estimate of the mean cost of all N rows, whatever the strategy; the steps are averaged with the weights
1 / (n (n - 1)), which give the exact mean once every row is labelled.

The gain of queries is measured on them, too: by a model of queried rows beside one of as many rows that were
drawn. Both know the rows of the warm-up, and decide about the rows that were drawn, each without its own label.
What the drawn model pays more is the estimated gain. Rows are drawn with the probability that the gain is
below 0, given the rows so far: half of them at first, fewer where queries pay, more where they do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeswise.acquisition.pool import Pool
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.numbers import interval, number
from bayeswise.statistics.intervals import wilson
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label

LEVEL = 0.95


@dataclass(frozen=True)
class Step:
    """A row that was shown: its label (None: not known), how probable it was to be shown, and among how many rows.

    A row that was not drawn has no chance: it was chosen by hand.
    """

    row: int
    label: Label | None
    chance: float | None
    n_open: int


@dataclass(frozen=True)
class Risk:
    """The mean cost of a row of the pool that was not learned, with an interval of 95 %.

    `unbiased` is the weighted sum, right on average over all sessions but noisy, and beyond every cost at times;
    `mean` divides it by the sum of the weights, which settles sooner. `naive` is the mean over the queried rows.
    """

    mean: float
    low: float
    high: float
    unbiased: float
    naive: float
    n_labels: int
    effective: float  # rows drawn at random that would be as informative

    def __str__(self) -> str:
        return f"{number(self.mean)} ({interval(self.low, self.high)})"


def weights_of(steps: Sequence[Step], n_rows: int) -> FloatArray:
    """(n_steps,) what the cost of each row counts, so that the sum is the mean cost of all rows.

    >>> weights_of([Step(4, "a", 0.5, 10), Step(7, "b", 1 / 9, 9)], n_rows=10).round(4).tolist()
    [0.1444, 0.5]
    """
    drawn = np.array([step.chance is not None for step in steps])
    n_open = np.array([step.n_open for step in steps], dtype=np.float64)
    chance = np.array([1.0 if step.chance is None else step.chance for step in steps])
    if n_open[drawn].min(initial=2.0) < 2:  # the last row was drawn: every cost is known
        return np.full(len(steps), 1.0 / n_rows)
    share = np.where(drawn, 1.0 / (n_open * np.maximum(n_open - 1.0, 1.0)), 0.0)
    share /= share.sum()
    later = share.sum() - np.cumsum(share)
    return np.asarray((share / chance + later) / n_rows)


def estimated(steps: Sequence[Step], costs: FloatArray, n_rows: int, least: float, most: float) -> Risk:
    """The risk from the cost of each step's row (NaN where the label is not known); costs lie within least and most.

    Rows of unknown label are left out of the mean. The interval is Wilson's for the range of the costs and
    the effective number of rows: it is wide after a few labels, also when none of them cost anything.
    """
    known = ~np.isnan(costs)
    if not any(step.chance is not None for step in steps) or not known.any():
        raise ParameterError("no row was drawn yet", fix="call `query` and teach its answer first")
    if any(step.chance == 1.0 and step.n_open > 1 for step in steps):
        raise ParameterError(
            "rows that were not chosen at random do not represent the others",
            fix="give random_share=0.1 from the start",
        )
    weight, paid = weights_of(steps, n_rows)[known], costs[known]
    total = float((weight * paid).sum())
    mean = total / float(weight.sum())
    effective = float(weight.sum() ** 2 / (weight**2).sum())
    scale = most - least
    share = min(max((mean - least) / scale, 0.0), 1.0) if scale > 0.0 else 0.0
    low, high = (least + scale * float(end) for end in wilson(np.asarray(share), effective, LEVEL))
    unbiased = total if known.all() else mean
    return Risk(mean, low, high, unbiased, float(paid.mean()), len(paid), effective)


def left_out_of(model: Any, batch: Batch) -> FloatArray:
    """(n_rows, n_states) taught rows, each without itself; cuts, a graph or families were selected before, and stay."""
    if not getattr(model, "selected_by_rows", ()):
        return np.asarray(model.leave_one_out(batch))
    posterior = np.zeros((batch.n_rows, len(model.classes)))
    for k in range(batch.n_rows):
        row = batch.rows(slice(k, k + 1))
        others = model.forget(row)
        columns = [model.classes.index(label) for label in others.classes]
        posterior[k, columns] = others.predict_proba(others.recoded(row))[0]
    return posterior


# -- the gain of queries ----------------------------------------------------------------------------------------
EVERY = 5  # labels there is a new look
LEAST, MOST = 0.35, 0.9  # share of rows that are drawn
PRIOR_ERROR = 0.1  # of a gain of 0 before any row, in units of the spread of the costs
_FEWEST = 3  # rows of each kind, before a gain is estimated
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Gain:
    """What asking saves per row against drawing, with its standard error, by `n_rows` queried and as many drawn rows.

    >>> [round(gain.random_share, 2) for gain in (Gain(), Gain(0.1, 0.05, 20), Gain(-0.1, 0.05, 20))]
    [0.5, 0.35, 0.9]
    >>> print(Gain(0.1, 0.05, 20))
    asking saves 0.1 ± 0.05 per row against drawing, by 20 rows each: 35 % are drawn
    """

    mean: float = 0.0
    error: float = math.inf
    n_rows: int = 0
    spread: float = 1.0  # between the largest and the least cost

    @property
    def random_share(self) -> float:
        """The share of rows to draw: the probability that drawing is better, within limits."""
        prior, seen = (PRIOR_ERROR * self.spread) ** -2, self.error**-2
        z = self.mean * seen / math.sqrt(prior + seen)
        return min(max(0.5 * math.erfc(z / math.sqrt(2.0)), LEAST), MOST)

    def __str__(self) -> str:
        drawn = f"{100 * self.random_share:.0f} % are drawn"
        if not self.n_rows:
            return f"asking and drawing are tried: {drawn}"
        verb = "saves" if self.mean >= 0 else "costs"
        amount = f"{number(abs(self.mean), 2)} ± {number(self.error, 2)}"
        return f"asking {verb} {amount} per row against drawing, by {self.n_rows} rows each: {drawn}"


def gain_of_asking(
    model: Any, pool: Pool, classes: tuple[Label, ...], costs: FloatArray, steps: Sequence[Step]
) -> Gain:
    """The gain that the steps of a session show; `model` has learned none of them, costs are (n_actions, n_states).

    A step is known by its chance: 1 / n_open in the warm-up, more where the row was queried, less where it was drawn.
    """
    given = [step for step in steps if step.label is not None and step.chance is None]  # chosen by hand
    known = [step for step in steps if step.label is not None and step.chance is not None]
    lift = [(step.chance or 0.0) * step.n_open for step in known]
    first = [step for step, times in zip(known, lift, strict=True) if abs(times - 1.0) <= _ROUNDING]
    queried = [step for step, times in zip(known, lift, strict=True) if times > 1.0 + _ROUNDING]
    drawn = [step for step, times in zip(known, lift, strict=True) if times < 1.0 - _ROUNDING]
    n = min(len(queried), len(drawn))
    if n < _FEWEST:
        return Gain()
    queried, drawn = [*first, *queried[-n:]], [*first, *drawn[-n:]]
    of_drawn, of_queried = (model.learn(_rows(pool, [*given, *taught], classes)) for taught in (drawn, queried))
    truth = np.array([classes.index(step.label) for step in drawn if step.label is not None])
    by_drawn = left_out_of(of_drawn, _rows(pool, drawn, classes))
    by_queried = left_out_of(of_queried, _rows(pool, queried, classes))[: len(first)]
    others = pool.subset(np.array([step.row for step in drawn[len(first) :]]))
    by_queried = np.concatenate([by_queried, np.asarray(of_queried.probability(others.for_model(of_queried)))])
    saved = _paid(by_drawn, truth, costs) - _paid(by_queried, truth, costs)
    spread = float(np.ptp(costs)) or 1.0
    one_more = 0.25 * spread**2  # as if one row more had shown a difference: a few equal rows prove nothing
    variance = (float(((saved - saved.mean()) ** 2).sum()) + one_more) / (len(saved) + 1)
    return Gain(float(saved.mean()), math.sqrt(variance / len(saved)), n, spread)


def _rows(pool: Pool, steps: Sequence[Step], classes: tuple[Label, ...]) -> Any:
    return pool.rows([step.row for step in steps], [step.label for step in steps if step.label is not None], classes)


def _paid(posterior: FloatArray, truth: Any, costs: FloatArray) -> FloatArray:
    """(n_rows,) the cost of the action that is best by the posterior."""
    return np.asarray(costs[(posterior @ costs.T).argmin(axis=1), truth])
