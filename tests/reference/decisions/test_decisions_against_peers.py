"""Decisions against scikit-learn's thresholds and against sums by hand, in asymmetric tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from mpmath import mp
from scipy import integrate, stats
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import bayeswise as bw
from bayeswise.decisions import (
    absolute_action,
    best_action,
    newsvendor,
    pinball_action,
    squared_action,
    stability_of,
    within_action,
    within_capacity,
)
from bayeswise.decisions.costs.number_costs import NumberCosts
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.regression.predictive import Predictive
from bayeswise.statistics.intervals import mean_with_interval
from tests.paths import EXAMPLES

FALSE_POSITIVE, FALSE_NEGATIVE = 1.0, 12.0


def paid(y: np.ndarray, answer: np.ndarray) -> np.ndarray:
    return np.where(y == 1, (answer != 1) * FALSE_NEGATIVE, (answer == 1) * FALSE_POSITIVE)


def mean_cost(y: np.ndarray, answer: np.ndarray) -> float:
    return float(paid(y, answer).mean())


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "breast cancer":
        cancer = load_breast_cancer()
        return cancer.data, 1 - cancer.target
    frame = pd.concat([pd.read_csv(EXAMPLES / part) for part in ("credit.csv", "credit-test.csv")])
    levels = OneHotEncoder(sparse_output=False).fit_transform(frame[["history", "employed", "purpose"]])
    return np.hstack([np.log(frame[["income", "amount"]]), levels]), (frame["repaid"] == "no").to_numpy().astype(int)


@pytest.mark.parametrize("name", ["breast cancer", "credit"])
def test_decisions_cost_no_more_than_scikit_learns_thresholds(name: str) -> None:
    """Ten folds: the fixed threshold of the costs exactly, and not measurably more expensive than the tuned one."""
    X, y = table(name)
    inner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    costs = bw.Costs.binary(positive=1, negative=0, false_positive=FALSE_POSITIVE, false_negative=FALSE_NEGATIVE)
    threshold = FALSE_POSITIVE / (FALSE_POSITIVE + FALSE_NEGATIVE)
    scorer = make_scorer(mean_cost, greater_is_better=False)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    ours, fixed, tuned, plain = (
        cross_val_predict(each, X, y, cv=folds)
        for each in (
            bw.DecisionMaker(inner, costs),
            FixedThresholdClassifier(inner, threshold=threshold, response_method="predict_proba"),
            TunedThresholdClassifierCV(inner, scoring=scorer, cv=3),
            inner,
        )
    )
    assert ours.tolist() == fixed.tolist()
    assert mean_cost(y, ours) < mean_cost(y, plain)
    difference = paid(y, ours) - paid(y, tuned)
    assert mean_with_interval(difference, np.ones(len(y)), 0.95).low <= 0.0


@pytest.mark.parametrize(("name", "at_most"), [("breast cancer", 0.6), ("credit", 1.0)])
def test_calibrated_naive_bayes_costs_less_than_its_tuned_threshold(name: str, at_most: float) -> None:
    """One number for a threshold cannot repair posteriors that are wrong everywhere; leaving rows out can."""
    X, y = table(name)
    costs = bw.Costs(cFP=FALSE_POSITIVE, cFN=FALSE_NEGATIVE, states=[1, 0])
    tuned = TunedThresholdClassifierCV(bw.NaiveBayes(), scoring=make_scorer(mean_cost, greater_is_better=False))
    ours = bw.DecisionMaker(bw.NaiveBayes(), costs, calibrate="auto")
    totals = np.zeros(2)
    for seed in range(2):
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        totals += [mean_cost(y, cross_val_predict(each, X, y, cv=folds)) for each in (ours, tuned)]
    assert totals[0] < at_most * totals[1]


@pytest.mark.filterwarnings("ignore::bayeswise.decisions.CostWarning")
def test_many_states_and_actions_are_the_argmin_of_the_product() -> None:
    generator = np.random.default_rng(0)
    shares, table = generator.dirichlet(np.ones(7), 500), generator.normal(size=(4, 7))
    states = [f"s{k}" for k in range(7)]
    costs = {f"a{i}": dict(zip(states, row, strict=True)) for i, row in enumerate(table)}
    found = bw.decide(shares, bw.Costs(costs), states=states)
    assert found.best.tolist() == (shares @ table.T).argmin(axis=1).tolist()
    assert found.expected_cost == pytest.approx(shares @ table.T, abs=1e-14)


@pytest.mark.filterwarnings("ignore::bayeswise.decisions.CostWarning")
def test_expected_costs_are_right_to_the_last_digits() -> None:
    mp.dps = 40
    losses = {"a": {"x": 1e-12, "y": 1e6, "z": 0.1}, "b": {"x": 3.0, "y": 1 / 3, "z": -7e3}}
    shares = [0.1, 0.2, 0.7]
    found = bw.decide(dict(zip("xyz", shares, strict=True)), losses).expected_cost[0]
    exact = [sum(mp.mpf(p) * mp.mpf(c) for p, c in zip(shares, row.values(), strict=True)) for row in losses.values()]
    assert found == pytest.approx([float(value) for value in exact], rel=1e-15)


# -- actions that are numbers ---------------------------------------------------------------------------------

PREDICTIVE = {
    "normal": stats.norm(3, 2),
    "student": stats.t(4, 1, 3),
    "gamma": stats.gamma(2.5),
    "beta": stats.beta(2, 5),
}


@pytest.mark.parametrize("name", list(PREDICTIVE))
@pytest.mark.parametrize(("under", "over"), [(9.0, 1.0), (0.3, 2.0)])
def test_the_pinball_action_has_the_least_integral(name: str, under: float, over: float) -> None:
    y = PREDICTIVE[name]

    def risk(a: float) -> float:
        above = integrate.quad(lambda u: under * (u - a) * y.pdf(u), a, y.ppf(1 - 1e-13))[0]
        below = integrate.quad(lambda u: over * (a - u) * y.pdf(u), y.ppf(1e-13), a)[0]
        return above + below

    action = float(pinball_action(y, under=under, over=over))
    assert risk(action) <= min(risk(action - 0.01), risk(action + 0.01))
    found = best_action(y, lambda u, a: np.where(u > a, under * (u - a), over * (a - u)))
    assert found.action == pytest.approx(action, abs=0.02 * y.std())
    assert found.expected_cost == pytest.approx(risk(action), rel=2e-3)


def test_rows_of_distributions_are_answered_together() -> None:
    means, spreads = np.array([0.0, 10.0]), np.array([1.0, 3.0])
    found = pinball_action(stats.norm(means, spreads), under=3, over=1)
    assert found == pytest.approx(means + spreads * stats.norm.ppf(0.75))


def test_actions_are_taken_over_what_a_regression_predicts() -> None:
    """f + s t^-1(c1 / (c1 + c2)) row by row, and any cost by quadrature for one row at a time."""
    generator = np.random.default_rng(6)
    X = generator.normal(size=(40, 2))
    fitted = bw.LinearRegression().fit(X, 3 * X[:, 0] + generator.normal(size=40))
    ahead, first = fitted.predict_distribution(X[:5]), fitted.predict_distribution(X[:1])
    law = stats.t(ahead.df, ahead.location, ahead.scale)
    assert pinball_action(ahead, under=9, over=1) == pytest.approx(law.ppf(0.9))
    assert squared_action(ahead) == pytest.approx(law.mean()) and absolute_action(ahead) == pytest.approx(law.median())
    assert within_action(first, 0.5) == pytest.approx(float(first.location[0]), abs=1e-5)
    found = best_action(first, lambda y, a: (y - a) ** 2)
    assert found.action == pytest.approx(float(first.mean[0]), abs=1e-5)
    assert found.expected_cost == pytest.approx(float(first.stddev[0]) ** 2, rel=1e-4)
    with pytest.raises(ParameterError, match="has 5 rows"):
        best_action(ahead, lambda y, a: (y - a) ** 2)


@pytest.mark.parametrize("entries", [{"under": 9, "over": 2}, {"loss": "absolute"}, {"loss": "squared"}])
@pytest.mark.parametrize("kind", ["gaussian", "student-t", "laplace", "exponential", "poisson"])
def test_what_the_best_numbers_cost_is_the_expectation_of_scipy(kind: str, entries: dict[str, Any]) -> None:
    costs = NumberCosts.of(entries)
    ahead = Predictive(kind, np.array([3.0, 7.5]), np.array([1.0, 2.5]), df=5.0)
    actions, expected = costs.actions(ahead), costs.expected(ahead)
    for k, action in enumerate(actions.tolist()):
        law = {
            "gaussian": stats.norm(ahead.location[k], ahead.scale[k]),
            "student-t": stats.t(5.0, ahead.location[k], ahead.scale[k]),
            "laplace": stats.laplace(ahead.location[k], ahead.scale[k]),
            "exponential": stats.expon(scale=ahead.location[k]),
            "poisson": stats.poisson(ahead.location[k]),
        }[kind]

        def loss(y: Any, a: float = action) -> Any:
            if costs.loss == "squared":
                return (y - a) ** 2
            return np.where(y > a, costs.under * (y - a), costs.over * (a - y))

        if kind == "poisson":
            exact = law.expect(loss)
        else:
            exact = sum(law.expect(loss, lb=low, ub=high) for low, high in ((law.ppf(0), action), (action, law.ppf(1))))
        assert expected[k] == pytest.approx(exact, rel=2e-3)


def test_the_window_of_a_skewed_distribution_is_where_the_density_is_equal_at_both_ends() -> None:
    y = stats.gamma(2.5)
    a = within_action(y, 0.7)
    assert y.pdf(a - 0.7) == pytest.approx(y.pdf(a + 0.7), rel=1e-6)


def test_any_cost_that_is_smooth_is_exact() -> None:
    found = best_action(stats.norm(3, 2), lambda y, a: (y - a) ** 2 + 0.5 * a)
    assert found.action == pytest.approx(3 - 0.25, abs=1e-6)
    assert found.expected_cost == pytest.approx(4 + 0.0625 + 0.5 * 2.75, rel=1e-6)


def test_the_newsvendor_shares_a_capacity_at_the_least_cost() -> None:
    demands = [stats.norm(100, 20), stats.gamma(20, scale=3), stats.lognorm(0.5, scale=30)]
    under, over = [9.0, 4.0, 6.0], [1.0, 1.0, 2.0]

    def risk(orders: np.ndarray) -> float:
        total = 0.0
        for d, u, o, a in zip(demands, under, over, orders, strict=True):
            values = d.ppf((np.arange(20_000) + 0.5) / 20_000)
            total += np.mean(np.where(values > a, u * (values - a), o * (a - values)))
        return total

    free = newsvendor(demands, under=under, over=over)
    assert free == pytest.approx([float(d.ppf(u / (u + o))) for d, u, o in zip(demands, under, over, strict=True)])
    tight = newsvendor(demands, under=under, over=over, capacity=0.7 * free.sum())
    assert tight.sum() == pytest.approx(0.7 * free.sum())
    for i in range(3):
        for j in range(3):
            moved = tight.copy()
            moved[i] += 0.5
            moved[j] -= 0.5
            assert risk(tight) <= risk(moved) + 1e-9


# -- limits and uncertainty ----------------------------------------------------------------------------------------


def test_several_limits_are_solved_like_an_assignment() -> None:
    from scipy.optimize import linear_sum_assignment

    generator = np.random.default_rng(3)
    shares, table = (
        generator.dirichlet(np.ones(3), 30),
        np.array([[0.0, 9, 4], [3, 0, 6], [5, 2, 0], [2.2, 2.4, 2.1]]),
    )
    costs = bw.Costs({f"a{i}": dict(zip("xyz", row, strict=True)) for i, row in enumerate(table)})
    free = bw.decide(shares, costs, states=list("xyz"))
    limited = within_capacity(free, {"a3": 4, "a0": 0.2}).decisions
    places = [0] * 6 + [1] * 30 + [2] * 30 + [3] * 4
    rows, columns = linear_sum_assignment(free.expected_cost[:, places])
    assert limited.least_cost.sum() == pytest.approx(free.expected_cost[:, places][rows, columns].sum())
    assert np.count_nonzero(limited.best == 3) <= 4 and np.count_nonzero(limited.best == 0) <= 6


def test_the_uncertainty_of_a_decision_shrinks_with_what_is_known() -> None:
    generator = np.random.default_rng(5)
    costs = {"act": {"y": 0, "n": 5}, "wait": {"y": 2, "n": 0}, "ask": 1.2}
    few, many = (generator.beta([0.7 * n, 0.8 * n], [0.3 * n, 0.2 * n], (4000, 2)) for n in (8, 8000))
    samples = [np.stack([p, 1 - p], axis=2) for p in (few, many)]
    unsure, sure = (stability_of(draws, costs, states=["y", "n"]) for draws in samples)
    assert (sure.confidence >= unsure.confidence - 0.02).all()
    assert (sure.expected_regret < unsure.expected_regret).all()
    assert unsure.probability_best.sum(axis=1) == pytest.approx(1.0)
    risk = np.stack([(1 - few) * 5, few * 2, np.full_like(few, 1.2)], axis=2)  # (n_samples, n_rows, n_actions)
    chosen = risk.mean(axis=0).argmin(axis=1)
    assert unsure.best.tolist() == chosen.tolist()
    regret = (risk[:, [0, 1], chosen] - risk.min(axis=2)).mean(axis=0)
    assert unsure.expected_regret == pytest.approx(regret)
