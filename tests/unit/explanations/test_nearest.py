"""What a least change is, for another class and for another action alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.decisions.policy.action_account import ActionAccount
from bayeswise.explanations import Account, Contribution, least_change, least_change_of

EVEN = {"say a": {"a": 0, "b": 1}, "say b": {"a": 1, "b": 0}}  # the best action is that of the most probable class


def numbers(column: str, slope: float, values: range) -> list[Contribution]:
    """A column that says slope x for b."""
    return [Contribution(column, float(x), np.array([0.0, slope * x])) for x in values]


def both(account: Account, others: dict[str, list[Contribution]]) -> tuple[str, str]:
    """What changes for another class, and for another action."""
    found = least_change(account, others), ActionAccount.of(account, EVEN).least_change(others)
    steps = ["; ".join(f"{c.column}: {c.before} -> {c.after}" for c in each.changes) for each in found if each]
    return steps[0], steps[1]


def test_a_number_moves_to_the_nearest_value_that_will_do() -> None:
    income = numbers("income", 1.0, range(11))  # b from 4 on: 4 > 3.5
    case = Account(("a", "b"), np.array([3.5, 0.0]), (income[0],))
    assert both(case, {"income": income}) == ("income: 0.0 -> 4.0",) * 2


def test_columns_are_compared_in_units_of_their_spread() -> None:
    """4 of 0 ... 10 are 1.3 standard deviations, 200 of 0 ... 1000 are 0.6, though 200 is more than 4."""
    income, age = numbers("income", 0.02, range(0, 1001, 100)), numbers("age", 1.0, range(11))
    case = Account(("a", "b"), np.array([3.5, 0.0]), (age[0], income[0]))
    assert both(case, {"age": age, "income": income}) == ("income: 0.0 -> 200.0",) * 2


def test_of_a_category_the_level_that_goes_furthest() -> None:
    levels = [Contribution("size", name, np.array([0.0, w])) for name, w in (("S", 0.0), ("M", 4.0), ("L", 9.0))]
    case = Account(("a", "b"), np.array([3.5, 0.0]), (levels[0],))
    assert both(case, {"size": levels}) == ("size: S -> L",) * 2


def test_fewer_columns_come_before_nearer_values() -> None:
    near, far = numbers("near", 1.0, range(3)), numbers("far", 1.0, range(30))
    case = Account(("a", "b"), np.array([3.5, 0.0]), (near[0], far[0]))
    assert both(case, {"near": near, "far": [far[-1]]}) == ("far: 0.0 -> 29.0",) * 2


def test_several_numbers_move_no_further_than_they_must() -> None:
    x, y = numbers("x", 1.0, range(6)), numbers("y", 1.0, range(6))
    case = Account(("a", "b"), np.array([7.5, 0.0]), (x[0], y[0]))
    for change in (least_change(case, {"x": x, "y": y}), ActionAccount.of(case, EVEN).least_change({"x": x, "y": y})):
        assert change is not None and len(change.changes) == 2
        assert sum(step.after for step in change.changes) == 8.0


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    g = np.random.default_rng(5)
    ill = g.random(400) < 0.4
    return {
        "flag": [int(x) for x in g.random(400) < np.where(ill, 0.30, 0.02)],
        "share": [round(float(x), 2) for x in np.clip(g.random(400) * 1.2 - 0.1, 0.0, 1.0)],
        "visits": [int(x) for x in g.integers(0, 4, 400)],
        "lab": [round(float(x), 2) for x in g.normal(0.7 * ill, 1.0)],
        "y": ["ill" if x else "well" for x in ill],
    }


@pytest.mark.parametrize("kind", ["logistic", "auto", "naive-bayes"])
def test_flags_stay_flags_and_whole_numbers_whole(kind: str, table: dict[str, Any]) -> None:
    model = bw.fit(table, "y", model=kind)
    names = [name for name in table if name != "y"]
    if kind == "auto":
        values = {"flag": [0, 1], **{name: list(model.offered[name]) for name in names if name in model.offered}}
    else:
        values = {name: [other.value for other in model.alternatives(name)] for name in names}
    assert values["flag"] == [0, 1]
    assert all(x == round(x) for x in values["visits"])
    assert any(x != round(x) for x in values["share"])
    assert min(values["lab"]) < 0.0 < max(values["lab"])


def test_an_estimator_knows_which_numbers_are_whole_where_cells_are_missing() -> None:
    X = np.array([[0.0, 0.5], [1.0, np.nan], [np.nan, 2.5], [1.0, 3.5]] * 5)
    model = bw.LogisticRegression().fit(X, [0, 1, 0, 1] * 5).model_
    assert model.whole == ("x0",)


@pytest.mark.parametrize("missing", ["indicator", "mean"])
def test_a_missing_cell_does_not_make_a_column_of_flags_one_of_fractions(missing: str, table: dict[str, Any]) -> None:
    some = {**table, "flag": [None, *table["flag"][1:]]}
    model = bw.fit(some, "y", model="logistic", missing=missing)
    assert [other.value for other in model.alternatives("flag")] == [0.0, 1.0]


@pytest.mark.parametrize("kind", ["logistic", "naive-bayes", "auto"])
def test_no_nearer_value_of_the_column_changes_the_answer(kind: str, table: dict[str, Any]) -> None:
    model = bw.fit(table, "y", model=kind)
    row = {"flag": 0, "share": 0.5, "visits": 2, "lab": 0.1}
    change = least_change_of(model, row)
    assert change is not None
    (step,) = change.changes
    assert model.predict([{**row, step.column: step.after}]) != model.predict([row])
    if step.column == "lab":
        less = 0.5 * (step.after - row["lab"]) + row["lab"]
        assert model.predict([{**row, "lab": round(less, 1)}]) == model.predict([row])
