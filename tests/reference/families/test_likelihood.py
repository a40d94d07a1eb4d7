"""Log-likelihoods, their derivatives, and a(eta) as a function, against mpmath at 50 digits."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

from bayeswise import families
from bayeswise.families import Likelihood, NormalMean, NormalPrior
from bayeswise.foundation.errors import FitError, ParameterError
from bayeswise.tables.schema.labels import Vocabulary
from tests.reference.families.oracle import gradient, hessian

mp.mp.dps = 50


def log_normal(x: Any, m: Any, s: Any) -> Any:
    return -mp.log(s) - mp.log(2 * mp.pi) / 2 - ((x - m) / s) ** 2 / 2


def log_t(x: Any, m: Any, s: Any, f: Any) -> Any:
    z = (x - m) / s
    return (
        mp.loggamma((f + 1) / 2)
        - mp.loggamma(f / 2)
        - mp.log(mp.pi * f) / 2
        - mp.log(s)
        - (f + 1) / 2 * mp.log(1 + z * z / f)
    )


POSITIVE, COUNTS, REALS, FLAGS = [0.7, 1.9, 3.2, 0.4], [0, 3, 2, 5], [-1.5, 0.2, 2.0, 7.0], [1, 0, 1, 1]
CASES: dict[str, tuple[Any, dict[str, float], list[float], Any]] = {
    "normal": (families.Normal(), {"mean": 0.7, "stddev": 2.2}, REALS, log_normal),
    "normal mean": (NormalMean(stddev=1.7), {"mean": 0.7}, REALS, lambda x, m: log_normal(x, m, mp.mpf(1.7))),
    "log-normal": (
        families.LogNormal(),
        {"mean": 0.3, "stddev": 0.8},
        POSITIVE,
        lambda x, m, s: log_normal(mp.log(x), m, s) - mp.log(x),
    ),
    "laplace": (
        families.Laplace(),
        {"location": 0.5, "scale": 1.3},
        REALS,
        lambda x, m, b: -mp.log(2 * b) - (x - m if x > m else m - x) / b,
    ),
    "student-t": (families.StudentT(), {"location": 0.5, "scale": 1.3, "df": 3.5}, REALS, log_t),
    "exponential": (families.Exponential(), {"rate": 0.8}, POSITIVE, lambda x, r: mp.log(r) - r * x),
    "gamma": (
        families.Gamma(),
        {"shape": 1.6, "rate": 0.8},
        POSITIVE,
        lambda x, k, r: k * mp.log(r) - mp.loggamma(k) + (k - 1) * mp.log(x) - r * x,
    ),
    "beta": (
        families.Beta(),
        {"alpha": 1.6, "beta": 0.8},
        [0.2, 0.7, 0.5],
        lambda x, a, b: (
            mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b) + (a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x)
        ),
    ),
    "poisson": (families.Poisson(), {"rate": 2.1}, COUNTS, lambda x, r: x * mp.log(r) - r - mp.loggamma(x + 1)),
    "bernoulli": (
        families.Bernoulli(),
        {"probability": 0.4},
        FLAGS,
        lambda x, p: x * mp.log(p) + (1 - x) * mp.log(1 - p),
    ),
    "binomial": (
        families.Binomial(trials=6),
        {"probability": 0.4},
        COUNTS,
        lambda x, p: mp.log(mp.binomial(6, x)) + x * mp.log(p) + (6 - x) * mp.log(1 - p),
    ),
    "geometric": (families.Geometric(), {"probability": 0.4}, COUNTS, lambda x, p: mp.log(p) + x * mp.log(1 - p)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradient_and_curvature_are_the_derivatives_of_the_log_likelihood(name: str) -> None:
    family, at, data, log_p = CASES[name]
    total = lambda *p: mp.fsum(log_p(mp.mpf(x), *p) for x in data)  # noqa: E731
    point = [mp.mpf(value) for value in at.values()]
    found = Likelihood(family, data)
    assert found.at(**at) == pytest.approx(float(total(*point)), rel=1e-12)
    assert list(found.gradient(**at).values()) == pytest.approx([float(v) for v in gradient(total, point)], rel=1e-10)
    expected = [[float(v) for v in row] for row in hessian(total, point)]
    assert found.second_derivative(**at) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("laplace", "student-t")])
def test_the_estimate_is_where_the_gradient_is_0_and_the_curvature_negative(name: str) -> None:
    family, _, data, _ = CASES[name]
    assert Likelihood(family, data).check().is_maximum


def test_a_student_t_of_infinite_df_has_the_derivatives_of_the_normal() -> None:
    values = [1.0, 2.0, 5.0, 9.0]
    family, normal = families.StudentT(), families.Normal()
    found = family.estimate(family.statistic(values)).parameters
    assert found.df.item() == np.inf  # no value is far away
    same = families.NormalParameters(found.location, found.scale)
    assert family.gradient(found, values) == pytest.approx({"location": 0.0, "scale": 0.0, "df": 0.0}, abs=1e-9)
    curvature = family.second_derivative(found, values)
    assert curvature[:2, :2] == pytest.approx(normal.second_derivative(same, values))
    assert not curvature[2].any() and not curvature[:, 2].any()


def test_a_binomial_share_is_k_of_n() -> None:
    """theta = k / N, where k / theta = (N - k) / (1 - theta); curvature -k / theta^2 - (N - k) / (1 - theta)^2."""
    found = Likelihood(families.Binomial(trials=10), [7]).check()
    assert found.parameters == {"probability": 0.7}
    assert found.curvature[0, 0] == pytest.approx(-7 / 0.49 - 3 / 0.09)
    assert found.standard_errors[0] == pytest.approx(np.sqrt(0.7 * 0.3 / 10))


def test_a_normal_mean_has_the_curvature_minus_n_over_the_variance() -> None:
    data = [1.0, 2.0, 4.0, 5.0]
    found = Likelihood(families.Normal(), data)
    assert found.maximum == pytest.approx({"mean": 3.0, "stddev": np.sqrt(2.5)})
    assert found.check().curvature == pytest.approx(np.diag([-4 / 2.5, -8 / 2.5]), abs=1e-12)


def test_levels_words_and_rows_have_derivatives_too() -> None:
    levels = Vocabulary(["a", "b", "c"])
    p = families.CategoricalParameters(levels, np.array([[0.2, 0.5, 0.3]]), np.array([[0.8, 0.5, 0.7]]), np.zeros(1))
    log_p = lambda a, b: 1 * mp.log(a) + 2 * mp.log(b) + 1 * mp.log(1 - a - b)  # noqa: E731
    point = [mp.mpf(0.2), mp.mpf(0.5)]
    categorical, codes = families.Categorical(), np.array([0, 1, 2, 1], dtype=np.int32)
    assert list(categorical.gradient(p, codes).values()) == pytest.approx([float(v) for v in gradient(log_p, point)])
    expected = [[float(v) for v in row] for row in hessian(log_p, point)]
    assert categorical.second_derivative(p, codes) == pytest.approx(np.array(expected))
    assert categorical.log_likelihood(p, codes) == pytest.approx(float(log_p(*point)))
    words = families.Multinomial()
    assert words.gradient(p, np.array([[1, 2, 1]])) == pytest.approx(categorical.gradient(p, codes))


def test_the_gradient_by_mean_and_covariance() -> None:
    rows = np.array([[0.2, 1.0], [1.4, -0.3], [2.0, 0.5]])

    def log_p(m0: Any, m1: Any, c00: Any, c01: Any, c11: Any) -> Any:
        total, det = mp.mpf(0), c00 * c11 - c01 * c01
        for x, y in rows.tolist():
            a, b = x - m0, y - m1
            total -= mp.log(2 * mp.pi) + mp.log(det) / 2 + (a * a * c11 - 2 * a * b * c01 + b * b * c00) / det / 2
        return total

    point = [mp.mpf(v) for v in (0.5, 0.1, 1.5, 0.4, 0.9)]
    family = families.MultivariateNormal()
    at = families.MultivariateNormalParameters.of([0.5, 0.1], [[1.5, 0.4], [0.4, 0.9]])
    assert family.log_likelihood(at, rows) == pytest.approx(float(log_p(*point)))
    found = family.gradient(at, rows)
    assert list(found) == ["mean_0", "mean_1", "covariance_00", "covariance_01", "covariance_11"]
    assert list(found.values()) == pytest.approx([float(v) for v in gradient(log_p, point)])
    expected = [[float(v) for v in row] for row in hessian(log_p, point)]
    assert family.second_derivative(at, rows) == pytest.approx(np.array(expected))


# -- a(eta) as a function (C32) ---------------------------------------------------------------------------------------
PARTITIONS: dict[str, tuple[Any, tuple[float, ...], Any]] = {
    "bernoulli": (families.Bernoulli(), (0.4,), lambda e: mp.log(1 + mp.exp(e))),
    "binomial": (families.Binomial(trials=6), (0.4,), lambda e: 6 * mp.log(1 + mp.exp(e))),
    "geometric": (families.Geometric(), (-0.4,), lambda e: -mp.log(1 - mp.exp(e))),
    "unit-variance normal": (NormalMean(stddev=1.0), (1.3,), lambda e: e**2 / 2),
    "fixed-variance normal": (NormalMean(stddev=2.0), (0.3,), lambda e: 4 * e**2 / 2),
    "normal": (families.Normal(), (0.4, -0.3), lambda a, b: -(a**2) / (4 * b) - mp.log(-2 * b) / 2),
    "poisson": (families.Poisson(), (0.7,), mp.exp),
    "exponential": (families.Exponential(), (-0.7,), lambda e: -mp.log(-e)),
    "gamma": (families.Gamma(), (0.7, -1.2), lambda a, b: mp.loggamma(a + 1) - (a + 1) * mp.log(-b)),
    "beta": (
        families.Beta(),
        (0.7, 1.2),
        lambda a, b: mp.loggamma(a + 1) + mp.loggamma(b + 1) - mp.loggamma(a + b + 2),
    ),
    "log-normal": (families.LogNormal(), (0.4, -0.3), lambda a, b: -(a**2) / (4 * b) - mp.log(-2 * b) / 2),
    "categorical": (families.Categorical(), (0.4, -0.3), lambda a, b: mp.log(1 + mp.exp(a) + mp.exp(b))),
    "multivariate normal": (
        families.MultivariateNormal(),
        (0.4, 0.2, -0.5, 0.3, -0.9),
        lambda a, b, p, q, r: (
            (a * a * (-2 * r) + 2 * a * b * q + b * b * (-2 * p)) / (2 * (4 * p * r - q * q))
            - mp.log(4 * p * r - q * q) / 2
        ),
    ),
}


@pytest.mark.parametrize("name", PARTITIONS)
def test_the_derivatives_of_a_are_mean_and_covariance_of_the_sufficient_statistic(name: str) -> None:
    family, eta, a = PARTITIONS[name]
    form = family.natural_form()
    point = [mp.mpf(value) for value in eta]
    assert float(np.squeeze(form.log_partition(*eta))) == pytest.approx(float(a(*point)))
    means = [float(np.squeeze(each)) for each in form.mean_map(*eta)]
    assert means == pytest.approx([float(v) for v in gradient(a, point)])
    spread = [[float(np.squeeze(each)) for each in row] for row in form.covariance_map(*eta)]
    assert np.array(spread) == pytest.approx(np.array([[float(v) for v in row] for row in hessian(a, point)]))
    back = [float(np.squeeze(each)) for each in form.natural(form.parameters(*eta))]
    assert back == pytest.approx(list(eta))


def test_a_of_many_natural_parameters_at_once() -> None:
    eta = np.linspace(-3, 3, 7)
    assert families.Bernoulli().natural_form().log_partition(eta) == pytest.approx(np.log1p(np.exp(eta)))
    assert families.Laplace().natural_form(location=1.0).mean_map([-2.0])[0] == pytest.approx([0.5])


def test_natural_parameters_outside_of_the_domain_are_refused() -> None:
    with pytest.raises(ParameterError, match="below 0"):
        families.Exponential().natural_form().log_partition(0.5)
    with pytest.raises(ParameterError, match="2 natural parameters; found 1"):
        families.Normal().natural_form().log_partition(0.5)
    with pytest.raises(ParameterError, match="location is known"):
        families.Laplace().natural_form().log_partition(-1.0)
    with pytest.raises(ParameterError, match="not an exponential family"):
        families.StudentT().natural_form().log_partition(-1.0)


# -- a known standard deviation ---------------------------------------------------------------------------------------
def test_the_mean_with_a_known_stddev_is_weighted_by_precisions() -> None:
    """Prior N(0, 1), three values of mean 2 with stddev 2: precision 1 + 3/4, mean (3/4 * 2) / (7/4)."""
    family = NormalMean(stddev=2.0)
    after = family.posterior(family.statistic([1.0, 2.0, 3.0]), NormalPrior(mean=0, stddev=1))
    assert float(np.squeeze(after.mean)) == pytest.approx(1.5 / 1.75)
    assert float(np.squeeze(after.stddev)) == pytest.approx(1.75**-0.5)


def test_the_evidence_is_a_chain_of_predictions() -> None:
    family, belief, log_p = NormalMean(stddev=0.7), NormalPrior(mean=0.5, stddev=2.0), 0.0
    for x in REALS:
        log_p += float(np.squeeze(family.log_predictive(belief, x)))
        belief = family.posterior(family.statistic([x]), belief)
    whole = family.log_marginal(family.statistic(REALS), NormalPrior(mean=0.5, stddev=2.0))
    assert float(np.squeeze(whole)) == pytest.approx(log_p)


def test_a_likelihood_without_a_maximum_or_value_says_so() -> None:
    with pytest.raises(FitError, match="no maximum"):
        _ = Likelihood(families.Normal(), [3.0, 3.0]).maximum
    with pytest.raises(FitError, match="no value"):
        Likelihood(families.Normal(), [])
    with pytest.raises(ParameterError, match=r"give mean=\.\.\., stddev=\.\.\."):
        Likelihood(families.Normal(), REALS).at(mean=0.0)
    with pytest.raises(ParameterError, match="one or two of mean, stddev"):
        Likelihood(families.Normal(), REALS).plot("variance")
