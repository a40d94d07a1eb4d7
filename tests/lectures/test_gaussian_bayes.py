"""Gaussian classes as the lectures draw them: densities, thresholds, contours, lines and curves between classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import bayeswise as bw
from bayeswise.models.gaussian_bayes import GaussianBayesModel, fit


def on_a_line(
    means: tuple[float, float], stddevs: tuple[float, float], prior: float = 0.5, **settings: Any
) -> GaussianBayesModel:
    """Two classes with exactly these means and stddevs: a row one stddev below the mean, one above."""
    rows = [
        {"x": mean + side * stddev, "y": state}
        for state, mean, stddev in zip("-+", means, stddevs, strict=True)
        for side in (-1.0, 1.0)
    ]
    return fit(rows, "y", class_prior={"-": 1 - prior, "+": prior}, **settings)


# -- estimation ---------------------------------------------------------------------------------------------------
def test_the_mean_is_the_sum_over_n_and_the_variance_has_the_divisor_of_your_choice() -> None:
    """001 eq 22-31: heights 1.6, 1.7, 1.9 have mean 5.2 / 3, and squares that add up to 0.14 / 3."""
    rows = [{"x": x, "y": "+"} for x in (1.6, 1.7, 1.9)] + [{"x": 0.0, "y": "-"}, {"x": 1.0, "y": "-"}]
    biased, unbiased = fit(rows, "y"), fit(rows, "y", variance_divisor="n-1")
    plus = biased.classes.index("+")
    assert biased.means[plus, 0] == pytest.approx(5.2 / 3, rel=1e-15)
    assert biased.covariances[plus, 0, 0] == pytest.approx(0.14 / 3 / 3, rel=1e-13)
    assert unbiased.covariances[plus, 0, 0] == pytest.approx(0.14 / 3 / 2, rel=1e-13)


def test_the_covariance_is_the_mean_of_outer_products() -> None:
    """001 eq 32-33."""
    points = np.array([[0.0, 0.0], [2.0, 1.0], [4.0, 5.0]])
    rows = [{"u": u, "v": v, "y": "+"} for u, v in points]
    rows += [{"u": u, "v": -v, "y": "-"} for u, v in points]
    model = fit(rows, "y")
    away = points - points.mean(axis=0)
    assert model.covariances[0] == pytest.approx(sum(np.outer(a, a) for a in away) / 3, rel=1e-14)


# -- densities (E03) ----------------------------------------------------------------------------------------------
def test_a_density_may_exceed_one() -> None:
    """p(x | C) is not a probability: with a stddev of 0.1 it is 3.99 at the mean."""
    model = on_a_line((0.0, 10.0), (0.1, 0.1))
    height = math.exp(model.densities.log_density(np.array([[0.0]]))[0, model.classes.index("-")])
    assert height == pytest.approx(1 / (0.1 * math.sqrt(2 * math.pi)), rel=1e-12)
    assert height > 1


# -- thresholds and errors (C08, E09, E10) ------------------------------------------------------------------------
def test_equal_stddevs_have_one_threshold_where_the_weighted_densities_cross() -> None:
    """x0 = midpoint + variance / gap * log of the prior odds."""
    model = on_a_line((0.0, 2.0), (1.0, 1.0), prior=0.2, covariance="shared")
    found = model.regions()
    assert found.states == ("-", "+")
    assert found.thresholds == pytest.approx([1.0 + 0.5 * math.log(0.8 / 0.2)], rel=1e-14)


def test_basketball_players_are_tall_but_rare() -> None:
    """Players have mean 200, others 175, both stddev 10; with one player in a hundred the threshold moves to 205.9."""
    even = on_a_line((175.0, 200.0), (10.0, 10.0), covariance="shared").regions()
    rare = on_a_line((175.0, 200.0), (10.0, 10.0), prior=0.01, covariance="shared").regions()
    assert even.thresholds == pytest.approx([187.5], rel=1e-14)
    assert rare.thresholds == pytest.approx([187.5 + 100 / 25 * math.log(99)], rel=1e-14)


def test_unequal_stddevs_have_two_thresholds() -> None:
    """E10: the narrow class wins in the middle only: x^2 = 2 log 2 / (1 - 1/4)."""
    model = on_a_line((0.0, 0.0), (1.0, 2.0))
    x = math.sqrt(2 * math.log(2) / (1 - 1 / 4))
    found = model.regions()
    assert found.thresholds == pytest.approx([-x, x], rel=1e-14)
    assert found.states == ("+", "-", "+")
    expected = 0.5 * (2 * ndtr(-x)) + 0.5 * (1 - 2 * ndtr(-x / 2))
    assert model.bayes_error().error == pytest.approx(expected, rel=1e-13)


def test_a_class_may_win_nowhere() -> None:
    model = on_a_line((0.0, 0.0), (1.0, 2.0), prior=0.9)
    assert model.regions().states == ("+",)
    assert model.bayes_error().error == pytest.approx(0.1, rel=1e-14)


def test_any_other_boundary_has_a_larger_error_and_the_difference_is_reducible() -> None:
    """Means 0 and 2, stddev 1: the best boundary 1 errs with Phi(-1); at 0 the rule errs with (1/2 + Phi(-2)) / 2."""
    model = on_a_line((0.0, 2.0), (1.0, 1.0), covariance="shared")
    best, poor = model.error_at(1.0), model.error_at(0.0)
    assert best.error == pytest.approx(ndtr(-1.0), rel=1e-14)
    assert best.reducible == pytest.approx(0.0, abs=1e-16)
    assert poor.error == pytest.approx(0.5 * (0.5 + ndtr(-2.0)), rel=1e-14)
    assert poor.irreducible == pytest.approx(ndtr(-1.0), rel=1e-14)
    assert poor.reducible == pytest.approx(poor.error - best.error, rel=1e-12)


def test_the_limits_of_the_error_integrals_depend_on_the_side_of_each_class() -> None:
    """E09: with the + region on the wrong side of the same boundary every right answer becomes an error."""
    model = on_a_line((0.0, 2.0), (1.0, 1.0), covariance="shared")
    assert model.error_at(0.3).error == model.error_at(0.3, below="-").error
    assert model.error_at(0.3, below="+").error == pytest.approx(1 - model.error_at(0.3, below="-").error, rel=1e-14)


# -- contours (C28) -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("covariance", "lengths"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], (1.0, 1.0)),  # circles
        ([[2.0, 0.0], [0.0, 0.5]], (math.sqrt(0.5), math.sqrt(2.0))),  # ellipses along the axes
        ([[1.0, 0.7], [0.7, 1.0]], (math.sqrt(0.3), math.sqrt(1.7))),  # turned by 45 degrees
        ([[1.0, -0.7], [-0.7, 1.0]], (math.sqrt(0.3), math.sqrt(1.7))),  # the other way
    ],
)
def test_contours_are_ellipses_with_the_roots_of_the_eigenvalues_as_half_axes(
    covariance: list[list[float]], lengths: tuple[float, float]
) -> None:
    lower = np.linalg.cholesky(np.array(covariance)) * math.sqrt(2)  # four points with exactly this covariance
    points = np.concatenate([lower.T, -lower.T])
    rows = [{"u": u, "v": v, "y": "+"} for u, v in points]
    rows += [{"u": u + 9, "v": v, "y": "-"} for u, v in points]
    model = fit(rows, "y", covariance="shared")
    assert model.covariances[0] == pytest.approx(np.array(covariance), abs=1e-14)
    plane = model.class_plane(points=21)
    plus = model.classes.index("+")
    assert plane.mean is not None
    curve = plane.ellipse(plus, 1.0, points=721) - plane.mean[plus]
    radius = np.hypot(*curve.T)
    assert (radius.min(), radius.max()) == pytest.approx(lengths, rel=1e-4)
    if covariance[0][1] != 0:
        u, v = curve[np.argmax(radius)]
        assert v / u == pytest.approx(math.copysign(1.0, covariance[0][1]), abs=1e-2)


# -- discriminants (C29, C30, C31, E07) ---------------------------------------------------------------------------
def two_clouds(seed: int = 0) -> tuple[list[dict[str, Any]], Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 2))
    X[:40] = X[:40] @ [[1.0, 0.5], [0.0, 1.0]]
    X[40:] = X[40:] @ [[1.0, -0.6], [0.0, 0.7]] + [1.5, 2.0]
    y = np.array(["-"] * 40 + ["+"] * 60)
    return [{"u": float(u), "v": float(v), "y": str(s)} for (u, v), s in zip(X, y, strict=True)], X, y


def test_one_covariance_for_all_gives_a_line_with_w_as_covariance_inverse_times_the_gap() -> None:
    """C30: w = S^-1 (m+ - m-), w0 = logit p - (m+ S^-1 m+ - m- S^-1 m-) / 2."""
    rows, X, y = two_clouds()
    model = fit(rows, "y", covariance="shared")
    plus, minus = X[y == "+"], X[y == "-"]
    S = (np.cov(plus.T, bias=True) * 60 + np.cov(minus.T, bias=True) * 40) / 100
    m, k = plus.mean(axis=0), minus.mean(axis=0)
    w = np.linalg.solve(S, m - k)
    w0 = math.log(60 / 40) - 0.5 * (m @ np.linalg.solve(S, m) - k @ np.linalg.solve(S, k))
    found = model.linear("+", "-")
    assert found.w == pytest.approx(w, rel=1e-12)
    assert found.w0 == pytest.approx(w0, rel=1e-12)
    sigmoid = 1 / (1 + np.exp(-(X @ w + w0)))
    assert model.predict_proba(rows)[:, model.classes.index("+")] == pytest.approx(sigmoid, abs=1e-14)


def test_naive_bayes_with_shared_variances_is_linear_too() -> None:
    """C31: w_i = (m+_i - m-_i) / s_i^2, w0 = logit p + sum (m-_i^2 - m+_i^2) / (2 s_i^2)."""
    rows, X, y = two_clouds(1)
    found = fit(rows, "y", covariance="shared-diagonal").linear("+", "-")
    plus, minus = X[y == "+"], X[y == "-"]
    variance = (plus.var(axis=0) * 60 + minus.var(axis=0) * 40) / 100
    m, k = plus.mean(axis=0), minus.mean(axis=0)
    assert found.w == pytest.approx((m - k) / variance, rel=1e-12)
    assert found.w0 == pytest.approx(math.log(1.5) + ((k**2 - m**2) / (2 * variance)).sum(), rel=1e-12)


def test_a_covariance_for_each_class_gives_a_quadratic_boundary() -> None:
    rows, X, _ = two_clouds(2)
    model = fit(rows, "y")
    form = model.quadratic("+", "-")
    log_odds = model.log_odds(rows, "+", "-")
    assert np.abs(form.matrix).max() > 0.1
    assert form.of_numbers(X) == pytest.approx(log_odds, rel=1e-11, abs=1e-12)
    A, b, c = form.at_zero()
    assert ((X @ A) * X).sum(axis=1) + X @ b + c == pytest.approx(log_odds, rel=1e-11, abs=1e-11)
    shared = model.changed(covariance="shared").quadratic("+", "-")
    assert np.abs(shared.matrix).max() < 1e-14
    with pytest.raises(bw.FitError, match="not linear"):
        model.linear("+", "-")


def test_naive_is_the_diagonal_and_full_covariances_are_not_naive() -> None:
    """E07: only the diagonal forms equal naive Bayes."""
    rows, X, y = two_clouds(3)
    naive = bw.NaiveBayes().fit(X, y).predict_proba(X)
    assert bw.GaussianBayes("diagonal").fit(X, y).predict_proba(X) == pytest.approx(naive, abs=1e-12)
    assert np.abs(bw.GaussianBayes("per-class").fit(X, y).predict_proba(X) - naive).max() > 0.05
    shared = bw.NaiveBayes(shared_variance=True).fit(X, y).predict_proba(X)
    assert fit(rows, "y", covariance="shared-diagonal").predict_proba(rows) == pytest.approx(shared, abs=1e-12)


@pytest.mark.parametrize(
    ("covariance", "count"),
    [("per-class", 19), ("shared", 13), ("diagonal", 13), ("shared-diagonal", 10), ("spherical", 9)],
)
def test_free_parameters_are_counted_without_the_redundant_prior(covariance: str, count: int) -> None:
    """C33: three columns, two classes: 1 + 6 means, and 2 x 6, 6, 2 x 3, 3 or 2 for the covariances."""
    rows = [{"a": a, "b": b, "c": c, "y": y} for a in (0, 1, 5) for b in (0, 2, 7) for c in (1, 3, 9) for y in "+-"]
    assert fit(rows, "y", covariance=covariance).n_free_parameters() == count


# -- generative (C36) ---------------------------------------------------------------------------------------------
def test_p_of_x_detects_an_outlier_of_which_the_posterior_is_sure() -> None:
    rows, _, _ = two_clouds(4)
    model = fit(rows, "y", covariance="shared")
    outlier = {"u": 60.0, "v": 80.0}
    assert model.predict_proba([outlier]).max() > 0.999999
    assert model.log_evidence([outlier])[0] < model.log_evidence(rows).min() - 1000
    assert model.mahalanobis([outlier]).min() > 40


def test_the_model_draws_the_class_first_and_then_the_row() -> None:
    rows, _, _ = two_clouds(5)
    model = fit(rows, "y")
    drawn = model.sample(40_000, seed=1)
    values = np.array([drawn["u"], drawn["v"]]).T
    labels = np.array(drawn["y"])
    for state, label in enumerate(model.classes):
        own = values[labels == label]
        assert len(own) / 40_000 == pytest.approx(math.exp(model.log_prior[state]), abs=0.01)
        assert own.mean(axis=0) == pytest.approx(model.means[state], abs=0.05)
        assert np.cov(own.T) == pytest.approx(model.covariances[state], abs=0.06)
