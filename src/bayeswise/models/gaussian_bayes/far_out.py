"""Rows so far from every class that their squared distances overflow: the differences between states, which decide.

In units of 2^s, with m_k the mean of state k and t the row, both counted from a centre near all classes, and V_k t the
whitened t,

    log p(row | k) = log_peak_k - 4^s A_k / 2 + 2^s B_k - C_k / 2,
    A_k = |V_k t|^2,   B_k = (V_k t) . (V_k m_k),   C_k = |V_k m_k|^2.

With s beyond 500 the states of the least A are infinitely more probable than others, and among them those of the
largest B. States of one spread have one A, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.logspace import log
from bayeswise.models.gaussian_bayes.spread import Spread


def in_large_units(values: FloatArray, origin: FloatArray, unit: FloatArray) -> tuple[FloatArray, IntArray]:
    """(n_rows, n_columns) (value - origin) / unit as t 2^s, with one s (n_rows, 1) and no t beyond 2.

    >>> t, s = in_large_units(np.array([[1e300, 1.0]]), np.zeros(2), np.array([1e-300, 1.0]))
    >>> t.round(3).tolist(), s.tolist()
    ([[1.115, 0.0]], [[1993]])
    """
    gap, gap_exponent = np.frexp(0.5 * values - 0.5 * origin)
    width, width_exponent = np.frexp(unit)
    exponent = np.where(gap == 0, np.iinfo(np.int32).min, gap_exponent + 1 - width_exponent)
    most = exponent.max(axis=1, keepdims=True)
    return np.ldexp(gap / width, np.maximum(exponent - most, -3_000)), most


def log_ratios(
    t: FloatArray, s: IntArray, reference: FloatArray, away: FloatArray, spreads: Sequence[Spread]
) -> FloatArray:
    """(n_rows, n_states) log p(row | state) - log_peak_state of Gaussian states, up to a number for each row.

    Rows are t 2^s times `reference` (n_columns,), and `away` (n_states, n_columns) are the means.
    """
    white = _whitened(t, reference, spreads)
    white_mean = [_product(spread, gap / spread.stddev) for gap, spread in zip(away, spreads, strict=True)]
    a = np.stack([(each * each).sum(axis=1) for each in white], axis=1)
    b = np.stack([(each * mean).sum(axis=1) for each, mean in zip(white, white_mean, strict=True)], axis=1)
    c = np.array([(mean * mean).sum() for mean in white_mean])
    is_least = a == a.min(axis=1, keepdims=True)
    first = np.argmax(np.where(is_least, b, -np.inf), axis=1)[:, None]
    with np.errstate(over="ignore"):
        linear = np.ldexp(b - np.take_along_axis(b, first, axis=1), s) - 0.5 * (c - c[first])
        square = np.ldexp(np.ldexp(a - np.take_along_axis(a, first, axis=1), s), s)
    return np.asarray(np.where(is_least, linear, -0.5 * square))


def log_squares(t: FloatArray, s: IntArray, reference: FloatArray, spreads: Sequence[Spread]) -> FloatArray:
    """(n_rows, n_states) the logarithm of the squared distance."""
    white = _whitened(t, reference, spreads)
    return np.asarray(np.stack([log((each * each).sum(axis=1)) for each in white], axis=1) + 2.0 * np.log(2.0) * s)


def _whitened(t: FloatArray, reference: FloatArray, spreads: Sequence[Spread]) -> list[FloatArray]:
    return [_product(spread, t * (reference / spread.stddev)) for spread in spreads]


def _product(spread: Spread, scores: FloatArray) -> FloatArray:
    """The same operations for a row alone and in a batch, which a product of matrices would not promise."""
    return np.asarray(np.einsum("...c,jc->...j", scores, spread.whitener))
