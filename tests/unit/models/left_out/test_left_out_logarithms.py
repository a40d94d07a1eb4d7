"""A left-out posterior that is too small for a number has a logarithm, and its log-loss is not infinite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.models import held_out
from bayeswise.models.description_length.comparing import compare_table

FAR = 80.0  # standard deviations between the classes, in each of 3 columns: exp(-3 80^2 / 2) is 0 as a float


def far_apart(n: int, n_odd: int) -> dict[str, Any]:
    """Two classes far from each other; the first rows lie with the other one."""
    generator = np.random.default_rng(0)
    y = np.arange(n) % 2
    side = np.where(np.arange(n) < n_odd, 1 - y, y)
    columns: dict[str, Any] = {f"x{k}": FAR * side + generator.normal(size=n) for k in range(3)}
    return {**columns, "y": np.where(y == 1, "a", "b").tolist()}


@pytest.mark.parametrize("kind", ["naive-bayes", "averaged", "gaussian", "tan", "aode"])
def test_the_logarithm_is_that_of_the_posterior(kind: Any) -> None:
    generator = np.random.default_rng(1)
    y = generator.integers(0, 3, 60)
    rows = {"u": (y + generator.normal(size=60)).tolist(), "v": generator.normal(size=60).tolist()}
    if kind in ("tan", "aode"):
        rows = {name: [f"l{int(cell > 0.5)}" for cell in cells] for name, cells in rows.items()}
    table = {**rows, "y": [f"c{k}" for k in y.tolist()]}
    model: Any = bw.fit(table, "y", model=kind)
    np.testing.assert_allclose(np.exp(model.leave_one_out_log_proba(table)), model.leave_one_out(table), rtol=1e-12)


def test_a_row_that_takes_its_class_with_it_was_thought_impossible() -> None:
    table = {"x": [0.0, 1.0, 2.0, 9.0], "y": ["a", "a", "a", "b"]}
    model = bw.fit(table, "y", model="naive-bayes", kinds={"x": "number"})
    assert model.leave_one_out_log_proba(table)[3].tolist() == [0.0, -np.inf]


def test_candidates_of_auto_have_the_log_loss_of_their_evaluation() -> None:
    table = far_apart(120, 1)
    alone = bw.fit(table, "y", model="naive-bayes")
    own = [alone.classes.index(label) for label in table["y"]]
    assert (alone.leave_one_out(table)[np.arange(120), own] == 0.0).any()
    expected = bw.evaluate(alone, table, cv="loo").log_loss.mean
    model = bw.fit(table, "y", model="auto")
    found = {score.name: score.log_loss for score in model.scores}
    assert found["naive-bayes"] == pytest.approx(expected, rel=1e-9)
    assert expected > 5.0
    assert np.isfinite(list(found.values())).all()
    assert np.isfinite(model.log_loss)


def test_a_comparison_by_bits_has_finite_losses() -> None:
    lines = compare_table(far_apart(60, 1), "y")
    assert np.isfinite([line.log_loss for line in lines]).all()
    assert max(line.log_loss for line in lines) > 5.0


def test_hundreds_of_such_rows_are_no_more_infinite_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = far_apart(1_400, 0)
    model = bw.fit(table, "y", model="naive-bayes")
    wrong = {**table, "y": table["y"][::-1]}  # 1,400 rows, each with the label of the other class
    assert bw.evaluate(model, wrong).log_loss.mean > 5e3
    few = far_apart(120, 1)
    expected = bw.evaluate(bw.fit(few, "y", model="naive-bayes"), few, cv="loo").log_loss.mean
    monkeypatch.setattr(held_out, "_MOST_SMALL", 0)  # the limit of rows that need a fit each
    assert bw.evaluate(bw.fit(few, "y", model="naive-bayes"), few, cv="loo").log_loss.mean == expected > 5.0
