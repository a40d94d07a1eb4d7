"""How sure a decision is, from what the rows leave open about the parameters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bayeswise as bw
from bayeswise.decisions import stability_of
from bayeswise.evaluation.parameter_draws import GaussianPosterior, decision_stability, posterior_draws
from bayeswise.foundation.errors import FitError
from tests.paths import EXAMPLES


def test_draws_lie_around_the_posterior_and_close_in_on_it() -> None:
    model = bw.fit(EXAMPLES / "credit.csv", target="repaid", model="naive-bayes")
    rows = EXAMPLES / "credit-test.csv"
    draws = posterior_draws(model, rows, n=60)
    assert draws.shape == (60, 500, 2)
    assert draws.sum(axis=2) == pytest.approx(1.0)
    error = np.abs(draws.mean(axis=0) - model.predict_proba(rows))
    assert error.mean() < 0.01
    assert 0.005 < draws.std(axis=0).mean() < 0.1


def test_one_category_is_a_ratio_of_beta_draws() -> None:
    """P(no | b) from counts 4 and 1 of b in 5 no and 3 yes, smoothed by 1: against scipy's Beta."""
    rows = [{"wind": w, "play": p} for w, p in zip("aaabbbbb", "yynnnnyn", strict=True)]
    model = bw.fit(rows, target="play", model="naive-bayes")
    draws = posterior_draws(model, [{"wind": "b"}], n=4000)[:, 0, 0]
    generator = np.random.default_rng(1)
    prior = stats.beta(5, 3).rvs(40_000, random_state=generator)
    no, yes = (stats.beta(b + 1, a + 1).rvs(40_000, random_state=generator) for b, a in ((4, 1), (1, 2)))
    expected = prior * no / (prior * no + (1 - prior) * yes)
    assert stats.ks_2samp(draws, expected).pvalue > 0.001


def test_one_normal_column_has_the_mean_of_the_reference_posterior() -> None:
    """With one class the drawn density of x is averaged to the Student-t predictive."""
    generator = np.random.default_rng(0)
    x = np.r_[generator.normal(0, 1, 6), generator.normal(2, 1, 9)]
    y = np.repeat(["a", "b"], [6, 9])
    model = bw.NaiveBayes(variance_floor=0.0, class_prior={"a": 0.5, "b": 0.5}).fit(x[:, None], y).model_
    draws = posterior_draws(model, np.array([[1.0]]), n=6000)[:, 0, 0]
    odds = []
    for part in (x[:6], x[6:]):
        n, s2 = len(part), part.var()
        variance = n * s2 / stats.chi2(n - 1).rvs(60_000, random_state=generator)
        odds.append(stats.norm(part.mean() + generator.normal(0, np.sqrt(variance / n)), np.sqrt(variance)).pdf(1.0))
    expected = odds[0] / (odds[0] + odds[1])
    assert stats.ks_2samp(draws, expected).pvalue > 0.001


def test_more_rows_make_the_decision_surer() -> None:
    rows = [{"wind": w, "play": p} for w, p in zip("aaabbbbb", "yynnnnyn", strict=True)]
    costs = {"go": {"y": 0, "n": 3}, "stay": {"y": 1, "n": 0}, "call": 0.55}
    few, many = (decision_stability(bw.fit(rows * k, target="play", model="naive-bayes"), rows, costs) for k in (1, 50))
    assert few.expected_regret.mean() > 3 * many.expected_regret.mean()
    assert many.confidence.mean() > few.confidence.mean()


@pytest.mark.parametrize("settings", [{}, {"covariance": "shared"}])
def test_the_mean_density_over_draws_of_a_gaussian_model_is_the_student_t(settings: dict[str, str]) -> None:
    """p(row | state) averaged over inverse Wishart covariances and normal means: the predictive, in closed form."""
    generator = np.random.default_rng(3)
    y = np.repeat(["a", "b"], 12)
    X = generator.normal(size=(24, 2)) @ [[3.0, 1.0], [0.0, 2.0]] + 100.0 + 2.0 * (y == "b")[:, None]
    model = bw.GaussianBayes(**settings).fit(X, y).model_
    rows = {"x0": [101.0, 104.0, 99.0], "x1": [100.5, 103.0, None]}
    (batch,) = model.batches(rows)
    posterior, total = GaussianPosterior(model), np.zeros((3, 2))
    for _ in range(2000):
        log_density = np.zeros((3, 2))
        posterior.draw(generator).add_to(log_density, batch)
        total += np.exp(log_density)
    units = np.log(model.moments.columns.unit)
    per_row = np.array([units.sum(), units.sum(), units[0]])[:, None]
    exact = model.changed(predictive="student-t")
    log_joint = exact.log_joint(batch) - exact.log_prior + per_row
    assert total / 2000 == pytest.approx(np.exp(log_joint), rel=0.08)


def test_a_gaussian_model_of_more_rows_is_surer() -> None:
    generator = np.random.default_rng(5)
    costs = {"go": {"a": 0, "b": 3}, "stay": {"a": 1, "b": 0}, "call": 0.4}
    cost_warnings = []
    for n in (30, 3000):
        y = np.array(["a", "b"])[generator.integers(0, 2, n)]
        X = generator.normal(size=(n, 2)) + (y == "b")[:, None]
        model = bw.GaussianBayes().fit(X, y).model_
        cost_warnings.append(decision_stability(model, {"x0": [0.2, 0.9, 0.4], "x1": [0.5, 0.3, None]}, costs, n=100))
    assert cost_warnings[1].expected_regret.mean() < 0.2 * cost_warnings[0].expected_regret.mean()
    diagonal = bw.GaussianBayes(covariance="diagonal").fit(X, y).model_
    draws = posterior_draws(diagonal, {"x0": [0.2], "x1": [0.5]}, n=100)
    assert draws.mean(axis=0) == pytest.approx(diagonal.predict_proba({"x0": [0.2], "x1": [0.5]}), abs=0.02)


def test_too_few_rows_or_a_covariance_without_a_posterior_are_refused() -> None:
    generator = np.random.default_rng(6)
    X, y = generator.normal(size=(20, 3)), np.repeat(["a", "b"], [18, 2])
    with pytest.warns(UserWarning, match="singular"):
        few = bw.GaussianBayes().fit(X, y).model_
    with pytest.raises(FitError, match="too few rows"):
        posterior_draws(few, {"x0": [0.0], "x1": [0.0], "x2": [0.0]})
    shrunk = bw.GaussianBayes(shrinkage=0.5).fit(X, np.repeat(["a", "b"], 10)).model_
    with pytest.raises(FitError, match="no posterior of its covariances"):
        posterior_draws(shrunk, {"x0": [0.0], "x1": [0.0], "x2": [0.0]})


def test_only_models_of_columns_are_drawn() -> None:
    with pytest.raises(FitError, match="no parameters to draw"):
        posterior_draws(object(), [])


def test_many_rows_are_doubted_in_stretches_with_the_same_draws() -> None:
    generator = np.random.default_rng(2)
    yes = generator.random(20_000) < 0.4
    table = {"x": (generator.normal(size=len(yes)) + yes).tolist(), "fee": [1.0] * len(yes)}
    model = bw.fit({"x": table["x"], "y": np.where(yes, "yes", "no").tolist()}, target="y", model="naive-bayes")
    costs = bw.Costs({"act": {"yes": 0, "no": "3 * fee"}, "wait": {"yes": 2, "no": 0}})
    found = decision_stability(model, table, costs, n=7)
    whole = stability_of(posterior_draws(model, table, n=7), costs, states=model.classes, rows=table)
    assert found.best.tolist() == whole.best.tolist()
    assert found.probability_best.tolist() == whole.probability_best.tolist()
    assert found.expected_regret.tolist() == whole.expected_regret.tolist()
    assert repr(found).startswith("DecisionStability(20,000 rows, right with 0.9")
    with pytest.raises(bw.BayeswiseError, match="no number for 'fee' in row 19000"):
        decision_stability(model, {**table, "fee": [1.0] * 18_999 + [None] + [1.0] * 1000}, costs, n=2)
    assert len(decision_stability(model, {"x": [], "fee": []}, costs, n=2).best) == 0
