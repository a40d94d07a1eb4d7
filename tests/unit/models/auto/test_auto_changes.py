"""The least change of a row that changes the answer of `model="auto"`, beside all sets of changes tried one by one."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.explanations.flip import least_change_of
from bayeswise.foundation.errors import KindError, ParameterError
from bayeswise.models.auto.model import AutoModel

WELL = {"age": 31.0, "size": "S", "visits": 0}


@pytest.fixture(scope="module")
def model() -> AutoModel:
    g = np.random.default_rng(3)
    n = 150
    ill = g.random(n) < 0.4
    table = {
        "age": [round(float(x), 1) for x in g.normal(50, 10, n) + 12 * ill],
        "size": [str(x) for x in np.where(g.random(n) < 0.2 + 0.5 * ill, "L", np.where(g.random(n) < 0.5, "M", "S"))],
        "visits": [int(x) for x in g.poisson(1 + 2 * ill)],
        "y": ["ill" if x else "well" for x in ill],
    }
    found: AutoModel = bw.fit(table, "y", model="auto")
    return found


def offered(model: AutoModel) -> dict[str, list[Any]]:
    assert model.offered is not None
    return {"age": list(model.offered["age"]), "size": ["L", "M", "S"], "visits": list(model.offered["visits"])}


def moved(model: AutoModel, row: dict[str, Any], other: dict[str, Any]) -> float:
    """How far the columns are moved: numbers in standard deviations of what is offered instead, a level by 1."""
    far = 0.0
    for name, values in offered(model).items():
        if other[name] != row[name]:
            numbers = [value for value in values if value != row[name]]
            far += 1.0 if name == "size" else abs(other[name] - row[name]) / float(np.std(numbers))
    return far


def fewest(model: AutoModel, row: dict[str, Any]) -> tuple[int, float]:
    """How many columns have to change, and how far at least, by trying all of them."""
    values, own = offered(model), model.predict([row])[0]
    for size in range(1, 4):
        tried = [
            {**row, **dict(zip(columns, cells, strict=True))}
            for columns in combinations(values, size)
            for cells in product(*(values[column] for column in columns))
        ]
        shares = model.predict_proba(tried)[:, model.classes.index(own)]
        if shares.min() < 0.5:
            return size, min(moved(model, row, other) for other, p in zip(tried, shares, strict=True) if p < 0.5)
    return 0, 0.0


@pytest.mark.parametrize("age", [31.0, 45.0, 52.0, 68.0])
@pytest.mark.parametrize("size", ["S", "L"])
@pytest.mark.parametrize("visits", [0, 4])
def test_no_smaller_set_of_changes_does_it(model: AutoModel, age: float, size: str, visits: int) -> None:
    row = {"age": age, "size": size, "visits": visits}
    change = least_change_of(model, row)
    n_columns, least = fewest(model, row)
    assert change is not None
    assert len(change.changes) == n_columns
    changed = {**row, **{step.column: step.after for step in change.changes}}
    assert model.predict([changed]) == [change.to] != model.predict([row])
    assert change.account.most_probable == change.to
    if n_columns == 1:  # of one column all changes are tried, and the nearest is taken
        assert moved(model, row, changed) == pytest.approx(least)
    assert change.proven or n_columns > 2


def test_values_are_those_that_rows_have_shown(model: AutoModel) -> None:
    values = offered(model)
    assert min(values["visits"]) >= 0
    assert all(value == round(value) for value in values["visits"])
    assert 20 < min(values["age"]) < max(values["age"]) < 100


def test_columns_that_are_kept_do_not_change(model: AutoModel) -> None:
    change = least_change_of(model, WELL, keep=["age"])
    assert change is None or "age" not in [step.column for step in change.changes]
    with pytest.raises(ParameterError, match="already"):
        least_change_of(model, WELL, model.predict([WELL])[0])


def test_the_action_changes_with_the_row(model: AutoModel) -> None:
    costs = {"treat": {"ill": 0, "well": 1}, "wait": {"ill": 5, "well": 0}}
    story = bw.explain_action(model, WELL, costs)
    assert story.action == "wait"
    assert story.change is not None and story.change.to == "treat"
    changed = {**WELL, **{step.column: step.after for step in story.change.changes}}
    assert bw.explain_action(model, changed, costs).action == "treat"
    likelier = bw.explain_action(model, WELL, costs, prior={"ill": 0.6, "well": 0.4})
    if likelier.action == "wait":
        assert likelier.change is not None
        changed = {**WELL, **{step.column: step.after for step in likelier.change.changes}}
        assert bw.explain_action(model, changed, costs, prior={"ill": 0.6, "well": 0.4}).action == "treat"


def test_a_model_of_an_earlier_version_says_what_it_lacks(model: AutoModel) -> None:
    with pytest.raises(KindError, match="earlier version"):
        least_change_of(replace(model, offered=None), WELL)


@pytest.mark.parametrize("size", [1e155, 1e200, 1e308])
@pytest.mark.parametrize("times", [1, 6])
def test_numbers_as_large_as_they_come_are_offered_without_an_overflow(size: float, times: int) -> None:
    numbers = [size, -size, 0.0, size / 3, 5.0, -size / 2] * times
    rows = [{"a": number, "y": "pq"[k % 2]} for k, number in enumerate(numbers)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = bw.fit(rows, "y")
        assert np.isfinite(model.predict_proba(rows)).all()
    assert len(model.offered["a"]) > 10
    assert all(-size <= number <= size for number in model.offered["a"])
