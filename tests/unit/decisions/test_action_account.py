"""Why this action: thresholds, distances and least changes, compared with a search through all changes."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.decisions.policy.action_account import ActionAccount, change_of_action
from bayeswise.explanations import Account, Contribution
from bayeswise.foundation.errors import ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::bayeswise.decisions.costs.warnings.CostWarning")
LOAN = {"lend": {"good": 0, "bad": 5}, "refuse": {"good": 1, "bad": 0}}


def case(p_bad: float) -> Account:
    return Account(("good", "bad"), np.log([1 - p_bad, p_bad]), ())


def test_a_loan_is_refused_though_it_will_probably_be_repaid() -> None:
    """Lending loses 5 where refusing loses 1: refuse from P(bad) = 1/6 on. Odds of 3/7 are 15/7 times 1/5."""
    story = ActionAccount.of(case(0.3), LOAN)
    assert (story.action, story.rival, story.states) == ("refuse", "lend", ("bad", "good"))
    assert story.threshold == pytest.approx(1 / 6)
    assert story.distance == pytest.approx(np.log(15 / 7))
    assert story.expected_cost == pytest.approx({"lend": 1.5, "refuse": 0.7})
    assert story.to_text().startswith("Why refuse, not lend?\n")
    assert "The most probable class is good (0.7)" in story.summary()


@settings(max_examples=200, deadline=None)
@given(p=st.floats(1e-6, 1 - 1e-6), cells=st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_the_threshold_is_where_both_actions_cost_the_same(p: float, cells: list[int]) -> None:
    a, b, c, d, e, f = map(float, cells)
    costs = bw.Costs({"x": {"s": a, "t": b}, "y": {"s": c, "t": d}, "z": {"s": e, "t": f}})
    story = ActionAccount.of(Account(("s", "t"), np.log([p, 1 - p]), ()), costs)
    assert story.expected_cost[story.action] == min(story.expected_cost.values())
    if story.threshold is not None:
        at = story.threshold if story.states[0] == "s" else 1 - story.threshold
        x, y = (costs.table[costs.action(each)] @ [at, 1 - at] for each in (story.action, story.rival))
        assert x == pytest.approx(y, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_smaller_change_changes_the_action_of_two_states(data: st.DataObject) -> None:
    weights = st.lists(st.integers(-6, 6).map(lambda k: k / 4 + 0.01), min_size=2, max_size=2)
    columns = ["a", "b", "c", "d"]
    own = [Contribution(c, 0, np.array(data.draw(weights))) for c in columns]
    others = {c: [Contribution(c, k, np.array(data.draw(weights))) for k in (1, 2)] for c in columns}
    account = Account(("good", "bad"), np.array(data.draw(weights)) * 3, tuple(own))
    costs = bw.Costs({**LOAN, "ask": 0.6})
    story = ActionAccount.of(account, costs)

    def flips(size: int) -> bool:
        return any(
            ActionAccount.of(account.with_changes(dict(zip(chosen, values, strict=True))), costs).action != story.action
            for chosen in combinations(columns, size)
            for values in product(*(others[c] for c in chosen))
        )

    found = story.least_change(others)
    if found is None:
        assert not any(flips(size) for size in range(1, 5))
    else:
        assert ActionAccount.of(found.account, costs).action == found.to != story.action
        assert found.proven and not any(flips(size) for size in range(1, len(found.changes)))


def test_one_column_is_changed_as_little_as_will_do() -> None:
    durations = [Contribution("duration", k, np.array([0.0, 0.1 * k])) for k in range(4, 40)]
    account = Account(("good", "bad"), np.log([0.9, 0.1]), (durations[-1],))
    change = ActionAccount.of(account, LOAN).least_change({"duration": durations})
    assert change is not None and (change.state, change.to) == ("refuse", "lend")
    # odds 1/9 e^{0.1 k} = 1/5 at k = 5.88
    assert [(c.before, c.after) for c in change.changes] == [(39, 5)]


def test_three_states_have_a_distance_and_a_named_action_is_reached() -> None:
    costs = {"x": {"a": 0, "b": 1, "c": 4}, "y": {"a": 2, "b": 0, "c": 1}, "z": {"a": 5, "b": 5, "c": 0}}
    value = [
        Contribution("v", k, np.log(row)) for k, row in enumerate([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.01, 0.01, 0.9]])
    ]
    story = ActionAccount.of(Account(("a", "b", "c"), np.log([0.5, 0.3, 0.2]), (value[0],)), costs)
    assert (story.action, story.rival, story.threshold) == ("x", "y", None)
    p = story.account.posterior
    assert story.distance == pytest.approx(np.log(2 * p[0] / (p[1] + 3 * p[2])))
    found = story.least_change({"v": value}, to="z")
    assert found is not None and found.to == "z" and found.changes[0].after == 2


def test_an_action_that_is_never_beaten_and_costs_that_cannot_be_compared() -> None:
    story = ActionAccount.of(case(0.3), {"good deal": {"good": 0, "bad": 0}, "bad deal": {"good": 1, "bad": 2}})
    assert story.distance == np.inf and "never costs less" in story.summary() and story.threshold is None
    with pytest.raises(ParameterError, match="single action 'lend'"):
        ActionAccount.of(case(0.3), {"lend": {"good": 0, "bad": 5}})
    with pytest.raises(ParameterError, match="is the action itself"):
        ActionAccount.of(case(0.3), LOAN, against="refuse")


def test_a_model_and_a_row_with_costs_of_the_row_and_another_prior() -> None:
    rng = np.random.default_rng(3)
    bad = rng.random(400) < 0.3
    duration = np.where(bad, rng.integers(12, 60, 400), rng.integers(4, 36, 400))
    rows = {"duration": duration, "loan": np.where(bad, "bad", "good"), "amount": rng.integers(100, 900, 400)}
    model = bw.fit(rows, "loan", kinds={"duration": "number", "amount": "number"}, model="naive-bayes")
    costs = {"lend": {"good": "-0.1 * amount", "bad": "amount"}, "refuse": 0}
    row = {"duration": 40.0, "amount": 500.0}
    story = bw.explain_action(model, row, costs)
    table = {name: [value] for name, value in row.items()}
    decided = bw.decide(model.predict_proba(table), costs, states=model.classes, rows=table)
    assert story.action == decided.action[0] == "refuse"
    assert story.expected_cost["lend"] == pytest.approx(decided.expected_cost[0, 0])
    change = change_of_action(model, story, keep=["amount"])
    assert change is not None
    (step,) = change.changes
    assert step.column == "duration" and float(step.after).is_integer() and 4 <= step.after < 40
    assert bw.explain_action(model, {**row, "duration": step.after}, costs).action == "lend"
    assert bw.explain_action(model, row, costs, prior={"good": 0.999, "bad": 0.001}).action == "lend"


@pytest.mark.parametrize("made", [dict, bw.Costs])
def test_a_column_that_formulas_name_is_not_changed_however_costs_are_written(made: type) -> None:
    """Another amount would be another loan: with only that column known, nothing changes the action."""
    rows = [{"amount": 100.0 * k, "loan": "bad" if k > 6 else "good"} for k in range(1, 13)]
    model = bw.fit(rows, "loan", kinds={"amount": "number"}, model="naive-bayes")
    costs = {"lend": {"good": "-0.1 * amount", "bad": "amount"}, "refuse": 0}
    story = bw.explain_action(model, {"amount": 1100.0}, made(costs))
    assert story.action == "refuse" and story.searched and story.change is None
    assert change_of_action(model, story) is not None  # by a lower amount, if that could be changed


@pytest.mark.parametrize("kind", ["naive-bayes", "averaged", "logistic"])
def test_numbers_that_are_offered_are_round_and_where_the_data_are(kind: str) -> None:
    """Durations of 4 to 72 months: never a negative one, never a fraction of one where the sums are whole."""
    rng = np.random.default_rng(5)
    y = rng.random(500) < 0.4
    duration = np.where(y, rng.integers(20, 73, 500), rng.integers(4, 50, 500))
    rate = np.round(rng.normal(0.05 + 0.01 * y, 0.01), 4)
    model = bw.fit(
        {"duration": duration, "rate": rate, "y": y},
        "y",
        model=kind,  # type: ignore[call-overload]
        kinds={"duration": "number", "rate": "number"},
    )
    offered = {name: [each.value for each in model.alternatives(name)] for name in ("duration", "rate")}
    assert all(4 <= value <= 72 and float(value).is_integer() for value in offered["duration"])
    assert all(rate.min() <= value <= rate.max() and round(value, 3) == value for value in offered["rate"])
    assert len(offered["rate"]) >= 8


def test_a_regression_offers_no_number_beyond_those_it_has_seen() -> None:
    """Of 10, 11, 12 and a few 100: the mean less a standard deviation is below all of them."""
    fee = np.tile([10.0, 11.0, 12.0, 10.0, 11.0, 12.0, 10.0, 11.0, 12.0, 100.0], 10)
    y = np.random.default_rng(1).random(100) < fee / 120
    model = bw.fit({"fee": fee, "y": y}, "y", model="logistic", kinds={"fee": "number"})
    offered = [each.value for each in model.alternatives("fee")]
    assert offered and all(10.0 <= value <= 100.0 for value in offered)
    assert model.extents == ((10.0, 100.0),)


def test_formulas_read_the_row_in_every_form_that_a_model_explains() -> None:
    rows = pd.DataFrame({"amount": [1.0, 2.0, 8.0, 9.0] * 3, "loan": ["good", "good", "bad", "bad"] * 3})
    model = bw.fit(rows, target="loan", model="naive-bayes")
    costs = {"lend": {"good": "-0.1 * amount", "bad": "amount"}, "refuse": 0}
    row = {"amount": 8.0}
    expected = bw.explain_action(model, row, costs).expected_cost
    one = rows[["amount"]].iloc[[2]]
    for same in (one, rows.iloc[2], [row], pl.DataFrame([row]), {"amount": [8.0]}):
        assert bw.explain_action(model, same, costs).expected_cost == pytest.approx(expected)
