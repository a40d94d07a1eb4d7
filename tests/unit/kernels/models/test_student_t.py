"""The sums behind a step towards the highest likelihood of Student's t, against their formulas in NumPy."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import stats

from bayeswise import _kernels
from bayeswise.families import StudentT


@pytest.mark.parametrize("n", [0, 1, 7, 8, 2_049, 5_003])
@pytest.mark.parametrize("k", [0.0, 0.3, 1.0])
def test_the_sums_are_their_formulas_and_the_same_on_every_instruction_set(n: int, k: float) -> None:
    generator = np.random.default_rng(n)
    values, share = generator.standard_cauchy(n), generator.random(n)
    z = np.clip((values - 0.2) / 1.3, -5.0, 5.0)
    s = 1.0 / (1.0 + k * z * z)
    w = share * (1.0 + k) * s
    expected = [w.sum(), w @ z, w @ z**2, w @ (2.0 * s - 1.0), w @ (z * s), w @ (z * z * s)]
    best, found = _kernels.isa(), []
    for isa in _kernels.available_isas():
        _kernels.use_isa(isa)
        found.append(_kernels.student_t_sums(values, share, 0.2, 1.3, k, 5.0))
    _kernels.use_isa(best)
    assert all(each == found[0] for each in found)
    assert np.allclose(found[0], expected, rtol=1e-12, atol=1e-12)


def test_the_estimate_of_many_values_is_the_maximum_and_does_not_take_long() -> None:
    values = stats.t.rvs(4.0, loc=2.0, scale=3.0, size=300_000, random_state=0)
    family = StudentT()
    statistic = family.statistic(values)
    begin = time.process_time()
    found = family.estimate(statistic).parameters
    assert time.process_time() - begin < 3.0  # it was 14 s
    at = tuple(float(np.ravel(each)[0]) for each in (found.df, found.location, found.scale))
    assert np.allclose(at, (4.0, 2.0, 3.0), rtol=0.03)
    best = stats.t.logpdf(values, *at).sum()
    for k in range(3):
        for step in (0.999, 1.001):
            moved = [value * (step if j == k else 1.0) for j, value in enumerate(at)]
            assert stats.t.logpdf(values, *moved).sum() < best
