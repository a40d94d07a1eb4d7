"""The estimate of the risk is unbiased whatever the strategy asks: over all sessions, each with its probability."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from bayeswise.acquisition.pool_risk import Step, weights_of

COSTS = {0: 0.0, 1: 5.0, 2: 1.0, 3: 0.0, 4: 2.0}
SHARE = Fraction(1, 5)


def greedy(seen: tuple[int, ...]) -> int:
    """The row a strategy likes best: the costly ones, and it depends on what was seen."""
    left = [row for row in COSTS if row not in seen]
    return max(left, key=lambda row: (COSTS[row] if len(seen) % 2 == 0 else -COSTS[row], row))


def sessions(n_steps: int, seen: tuple[int, ...] = ()) -> Iterator[tuple[Fraction, list[Step]]]:
    """Every session of so many draws, with its probability."""
    if n_steps == 0:
        yield Fraction(1), []
        return
    left = [row for row in COSTS if row not in seen]
    for row in left:
        chance = SHARE / len(left) + (1 - SHARE) * (row == greedy(seen))
        for probability, rest in sessions(n_steps - 1, (*seen, row)):
            yield chance * probability, [Step(row, "x", float(chance), len(left)), *rest]


@pytest.mark.parametrize("n_steps", [1, 2, 3, 4, 5])
def test_the_mean_over_all_sessions_is_the_mean_cost_of_the_pool(n_steps: int) -> None:
    total, mean, naive = Fraction(0), 0.0, 0.0
    for probability, steps in sessions(n_steps):
        costs = np.array([COSTS[step.row] for step in steps])
        total += probability
        mean += float(probability) * float(weights_of(steps, len(COSTS)) @ costs)
        naive += float(probability) * costs.mean()
    assert total == 1
    truth = sum(COSTS.values()) / len(COSTS)
    assert mean == pytest.approx(truth, rel=1e-12)
    assert n_steps == 5 or abs(naive - truth) > 0.05


def test_a_pool_that_is_all_labelled_has_its_exact_mean() -> None:
    for _, steps in sessions(5):
        assert weights_of(steps, 5) == pytest.approx(np.full(5, 0.2))


def test_rows_that_somebody_chose_count_only_in_the_steps_after_them() -> None:
    """With row 1 labelled beforehand, one draw from the other four: (cost of 1 + cost of the row / its chance) / 5."""
    mean = 0.0
    for row in (0, 2, 3, 4):
        steps = [Step(1, "x", None, 5), Step(row, "x", 0.25, 4)]
        weights = weights_of(steps, 5)
        assert weights[0] == pytest.approx(1 / 5)
        mean += 0.25 * float(weights @ np.array([COSTS[1], COSTS[row]]))
    assert mean == pytest.approx(sum(COSTS.values()) / 5, rel=1e-12)
