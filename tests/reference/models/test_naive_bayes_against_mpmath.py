"""Posteriors against 50-digit arithmetic: many columns, large offsets, cells beyond the range of floats."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.arrays import FloatArray

mpmath.mp.dps = 50


def exact_posterior(values: FloatArray, y: FloatArray, row: FloatArray) -> list[mpmath.mpf]:
    """Gaussian naive Bayes by its formula, from the raw rows."""
    log_joint = []
    for label in np.unique(y):
        mine = values[y == label]
        total = mpmath.log(mpmath.mpf(len(mine)) / len(values))
        for c in range(values.shape[1]):
            cells = [mpmath.mpf(float(x)) for x in mine[:, c]]
            mean = mpmath.fsum(cells) / len(cells)
            variance = mpmath.fsum((x - mean) ** 2 for x in cells) / len(cells)
            total -= mpmath.log(2 * mpmath.pi * variance) / 2 + (mpmath.mpf(float(row[c])) - mean) ** 2 / (2 * variance)
        log_joint.append(total)
    top = max(log_joint)
    terms = [mpmath.exp(value - top) for value in log_joint]
    return [term / mpmath.fsum(terms) for term in terms]


@pytest.mark.parametrize("offset", [0.0, 1e9, -1e12, 1e15])
def test_posteriors_are_right_to_1e_12_at_any_offset(offset: float) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 120)
    values = offset + rng.normal(size=(120, 4)) + 0.5 * y[:, None]
    rows = offset + rng.normal(size=(10, 4))
    found = bw.NaiveBayes().fit(values, y).predict_proba(rows)
    for k, row in enumerate(rows):
        expected = exact_posterior(values, y, row)
        assert max(abs(found[k, s] - expected[s]) for s in range(3)) <= 1e-12


def test_ten_thousand_columns_do_not_underflow() -> None:
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 6)
    values = rng.normal(size=(12, 10_000))
    model = bw.NaiveBayes().fit(values, y)
    row = 0.1 * rng.normal(size=10_000)
    found = model.log_odds(row[None, :], 1, 0)[0]
    log_odds = mpmath.mpf(0)
    for label, sign in ((0, -1), (1, 1)):
        mine = values[y == label]
        for c in range(10_000):
            cells = [mpmath.mpf(float(x)) for x in mine[:, c]]
            mean = mpmath.fsum(cells) / 6
            variance = mpmath.fsum((x - mean) ** 2 for x in cells) / 6
            log_odds -= sign * (mpmath.log(variance) / 2 + (mpmath.mpf(float(row[c])) - mean) ** 2 / (2 * variance))
    assert abs(found - log_odds) <= 1e-12 * abs(log_odds)
    assert np.isfinite(model.predict_log_proba(row[None, :])).all()


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e-310, 1.0])
def test_cells_at_the_ends_of_the_range_have_the_posterior_of_ordinary_ones(scale: float) -> None:
    values = np.array([[1.0], [2.0], [3.0], [5.0], [7.0], [9.0]])
    y = [0, 0, 0, 1, 1, 1]
    ordinary = bw.NaiveBayes().fit(values, y).predict_proba([[4.0]])
    extreme = bw.NaiveBayes().fit(values * scale, y).predict_proba([[4.0 * scale]])
    assert extreme == pytest.approx(ordinary, rel=1e-9 if scale == 1e-310 else 1e-12)


def test_a_row_beyond_every_class_still_belongs_to_the_widest() -> None:
    values = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    model = bw.NaiveBayes().fit(values, ["narrow", "narrow", "wide", "wide"])
    far = [[1e200]]
    assert model.predict(far).tolist() == ["wide"]
    assert model.predict_proba(far).tolist() == [[0.0, 1.0]]
    assert model.log_evidence(far).tolist() == [-np.inf]


def test_opposite_ends_of_the_range_do_not_overflow() -> None:
    model = bw.NaiveBayes().fit(np.array([[1.7e308], [-1.7e308], [1.0], [2.0]]), [0, 0, 1, 1])
    assert model.predict([[-1.7e308], [1.5]]).tolist() == [0, 1]
    assert np.isfinite(model.predict_proba([[-1.7e308], [1.5]])).all()
