"""Evaluations that a stranger asks for: any unit of cost, any number of folds, any estimator, a million rows."""

from __future__ import annotations

import re
import time
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

import bayeswise as bw
from bayeswise.evaluation import (
    brier_parts,
    compare,
    cost_curve,
    coverage_curve,
    log_parts,
    reliability,
    threshold_curve,
)
from bayeswise.evaluation.evaluate import evaluation_of
from bayeswise.evaluation.report import report_page
from bayeswise.foundation.errors import FitError, NotMergedError, ParameterError
from bayeswise.models.held_out import HeldOut

GENERATOR = np.random.default_rng(5)
YES = GENERATOR.random(200) < 0.4
X = GENERATOR.normal(size=(200, 2)) + YES[:, None]
Y = np.where(YES, "yes", "no")
TABLE = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "y": Y.tolist()}
COSTS = {"act": {"yes": 0, "no": 3}, "wait": {"yes": 5, "no": 0}, "ask": 0.8}
MODEL = bw.fit(TABLE, target="y", model="naive-bayes")


def in_unit(unit: float) -> dict[str, Any]:
    return {"act": {"yes": 0, "no": 3 * unit}, "wait": {"yes": 5 * unit, "no": 0}, "ask": 0.8 * unit}


@pytest.mark.parametrize("exponent", [-1050, -600, 600, 1020])
def test_an_evaluation_in_another_unit_is_the_same_times_the_unit(exponent: int) -> None:
    unit = 2.0**exponent
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = bw.evaluate(MODEL, TABLE, COSTS), bw.evaluate(MODEL, TABLE, in_unit(unit))
        page = report_page(other)
    close = 1e-6 if exponent == -1050 else 1e-12  # so small a number has few digits
    for name in ("cost_per_case", "most_probable", "expected"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert [theirs.mean / unit, theirs.low / unit, theirs.high / unit] == pytest.approx(
            [mine.mean, mine.low, mine.high], rel=close
        )
    for make in (
        lambda e: coverage_curve(e).y["cost_per_decided_case"],
        lambda e: threshold_curve(e, "yes", "act", "wait").y["cost_per_case"],
    ):
        assert (make(other) / unit).tolist() == pytest.approx(make(one).tolist(), rel=close, abs=1e-6)
    assert ">nan<" not in page  # the sum of all costs may be infinite


def test_more_folds_than_rows_are_refused_at_once() -> None:
    with pytest.raises(ParameterError, match="99999999 folds of 200 rows"):
        bw.evaluate(MODEL, TABLE, COSTS, cv=99_999_999)


def test_rows_that_were_never_learned_cannot_be_left_out() -> None:
    elsewhere = {**TABLE, "a": [value + 50 for value in TABLE["a"]]}
    with pytest.raises(NotMergedError, match="learned"):
        bw.evaluate(MODEL, elsewhere, COSTS, cv="loo")
    with pytest.raises(NotMergedError, match="learned"):
        MODEL.leave_one_out(elsewhere)
    some = {name: cells[:50] for name, cells in TABLE.items()}
    assert len(bw.evaluate(MODEL, some, COSTS, cv="loo").truth) == 50


@pytest.mark.parametrize("level", [95, 0, 1, float("nan")])
def test_a_level_of_confidence_is_a_share(level: float) -> None:
    found = bw.evaluate(MODEL, TABLE, COSTS)
    for ask in (
        lambda: bw.evaluate(MODEL, TABLE, COSTS, level=level),
        lambda: compare(found, found, level=level),
        lambda: reliability([0.3, 0.6], [0, 1], "yes", level=level),
    ):
        with pytest.raises(ParameterError, match="level of confidence"):
            ask()


@pytest.mark.parametrize("wrong", [[float("nan"), 0.5], [1.5, 0.5], [-0.1, 0.5], ["a", "b"]])
def test_reliability_is_of_probabilities(wrong: list[Any]) -> None:
    with pytest.raises(ParameterError, match="probabilit"):
        reliability(wrong, [1, 0], "yes")


def test_an_estimator_need_not_be_fitted_for_folds_and_rows_may_be_a_list() -> None:
    known = bw.evaluate(GaussianNB().fit(X, Y), X, COSTS, targets=Y, cv=5)
    for rows in (X, X.tolist()):
        assert bw.evaluate(GaussianNB(), rows, COSTS, targets=Y, cv=5).cost.tolist() == known.cost.tolist()
    with pytest.raises(FitError, match="not fitted"):
        bw.evaluate(GaussianNB(), X, COSTS, targets=Y)


def test_what_is_not_a_classifier_and_targets_that_do_not_fit_are_distinguished() -> None:
    for wrong in (SVC().fit(X, Y), "model.bayeswise"):
        with pytest.raises(FitError, match="has no predict_proba"):
            bw.evaluate(wrong, X, COSTS, targets=Y)
    with pytest.raises(ParameterError, match="200 rows and 199 targets"):
        bw.evaluate(GaussianNB().fit(X, Y), X, COSTS, targets=Y[:-1])


def test_a_decision_maker_is_evaluated_by_its_own_costs() -> None:
    maker = bw.DecisionMaker(GaussianNB(), COSTS).fit(X, Y)
    found = bw.evaluate(maker, X, targets=Y)
    assert found.decisions.actions == ("act", "wait", "ask")
    assert found.cost_per_case.mean == pytest.approx(-maker.score(X, Y))


def test_another_prior_moves_the_posteriors_as_decide_does() -> None:
    prior = {"yes": 0.9, "no": 0.1}
    found = bw.evaluate(MODEL, TABLE, COSTS, prior=prior)
    plain = np.exp(MODEL.predict_log_proba(TABLE)) / np.exp(MODEL.log_prior) * [0.1, 0.9]
    assert found.decisions.posterior == pytest.approx(plain / plain.sum(axis=1, keepdims=True))
    with pytest.raises(ParameterError, match="prior of the model"):
        bw.evaluate(MODEL, TABLE, COSTS, prior=prior, cv="loo")


def test_curves_of_a_million_rows_need_no_table_of_thresholds_by_points() -> None:
    generator = np.random.default_rng(0)
    p = generator.random(1_000_000)
    truth = (generator.random(len(p)) > p).astype(np.int64)  # state 0 has the probability p
    ones = np.ones(len(p))
    known = HeldOut(("yes", "no"), np.stack([p, 1 - p], axis=1), truth, ones, ones > 0, "as it is")
    found = evaluation_of(known, COSTS)
    start = time.process_time()
    curve = cost_curve(found, "yes")
    assert time.process_time() - start < 4.0
    # rates of p >= t are t^2 and (1 - t)^2 for uniform p; the best t at x is 1 - x
    x = curve.x
    best = x * (1 - x) ** 2 + (1 - x) * x**2
    assert np.abs(curve.y["best_threshold"] - best).max() < 3e-3
    assert (curve.y["bayes_rule"] >= curve.y["best_threshold"] - 1e-12).all()
    assert compare(found, found).differing_rows == 0
    lines = found.to_text().splitlines()
    assert re.search(r"^true yes +\d{3},\d{3} ", lines[-2])


def test_the_corners_of_a_cost_curve_lose_no_threshold() -> None:
    found = bw.evaluate(MODEL, TABLE, COSTS, cv="loo")
    curve = cost_curve(found, "yes", points=57)
    p, true = found.decisions.posterior[:, 1], found.truth == 1
    for x, best in zip(curve.x, curve.y["best_threshold"], strict=True):
        costs = [x * np.mean(p[true] < t) + (1 - x) * np.mean(p[~true] >= t) for t in [*np.unique(p).tolist(), 2.0]]
        assert best == pytest.approx(min(costs), abs=1e-12)


def test_a_state_that_the_classifier_never_saw_has_no_score() -> None:
    scorer = bw.expected_cost_scorer()
    with pytest.raises(FitError, match="y has 'maybe' in row 2; the classifier knows"):
        scorer(GaussianNB().fit(X, Y), X[:2], np.array(["yes", "maybe"]))


def test_a_row_of_weight_k_is_k_rows_in_every_figure_of_calibration() -> None:
    generator = np.random.default_rng(8)
    p, weights = generator.random(300).round(2), generator.integers(0, 4, 300)
    true = generator.random(300) < p**2
    many = np.repeat(np.arange(300), weights)
    one, other = reliability(p, true, "y", weights=weights), reliability(p[many], true[many], "y")
    assert one.count.tolist() == other.count.tolist()
    assert one.ece == pytest.approx(other.ece, rel=1e-12)
    assert one.high.tolist() == pytest.approx(other.high.tolist(), rel=1e-12)
    for made in (brier_parts, log_parts):
        mine, theirs = made(p, true, weights=weights), made(p[many], true[many])
        assert [mine.score, mine.miscalibration, mine.uncertainty] == pytest.approx(
            [theirs.score, theirs.miscalibration, theirs.uncertainty], rel=1e-9
        )
    scaled = reliability(p, true, "y", weights=weights / weights.sum())
    assert len(scaled.count) == len(one.count) and scaled.ece == pytest.approx(one.ece, abs=0.02)
    for wrong in ([1.0] * 299, [-1.0] * 300, [0.0] * 300, [float("nan")] * 300):
        with pytest.raises(ParameterError, match="weights of rows"):
            reliability(p, true, "y", weights=wrong)
