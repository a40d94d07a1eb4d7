"""Whether asking pays: a model of rows that were asked for beside one of as many rows that were drawn.

Both know the rows of the warm-up, and decide about the rows that were drawn, each without its own label. What the
drawn model pays more is the estimated gain of asking. Rows are drawn with the probability that the gain is below 0, as
far as the rows can tell: half of them at first, fewer where asking pays, more where it does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.acquisition.pool import Pool
from bayeswise.acquisition.pool_risk import Step, left_out_of
from bayeswise.foundation.arrays import FloatArray
from bayeswise.render.numbers import number
from bayeswise.tables.schema.labels import Label

EVERY = 5  # labels there is a new look
LEAST, MOST = 0.35, 0.9  # share of rows that are drawn
PRIOR_ERROR = 0.1  # of a gain of 0 before any row, in units of the spread of the costs
_FEWEST = 3  # rows of each kind, before there is an opinion
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Gain:
    """What asking saves per row against drawing, with its standard error, by so many asked and as many drawn rows.

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

    A step is known by its chance: 1 / n_open in the warm-up, more where the row was asked for, less where it was drawn.
    """
    given = [step for step in steps if step.label is not None and step.chance is None]  # chosen by somebody
    known = [step for step in steps if step.label is not None and step.chance is not None]
    lift = [(step.chance or 0.0) * step.n_open for step in known]
    first = [step for step, times in zip(known, lift, strict=True) if abs(times - 1.0) <= _ROUNDING]
    asked = [step for step, times in zip(known, lift, strict=True) if times > 1.0 + _ROUNDING]
    drawn = [step for step, times in zip(known, lift, strict=True) if times < 1.0 - _ROUNDING]
    n = min(len(asked), len(drawn))
    if n < _FEWEST:
        return Gain()
    asked, drawn = [*first, *asked[-n:]], [*first, *drawn[-n:]]
    of_drawn, of_asked = (model.learn(_rows(pool, [*given, *taught], classes)) for taught in (drawn, asked))
    truth = np.array([classes.index(step.label) for step in drawn if step.label is not None])
    by_drawn = left_out_of(of_drawn, _rows(pool, drawn, classes))
    by_asked = left_out_of(of_asked, _rows(pool, asked, classes))[: len(first)]
    others = pool.subset(np.array([step.row for step in drawn[len(first) :]]))
    by_asked = np.concatenate([by_asked, np.asarray(of_asked.probability(others.for_model(of_asked)))])
    saved = _paid(by_drawn, truth, costs) - _paid(by_asked, truth, costs)
    spread = float(np.ptp(costs)) or 1.0
    one_more = 0.25 * spread**2  # as if one row more had shown a difference: a few equal rows prove nothing
    variance = (float(((saved - saved.mean()) ** 2).sum()) + one_more) / (len(saved) + 1)
    return Gain(float(saved.mean()), math.sqrt(variance / len(saved)), n, spread)


def _rows(pool: Pool, steps: Sequence[Step], classes: tuple[Label, ...]) -> Any:
    return pool.rows([step.row for step in steps], [step.label for step in steps if step.label is not None], classes)


def _paid(posterior: FloatArray, truth: Any, costs: FloatArray) -> FloatArray:
    """(n_rows,) the cost of the action that is best by the posterior."""
    return np.asarray(costs[(posterior @ costs.T).argmin(axis=1), truth])
