"""Classes along one column against scipy: curves, regions, the three errors, for every family and number of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import bayeswise as bw
from bayeswise.families import distribution
from bayeswise.families.distributions import kinds_of_one_number
from bayeswise.foundation.errors import FitError, NoSuchAnswerError, ParameterError

LETTERS = {"a": {"mean": 15, "stddev": 3}, "b": {"mean": 25, "stddev": 4}}
PRIOR = {"a": 0.75, "b": 0.25}
GIVEN: dict[str, dict[str, float]] = {
    "normal": {"mean": 2, "stddev": 3},
    "laplace": {"location": 2, "scale": 3},
    "student-t": {"location": 2, "scale": 3, "df": 5},
    "exponential": {"rate": 2},
    "gamma": {"shape": 2.5, "rate": 2},
    "beta": {"alpha": 2, "beta": 3},
    "log-normal": {"mean": 0.3, "stddev": 0.5},
    "poisson": {"rate": 4},
    "bernoulli": {"probability": 0.3},
    "binomial": {"trials": 7, "probability": 0.3},
    "geometric": {"probability": 0.3},
}
RANDOM = np.random.default_rng(3)


def letters() -> bw.ClassDensities:
    return bw.ClassDensities.of(LETTERS, PRIOR, family="normal", column="black pixels")


def test_two_letters_by_their_black_pixels() -> None:
    """p(a) = .75 with N(15, 3), p(b) = .25 with N(25, 4): the curves and their crossing."""
    x = np.linspace(0, 40, 81)
    one, other = 0.75 * stats.norm.pdf(x, 15, 3), 0.25 * stats.norm.pdf(x, 25, 4)
    assert letters().weighted(x) == pytest.approx(np.array([one, other]))
    assert letters().posterior(x)[0] == pytest.approx(one / (one + other))
    assert letters().density([15.0])[0, 0] == pytest.approx(1 / (3 * np.sqrt(2 * np.pi)))
    cut = letters().regions.thresholds[-1]
    assert 0.75 * stats.norm.pdf(cut, 15, 3) == pytest.approx(0.25 * stats.norm.pdf(cut, 25, 4))
    assert letters().regions.states == ("b", "a", "b")


def test_the_three_errors_are_integrals_over_the_regions() -> None:
    low, high = letters().regions.thresholds
    best = 0.75 * (1 - stats.norm.cdf(high, 15, 3) + stats.norm.cdf(low, 15, 3)) + 0.25 * (
        stats.norm.cdf(high, 25, 4) - stats.norm.cdf(low, 25, 4)
    )
    chosen = 0.75 * stats.norm.sf(24, 15, 3) + 0.25 * stats.norm.cdf(24, 25, 4)
    error = letters().error_of(24.0)
    assert (error.irreducible, error.error) == pytest.approx((best, chosen))
    assert error.reducible == pytest.approx(chosen - best)


def test_the_error_of_three_classes_of_three_families_is_the_area_below_the_highest_curve() -> None:
    given = {"a": stats.norm(0, 1), "b": stats.laplace(2, 0.5), "c": stats.gamma(3, loc=1)}
    found = bw.ClassDensities.of(given, {"a": 0.2, "b": 0.3, "c": 0.5})
    edges = found.regions.thresholds.tolist()
    right, _ = integrate.quad(lambda x: found.weighted([x]).max(), -12, 40, points=[*edges, 1.0, 2.0], limit=500)
    assert found.error.error == pytest.approx(1 - right, abs=1e-7)


def test_the_error_of_counts_is_a_sum() -> None:
    found = bw.ClassDensities.of({"few": stats.poisson(2), "many": stats.poisson(9)}, {"few": 0.4, "many": 0.6})
    k = np.arange(200)
    p = np.array([0.4 * stats.poisson.pmf(k, 2), 0.6 * stats.poisson.pmf(k, 9)])
    assert found.error.error == pytest.approx(p.min(axis=0).sum())
    assert found.regions.states == ("few", "many") and found.regions.thresholds.tolist() == [4.5]
    assert found.error_of([6.5]).error == pytest.approx(p[0, 7:].sum() + p[1, :7].sum())


def test_levels_have_bars_and_no_boundary() -> None:
    found = bw.ClassDensities.of(
        {"yes": {"sunny": 0.2, "rainy": 0.8}, "no": {"sunny": 0.7, "rainy": 0.3}}, {"yes": 0.6, "no": 0.4}
    )
    assert (found.kind, found.error.error) == ("category", pytest.approx(0.6 * 0.2 + 0.4 * 0.3))
    with pytest.raises(ParameterError, match="levels, which no boundary separates"):
        found.error_of(0.5)


@pytest.mark.parametrize("family", [name for name, kind in kinds_of_one_number().items() if hasattr(kind, "law")])
def test_every_family_is_a_distribution_with_the_density_of_the_family(family: str) -> None:
    families = {
        each.name: each
        for each in (
            getattr(bw.families, name)()
            for name in (
                "Normal",
                "Laplace",
                "StudentT",
                "Exponential",
                "Gamma",
                "Beta",
                "LogNormal",
                "Poisson",
                "Bernoulli",
                "Geometric",
            )
        )
    }
    families["binomial"] = bw.families.Binomial(trials=7)
    own = families[family]
    found = distribution(family, **GIVEN[family])
    discrete = hasattr(found, "logpmf") and not hasattr(found, "logpdf")
    x = np.array([0.0, 1.0]) if discrete else found.ppf([0.1, 0.4, 0.9])
    statistic = own.statistic(found.rvs(200, random_state=RANDOM))
    fitted = own.estimate(statistic).parameters
    again = distribution(family, **bw.families.distributions.parameters_at(own, fitted, 0, 0))
    log_p = again.logpmf(x) if discrete else again.logpdf(x)
    assert np.ravel(own.log_density(fitted, x)) == pytest.approx(log_p)


@pytest.mark.parametrize("family", ["normal", "laplace", "gamma", "poisson", "exponential"])
def test_a_naive_bayes_column_has_the_densities_that_the_model_scores_by(family: str) -> None:
    x = RANDOM.gamma(4.0, 1.0, 60).round(0 if family == "poisson" else 3) + 1.0
    table = {"x": x, "y": RANDOM.normal(size=60), "class": ["a"] * 25 + ["b"] * 35}
    model = bw.fit(table, target="class", model="naive-bayes", families={"x": family})
    found = model.class_densities("x")
    grid = np.array([1.0, 3.0, 7.0])
    joint = model.log_joint({"x": grid, "y": [None] * 3})
    assert pytest.approx(joint) == np.log(found.weighted(grid)).T


def test_a_gaussian_model_on_one_of_two_columns() -> None:
    table = {"x": RANDOM.normal(size=40), "y": RANDOM.normal(size=40), "class": ["a", "b"] * 20}
    model = bw.fit(table, target="class", model="gaussian-bayes")
    grid = np.array([-1.0, 0.5])
    joint = model.log_joint({"x": grid, "y": [None, None]})
    assert pytest.approx(joint) == np.log(model.class_densities("x").weighted(grid)).T
    assert model.class_densities("x").regions.thresholds == pytest.approx(model.regions("x").thresholds)
    with pytest.raises(FitError, match="2 columns, not one"):
        model.class_densities()


def test_a_golf_column_in_numbers() -> None:
    golf = {
        "outlook": ["sunny"] * 5 + ["overcast"] * 4 + ["rain"] * 5,
        "play": list("nnnyy") + ["y"] * 4 + list("yyynn"),
    }
    model = bw.fit(golf, target="play", model="naive-bayes", smoothing=0.0)
    found = model.class_densities("outlook")
    at = found.levels.index("sunny")
    assert found.density([at])[:, 0] == pytest.approx([3 / 5, 2 / 9])
    assert found.posterior([at])[:, 0] == pytest.approx([3 / 5, 2 / 5])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"a": 3}, "has no logpmf"),
        ({"a": stats.norm(0, 0)}, "quartiles"),
        ({"a": {"mean": 1, "stddev": 2}}, 'family="normal"'),
        ({"a": stats.norm(0, 1), "b": stats.poisson(2)}, "one kind for all"),
        ({}, "there is no class"),
    ],
)
def test_what_is_not_a_distribution_is_refused(given: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        bw.ClassDensities.of(given)


def test_wrong_rules_and_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="no parameter 'sd'"):
        distribution("normal", mean=1, sd=2)
    with pytest.raises(ParameterError, match="not a family"):
        distribution("cauchy", location=1)
    with pytest.raises(ParameterError, match="rising"):
        letters().error_of([5.0, 3.0])
    with pytest.raises(ParameterError, match="one class for each region"):
        letters().error_of([5.0], ["a"])
    averaged = bw.fit({"x": RANDOM.normal(size=20), "c": ["a", "b"] * 10}, target="c", model="averaged")
    with pytest.raises(NoSuchAnswerError, match="no density of one column"):
        averaged.class_densities("x")
