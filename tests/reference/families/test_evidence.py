"""The building blocks of the evidence against mpmath, over twenty orders of magnitude of rows and of priors."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from bayeswise.families.arithmetic import evidence
from tests.reference.families.oracle import error_of_density, log_beta, log_gamma_evidence, relative_error

N_CASES = 300


def sizes(generator: np.random.Generator, low: float, high: float, count: int) -> list[float]:
    return [float(value) for value in 10.0 ** generator.uniform(low, high, count)]


def test_the_deviance_keeps_its_digits_near_and_far() -> None:
    generator = np.random.default_rng(30)
    for mean in sizes(generator, -10, 18, N_CASES):
        for step in (1e-14, -1e-9, 1e-3, 0.4999, -0.5001, -0.99, 3.0, 1e6):
            x = mean * (1.0 + step)
            exact = mp.mpf(x) * mp.log(mp.mpf(x) / mp.mpf(mean)) - mp.mpf(x) + mp.mpf(mean)
            assert relative_error(evidence.deviance(x, mean, x - mean), exact) <= 1e-13
    assert float(evidence.deviance(0.0, 7.5, -7.5)) == 7.5


def test_gamma_evidence_at_any_size_of_prior_and_rows() -> None:
    generator = np.random.default_rng(31)
    for _ in range(N_CASES):
        shape, rate, events, time = sizes(generator, -6, 16, 4)
        if generator.random() < 0.5:
            time = events * rate / shape * (1.0 + 1e-6 * generator.normal())  # rows that agree with the prior
        exact = log_gamma_evidence(shape, rate, events, time)
        assert error_of_density(evidence.log_gamma_evidence(shape, rate, events, time), exact) <= 1e-12


@pytest.mark.parametrize("n_levels", [2, 3, 6])
def test_dirichlet_evidence_at_any_size_of_prior_and_rows(n_levels: int) -> None:
    generator = np.random.default_rng(32 + n_levels)
    for _ in range(N_CASES // 2):
        weights = sizes(generator, -6, 15, n_levels)
        counts = [float(np.floor(size)) for size in sizes(generator, -1, 15, n_levels)]
        if generator.random() < 0.5:
            counts = [float(np.floor(weight * 10.0 ** generator.uniform(-3, 3))) for weight in weights]
        exact = log_beta(*(mp.mpf(w) + mp.mpf(n) for w, n in zip(weights, counts, strict=True))) - log_beta(*weights)
        assert error_of_density(evidence.log_dirichlet_evidence(weights, counts), exact) <= 1e-13


def test_a_difference_of_products_loses_nothing() -> None:
    generator = np.random.default_rng(36)
    for _ in range(N_CASES):
        a, b, c = (float(value) for value in generator.standard_normal(3) * 1e8)
        d = a * b / c
        exact = mp.mpf(a) * mp.mpf(b) - mp.mpf(c) * mp.mpf(d)
        assert relative_error(evidence.difference_of_products(a, b, c, d), exact) <= 1e-15


def test_products_beyond_the_range_of_floats_are_still_answered() -> None:
    assert float(evidence.difference_of_products(1e305, 2.0, 1e305, 1.0)) == 1e305
