"""The action of least expected cost, whatever form the posterior has."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm

import bayeswise as bw
from bayeswise.decisions import Densities, FeatureRule, Outcomes, ValueRule, minimax, next_test
from bayeswise.foundation.errors import ParameterError, SourceError

MAIL = bw.Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})
SPAM = [0.99, 0.7, 0.2]
SHARES = np.array([[p, 1 - p] for p in SPAM])


@pytest.mark.parametrize(
    ("posterior", "states"),
    [
        ({"ham": [1 - p for p in SPAM], "spam": SPAM}, None),
        (pd.DataFrame({"id": [1, 2, 3], "p_ham": SHARES[:, 1], "p_spam": SHARES[:, 0]}), None),
        (pl.DataFrame({"ham": SHARES[:, 1], "spam": SHARES[:, 0]}), None),
        (SHARES, ["spam", "ham"]),
        (SHARES[:, ::-1], ["ham", "spam"]),
        (SHARES.astype(np.float32), ["spam", "ham"]),
        (SimpleNamespace(probability=SHARES), ("spam", "ham")),
    ],
)
def test_every_form_of_a_posterior_gives_the_same_actions(posterior: Any, states: Any) -> None:
    assert bw.decide(posterior, MAIL, states=states).action.tolist() == ["bin", "ask", "keep"]


def test_without_costs_every_mistake_costs_one() -> None:
    expected = ["spam", "spam", "ham"]
    frame = pd.DataFrame({"id": [1, 2, 3], "p_ham": SHARES[:, 1], "p_spam": SHARES[:, 0]})
    assert bw.decide({"ham": 1 - SHARES[:, 0], "spam": SPAM}).action.tolist() == expected
    assert bw.decide(SHARES, states=["spam", "ham"]).action.tolist() == expected
    assert bw.decide(frame).action.tolist() == expected
    with pytest.raises(ParameterError, match="does not name its states"):
        bw.decide(SHARES)


def test_runner_up_and_margin_are_kept() -> None:
    answer = bw.decide({"spam": 0.7, "ham": 0.3}, MAIL)
    assert answer.runner_up.tolist() == ["keep"]
    assert answer.margin.round(12).tolist() == [0.2]
    assert answer.cost_of("bin").round(12).tolist() == [3.0]
    assert list(answer.to_columns()) == [
        "action", "expected_cost", "runner_up", "margin", "cost_bin", "cost_keep", "cost_ask",
    ]  # fmt: skip


def test_ties_go_to_the_first_action_in_the_users_order() -> None:
    posterior = {"x": 0.5, "y": 0.5}
    one = bw.Costs({"left": {"x": 0, "y": 4}, "right": {"x": 4, "y": 0}})
    other = bw.Costs({"right": {"x": 4, "y": 0}, "left": {"x": 0, "y": 4}})
    assert bw.decide(posterior, one).action.tolist() == ["left"]
    assert bw.decide(posterior, other).action.tolist() == ["right"]
    assert bw.decide(posterior, one).runner_up.tolist() == ["right"]
    assert bw.decide(posterior, one).margin.tolist() == [0.0]


def test_one_action_has_no_runner_up() -> None:
    answer = bw.decide({"x": 0.5, "y": 0.5}, {"wait": {"x": 1, "y": 3}})
    assert (answer.runner_up.tolist(), answer.margin.tolist(), answer.least_cost.tolist()) == ([None], [np.inf], [2.0])


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        ([[0.5, 0.5], [np.nan, 0.5]], "'spam' in row 2 must be from 0 to 1; found nan"),
        ([[1.5, -0.5]], "'spam' in row 1 must be from 0 to 1; found 1.5"),
        ([[0.5, 0.4]], "row 1 sums to 0.9"),
        ([[np.inf, 0.0]], "must be from 0 to 1"),
    ],
)
def test_what_is_not_a_posterior_never_becomes_an_action(shares: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        bw.decide(np.array(shares), MAIL, states=["spam", "ham"])


def test_an_array_without_names_is_refused() -> None:
    with pytest.raises(ParameterError, match="does not name the states of its columns"):
        bw.decide(SHARES, MAIL)
    with pytest.raises(ParameterError, match="shape"):
        bw.decide(SHARES, MAIL, states=["spam", "ham", "eggs"])


def test_no_rows_give_no_decisions() -> None:
    answer = bw.decide(np.zeros((0, 2)), MAIL, states=["spam", "ham"])
    assert (len(answer), answer.action.tolist(), answer.margin.tolist()) == (0, [], [])


@pytest.mark.filterwarnings("ignore::bayeswise.decisions.CostWarning")
def test_one_row_and_a_batch_give_the_same_digits() -> None:
    generator = np.random.default_rng(3)
    shares = generator.dirichlet(np.ones(5), 20_000)
    table = generator.normal(size=(4, 5))
    costs = bw.Costs({f"a{i}": {f"s{k}": table[i, k] for k in range(5)} for i in range(4)})
    states = [f"s{k}" for k in range(5)]
    whole = bw.decide(shares, costs, states=states)
    for k in (0, 1, 8191, 8192, 19_999):
        assert (bw.decide(shares[k : k + 1], costs, states=states).expected_cost[0] == whole.expected_cost[k]).all()


def test_a_posterior_without_states_is_refused() -> None:
    with pytest.raises(ParameterError, match="names no state"):
        bw.decide([], MAIL, states=[])


def test_outcomes_of_a_test_are_distributions_over_the_states_of_the_case() -> None:
    case, costs = {"ill": 0.1, "well": 0.9}, {"treat": {"ill": 0, "well": 5}, "wait": {"ill": 50, "well": 0}}
    with pytest.raises(ParameterError, match=r"sum to 1 in each state; found 1\.48, 1"):
        Outcomes(("+", "-"), np.array([[0.98, 0.03], [0.5, 0.97]]))
    with pytest.raises(ParameterError, match="one row for each value"):
        Outcomes(("+",), np.array([[0.98, 0.03], [0.02, 0.97]]))
    three = Outcomes(("+", "-"), np.array([[0.9, 0.1, 0.2], [0.1, 0.9, 0.8]]))
    with pytest.raises(ParameterError, match="'lab' are about 3 states; there are 2"):
        next_test(case, costs, {"lab": three})
    lab = Outcomes(("+", "-"), np.array([[0.98, 0.03], [0.02, 0.97]]))
    for price in ("x", -1, float("nan"), None):
        with pytest.raises(ParameterError, match="the price of 'lab' is"):
            next_test(case, costs, {"lab": lab}, {"lab": price})  # type: ignore[dict-item]


def test_rules_of_one_feature_take_plain_costs_and_are_shown_in_words() -> None:
    costs = {"a": {"a": 0, "b": 4}, "b": {"a": 1, "b": 0}}
    best = FeatureRule.of({"a": norm(-1, 1), "b": norm(1, 1)}, {"a": 0.5, "b": 0.5}, costs)
    assert repr(best) == "FeatureRule(a up to -0.6931, then b; risk 0.2802)"
    counted = ValueRule.of({"a": {1: 0.5, 2: 0.5}, "b": {2: 0.2, 3: 0.8}}, {"a": 0.5, "b": 0.5}, costs)
    assert repr(counted) == "ValueRule(a if x is 1; b if x is 2, 3; risk 0.25)"
    with pytest.raises(ParameterError, match="state 'a' must be from 0 on"):
        ValueRule.of({"a": {1: "half", 2: 0.5}, "b": {2: 0.2, 3: 0.8}}, {"a": 0.5, "b": 0.5}, costs)  # type: ignore[dict-item]


def test_a_plan_that_would_take_for_ever_is_refused_at_once() -> None:
    ten = {f"x{k}": Densities((norm(0, 1), norm(1 + k / 10, 1))) for k in range(10)}
    costs = {"go": {"a": 0, "b": 3}, "stay": {"a": 5, "b": 0}}
    with pytest.raises(ParameterError, match="a plan of 4 tests out of 10 has "):
        next_test({"a": 0.5, "b": 0.5}, costs, ten, depth=4)
    few = {name: ten[name] for name in ("x0", "x9")}
    once, twice = (next_test({"a": 0.5, "b": 0.5}, costs, few, depth=depth) for depth in (1, 2))
    assert twice.best.value > once.best.value  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("densities", "message"),
    [
        ({}, "there is no state"),
        ({"a": 1.0, "b": norm(0, 1)}, "the density of 'a' has no logpdf; found float"),
        ({"a": norm(0, 1), "b": norm(0, -1)}, "the density of 'b' has the quartiles nan and nan"),
        ({"a": norm(0, 1), "b": norm(0, 0)}, "the density of 'b' has the quartiles"),
    ],
)
def test_a_feature_rule_is_made_of_distributions(densities: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        FeatureRule.of(densities, {"a": 0.5, "b": 0.5}, bw.Costs.zero_one(["a", "b"]))


def test_no_number_has_no_action() -> None:
    rule = FeatureRule.of({"a": norm(-1, 1), "b": norm(1, 1)}, {"a": 0.5, "b": 0.5}, bw.Costs.zero_one(["a", "b"]))
    for x in (float("nan"), "3", None):
        with pytest.raises(ParameterError, match="there is no action for"):
            rule.action_at(x)  # type: ignore[arg-type]
    assert (rule.action_at(float("-inf")), rule.action_at(float("inf"))) == ("a", "b")


def test_states_of_a_posterior_have_as_many_numbers_each() -> None:
    with pytest.raises(ParameterError, match="as many for each state"):
        bw.decide({"a": [0.2, 0.3], "b": [0.8]}, bw.Costs.zero_one(["a", "b"]))


@pytest.mark.parametrize("suffix", ["toml", "csv"])
def test_costs_are_given_by_the_path_of_a_file_wherever_costs_are_taken(tmp_path: Path, suffix: str) -> None:
    rows = [{"caps": c, "kind": k} for c, k in [("yes", 1), ("no", 1), ("no", 0), ("no", 0)]]
    model = bw.fit(rows, "kind", model="naive-bayes")
    texts = {
        "toml": "[costs]\nbin = { 1 = 0, 0 = 3 }\nkeep = { 1 = 1, 0 = 0 }\n",
        "csv": "action,state,cost\nbin,1,0\nbin,0,3\nkeep,1,1\nkeep,0,0\n",
    }
    file = tmp_path / f"costs.{suffix}"
    file.write_text(texts[suffix])
    costs = bw.Costs({"bin": {1: 0, 0: 3}, "keep": {1: 1, 0: 0}})
    assert bw.Costs.of(str(file), model.classes).cells == costs.aligned(model.classes).cells
    assert bw.Costs.of(costs) is costs
    for path in (file, str(file)):
        story = bw.explain_action(model, {"caps": "yes"}, path)
        assert story.expected_cost == bw.explain_action(model, {"caps": "yes"}, costs).expected_cost
        assert bw.evaluate(model, rows, path).cost.tolist() == bw.evaluate(model, rows, costs).cost.tolist()
        assert minimax(path) == minimax(bw.Costs.read(file))
        assert bw.DecisionMaker(model, path).predict(rows).tolist() == bw.decide(model, rows, path).action.tolist()
        assert bw.ActiveLearner(model, path).costs.actions == ("bin", "keep")
    with pytest.raises(SourceError, match="nowhere"):
        bw.evaluate(model, rows, f"nowhere.{suffix}")


def test_the_prior_of_a_decision_file_takes_the_place_of_the_models(tmp_path: Path) -> None:
    rows = [{"caps": c, "kind": k} for c, k in [("yes", "spam"), ("no", "spam"), ("no", "ham"), ("no", "ham")]]
    model = bw.fit(rows, "kind", model="naive-bayes")
    file = tmp_path / "decision.toml"
    file.write_text(
        "[costs]\nbin = { spam = 0, ham = 3 }\nkeep = { spam = 1, ham = 0 }\n[prior]\nspam = 0.98\nham = 0.02\n"
    )
    decisions = bw.decide(model, {"caps": "yes"}, file)
    likelihood = np.exp(model.predict_log_proba({"caps": "yes"})[0] - model.log_prior)
    joint = likelihood * [0.98 if state == "spam" else 0.02 for state in model.classes]
    np.testing.assert_allclose(decisions.posterior[0], joint / joint.sum(), rtol=1e-12)
    assert decisions.action.tolist() == ["bin"]
    assert bw.decide(model, {"caps": "yes"}, bw.Costs.read(file)).action.tolist() == ["keep"]  # costs alone
    np.testing.assert_allclose(decisions.explain(0).account.posterior, decisions.posterior[0], rtol=1e-12)
    assert bw.explain_action(model, {"caps": "yes"}, file).action == "bin"
    assert bw.explain_action(model, {"caps": "yes"}, file, prior={"spam": 0.5, "ham": 0.5}).action == "keep"
    cost = {"bin": {"spam": 0, "ham": 3}, "keep": {"spam": 1, "ham": 0}}
    evaluated = bw.evaluate(model, rows, str(file))
    assert evaluated.cost.tolist() == bw.evaluate(model, rows, cost, prior={"spam": 0.98, "ham": 0.02}).cost.tolist()
    assert evaluated.cost.tolist() != bw.evaluate(model, rows, bw.Costs.read(file)).cost.tolist()
    left_out = bw.evaluate(model, rows, file, cv="loo")  # learned rows have the prior of the model
    assert left_out.cost.tolist() == bw.evaluate(model, rows, cost, cv="loo").cost.tolist()
    with pytest.raises(ParameterError, match="another prior replaces the learned one, which a SimpleNamespace"):
        bw.decide(SimpleNamespace(predict_proba=lambda rows: [[0.5, 0.5]], classes_=["ham", "spam"]), [[0]], file)


def test_a_row_is_explained_by_its_position_or_as_it_is() -> None:
    table = pd.DataFrame({"caps": ["yes", "no"] * 4, "words": range(8), "kind": ["spam", "ham", "spam", "spam"] * 2})
    model = bw.fit(table, "kind", model="naive-bayes")
    decisions = bw.decide(model, table, {"bin": {"spam": 0, "ham": 9}, "keep": {"spam": 1, "ham": 0}})
    by_position = decisions.explain(2).summary()
    one = table.iloc[2]
    for row in (np.int64(2), one, one.to_dict(), table.iloc[[2]], [one.to_dict()]):
        assert decisions.explain(row).summary() == by_position
    for wrong, found in (("0", "a str"), (table, "8 rows"), (None, "a NoneType"), (True, "a bool"), (1.5, "a float")):
        with pytest.raises(ParameterError, match=f"one row is explained; found {found}. Fix: give its position"):
            decisions.explain(wrong)
