"""What decisions cost, and beside what: every number against a computation by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import bayeswise as bw
from bayeswise.evaluation.cost_curves import cost_curve, coverage_curve, threshold_curve
from bayeswise.evaluation.evaluate import Evaluation, compare, evaluation_of
from bayeswise.evaluation.reliability import Reliability, reliability
from bayeswise.evaluation.report import comparison_line, report_page
from bayeswise.foundation.errors import FitError, ParameterError
from bayeswise.models.held_out import HeldOut, held_out
from bayeswise.posteriors.calibration import turns
from tests.paths import GOLF

PLAY = {"go": {"no": 7, "yes": 0}, "stay": {"no": 0, "yes": 2}, "call": 1.5}


def known(shares: Any, truth: Any, states: Any = ("spam", "ham")) -> HeldOut:
    truth = np.array(truth)
    ones = np.ones(len(truth))
    return HeldOut(tuple(states), np.array(shares, dtype=float), truth, ones, ones.astype(bool), "as it is")


def test_costs_are_paid_in_the_true_state() -> None:
    """bin, ask, keep, bin for spam, ham, spam, ham: 0 + 0.5 + 1 + 10."""
    costs = {"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5}
    found = evaluation_of(known([[0.99, 0.01], [0.7, 0.3], [0.2, 0.8], [0.96, 0.04]], [0, 1, 0, 1]), costs)
    assert found.cost.tolist() == [0.0, 0.5, 1.0, 10.0]
    assert found.cost_per_case.mean == 11.5 / 4
    assert {action: each.mean for action, each in found.always.items()} == {"bin": 5.0, "keep": 0.5, "ask": 0.5}
    assert found.best_constant == "keep"
    assert found.most_probable.mean == (0 + 10 + 1 + 10) / 4
    assert found.perfect.mean == 0.0
    assert found.confusion.tolist() == [[1, 1, 0], [1, 0, 1]]
    assert found.confusion_cost.tolist() == [[0, 1, 0], [10, 0, 0.5]]
    assert found.accuracy == 0.25
    assert "least expected cost" in found.to_text()
    assert found.to_dict()["cost_per_case"]["mean"] == 2.875


def filtered(ham_kept: int, spam_binned: int, spam_kept: int = 0) -> Evaluation:
    """Keeping ham costs nothing, binning spam saves 1 against keeping it, so that `keep` is the best single action."""
    shares = [[0.1, 0.9]] * (ham_kept + spam_kept) + [[0.99, 0.01]] * spam_binned
    truth = [1] * ham_kept + [0] * (spam_kept + spam_binned)
    return evaluation_of(known(shares, truth), {"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}})


def test_what_is_saved_against_the_best_single_action_has_a_paired_interval() -> None:
    """10 of 100 rows cost 1 less: the mean is 0.1, the standard deviation 0.3, t (99 df) is 1.984."""
    found = filtered(90, 10)
    half = 1.984 * (0.1 * 0.9 / 99) ** 0.5
    saved = found.saved
    assert (saved.mean, saved.low, saved.high) == pytest.approx((0.1, 0.1 - half, 0.1 + half), rel=1e-3)
    sentence = " is 0.1 less than always keep, the best single action (paired 95 % interval: 0.04017 to 0.1598)."
    assert f"That{sentence}" in report_page(found)
    assert f"The least expected cost{sentence}" in found.to_text().splitlines()
    assert found.to_dict()["saved_against_best_constant"]["low"] == pytest.approx(0.1 - half, rel=1e-3)


def test_rows_that_cannot_tell_which_costs_less_say_so() -> None:
    found = filtered(98, 2)
    assert found.saved.low < 0.0 < found.saved.mean
    assert "0.02 less than always keep, the best single action, but the rows cannot tell" in comparison_line(found)


def test_decisions_that_never_differ_from_the_best_single_action_cost_as_much() -> None:
    assert comparison_line(filtered(90, 0, 10)) == "That is as much as always keep, the best single action."


def test_the_interval_of_a_0_1_cost_is_the_exact_one_of_the_binomial() -> None:
    from scipy import stats

    generator = np.random.default_rng(0)
    p = generator.random(40)
    found = evaluation_of(known(np.stack([p, 1 - p], axis=1), generator.integers(0, 2, 40)), None)
    exact = stats.binomtest(int(found.cost.sum()), 40).proportion_ci(0.95, method="exact")
    assert [found.cost_per_case.low, found.cost_per_case.high] == pytest.approx([exact.low, exact.high])


@pytest.mark.parametrize("folds", [2, 3, 5, 14])
def test_folds_by_subtraction_are_the_folds_of_refitting(folds: int) -> None:
    rows = pd.read_csv(GOLF)
    levels = {name: sorted(set(rows[name])) for name in rows.columns[:-1]}
    found = held_out(bw.fit(rows, target="play", levels=levels, model="naive-bayes"), rows, cv=folds)
    parts = turns(found.truth, folds)
    for fold in range(folds):
        again = bw.fit(rows[parts != fold], target="play", levels=levels, model="naive-bayes")
        assert found.posterior[parts == fold] == pytest.approx(again.predict_proba(rows[parts == fold]), abs=1e-12)


def test_leave_one_out_is_as_many_folds_as_rows() -> None:
    model = bw.fit(GOLF, target="play", model="naive-bayes")
    found = bw.evaluate(model, GOLF, PLAY, cv="loo")
    assert found.how == "leave-one-out"
    assert found.decisions.posterior.tolist() == model.leave_one_out(GOLF).tolist()
    assert len(found.truth) == 14


def test_rows_without_a_state_are_left_out_with_their_costs() -> None:
    rows = pd.read_csv(GOLF)
    rows["fee"] = np.arange(14.0)
    model = bw.fit(rows, target="play", ignore=["fee"], model="naive-bayes")
    with_missing = rows.copy()
    with_missing.loc[[0, 5], "play"] = None
    costs = {"go": {"no": "fee", "yes": 0}, "stay": {"no": 0, "yes": 3}}
    found = bw.evaluate(model, with_missing, costs)
    whole = bw.evaluate(model, rows.drop(index=[0, 5]), costs)
    assert len(found.truth) == 12
    assert found.cost.tolist() == whole.cost.tolist()


def test_a_state_that_the_model_never_saw_is_named() -> None:
    rows = pd.read_csv(GOLF)
    model = bw.fit(rows, target="play", model="naive-bayes")
    rows.loc[3, "play"] = "maybe"
    with pytest.raises(FitError, match="row 4 has a state"):
        bw.evaluate(model, rows, PLAY)
    with pytest.raises(ParameterError, match="cv is 1"):
        bw.evaluate(model, GOLF, PLAY, cv=1)


def test_a_classifier_of_scikit_learn_is_evaluated_alike() -> None:
    generator = np.random.default_rng(2)
    X = generator.normal(size=(60, 2))
    y = np.where(X[:, 0] + generator.normal(size=60) > 0, "yes", "no")
    estimator = LogisticRegression().fit(X, y)
    assert bw.evaluate(estimator, X, PLAY, targets=y).how == "as it is"
    found = bw.evaluate(estimator, X, PLAY, targets=y, cv=3)
    parts = turns(found.truth, 3)
    again = LogisticRegression().fit(X[parts != 1], y[parts != 1]).predict_proba(X[parts == 1])
    assert found.decisions.posterior[parts == 1] == pytest.approx(again)


def test_the_paired_comparison_sees_what_two_intervals_do_not() -> None:
    generator = np.random.default_rng(4)
    truth = generator.integers(0, 2, 400)
    p = np.where(truth == 0, 0.8, 0.2) + generator.normal(0, 0.25, 400)
    shares = np.clip(np.stack([p, 1 - p], axis=1), 0.01, 0.99)
    shares /= shares.sum(axis=1, keepdims=True)
    worse = shares.copy()
    worse[:60] = worse[:60, ::-1]
    costs = {"act": {"spam": 0, "ham": 5}, "wait": {"spam": 2, "ham": 0}, "ask": 0.9}
    one, other = (evaluation_of(known(each, truth), costs) for each in (shares, worse))
    answer = compare(one, other)
    assert answer.decided and answer.difference.mean == pytest.approx(one.cost.mean() - other.cost.mean())
    assert not compare(one, one).decided
    with pytest.raises(ParameterError, match="different rows"):
        compare(one, evaluation_of(known(shares[:5], truth[:5]), costs))


def test_the_threshold_curve_has_the_cost_of_every_threshold() -> None:
    generator = np.random.default_rng(6)
    p = generator.integers(0, 11, 80) / 10
    truth = generator.integers(0, 2, 80)
    costs = {"act": {"spam": 0.5, "ham": 5}, "wait": {"spam": 2, "ham": 0}}
    found = evaluation_of(known(np.stack([p, 1 - p], axis=1), truth), costs)
    curve = threshold_curve(found, "spam", "act", "wait")
    for threshold, cost in zip(curve.x, curve.y["cost_per_case"], strict=True):
        paid = np.where(p >= threshold, np.where(truth == 0, 0.5, 5), np.where(truth == 0, 2, 0))
        assert cost == pytest.approx(paid.mean())


def test_refusing_the_least_certain_first_ends_in_deciding_all() -> None:
    generator = np.random.default_rng(7)
    p = generator.random(200)
    truth = (generator.random(200) > p).astype(int)
    costs = bw.Costs({"act": {"spam": 0, "ham": 5}, "wait": {"spam": 2, "ham": 0}}).with_reject(0.7)
    found = evaluation_of(known(np.stack([p, 1 - p], axis=1), truth), costs)
    curve = coverage_curve(found)
    decided = np.argmin(found.decisions.expected_cost[:, :2], axis=1)
    assert curve.x[-1] == 1.0
    assert curve.y["cost_per_decided_case"][-1] == pytest.approx(found.paid[np.arange(200), decided].mean())
    assert (np.diff(curve.y["expected_cost"]) >= 0).all()


def test_a_cost_curve_is_the_bayes_rule_at_every_prior_and_ratio() -> None:
    generator = np.random.default_rng(8)
    truth = (generator.random(3000) < 0.3).astype(int)
    x = generator.normal(np.where(truth == 1, 1.0, -1.0))
    joint = np.stack([0.7 * np.exp(-((x + 1) ** 2) / 2), 0.3 * np.exp(-((x - 1) ** 2) / 2)], axis=1)
    shares = joint / joint.sum(axis=1, keepdims=True)
    found = evaluation_of(known(shares, truth, ("-", "+")), {"-": {"-": 0, "+": 4}, "+": {"-": 1, "+": 0}})
    curve = cost_curve(found, "+", points=41)
    bayes, best = curve.y["bayes_rule"], curve.y["best_threshold"]
    assert (best <= bayes + 1e-12).all()
    assert (bayes - best).max() < 0.03  # the posterior is the true one, so that tuning gains nothing
    assert (bayes <= np.minimum(curve.x, 1 - curve.x) + 0.02).all()
    # at x = p(+) * 4 / (p(+) * 4 + p(-)) it is the cost per case of these rows, normalised
    prior = truth.mean()
    scale = prior * 4 + (1 - prior)
    at = np.interp(prior * 4 / scale, curve.x, bayes)
    assert found.cost_per_case.mean / scale == pytest.approx(at, abs=0.005)


def test_a_bar_is_shown_on_request_when_it_takes_long(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setattr("bayeswise.foundation.progress.PATIENCE", 0.0)
    rows = [{"wind": w, "play": p} for w, p in zip("aabb", "ynny", strict=True)]
    model = bw.fit(rows, target="play", model="naive-bayes")
    bw.evaluate(model, rows)
    assert capfd.readouterr().err == ""
    bw.evaluate(model, rows, progress=True)
    assert "Evaluating" in capfd.readouterr().err


def test_rows_of_one_certainty_are_decided_together_whatever_their_order() -> None:
    """Ten rows with P = 0.8, two of them wrong: one point of the curve, not a spike where the wrong ones come."""
    posterior = np.array([[0.9, 0.1]] * 4 + [[0.8, 0.2]] * 10)
    curves = []
    for wrong in ([4, 5], [12, 13], [4, 13]):
        truth = np.zeros(14, dtype=int)
        truth[wrong] = 1
        curves.append(coverage_curve(evaluation_of(known(posterior, truth), None)))
    for curve in curves:
        assert curve.x.tolist() == pytest.approx([4 / 14, 1.0])
        assert curve.y["cost_per_decided_case"].tolist() == pytest.approx([0.0, 2 / 14])


def bins_of(outside: int) -> Reliability:
    """Ten bins of p = .5, some of which came true more often than their band allows."""
    seen = np.array([0.9] * outside + [0.5] * (10 - outside))
    return Reliability("spam", np.full(10, 100), np.full(10, 0.5), seen, seen - 0.1, seen + 0.1)


def test_bins_outside_their_bands_are_counted_and_judged_by_chance() -> None:
    """Two or more of ten at 95 %: 1 - .95^10 - 10 (.05) .95^9 = .0861; four or more: .0010."""
    assert bins_of(0).verdict == "All 10 bins are within the 95 % interval."
    assert bins_of(2).verdict == (
        "2 of 10 bins are outside the 95 % interval; as many are in 8.6 % of tables whose posteriors are calibrated."
    )
    found = "4 of 10 bins are outside the 95 % interval"
    assert bins_of(4).verdict == f"{found}, more than chance explains: there the posteriors are not calibrated."


def test_the_report_counts_the_bins_of_its_diagram() -> None:
    found = filtered(90, 10)
    one = reliability(found.decisions.posterior[:, 0], found.truth == 0, "spam")
    assert one.outside > 0 and one.verdict in report_page(found)
