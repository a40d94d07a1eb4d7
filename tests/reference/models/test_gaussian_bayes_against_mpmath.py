"""Posteriors, evidence, Student-t predictive and Bayes error against 50-digit arithmetic on small tables."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from bayeswise.models.gaussian_bayes import GaussianBayesModel, fit

mpmath.mp.dps = 50
OFFSETS = [0.0, 1e6, 1e15]
STATES = ("a", "b")


def table(offset: float) -> tuple[list[dict[str, Any]], dict[str, mpmath.matrix]]:
    """Quarters, so that an offset of 1e15 still holds every digit."""
    rng = np.random.default_rng(7)
    values = np.round(4 * rng.normal(size=(14, 2)) @ np.array([[2.0, 1.0], [0.0, 1.0]])) / 4
    values[7:] += 1.5
    labels = ["a"] * 7 + ["b"] * 7
    rows = [{"u": x + offset, "v": z - offset, "y": y} for (x, z), y in zip(values.tolist(), labels, strict=True)]
    exact = {s: mpmath.matrix([[mpmath.mpf(r["u"]), mpmath.mpf(r["v"])] for r in rows if r["y"] == s]) for s in STATES}
    return rows, exact


def mean_and_scatter(rows: mpmath.matrix) -> tuple[mpmath.matrix, mpmath.matrix]:
    n = rows.rows
    mean = mpmath.matrix([mpmath.fsum(rows[k, c] for k in range(n)) / n for c in range(2)])
    scatter = mpmath.matrix(2, 2)
    for k in range(n):
        away = rows[k, :].T - mean
        scatter += away * away.T
    return mean, scatter


def log_normal(x: mpmath.matrix, mean: mpmath.matrix, covariance: mpmath.matrix) -> mpmath.mpf:
    away = x - mean
    square = (away.T * mpmath.inverse(covariance) * away)[0]
    return -square / 2 - mpmath.log(mpmath.det(2 * mpmath.pi * covariance)) / 2


def log_student(x: mpmath.matrix, mean: mpmath.matrix, scale: mpmath.matrix, df: mpmath.mpf) -> mpmath.mpf:
    away = x - mean
    square = (away.T * mpmath.inverse(scale) * away)[0]
    return (
        mpmath.loggamma((df + 2) / 2)
        - mpmath.loggamma(df / 2)
        - mpmath.log(mpmath.det(mpmath.pi * df * scale)) / 2
        - (df + 2) / 2 * mpmath.log(1 + square / df)
    )


def check(model: GaussianBayesModel, rows: list[dict[str, Any]], log_density: Any) -> None:
    found, log_evidence = model.predict_log_proba(rows), model.log_evidence(rows)
    for k, row in enumerate(rows):
        x = mpmath.matrix([mpmath.mpf(row["u"]), mpmath.mpf(row["v"])])
        joint = [log_density(x, state) + mpmath.log(mpmath.mpf(1) / 2) for state in STATES]
        total = mpmath.log(mpmath.fsum(mpmath.exp(term) for term in joint))
        assert log_evidence[k] == pytest.approx(float(total), rel=1e-12)
        assert found[k] == pytest.approx([float(term - total) for term in joint], rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("divisor", ["n", "n-1"])
def test_posterior_and_evidence_at_any_offset(offset: float, shared: bool, divisor: str) -> None:
    rows, exact = table(offset)
    moments = {state: mean_and_scatter(exact[state]) for state in STATES}
    less = 0 if divisor == "n" else 1
    pooled = (moments["a"][1] + moments["b"][1]) / (14 - less)
    model = fit(rows, "y", covariance="shared" if shared else "per-class", variance_divisor=divisor)
    check(
        model,
        rows,
        lambda x, s: log_normal(x, moments[s][0], pooled if shared else moments[s][1] / (7 - less)),
    )


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("shared", [False, True])
def test_parameters_are_integrated_out_under_jeffreys_prior(offset: float, shared: bool) -> None:
    """p(mean, S) proportional to det(S)^-(d + 1)/2 gives Student-t with n - d (shared: n - K - d + 1) degrees."""
    rows, exact = table(offset)
    moments = {state: mean_and_scatter(exact[state]) for state in STATES}
    df = mpmath.mpf(14 - 2 - 2 + 1 if shared else 7 - 2)
    scatter = {s: moments["a"][1] + moments["b"][1] if shared else moments[s][1] for s in STATES}
    model = fit(rows, "y", covariance="shared" if shared else "per-class", predictive="student-t")
    width = mpmath.mpf(8) / 7 / df
    check(model, rows, lambda x, s: log_student(x, moments[s][0], scatter[s] * width, df))


def test_a_normal_inverse_wishart_prior_is_updated_by_the_book() -> None:
    """k' = k + n, v' = v + n, S' = S + scatter + k n / k' gap gap'; Student-t with v' - d + 1 degrees."""
    rows, exact = table(0.0)
    plain = fit(rows, "y")
    prior = plain.weak_prior(3.0)
    k, v = mpmath.mpf(3), mpmath.mpf(float(np.asarray(prior.df)[0]))
    centre = mpmath.matrix(np.asarray(prior.mean)[0].tolist())
    scale = mpmath.matrix(np.asarray(prior.scale)[0].tolist())
    after = {}
    for state in STATES:
        mean, scatter = mean_and_scatter(exact[state])
        gap = mean - centre
        after[state] = ((7 * mean + k * centre) / (k + 7), scale + scatter + k * 7 / (k + 7) * gap * gap.T)
    df = v + 7 - 2 + 1
    student = plain.changed(prior=prior, predictive="student-t")
    width = (k + 8) / (k + 7) / df
    check(student, rows, lambda x, s: log_student(x, after[s][0], after[s][1] * width, df))
    normal = plain.changed(prior=prior)
    check(normal, rows, lambda x, s: log_normal(x, after[s][0], after[s][1] / (v + 7 - 2 - 1)))


def test_missing_cells_are_integrated_out() -> None:
    rows, _ = table(0.0)
    model = fit(rows, "y")
    with_missing = [{"u": row["u"], "v": None} for row in rows]
    mean, covariance = model.means, model.covariances
    for k, row in enumerate(with_missing):
        u = mpmath.mpf(row["u"])
        joint = [mpmath.npdf(u, mean[s, 0], mpmath.sqrt(mpmath.mpf(covariance[s, 0, 0]))) / 2 for s in range(2)]
        expected = [float(each / (joint[0] + joint[1])) for each in joint]
        assert model.predict_proba([row])[0] == pytest.approx(expected, rel=1e-12), k


def test_the_bayes_error_of_one_column_is_an_integral_of_the_smaller_weighted_density() -> None:
    rows = [{"x": x, "y": "a"} for x in (-1.0, 1.0)] + [{"x": x, "y": "b"} for x in (-2.0, 0.0, 3.0, 7.0)]
    model = fit(rows, "y")
    (m0, m1), (s0, s1) = model.means[:, 0], np.sqrt(model.covariances[:, 0, 0])
    smaller = lambda x: min(mpmath.npdf(x, m0, s0) / 3, 2 * mpmath.npdf(x, m1, s1) / 3)  # noqa: E731
    cuts = model.regions().thresholds.tolist()
    assert len(cuts) == 2
    expected = mpmath.quad(smaller, sorted([-40, *cuts, m0, m1, 60]))
    assert model.bayes_error().error == pytest.approx(float(expected), rel=1e-12)


def test_the_bayes_error_of_a_shared_covariance_is_that_of_the_line_between_the_means() -> None:
    """Projected on w the classes are two normals on a line: an integral there is the error in any dimension."""
    rows, _ = table(0.0)
    model = fit(rows, "y", covariance="shared", class_prior={"a": 0.2, "b": 0.8})
    found = model.bayes_error()
    gap = model.means[1] - model.means[0]
    distance = mpmath.mpf(float(np.sqrt(gap @ np.linalg.solve(model.covariances[0], gap))))
    smaller = lambda z: min(mpmath.npdf(z) / 5, 4 * mpmath.npdf(z - distance) / 5)  # noqa: E731
    cut = distance / 2 + mpmath.log(mpmath.mpf(1) / 4) / distance
    assert found.method == "phi"
    assert found.error == pytest.approx(float(mpmath.quad(smaller, sorted([-30, cut, 0, distance, 30]))), rel=1e-12)


def test_the_sampled_bayes_error_has_an_honest_error_bar() -> None:
    """With one covariance for all the answer is known; sampling the same classes must come near it."""
    rows, _ = table(0.0)
    shared = fit(rows, "y", covariance="shared")
    from bayeswise.models.gaussian_bayes.discriminants import _by_sampling

    exact = shared.bayes_error().error
    for seed in range(5):
        sampled = _by_sampling(shared.densities, shared.log_prior, 40_000, seed)
        assert 0 < sampled.standard_error < 0.01
        assert abs(sampled.error - exact) < 4.5 * sampled.standard_error
