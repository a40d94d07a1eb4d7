"""Posteriors beside the same formula with 60 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from bayeswise.posteriors import log_odds, log_posterior, normalise, probability_of

CASES = [
    [-1000.0, -1000.5, -1003.25],
    [0.0, -1e-20],
    [-1e5, -1e5 - 1e-10, -1e5 - 700.0],
    [-745.0, -700.0, -1.0],
    [0.0, -40.0, -80.0],
    list(np.random.default_rng(3).normal(-50.0, 10.0, size=50)),
]


@pytest.mark.parametrize("log_joint", CASES, ids=range(len(CASES)))
def test_every_digit_of_a_posterior_counts(log_joint: list[float]) -> None:
    with mpmath.workdps(60):
        joint = [mpmath.exp(mpmath.mpf(term)) for term in log_joint]
        evidence = mpmath.fsum(joint)
        probability = [float(term / evidence) for term in joint]
        log_probability = [float(mpmath.log(term / evidence)) for term in joint]
        log_evidence = float(mpmath.log(evidence))
        odds = float(mpmath.log(joint[0] / (evidence - joint[0])))
    answer = normalise([log_joint])
    assert answer.probability[0] == pytest.approx(probability, rel=1e-14)
    assert answer.log_evidence[0] == pytest.approx(log_evidence, rel=1e-14)
    assert log_posterior([log_joint])[0] == pytest.approx(log_probability, rel=1e-14)
    assert log_odds([log_joint], 0)[0] == pytest.approx(odds, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("size", [-700.0, -40.0, -1e-18, 0.0, 0.3, 40.0, 700.0])
def test_the_probability_of_odds_holds_in_both_tails(size: float) -> None:
    with mpmath.workdps(60):
        expected = float(1 / (1 + mpmath.exp(-mpmath.mpf(size))))
    assert float(probability_of(size)) == pytest.approx(expected, rel=1e-15)
