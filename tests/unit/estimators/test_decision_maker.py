"""A classifier and costs as one estimator: actions, calibration, two kinds of refusing, scikit-learn's tools."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayeswise as bw
from bayeswise.evaluation.reliability import classwise_ece
from bayeswise.foundation.errors import CostError, FitError, MissingColumnError, ParameterError
from bayeswise.posteriors.calibration import fit_calibration
from tests.paths import GOLF

GENERATOR = np.random.default_rng(1)
Y = GENERATOR.integers(0, 2, 300)
X = GENERATOR.normal(size=(300, 3)) + Y[:, None] * [1.0, 0.5, 0.0]
COSTS = {"treat": {0: 2, 1: 1}, "wait": {0: 0, 1: 20}, "test": 1.5}


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), bw.NaiveBayes(), RandomForestClassifier(10, random_state=0)]
)
def test_predictions_are_the_actions_of_least_expected_cost(estimator: Any) -> None:
    maker = bw.DecisionMaker(estimator, COSTS).fit(X, Y)
    shares = clone(estimator).fit(X, Y).predict_proba(X)
    by_hand = np.array(["treat", "wait", "test"])[(shares @ np.array([[2, 0, 1.5], [1, 20, 1.5]])).argmin(axis=1)]
    assert maker.predict(X).tolist() == by_hand.tolist()
    assert maker.decide(X).expected_cost.shape == (300, 3)


def test_without_costs_the_most_probable_class_is_predicted() -> None:
    inner = LogisticRegression().fit(X, Y)
    assert bw.DecisionMaker(LogisticRegression()).fit(X, Y).predict(X).tolist() == inner.predict(X).tolist()


def test_the_score_is_minus_the_mean_cost() -> None:
    maker = bw.DecisionMaker(LogisticRegression(), COSTS).fit(X, Y)
    paid = {("treat", 0): 2, ("treat", 1): 1, ("wait", 0): 0, ("wait", 1): 20, ("test", 0): 1.5, ("test", 1): 1.5}
    by_hand = [paid[action, state] for action, state in zip(maker.predict(X).tolist(), Y.tolist(), strict=True)]
    assert maker.score(X, Y) == pytest.approx(-np.mean(by_hand))
    scorer = bw.expected_cost_scorer(COSTS)
    assert scorer(LogisticRegression().fit(X, Y), X, Y) == pytest.approx(-np.mean(by_hand))
    assert scorer(maker, X, Y) == bw.expected_cost_scorer()(maker, X, Y) == maker.score(X, Y)


def test_it_works_in_cross_validate_and_grid_search() -> None:
    maker = bw.DecisionMaker(make_pipeline(StandardScaler(), LogisticRegression()), COSTS)
    scores = cross_validate(maker, X, Y, scoring=bw.expected_cost_scorer())["test_score"]
    assert len(scores) == 5 and (scores < 0).all()
    grid = {"estimator__logisticregression__C": [0.01, 1.0], "calibrate": [None, "temperature"]}
    search = GridSearchCV(maker, grid, cv=3).fit(X, Y)
    assert set(search.predict(X)) <= {"treat", "wait", "test"}
    plain = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring=bw.expected_cost_scorer(COSTS), cv=3)
    assert plain.fit(X, Y).best_score_ < 0


def test_costs_of_the_row_follow_the_row_through_the_folds() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "amount"]).assign(amount=lambda f: 10 * f["amount"].abs())
    costs = {"grant": {0: "-0.2 * amount", 1: "amount"}, "refuse": 0}
    maker = bw.DecisionMaker(LogisticRegression(), costs)
    scores = cross_validate(maker, frame, Y, cv=3)["test_score"]
    assert np.isfinite(scores).all()
    maker.fit(frame, Y)
    shares, amount = maker.predict_proba(frame), frame["amount"].to_numpy()
    granted = shares[:, 0] * -0.2 * amount + shares[:, 1] * amount < 0
    assert (maker.predict(frame) == "grant").tolist() == granted.tolist()
    by_position = bw.DecisionMaker(LogisticRegression(), {"grant": {0: "-x0", 1: "2 * x0"}, "refuse": 0}).fit(X, Y)
    assert len(by_position.predict(X)) == 300
    aside = bw.DecisionMaker(LogisticRegression(), costs).fit(X, Y)
    assert len(aside.predict(X, rows={"amount": amount})) == 300


def test_correlated_columns_make_naive_bayes_too_sure_and_calibration_repairs_it() -> None:
    """The same column six times: the evidence is counted six times."""
    copies = np.repeat(X[:, :1], 6, axis=1)
    plain = bw.DecisionMaker(bw.NaiveBayes(), COSTS).fit(copies, Y)
    fair = bw.DecisionMaker(bw.NaiveBayes(), COSTS, calibrate="temperature").fit(copies, Y)
    generator = np.random.default_rng(9)
    y = generator.integers(0, 2, 4000)
    new = np.repeat(generator.normal(size=(4000, 1)) + y[:, None], 6, axis=1)
    assert fair.calibration_.temperature == pytest.approx(6.0, rel=0.35)
    sure, calm = (classwise_ece(maker.predict_proba(new), y, [0, 1]) for maker in (plain, fair))
    assert calm < sure / 2
    assert fair.score(new, y) > plain.score(new, y)  # harmful under asymmetric losses, and repaired


def test_calibration_uses_exact_leave_one_out_where_there_is_one_and_folds_elsewhere() -> None:
    ours = bw.DecisionMaker(bw.NaiveBayes(), calibrate="platt").fit(X, Y)
    exact = fit_calibration("platt", bw.NaiveBayes().fit(X, Y).leave_one_out(X, Y), Y)
    assert ours.calibration_.slope.tolist() == exact.slope.tolist()
    peer = bw.DecisionMaker(GaussianNB(), calibrate="platt", cv=4).fit(X, Y)
    folds = fit_calibration("platt", cross_val_predict(GaussianNB(), X, Y, cv=4, method="predict_proba"), Y)
    assert peer.calibration_.slope.tolist() == folds.slope.tolist()


def test_ambiguous_and_unknown_are_two_things() -> None:
    maker = bw.DecisionMaker(bw.NaiveBayes(), bw.Costs.zero_one([0, 1]).with_reject(0.2, "ask"), novelty=0.02).fit(X, Y)
    between, far, plain = [0.5, 0.25, 0.0], [60.0, -60.0, 60.0], [2.5, 1.5, 0.0]
    assert maker.refusals([between, far, plain]).tolist() == ["ambiguous", "unknown", ""]
    assert maker.predict([between, far, plain]).tolist() == ["ask", "unknown", 1]
    generator = np.random.default_rng(3)
    y = generator.integers(0, 2, 5000)
    ordinary = generator.normal(size=(5000, 3)) + y[:, None] * [1.0, 0.5, 0.0]
    assert maker.is_unknown(ordinary).mean() == pytest.approx(0.02, abs=0.015)


def test_an_unknown_row_costs_what_its_action_costs() -> None:
    far, y = [[60.0, -60.0, 60.0]], [1]
    without = bw.DecisionMaker(bw.NaiveBayes(), {"a": {0: 0, 1: 5}, "b": {0: 3, 1: 0}}, novelty=0.02).fit(X, Y)
    with pytest.raises(CostError, match="no action 'unknown'"):
        without.score(far, y)
    priced = bw.DecisionMaker(bw.NaiveBayes(), COSTS, novelty=0.02, unknown="test").fit(X, Y)
    assert priced.score(far, y) == -1.5


def test_novelty_needs_a_model_of_the_rows() -> None:
    with pytest.raises(ParameterError, match="LogisticRegression has no log_evidence"):
        bw.DecisionMaker(LogisticRegression(), COSTS, novelty=0.02).fit(X, Y)
    with pytest.raises(ParameterError, match="novelty is 2"):
        bw.DecisionMaker(bw.NaiveBayes(), COSTS, novelty=2).fit(X, Y)


def test_a_fitted_model_decides_as_it_is() -> None:
    model = bw.fit(GOLF, target="play", model="naive-bayes")
    maker = bw.DecisionMaker(model, {"go": {"no": 7, "yes": 0}, "stay": {"no": 0, "yes": 2}, "call": 1.5})
    row = {"outlook": ["sunny"], "temperature": ["cool"], "humidity": ["high"], "wind": ["strong"]}
    assert maker.predict(row).tolist() == ["stay"]


def test_ordinary_rows_are_ranked_each_under_the_model_without_it() -> None:
    maker = bw.DecisionMaker(bw.GaussianBayes(), COSTS, novelty=0.02).fit(X, Y)
    inner = bw.GaussianBayes().fit(X, Y)
    assert maker.ordinary_.log_evidence.tolist() == sorted(inner.leave_one_out_evidence(X, Y).tolist())
    evidence = inner.log_evidence(X[:9])
    rank = [(1 + (maker.ordinary_.log_evidence <= each).sum()) / 301 for each in evidence]
    assert maker.novelty_p_value(X[:9]).tolist() == rank


def test_a_fitted_model_without_its_rows_provides_its_own_tail() -> None:
    """One normal column: P(|Z| >= |z|), and a row with a missing value is compared with rows that have one too."""
    table = {"x": GENERATOR.normal(size=4000), "z": 1e-6 * GENERATOR.normal(size=4000), "y": ["a", "b"] * 2000}
    maker = bw.DecisionMaker(bw.fit(table, target="y", model="naive-bayes"), novelty=0.01)
    rows = {"x": [0.0, 1.96, 5.0, 1.96], "z": [0.0, 0.0, 0.0, None]}
    p = maker.novelty_p_value(rows)
    assert p[0] > 0.9 and p[3] == pytest.approx(0.05, abs=0.015)
    assert maker.is_unknown(rows).tolist() == [False, False, True, False]


def test_auto_takes_the_calibration_that_does_best_on_rows_left_out() -> None:
    copies = np.repeat(X[:, :1], 6, axis=1)
    chosen = bw.DecisionMaker(bw.NaiveBayes(), COSTS, calibrate="auto").fit(copies, Y).calibration_
    assert type(chosen).__name__ in ("Temperature", "Platt", "Dirichlet")  # six copies need a factor of six
    generator = np.random.default_rng(2)
    honest = generator.random(4000)
    fitted = fit_calibration("auto", np.stack([honest, 1 - honest], axis=1), generator.random(4000) > honest)
    assert np.abs(fitted.apply(np.array([[0.3, 0.7]])) - [0.3, 0.7]).max() < 0.03


def test_votes_of_few_trees_are_calibrated_as_votes_and_not_as_certainties() -> None:
    """A share of 0 among twentieths is not evidence of e^-745: one surprise must not outweigh all other rows."""
    generator = np.random.default_rng(8)
    votes = generator.integers(0, 21, 2000) / 20
    truth = (generator.random(2000) > 0.1 + 0.8 * votes).astype(int)
    shares = np.stack([votes, 1 - votes], axis=1)
    for method in ("temperature", "platt", "dirichlet"):
        after = fit_calibration(method, shares, truth).apply(np.array([[0.5, 0.5], [0.9, 0.1]]))
        assert after[:, 0] == pytest.approx([0.5, 0.82], abs=0.08), method


# -- scikit-learn's metadata routing --------------------------------------------------------------------------


@pytest.fixture
def routing() -> Any:
    with config_context(enable_metadata_routing=True):
        yield


def by_hand(maker: Any, inside: np.ndarray, amount: np.ndarray) -> float:
    """Minus the mean of what the actions cost in the rows of a fold, from formulas written out."""
    p, a, y = maker.predict_proba(X[inside]), amount[inside], Y[inside]
    granted = p[:, 0] * -0.2 * a + p[:, 1] * a < 0
    return -float(np.where(granted, np.where(y == 0, -0.2 * a, a), 0.0).mean())


@pytest.mark.parametrize("scorer", [None, "own", "given"])
def test_rows_are_routed_through_the_folds(routing: None, scorer: str | None) -> None:
    amount = GENERATOR.uniform(1, 100, 300)
    rows = pd.DataFrame({"amount": amount})  # beside X, which does not have it
    costs = {"grant": {0: "-0.2 * amount", 1: "amount"}, "refuse": 0}
    maker: Any = bw.DecisionMaker(LogisticRegression(), costs)
    scoring: Any = None
    if scorer is None:
        maker.set_score_request(rows=True)
    else:
        scoring = bw.expected_cost_scorer(costs if scorer == "given" else None).set_score_request(rows=True)
    folds = StratifiedKFold(3)
    found = cross_validate(maker, X, Y, cv=folds, scoring=scoring, params={"rows": rows}, return_estimator=True)
    expected = [
        by_hand(each, inside, amount) for each, (_, inside) in zip(found["estimator"], folds.split(X, Y), strict=True)
    ]
    assert found["test_score"] == pytest.approx(expected)
    search = GridSearchCV(maker, {"estimator__C": [0.001, 1.0]}, scoring=scoring, cv=folds)
    search.fit(X, Y, rows=rows)
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(expected))


def test_weights_are_routed_to_the_classifier_and_to_its_calibration(routing: None) -> None:
    weights = GENERATOR.integers(0, 3, 300).astype(float)
    kept = weights > 0
    inner: Any = LogisticRegression().set_fit_request(sample_weight=True)
    maker = bw.DecisionMaker(inner, COSTS, calibrate="platt", cv=4).fit(X, Y, sample_weight=weights)
    plain = LogisticRegression().fit(X[kept], Y[kept], sample_weight=weights[kept])
    assert maker.estimator_.coef_ == pytest.approx(plain.coef_, abs=1e-4)
    assert np.isfinite(maker.calibration_.slope).all()


def test_weights_count_in_exact_calibration() -> None:
    weights = GENERATOR.integers(1, 4, 300).astype(float)
    maker = bw.DecisionMaker(bw.NaiveBayes(), calibrate="platt").fit(X, Y, sample_weight=weights)
    left_out = bw.NaiveBayes().fit(X, Y, sample_weight=weights).leave_one_out(X, Y, sample_weight=weights)
    assert maker.calibration_.slope.tolist() == fit_calibration("platt", left_out, Y, weights).slope.tolist()


# -- what is at stake --------------------------------------------------------------------------------------------
LOAN = {"grant": {0: "-0.2 * amount", 1: "amount"}, "refuse": 0}


def slopes(costs: Any, amount: Any, **given: Any) -> Any:
    rows = {"amount": amount}
    return bw.DecisionMaker(bw.NaiveBayes(), costs, calibrate="platt").fit(X, Y, rows=rows, **given).calibration_.slope


def test_calibration_counts_rows_by_what_is_at_stake_in_them() -> None:
    amount = GENERATOR.uniform(1, 100, 300)
    left_out = bw.NaiveBayes().fit(X, Y).leave_one_out(X, Y)
    weights = amount * amount.sum() / (amount**2).sum()
    by_hand = fit_calibration("platt", left_out, Y, weights).slope
    assert slopes(LOAN, amount) == pytest.approx(by_hand, rel=1e-6)
    assert slopes(LOAN, amount) != pytest.approx(slopes(LOAN, np.ones(300)), rel=1e-3)


def test_the_unit_of_the_costs_and_what_a_state_costs_anyway_change_no_calibration() -> None:
    amount = GENERATOR.uniform(1, 100, 300)
    moved = {"grant": {0: "-20 * amount + 7", 1: "100 * amount"}, "refuse": {0: 7, 1: 0}}
    assert slopes(moved, amount) == pytest.approx(slopes(LOAN, amount), rel=1e-6)


def test_equal_stakes_and_constant_costs_calibrate_alike() -> None:
    constant = {"grant": {0: -0.2, 1: 1}, "refuse": 0}
    assert slopes(LOAN, np.full(300, 1e200)) == pytest.approx(slopes(constant, np.zeros(300)), rel=1e-6)
    assert slopes(LOAN, np.zeros(300)) == pytest.approx(slopes(constant, np.zeros(300)), rel=1e-6)


def test_stakes_are_read_from_named_columns_and_optional() -> None:
    amount = GENERATOR.uniform(1, 100, 300)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(amount=amount)
    maker = bw.DecisionMaker(bw.NaiveBayes(), LOAN, calibrate="platt")
    by_frame = clone(maker).fit(frame, Y).calibration_.slope
    assert by_frame == pytest.approx(clone(maker).fit(frame, Y, rows=frame[["amount"]]).calibration_.slope)
    plain = bw.DecisionMaker(bw.NaiveBayes(), calibrate="platt").fit(X, Y).calibration_.slope
    assert clone(maker).fit(X, Y).calibration_.slope.tolist() == plain.tolist()
    with pytest.raises(MissingColumnError, match="amount"):
        clone(maker).fit(X, Y, rows={"sum": amount})


def test_weights_and_stakes_count_both() -> None:
    amount, weights = GENERATOR.uniform(1, 100, 300), GENERATOR.integers(1, 4, 300).astype(float)
    left_out = bw.NaiveBayes().fit(X, Y, sample_weight=weights).leave_one_out(X, Y, sample_weight=weights)
    by_hand = fit_calibration("platt", left_out, Y, weights * amount * amount.sum() / (amount**2).sum()).slope
    assert slopes(LOAN, amount, sample_weight=weights) == pytest.approx(by_hand, rel=1e-6)


def test_rows_reach_the_calibration_through_the_folds(routing: None) -> None:
    rows = pd.DataFrame({"amount": GENERATOR.uniform(1, 100, 300)})
    maker: Any = bw.DecisionMaker(bw.NaiveBayes(), LOAN, calibrate="platt").set_score_request(rows=True)
    folds = StratifiedKFold(3)
    found = cross_validate(maker, X, Y, cv=folds, params={"rows": rows}, return_estimator=True)["estimator"]
    for each, (outside, _) in zip(found, folds.split(X, Y), strict=True):
        alone = clone(maker).fit(X[outside], Y[outside], rows=rows.iloc[outside])
        assert each.calibration_.slope.tolist() == alone.calibration_.slope.tolist()


@pytest.mark.parametrize("estimator", [None, "naive Bayes", LogisticRegression, 3])
def test_only_a_classifier_can_be_decided_on(estimator: Any) -> None:
    with pytest.raises(ParameterError, match=r"needs a classifier; found .* Fix: give one"):
        bw.DecisionMaker(estimator).fit(X, Y)


@pytest.mark.parametrize("estimator", [Perceptron(), LinearRegression()])
@pytest.mark.parametrize("calibrate", [None, "auto"])
def test_a_classifier_without_probabilities_is_refused_by_name(estimator: Any, calibrate: str | None) -> None:
    with pytest.raises(ParameterError, match=f"{type(estimator).__name__} has no class probabilities"):
        bw.DecisionMaker(estimator, calibrate=calibrate).fit(X, Y)


def test_a_state_that_was_never_learned_is_named_as_the_user_wrote_it() -> None:
    maker = bw.DecisionMaker(LogisticRegression()).fit(X, Y)
    with pytest.raises(FitError, match="y has 2 in row 1; the classifier knows"):
        maker.score(X, np.full(300, 2))


def test_costs_for_other_states_are_refused() -> None:
    with pytest.raises(CostError, match="no entry for state 0"):
        bw.DecisionMaker(LogisticRegression(), {"a": {"x": 1, "y": 0}}).fit(X, Y)


@pytest.mark.parametrize("estimator", [bw.NaiveBayes(), bw.LogisticRegression()], ids=str)
@pytest.mark.parametrize("options", [{"calibrate": "temperature"}, {"novelty": 0.1}, {}], ids=str)
def test_a_class_whose_rows_have_no_weight_is_absent(estimator: Any, options: dict[str, Any]) -> None:
    if "novelty" in options and not hasattr(estimator, "log_evidence"):
        return
    present = np.arange(len(Y)) >= 5
    maker = bw.DecisionMaker(estimator, **options).fit(X, np.where(present, Y, 7), sample_weight=present.astype(float))
    alone = bw.DecisionMaker(estimator, **options).fit(X[present], Y[present], sample_weight=np.ones(present.sum()))
    assert maker.classes_.tolist() == [0, 1]
    assert np.array_equal(maker.predict_proba(X), alone.predict_proba(X))


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([bw.DecisionMaker(LogisticRegression())])
def test_it_passes_the_checks_of_a_scikit_learn_classifier(estimator: Any, check: Any) -> None:
    check(estimator)
