"""A learner watches what asking gains, and draws more rows where it gains nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

import bayeswise as bw
from bayeswise.acquisition.pool_risk import Gain, Step, gain_of_asking


def pool(n: int = 120) -> tuple[dict[str, Any], list[str]]:
    generator = np.random.default_rng(5)
    x = generator.normal(size=n)
    return {"x": x.tolist()}, np.where(x + 0.3 * generator.normal(size=n) > 0, "high", "low").tolist()


def learner(columns: dict[str, Any], **how: Any) -> Any:
    return bw.ActiveLearner.over(columns, "y", ["high", "low"], kinds={"x": "number"}, **how)


def taught(columns: dict[str, Any], labels: list[str], n: int, **how: Any) -> Any:
    found = learner(columns, **how)
    for _ in range(n):
        row = found.query()[0].row
        found.teach(row, labels[row])
    return found


def test_before_there_are_rows_of_both_kinds_half_are_drawn() -> None:
    columns, _ = pool()
    found = learner(columns)
    assert found.gain == Gain()
    assert found.random_share == 0.5
    assert learner(columns, random_share=0.25).gain is None
    assert learner(columns, random_share=0.25).random_share == 0.25


def test_the_gain_is_the_difference_of_costs_on_drawn_rows_by_hand() -> None:
    """Queried rows that are all mislabelled make a bad model: random draws must be found to be better."""
    columns, labels = pool()
    wrong = {"high": "low", "low": "high"}
    base = learner(columns)
    n = len(labels)
    steps = [Step(row, labels[row], 1.0 / n, n) for row in range(6)]
    steps += [Step(row, labels[row], 0.2 / n, n) for row in range(6, 16)]
    steps += [Step(row, wrong[labels[row]], 0.8, n) for row in range(16, 26)]
    gain = gain_of_asking(base.model, base.pool, base.classes, np.array([[0.0, 1.0], [1.0, 0.0]]), steps)
    assert gain.n_rows == 10
    assert gain.mean < -0.2
    assert gain.random_share == 0.9
    assert str(gain).startswith("asking costs ")


def test_a_session_that_is_taken_up_again_draws_the_same_share() -> None:
    columns, labels = pool()
    found = taught(columns, labels, 41)
    again = learner(columns).replay(found.steps)
    assert again.gain == found.gain
    assert again.gain.n_rows > 2
    assert again.query() == found.query()
