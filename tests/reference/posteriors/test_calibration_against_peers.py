"""Calibration against scikit-learn and scipy, and priors against rows drawn from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, softmax
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from bayeswise.evaluation.reliability import brier_parts, classwise_ece, log_parts, reliability
from bayeswise.foundation.errors import ParameterError, PriorError
from bayeswise.posteriors.calibration import fit_calibration
from bayeswise.posteriors.calibration_fits import dirichlet_weights, sigmoid_line
from bayeswise.posteriors.prior import estimate_prior, shift_prior

GENERATOR = np.random.default_rng(17)
LOGITS = GENERATOR.normal(size=(600, 3)) * 1.5 + [0.5, 0.0, -0.5]
TRUTH = np.array([GENERATOR.choice(3, p=p) for p in softmax(LOGITS, axis=1)])
SURE = softmax(3.0 * LOGITS, axis=1)  # three times too sure


def test_temperature_finds_the_power_that_was_put_in() -> None:
    fitted = fit_calibration("temperature", SURE, TRUTH)
    best = minimize_scalar(
        lambda b: -log_softmax(b * np.log(SURE), axis=1)[np.arange(600), TRUTH].sum(),
        bounds=(0.05, 5), method="bounded", options={"xatol": 1e-10},
    )  # fmt: skip
    assert fitted.temperature == pytest.approx(1 / best.x, rel=1e-6)
    assert fitted.temperature == pytest.approx(3.0, rel=0.2)
    assert (fitted.apply(SURE).argmax(axis=1) == SURE.argmax(axis=1)).all()


def test_isotonic_is_scikit_learns() -> None:
    p = SURE[:, 0]
    pair, true = np.stack([p, 1 - p], axis=1), (TRUTH != 0).astype(int)
    ours = fit_calibration("isotonic", pair, true).apply(pair)
    peer = IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1).fit(p, TRUTH == 0).predict(p)
    assert ours[:, 0] == pytest.approx(peer, abs=1e-6)


def test_platts_line_is_the_least_of_its_loss() -> None:
    p = SURE[:, 0]
    pair, true = np.stack([p, 1 - p], axis=1), (TRUTH != 0).astype(int)
    fitted = fit_calibration("platt", pair, true)
    yes = TRUTH == 0
    target = np.where(yes, (yes.sum() + 1) / (yes.sum() + 2), 1 / ((~yes).sum() + 2))
    logit = np.log(p) - np.log1p(-p)
    best = minimize(
        lambda w: np.sum(np.logaddexp(0, w[0] * logit + w[1]) - target * (w[0] * logit + w[1])), [1.0, 0.0], tol=1e-12
    )
    assert [fitted.slope[0], fitted.shift[0]] == pytest.approx(best.x, rel=1e-3)


@pytest.mark.parametrize("n_states", [3, 14])
def test_the_dirichlet_map_is_the_least_of_its_loss(n_states: int) -> None:
    """Newton steps, for many states by conjugate gradients: scipy finds nothing lower from there."""
    generator = np.random.default_rng(n_states)
    truth = generator.integers(0, n_states, 400)
    shares = softmax(2.0 * np.eye(n_states)[truth] + generator.normal(size=(400, n_states)), axis=1)
    weights = generator.integers(0, 3, 400).astype(float)
    fitted = fit_calibration("dirichlet", shares, truth, weights)

    def loss(flat: np.ndarray) -> float:
        matrix, shift = flat[:-n_states].reshape(n_states, n_states), flat[-n_states:]
        log_p = log_softmax(np.log(shares) @ matrix.T + shift, axis=1)[np.arange(400), truth]
        return float(-weights @ log_p + 0.5 * ((matrix - np.eye(n_states)) ** 2).sum())

    ours = np.concatenate([fitted.weights.ravel(), fitted.shift])
    steps = 1e-4 * generator.normal(size=(40, len(ours)))
    slopes = [(loss(ours + step) - loss(ours - step)) / (2 * np.linalg.norm(step)) for step in steps]
    assert np.abs(slopes).max() < 1e-2
    assert all(loss(ours) <= loss(ours + 30 * step) for step in steps)


@pytest.mark.parametrize(("n_states", "sure"), [(3, 2.0), (3, 300.0), (14, 2.0), (14, 50.0), (30, 3.0)])
def test_no_slope_is_left_where_a_dirichlet_fit_ends(n_states: int, sure: float) -> None:
    """|slope| <= 1e-10 of the sum of the sizes of its parts, on any processor: it does not end by chance."""
    generator = np.random.default_rng(n_states)
    truth = generator.integers(0, n_states, 400)
    log_shares = log_softmax(sure * np.eye(n_states)[truth] + sure / 2 * generator.normal(size=(400, n_states)), axis=1)
    log_shares = np.maximum(log_shares, np.log(5e-324))
    weights = generator.integers(0, 3, 400).astype(float)
    matrix, shift = dirichlet_weights(log_shares, truth, weights)
    excess = weights[:, None] * (softmax(log_shares @ matrix.T + shift, axis=1) - np.eye(n_states)[truth])
    parts = weights @ np.abs(log_shares) + 1.0
    assert (np.abs(excess.T @ log_shares + matrix - np.eye(n_states)) <= 1e-10 * parts).all()
    assert (np.abs(excess.sum(axis=0)) <= 1e-10 * weights.sum()).all()


def test_no_slope_is_left_where_platts_line_ends() -> None:
    for sure in (0.01, 1.0, 50.0):
        generator = np.random.default_rng(3)
        logits = sure * generator.normal(size=500)
        yes, weights = generator.random(500) < expit(logits / 2), generator.integers(0, 3, 500).astype(float)
        slope, shift = sigmoid_line(logits, yes, weights)
        n_yes, n_no = weights @ yes, weights @ ~yes
        target = np.where(yes, (n_yes + 1) / (n_yes + 2), 1 / (n_no + 2))
        excess = weights * (expit(slope * logits + shift) - target)
        assert abs(excess @ logits) <= 1e-10 * (weights @ np.abs(logits))
        assert abs(excess.sum()) <= 1e-10 * weights.sum()


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic", "dirichlet", "auto"])
def test_every_method_lowers_the_loss_of_rows_it_has_not_seen(method: str) -> None:
    half = slice(0, 300), slice(300, 600)
    after = fit_calibration(method, SURE[half[0]], TRUTH[half[0]]).apply(SURE[half[1]])
    assert after.sum(axis=1) == pytest.approx(1.0)
    assert brier_score_loss_of(after, TRUTH[half[1]]) < brier_score_loss_of(SURE[half[1]], TRUTH[half[1]])
    assert classwise_ece(after, TRUTH[half[1]], "abc") < classwise_ece(SURE[half[1]], TRUTH[half[1]], "abc")


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic", "dirichlet", "auto"])
@pytest.mark.parametrize("shares", [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]])
def test_certain_and_useless_posteriors_are_survived(method: str, shares: list[list[float]]) -> None:
    for truth in ([0, 1], [1, 0], [0, 0]):
        after = fit_calibration(method, shares, truth).apply(np.array(shares))
        assert np.isfinite(after).all()
        assert after.sum(axis=1) == pytest.approx(1.0)


def brier_score_loss_of(shares: np.ndarray, truth: np.ndarray) -> float:
    return float(((shares - np.eye(3)[truth]) ** 2).sum(axis=1).mean())


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(ParameterError, match="no calibration 'magic'"):
        fit_calibration("magic", SURE, TRUTH)
    with pytest.raises(ParameterError, match="each row"):
        fit_calibration("platt", SURE, TRUTH[:5])
    with pytest.raises(ParameterError, match="does not know"):
        fit_calibration("platt", SURE, TRUTH + 1)


def test_scores_are_those_of_scikit_learn_and_their_parts_add_up() -> None:
    p, true = SURE[:, 1], TRUTH == 1
    for parts, score in ((brier_parts(p, true), brier_score_loss(true, p)), (log_parts(p, true), log_loss(true, p))):
        assert parts.score == pytest.approx(score, rel=1e-9)
        assert parts.miscalibration - parts.discrimination + parts.uncertainty == pytest.approx(parts.score)
        assert parts.miscalibration > 0 and parts.discrimination > 0


def test_bins_are_those_of_scikit_learn() -> None:
    found = reliability(SURE[:, 1], TRUTH == 1, "b", bins=5)
    observed, predicted = calibration_curve(TRUTH == 1, SURE[:, 1], n_bins=5, strategy="quantile")
    assert found.observed == pytest.approx(observed, abs=0.02)
    assert found.predicted == pytest.approx(predicted, abs=0.02)
    assert ((found.low <= found.observed) & (found.observed <= found.high)).all()


def test_equal_probabilities_share_a_bin() -> None:
    found = reliability([0.3] * 50 + [0.6] * 7, [1] * 20 + [0] * 30 + [1] * 7, "b", bins=10)
    assert found.count.tolist() == [50, 7]


# -- priors ---------------------------------------------------------------------------------------------------


def test_a_shifted_prior_is_bayes_rule_with_that_prior() -> None:
    likelihood = GENERATOR.random((50, 3))
    old, new = np.array([0.5, 0.3, 0.2]), np.array([0.05, 0.0, 0.95])

    def posterior(prior: np.ndarray) -> np.ndarray:
        joint = likelihood * prior
        return joint / joint.sum(axis=1, keepdims=True)

    named = [dict(zip("abc", prior.tolist(), strict=True)) for prior in (old, new)]
    found = shift_prior(posterior(old), states="abc", old=named[0], new=named[1])
    assert found == pytest.approx(posterior(new), abs=1e-14)
    with pytest.raises(PriorError, match="'b' had the prior 0"):
        shift_prior(posterior(new), states="abc", old=named[1], new=named[0])


def test_em_finds_the_prior_of_unlabelled_rows() -> None:
    """1,000,000 rows would give 3 digits; 20,000 give the prior to a percent."""
    states = GENERATOR.choice(2, 20_000, p=[0.8, 0.2])
    x = GENERATOR.normal(np.where(states == 0, -1.0, 1.0))
    odds = np.exp(2 * x)
    posterior = np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1)  # under equal priors
    found = estimate_prior(posterior, states=["a", "b"], old={"a": 0.5, "b": 0.5})
    assert found.prior["a"] == pytest.approx(0.8, abs=0.01)
    grid = np.linspace(0.7, 0.9, 2001)
    log_likelihood = [np.log(posterior @ [2 * a, 2 * (1 - a)]).sum() for a in grid]
    assert found.prior["a"] == pytest.approx(grid[int(np.argmax(log_likelihood))], abs=2e-4)
    assert found.log_likelihood_gain == pytest.approx(max(log_likelihood), abs=1e-3)


@pytest.mark.parametrize("apart", [0.5, 1.0])
def test_steps_that_are_guessed_ahead_end_where_plain_em_ends(apart: float) -> None:
    """Three states that overlap: EM alone takes hundreds of steps."""
    generator = np.random.default_rng(9)
    centres = apart * np.array([-1.0, 0.0, 1.5])
    x = generator.normal(centres[generator.choice(3, 1000, p=[0.6, 0.1, 0.3])])
    density = np.exp(-0.5 * (x[:, None] - centres) ** 2)
    old = np.array([0.2, 0.5, 0.3])
    posterior = density * old / (density @ old)[:, None]
    found = estimate_prior(posterior, states="abc", old=dict(zip("abc", old, strict=True)))
    prior = old
    for _ in range(60_000):
        joint = density * prior
        after = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
        if np.abs(after - prior).max() < 1e-13:
            break
        prior = after
    assert list(found.prior.values()) == pytest.approx(prior.tolist(), abs=2e-6)
    assert np.log(density @ list(found.prior.values())).sum() >= np.log(density @ prior).sum() - 1e-8
    assert found.steps < 2000
