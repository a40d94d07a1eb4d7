"""Gaussian Bayes where it is hard: singular covariances, missing cells, far-away rows, bad settings, bad cells."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import multivariate_normal
from strategies import N_GROUPS, Rows, rows

import bayeswise as bw
from bayeswise.foundation.errors import (
    KindError,
    MissingCellError,
    NonFiniteError,
    NotStreamableError,
    ParameterError,
    PriorError,
    TooFewRowsError,
)
from bayeswise.models.gaussian_bayes import SingularWarning, fit
from bayeswise.models.gaussian_bayes.discriminants import Weighted, crossings
from bayeswise.statistics import PatternScatter, fingerprint
from bayeswise.statistics.numbers import pattern_scatter

FORMS = ["per-class", "shared", "diagonal", "shared-diagonal", "spherical"]


def clouds(n: int = 60, d: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + y[:, None], y


def quietly(X: Any, y: Any, **overrides: Any) -> bw.GaussianBayes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SingularWarning)
        return bw.GaussianBayes(**overrides).fit(X, y)


# -- the statistic --------------------------------------------------------------------------------------------------
@settings(max_examples=50)
@given(one=rows(), other=rows())
def test_scatters_by_pattern_are_an_exact_group(one: Rows, other: Rows) -> None:
    a, b = (PatternScatter.of(part.values, part.groups, N_GROUPS) for part in (one, other))
    both = one.joined(other)
    pooled = PatternScatter.of(both.values, both.groups, N_GROUPS)
    assert fingerprint(a.merge(b)) == fingerprint(b.merge(a)) == fingerprint(pooled)
    assert fingerprint(pooled.subtract(b)) == fingerprint(a)
    assert fingerprint(a.subtract(a)) == fingerprint(a.zero())
    assert list(pooled.incomplete) == sorted(pooled.incomplete)


@settings(max_examples=30)
@given(part=rows(weighted=True))
def test_the_cells_of_all_patterns_are_the_moments_of_each_column(part: Rows) -> None:
    from bayeswise.statistics import Moments

    found = PatternScatter.of(part.values, part.groups, N_GROUPS, part.weights).cells()
    moments = Moments.of(part.values, part.groups, N_GROUPS, part.weights)
    assert found == (moments.weight, moments.total, moments.squares)


def test_too_many_patterns_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_scatter, "MOST_SUMS", 20)
    with pytest.raises(NotStreamableError, match=r"different patterns.*NaiveBayes"):
        PatternScatter.of(np.array([[1.0, 2.0, np.nan], [np.nan, 2.0, 3.0], [1.0, np.nan, 3.0]]), None, 2)


# -- numerics -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [1e9, 1e15])
def test_an_offset_costs_no_digit(form: str, offset: float) -> None:
    X, y = clouds()
    X = np.round(8 * X) / 8
    plain, moved = quietly(X, y, covariance=form), quietly(X + offset, y, covariance=form)
    assert moved.predict_proba(X + offset) == pytest.approx(plain.predict_proba(X), abs=1e-13)
    assert moved.leave_one_out(X + offset, y) == pytest.approx(plain.leave_one_out(X, y), abs=1e-13)


@pytest.mark.parametrize("form", ["per-class", "shared", "diagonal"])
@pytest.mark.parametrize(("scale", "digits"), [(1e150, 12), (1e300, 12), (1e-300, 12), (1e-310, 11)])
def test_numbers_at_the_ends_of_the_range_are_numbers(form: str, scale: float, digits: int) -> None:
    """Numbers near 1e-310 have only 14 digits themselves."""
    X, y = clouds()
    plain, scaled = quietly(X, y, covariance=form), quietly(X * scale, y, covariance=form)
    assert scaled.predict_proba(X * scale) == pytest.approx(plain.predict_proba(X), abs=10.0**-digits)
    assert np.isfinite(scaled.log_evidence(X * scale)).all()
    log_unit = 3 * np.log(scale)
    assert scaled.log_evidence(X * scale) + log_unit == pytest.approx(plain.log_evidence(X), abs=1e-9)


@pytest.mark.parametrize("form", ["per-class", "shared"])
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_missing_values_at_the_ends_of_the_range_are_integrated_out(form: str, scale: float) -> None:
    X, y = clouds()
    plain, scaled = quietly(X, y, covariance=form), quietly(X * scale, y, covariance=form)
    rows = np.array([[0.5, np.nan, 1.0], [np.nan, 0.25, np.nan], [np.nan] * 3])
    n_there = np.array([2, 1, 0])
    found = scaled.log_evidence(rows * scale) + n_there * np.log(scale)
    assert found == pytest.approx(plain.log_evidence(rows), abs=1e-9)


def test_one_column_on_a_scale_of_a_million_does_no_harm() -> None:
    X, y = clouds()
    factors = np.array([1e6, 1.0, 1e-6])
    for form in ("per-class", "shared", "diagonal", "shared-diagonal"):
        found = quietly(X * factors, y, covariance=form).predict_proba(X * factors)
        assert found == pytest.approx(quietly(X, y, covariance=form).predict_proba(X), abs=1e-12)


def test_rows_that_are_too_far_out_to_be_squared_still_get_their_class() -> None:
    """Per class the wider one is taken; with one covariance the side of the line decides."""
    X = np.array([[-1.0], [1.0], [3.0], [7.0]])
    y = np.array([0, 0, 1, 1])
    far = np.array([[1e200], [-1e200], [1e308]])
    wide = quietly(X, y)
    assert wide.predict(far).tolist() == [1, 1, 1]
    assert wide.log_evidence(far).tolist() == [-np.inf] * 3
    line = quietly(X, y, covariance="shared")
    assert line.predict(far).tolist() == [1, 0, 1]
    assert line.predict_proba(far).max(axis=1).tolist() == [1.0, 1.0, 1.0]


def test_equal_spreads_far_out_are_distinguished_by_their_means() -> None:
    """Classes at 2 and at 3 with a stddev of 1 each: log-odds are x - 5/2, at 1e300 too."""
    X, y = np.array([[1.0], [3.0], [2.0], [4.0]]), np.array([0, 0, 1, 1])
    far = np.array([[1e300], [-1e300], [1.7e308]])
    for form in ("per-class", "shared", "diagonal"):
        assert quietly(X, y, covariance=form).predict_proba(far).tolist() == [[0, 1], [1, 0], [0, 1]]


def test_a_class_too_narrow_to_be_squared_leaves_the_others_as_they_are() -> None:
    X = np.array([[0.0], [1e-200], [1.0], [3.0], [2.0], [6.0]])
    three = quietly(X, np.array([0, 0, 1, 1, 2, 2]))
    two = quietly(X[2:], np.array([1, 1, 2, 2]))
    rows = np.array([[2.5], [-4.0]])
    assert three.predict_proba(rows)[:, 1:] == pytest.approx(two.predict_proba(rows), rel=1e-14)
    assert three.predict_proba(rows)[:, 0].tolist() == [0.0, 0.0]
    assert three.log_evidence(rows) == pytest.approx(two.log_evidence(rows) + np.log(2 / 3), rel=1e-14)


@pytest.mark.parametrize("settings", [{}, {"covariance": "shared"}, {"predictive": "student-t"}])
def test_tiny_units_and_huge_rows_meet(settings: dict[str, Any]) -> None:
    """1e300 / 1e-310 is not a float, and the class on its side is the answer all the same."""
    X, y = clouds()
    model = quietly(X * 1e-310, y, **settings)
    far = np.array([[1e300, 0.0, 0.0], [0.0, -1e308, 1e300]])
    nearer = quietly(X, y, **settings).predict(np.array([[1e100, 0.0, 0.0], [0.0, -1e108, 1e100]]))
    assert model.predict(far).tolist() == nearer.tolist()
    assert np.isfinite(model.predict_proba(far)).all()


def test_a_row_far_out_in_one_column_agrees_with_exact_arithmetic() -> None:
    X, y = clouds()
    model = quietly(X, y)
    parts = model.model_.densities
    row = np.array([3.0, -2e200, 1.0])
    squares = []
    for mean, low, spread in zip(parts.mean, parts.mean_low, parts.spreads, strict=True):
        gap = [
            (Fraction(x) - Fraction(m) - Fraction(rest)) / Fraction(sd)
            for x, m, rest, sd in zip(row, mean, low, spread.stddev, strict=True)
        ]
        white = [sum(Fraction(w) * g for w, g in zip(line, gap, strict=True)) for line in spread.whitener]
        squares.append(sum(w * w for w in white))
    assert model.predict(row[None])[0] == model.classes_[int(np.argmin(squares))]


# -- singular covariances ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (lambda X: X[:, 0], "determine each other: 'x0', 'x3'"),
        (lambda X: 3 - 2 * X[:, 1], "determine each other: 'x1', 'x3'"),
        (lambda X: X[:, 0] + X[:, 2], "determine each other: 'x0', 'x2', 'x3'"),
        (lambda X: np.full(len(X), 7.0), "constant: 'x3'"),
    ],
)
@pytest.mark.parametrize("form", ["per-class", "shared"])
def test_columns_that_add_nothing_change_nothing_but_are_named(extra: Any, words: str, form: str) -> None:
    X, y = clouds()
    X = np.round(64 * X) / 64  # so that sums are exact
    wider = np.column_stack([X, extra(X)])
    with pytest.warns(SingularWarning, match=words):
        found = bw.GaussianBayes(form).fit(wider, y)
    assert found.predict_proba(wider) == pytest.approx(quietly(X, y, covariance=form).predict_proba(X), abs=1e-5)
    assert found.model_.singular


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [2, 3, 8])
def test_fewer_rows_than_columns_still_give_finite_posteriors(form: str, n: int) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 12)), np.arange(n) % 2
    model = quietly(X, y, covariance=form)
    for posterior in (model.predict_proba(X), model.predict_proba(10 * X), model.leave_one_out(X, y)):
        assert np.isfinite(posterior).all()
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("overrides", [{"shrinkage": 0.1}, {"shrinkage": "auto"}])
def test_shrinkage_makes_a_singular_covariance_regular(overrides: dict[str, Any]) -> None:
    X, y = clouds(10, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = bw.GaussianBayes(**overrides).fit(X, y)
    assert not model.model_.singular


def test_a_prior_makes_any_covariance_regular() -> None:
    X, y = clouds(6, 8)
    prior = quietly(X, y).model_.weak_prior(2.0)
    for predictive in ("plug-in", "student-t"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = bw.GaussianBayes(prior=prior, predictive=predictive).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()


def test_shrinkage_of_one_is_the_diagonal_form() -> None:
    X, y = clouds()
    for full, diagonal in (("per-class", "diagonal"), ("shared", "shared-diagonal")):
        shrunk = bw.GaussianBayes(full, shrinkage=1.0).fit(X, y).predict_proba(X)
        assert shrunk == pytest.approx(bw.GaussianBayes(diagonal).fit(X, y).predict_proba(X), abs=1e-13)


# -- missing cells ----------------------------------------------------------------------------------------------------
def with_missing(share: float = 0.25) -> tuple[Any, Any]:
    X, y = clouds(120, 3, seed=5)
    X[np.random.default_rng(1).random(X.shape) < share] = np.nan
    return X, y


def log_seen(X: Any, y: Any, means: Any, covariances: Any) -> float:
    total = 0.0
    for x, state in zip(X, y, strict=True):
        o = np.flatnonzero(~np.isnan(x))
        if len(o):
            total += multivariate_normal(means[state][o], covariances[state][np.ix_(o, o)]).logpdf(x[o])
    return total


@pytest.mark.parametrize("form", ["per-class", "shared"])
def test_em_finds_a_maximum_of_the_likelihood_of_what_is_seen(form: str) -> None:
    """Against scipy's densities, row by row: any small step from the estimate leads downwards, quadratically."""
    X, y = with_missing()
    model = bw.GaussianBayes(form).fit(X, y).model_
    assert model.completion is not None and model.completion.converged
    top = log_seen(X, y, model.means, model.covariances)
    rng = np.random.default_rng(0)
    for _ in range(6):
        step = 1e-3 * rng.normal(size=(3, 3))
        wiggled = model.covariances + (step + step.T if form == "shared" else 0.0)
        ups = [log_seen(X, y, model.means + sign * step[:2], wiggled) - top for sign in (1.0, -1.0)]
        assert max(ups) < 0
    shift = np.zeros((2, 3))
    shift[0, 1] = 1e-4
    up, down = (log_seen(X, y, model.means + sign * shift, model.covariances) - top for sign in (1.0, -1.0))
    assert abs(up - down) < 1e-9  # no slope is left


def test_em_on_complete_rows_is_the_closed_form() -> None:
    from bayeswise.models.gaussian_bayes.class_moments import _completed

    X, y = clouds()
    model = bw.GaussianBayes().fit(X, y).model_
    [completed] = _completed([model.scatter], shared=False)
    assert completed.mean == pytest.approx(model.moments.mean, rel=1e-14)
    assert completed.scatter == pytest.approx(model.moments.scatter, rel=1e-13)


def test_missing_cells_are_integrated_out_in_prediction() -> None:
    X, y = with_missing()
    for form in FORMS:
        model = bw.GaussianBayes(form).fit(X, y).model_
        found = model.predict_proba(X)
        for k in range(40):
            o = np.flatnonzero(~np.isnan(X[k]))
            log_joint = model.log_prior + [
                log_seen(X[k : k + 1], [s], model.means, model.covariances) if len(o) else 0.0 for s in range(2)
            ]
            expected = np.exp(log_joint - np.logaddexp(*log_joint))
            assert found[k] == pytest.approx(expected, abs=1e-11)


def test_a_row_of_missing_values_has_the_prior_as_posterior() -> None:
    X, y = with_missing()
    for overrides in ({}, {"covariance": "shared"}, {"predictive": "student-t"}):
        model = bw.GaussianBayes(**overrides).fit(X, y)
        assert model.predict_proba([[np.nan] * 3])[0] == pytest.approx(np.exp(model.model_.log_prior), rel=1e-14)
        assert model.log_evidence([[np.nan] * 3])[0] == pytest.approx(0.0, abs=1e-14)


def test_uncorrelated_columns_need_no_em() -> None:
    X, y = with_missing()
    for form in ("diagonal", "shared-diagonal", "spherical"):
        assert bw.GaussianBayes(form).fit(X, y).model_.completion is None
    model = bw.GaussianBayes("diagonal").fit(X, y).model_
    assert model.means[1] == pytest.approx(np.nanmean(X[y == 1], axis=0), rel=1e-13)
    assert np.diagonal(model.covariances[1]) == pytest.approx(np.nanvar(X[y == 1], axis=0), rel=1e-12)


def test_leaving_out_a_row_with_missing_values_is_a_refit() -> None:
    X, y = with_missing()
    model = bw.GaussianBayes().fit(X, y)
    for k in range(4):
        rest = bw.GaussianBayes().fit(np.delete(X, k, axis=0), np.delete(y, k))
        expected = rest.predict_proba(X[k : k + 1])
        assert model.leave_one_out(X[k : k + 1], y[k : k + 1]) == pytest.approx(expected, abs=1e-12)


# -- bad input --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"covariance": "full"}, "covariance is 'full'.*'per-class'"),
        ({"variance_divisor": "n+1"}, "variance_divisor is"),
        ({"shrinkage": -0.1}, "shrinkage is .* give a number from 0 to 1"),
        ({"shrinkage": "much"}, "shrinkage is .* give a number from 0 to 1"),
        ({"predictive": "t"}, "predictive is 't'.*'plug-in'"),
        ({"variance_floor": 0.0}, "variance_floor is 0.0.* above 0 and below 1"),
        ({"prior": 3.0}, "prior is 3.0.*NormalInverseWishart"),
        ({"covariance": "diagonal", "predictive": "student-t"}, "do not go with covariance='diagonal'"),
    ],
)
def test_impossible_settings_are_refused(overrides: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        bw.GaussianBayes(**overrides).fit(*clouds())


def test_a_class_prior_names_its_classes() -> None:
    X, y = clouds()
    model = bw.GaussianBayes(class_prior={0: 0.0, 1: 1.0}).fit(X, y)
    assert model.predict_proba(X)[:, 1].tolist() == [1.0] * len(y)
    with pytest.raises(PriorError):
        bw.GaussianBayes(class_prior={0: 0.4, 2: 0.6}).fit(X, y).predict_proba(X)


def test_columns_of_other_kinds_are_refused_with_a_way_out() -> None:
    table = [{"a": k % 5 + 0.5, "colour": "red" if k % 3 else "blue", "y": k % 2} for k in range(12)]
    with pytest.warns(UserWarning, match=r"left out: 'colour' \((category|binary)\)"):
        assert fit(table, "y").columns == ("a",)
    schema = bw.fit(table, "y", model="naive-bayes").schema
    with pytest.raises(KindError, match=r"'colour' \((category|binary)\).*model='naive-bayes'"):
        fit(table, "y", schema=schema)
    assert fit(table, "y", ignore=["colour"]).columns == ("a",)


def test_infinite_and_forbidden_cells_are_named() -> None:
    X, y = clouds()
    model = bw.GaussianBayes().fit(X, y)
    with pytest.raises(NonFiniteError, match="'x1' has an infinite value in row 3"):
        model.predict_proba([[0, 0, 0], [1, 1, 1], [0, np.inf, np.nan]])
    with pytest.raises(NonFiniteError, match="'x2' has an infinite value in row 5"):
        bw.GaussianBayes().fit(np.where(np.arange(180).reshape(60, 3) == 14, -np.inf, X), y)
    with pytest.raises(MissingCellError, match="NaN"):
        bw.GaussianBayes(missing="error").fit(with_missing()[0], with_missing()[1])


def test_the_student_t_predictive_needs_rows_or_a_prior() -> None:
    X, y = clouds(6, 3)
    with pytest.raises(TooFewRowsError, match="give a prior"):
        bw.GaussianBayes(predictive="student-t").fit(X, y)


def test_crossings_are_found_without_cancellation() -> None:
    """Nearly equal stddevs: one root lies near, the other far away; both solve the equation."""
    one, other = Weighted(np.log(0.5), 0.0, 1.0), Weighted(np.log(0.5), 1.0, 1.0 + 1e-9)
    near, far = sorted(crossings(one, other), key=abs)
    assert near == pytest.approx(0.5, abs=1e-8)
    assert abs(far) == pytest.approx(1e9, rel=1e-6)


def test_fishers_projection_ignores_scale_and_offset() -> None:
    X, y = clouds()
    plain, moved = bw.GaussianBayes().fit(X, y), bw.GaussianBayes().fit(1e6 * X + 1e8, y)
    assert abs(np.corrcoef(plain.transform(X)[:, 0], moved.transform(1e6 * X + 1e8)[:, 0])[0, 1]) == pytest.approx(1)
    assert plain.transform(X).shape == (60, 1)
    with pytest.raises(ParameterError, match="2 classes have 1 directions"):
        bw.GaussianBayes(n_components=2).fit(X, y).transform(X)


def test_rows_without_a_cell_do_not_slow_the_completion_down() -> None:
    x = [None] * 30 + [0.0, 1.0, 4.0, 7.0]
    rows = [{"a": value, "y": "pq"[k % 2]} for k, value in enumerate(x)]
    model = fit(rows, "y", kinds={"a": "number"})
    assert model.completion is not None and model.completion.n_steps == 2
    assert model.means[:, 0] == pytest.approx([2.0, 4.0], rel=1e-15)
    assert model.covariances[:, 0, 0] == pytest.approx([4.0, 9.0], rel=1e-14)  # of (0, 4) and (1, 7)


@pytest.mark.parametrize("form", ["per-class", "shared"])
def test_a_slow_completion_is_extrapolated_to_its_end(form: str) -> None:
    rng = np.random.default_rng(0)
    state = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)) + state[:, None] * 0.5
    X[rng.random(X.shape) < 0.4] = np.nan  # plain steps: 874 for covariances of their own
    completion = bw.GaussianBayes(form, missing="ignore").fit(X, state).model_.completion
    assert completion is not None and completion.converged and completion.n_steps < 200
    likelihood = completion.log_likelihood
    assert (np.diff(likelihood) >= -1e-12 * (1.0 + np.abs(likelihood[1:]))).all()


def test_a_row_that_was_never_learned_leaves_no_raw_error_when_it_is_left_out() -> None:
    """What remains without such a row need not be a covariance: it is taken apart with care, and shrunk."""
    generator = np.random.default_rng(0)
    learned, others = generator.normal(size=(2, 20, 3))
    y = ["a", "b"] * 10
    tables = [{f"x{k}": rows[:, k].tolist() for k in range(3)} | {"y": y} for rows in (learned, others)]
    model = bw.fit(tables[0], "y", model="gaussian", shrinkage=0.1)
    posterior = np.asarray(model.leave_one_out(tables[1]))
    assert np.isfinite(posterior).all() and np.allclose(posterior.sum(axis=1), 1.0)
