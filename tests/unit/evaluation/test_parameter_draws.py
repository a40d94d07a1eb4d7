"""How sure a decision is, from what the rows leave open about the parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import bayeswise as bw
from bayeswise.evaluation.parameter_draws import decision_doubt, posterior_draws
from bayeswise.foundation.errors import FitError

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_draws_lie_around_the_posterior_and_close_in_on_it() -> None:
    model = bw.fit(EXAMPLES / "credit.csv", target="repaid")
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
    model = bw.fit(rows, target="play")
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
    few, many = (decision_doubt(bw.fit(rows * k, target="play"), rows, costs) for k in (1, 50))
    assert few.expected_regret.mean() > 3 * many.expected_regret.mean()
    assert many.confidence.mean() > few.confidence.mean()


def test_only_naive_bayes_is_drawn() -> None:
    with pytest.raises(FitError, match="no parameters to draw"):
        posterior_draws(object(), [])
