"""Laws of normalising: the simplex, shifts, the order of states, the argmax."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from bayeswise.foundation.arrays import FloatArray
from bayeswise.posteriors import log_odds, log_posterior, normalise, probability_of

EPSILON = float(np.finfo(np.float64).eps)

log_terms = st.one_of(st.floats(-1e6, 1e3), st.floats(-1.0, 1.0), st.just(-np.inf), st.sampled_from([0.0, -700.0]))
shapes = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=60)


@st.composite
def log_joints(draw: st.DrawFn) -> FloatArray:
    """(n_rows, n_states) in which each row is possible in at least one state."""
    log_joint: FloatArray = draw(arrays(np.float64, shapes, elements=log_terms))
    rows = np.arange(len(log_joint))
    log_joint[rows, rows % log_joint.shape[1]] = np.maximum(log_joint[rows, rows % log_joint.shape[1]], -1e6)
    return log_joint


@given(log_joints())
def test_a_posterior_lies_in_the_simplex(log_joint: FloatArray) -> None:
    answer = normalise(log_joint)
    assert np.all((answer.probability >= 0.0) & (answer.probability <= 1.0))
    assert np.all(np.abs(answer.probability.sum(axis=1) - 1.0) <= 8 * EPSILON)
    assert np.all(np.isfinite(answer.log_evidence))


@given(log_joints())
def test_what_is_impossible_stays_impossible(log_joint: FloatArray) -> None:
    assert np.all(normalise(log_joint).probability[np.isneginf(log_joint)] == 0.0)


@given(log_joints())
def test_normalising_never_changes_the_most_probable_state(log_joint: FloatArray) -> None:
    probability = normalise(log_joint).probability
    rows = np.arange(len(log_joint))
    assert np.array_equal(probability[rows, log_joint.argmax(axis=1)], probability.max(axis=1))


@given(log_joints(), st.integers(-1000, 1000))
def test_a_common_factor_changes_the_evidence_only(log_joint: FloatArray, power: int) -> None:
    coarse = np.round(log_joint)  # whole numbers, so that the shift itself does not round
    before, after = normalise(coarse), normalise(coarse + power)
    assert np.array_equal(before.probability, after.probability)
    assert np.allclose(after.log_evidence, before.log_evidence + power, rtol=1e-15, atol=1e-12)


@given(log_joints(), st.randoms(use_true_random=False))
def test_the_order_of_states_is_the_order_of_the_answer(log_joint: FloatArray, random: object) -> None:
    order = list(range(log_joint.shape[1]))
    random.shuffle(order)  # type: ignore[attr-defined]
    before, after = normalise(log_joint), normalise(log_joint[:, order])
    assert np.allclose(before.probability[:, order], after.probability, rtol=1e-14, atol=0.0)


@given(log_joints())
def test_rows_do_not_know_of_each_other(log_joint: FloatArray) -> None:
    batch = normalise(log_joint)
    for row in range(len(log_joint)):
        assert np.array_equal(normalise(log_joint[[row]]).probability[0], batch.probability[row])


@given(log_joints())
def test_the_log_posterior_is_the_logarithm_of_the_posterior(log_joint: FloatArray) -> None:
    probability, log_probability = normalise(log_joint).probability, log_posterior(log_joint)
    assert np.allclose(np.exp(log_probability), probability, rtol=1e-12, atol=0.0)
    assert np.all(log_probability <= 0.0)


@given(log_joints())
def test_the_odds_against_all_others_give_the_posterior_back(log_joint: FloatArray) -> None:
    probability = normalise(log_joint).probability
    if log_joint.shape[1] > 1:
        assert np.allclose(probability_of(log_odds(log_joint, 0)), probability[:, 0], rtol=1e-9, atol=1e-300)
