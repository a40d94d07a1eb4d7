"""Natural parameters of a multivariate normal family, and moments of its values and of their products.

A power names the columns of a product: (i,) is x_i, (i, j) is x_i x_j.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from bayeswise.foundation.arrays import FloatArray

Power: TypeAlias = tuple[int, ...]


def natural_of(power: Power, leaning: FloatArray, precision: FloatArray) -> FloatArray:
    """(P mean)_i for x_i, -P_ii / 2 for x_i^2, -P_ij for x_i x_j; `leaning` is P mean."""
    if len(power) == 1:
        return np.asarray(leaning[..., power[0]])
    i, j = power
    return np.asarray(precision[..., i, j] * (-0.5 if i == j else -1.0))


def mean_of(power: Power, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """E[x_i] = m_i, E[x_i x_j] = m_i m_j + c_ij."""
    if len(power) == 1:
        return np.asarray(mean[..., power[0]])
    i, j = power
    return np.asarray(mean[..., i] * mean[..., j] + covariance[..., i, j])


def covariance_of(one: Power, other: Power, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Cov(x_i, x_k) = c_ik, Cov(x_i x_j, x_k) = m_i c_jk + m_j c_ik, and so on for two pairs.

    >>> covariance_of((0, 0), (0, 0), np.array([[3.0]]), np.array([[[2.0]]])).tolist()      # 4 m^2 c + 2 c^2
    [80.0]
    """
    total = np.zeros(mean.shape[:-1])
    for a in range(len(one)):
        for b in range(len(other)):
            left = [*one[:a], *one[a + 1 :], *other[:b], *other[b + 1 :]]
            total = total + covariance[..., one[a], other[b]] * np.prod(mean[..., left], axis=-1)
    if len(one) == len(other) == 2:
        (i, j), (k, m) = one, other
        total = total + covariance[..., i, k] * covariance[..., j, m] + covariance[..., i, m] * covariance[..., j, k]
    return np.asarray(total)
