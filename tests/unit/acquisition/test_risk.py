"""An unbiased estimate of the risk, though rows were queried and not drawn."""

from __future__ import annotations

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.acquisition.pool import Pool
from bayeswise.acquisition.pool_risk import Step, estimated

KINDS = {"x": "number", "z": "number"}


def overlapping(n_rows: int) -> tuple[Pool, list[int]]:
    generator = np.random.default_rng(1)
    y = (generator.random(n_rows) < 0.5).astype(int)
    x, z = generator.normal(size=n_rows) + 1.6 * y, generator.normal(size=n_rows) + 0.8 * y
    return Pool.of({"x": x, "z": z}, "y", [0, 1], kinds=KINDS), y.tolist()


def left_out_risk(learner: bw.ActiveLearner, truth: list[int]) -> float:
    """The share of errors over the whole pool, which the estimate cannot see: labelled rows are left out in turn."""
    wrong = (learner.posterior().argmax(axis=1) != truth).astype(float)
    rows, labels = zip(*learner.taught, strict=True)
    batch = learner.pool.rows(rows, labels, learner.model.classes)
    wrong[list(rows)] = learner.model.leave_one_out(batch).argmax(axis=1) != batch.groups
    return float(wrong.mean())


def test_over_many_sessions_the_estimate_is_right_and_the_naive_one_is_not() -> None:
    pool, truth = overlapping(60)
    empty = pool.empty_model()
    errors = []
    for seed in range(120):
        learner = bw.ActiveLearner(empty, pool=pool, random_share=0.2, warm_up=False, seed=seed)
        learner.simulate(truth, 15, lambda model: 0.0)
        risk, right = learner.risk(), left_out_risk(learner, truth)
        errors.append((risk.unbiased - right, risk.naive - right, float(risk.low <= right <= risk.high)))
    bias, naive_bias, covered = np.mean(errors, axis=0)
    standard_error = np.std(errors, axis=0) / np.sqrt(len(errors))
    assert abs(bias) < 3 * standard_error[0]
    assert naive_bias > 8 * standard_error[1]
    assert covered >= 0.9


def test_without_chance_there_is_no_estimate() -> None:
    pool, truth = overlapping(20)
    learner = bw.ActiveLearner(pool.empty_model(), pool=pool, random_share=0.0, warm_up=False)
    with pytest.raises(bw.UsageError, match="no row was drawn"):
        learner.risk()
    learner.simulate(truth, 3)
    with pytest.raises(bw.UsageError, match="random_share"):
        learner.risk()


def test_rows_whose_label_nobody_knows_are_left_out_and_costs_are_those_of_the_user() -> None:
    pool, truth = overlapping(30)
    costs = {"act": {0: 9.0, 1: 0.0}, "wait": {0: 0.0, 1: 1.0}}
    learner = bw.ActiveLearner(pool.empty_model(), costs, pool=pool, random_share=0.5)
    for k in range(12):
        row = learner.query()[0].row
        learner = learner.decline(row) if k == 5 else learner.teach(row, truth[row])
    risk = learner.risk()
    assert risk.n_labels == 11
    assert 0.0 <= risk.low <= risk.mean <= risk.high <= 9.0
    assert str(risk).startswith(f"{risk.mean:.4g} (")


def test_a_few_rows_without_errors_promise_little() -> None:
    steps = [Step(k, "a", 1 / (100 - k), 100 - k) for k in range(5)]
    risk = estimated(steps, np.zeros(5), 100, 0.0, 1.0)
    assert risk.mean == 0.0
    assert risk.high > 0.4
    assert risk.effective == pytest.approx(5, rel=0.01)


@pytest.mark.parametrize("kind", ["tan", "k-dependence"])
def test_labels_taught_to_a_network_are_left_out_of_its_tables(kind: str) -> None:
    """Its cuts and its graph were found before a label was queried, so that they stay."""
    generator = np.random.default_rng(0)
    states = generator.integers(0, 2, 60)
    rows = [{"x": generator.normal() + 3.0 * k, "c": "ab"[int(generator.random() < 0.5)], "y": "nm"[k]} for k in states]
    pool = [{name: cell for name, cell in row.items() if name != "y"} for row in rows[20:]]
    model = bw.fit(rows[:20], "y", model=kind)
    learner = bw.ActiveLearner(model, pool=pool, random_share=1.0, seed=0)
    learner.simulate([row["y"] for row in rows[20:]], 8)
    assert 0.0 <= learner.risk().mean <= 1.0
