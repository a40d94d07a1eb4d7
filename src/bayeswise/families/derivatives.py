"""Gradient and second derivative of log p(data | parameters), in closed form for every family.

The answer to `derivatives(family, parameters, data)` are the names of the free parameters, the gradient and the matrix
of second derivatives, summed over the data. A maximum has gradient 0 and negative curvature in every direction.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.special import digamma, polygamma

Derivatives: TypeAlias = tuple[tuple[str, ...], FloatArray, FloatArray]
Terms: TypeAlias = tuple[list[Any], list[list[Any]]]  # of each value: gradient, and the upper triangle of the Hessian


def derivatives(family: Any, parameters: Any, data: Any) -> Derivatives:
    """Names of the parameters, gradient (n_parameters,) and second derivatives (n_parameters, n_parameters)."""
    if family.name in _OF_ROWS:
        return _OF_ROWS[family.name](parameters, data)
    if family.name not in OF_NUMBERS:
        raise ParameterError(f"a {family.name} family has no derivatives here")
    names, terms = OF_NUMBERS[family.name]
    values = seen(data)
    at = [one_number(parameters, name) for name in names]
    known = {"binomial": "trials", "normal mean": "stddev"}  # of the family itself
    if family.name in known:
        at.append(float(getattr(family, known[family.name])))
    gradient, upper = terms(values, *at)
    total = np.array([np.sum(np.broadcast_to(each, values.shape)) for each in gradient])
    matrix = np.zeros((len(names), len(names)))
    for i, row in enumerate(upper):
        for j, each in enumerate(row, start=i):
            matrix[i, j] = matrix[j, i] = np.sum(np.broadcast_to(each, values.shape))
    return names, total, matrix


def seen(data: Any) -> FloatArray:
    """(n,) the numbers of a sample, without missing ones."""
    values = np.asarray(data, dtype=np.float64).ravel()
    return np.asarray(values[~np.isnan(values)])


def one_number(parameters: Any, name: str) -> float:
    """One parameter of a single group and column."""
    value = np.asarray(getattr(parameters, name), dtype=np.float64)
    if value.size != 1:
        raise ParameterError(f"{name} has {value.size} numbers", fix="give the parameters of one distribution")
    return float(value.reshape(()))


# -- families of one number: d log p / d parameter of each value ----------------------------------------------------
def _normal(x: FloatArray, mean: float, stddev: float) -> Terms:
    z = (x - mean) / stddev
    v = stddev**2
    return [z / stddev, (z**2 - 1.0) / stddev], [[-1.0 / v, -2.0 * z / v], [(1.0 - 3.0 * z**2) / v]]


def _log_normal(x: FloatArray, mean: float, stddev: float) -> Terms:
    return _normal(np.log(x), mean, stddev)


def _normal_mean(x: FloatArray, mean: float, stddev: float) -> Terms:
    return [(x - mean) / stddev**2], [[-1.0 / stddev**2]]


def _laplace(x: FloatArray, location: float, scale: float) -> Terms:
    d = x - location
    side, away = np.sign(d), np.abs(d)
    second: list[list[Any]] = [[0.0, -side / scale**2], [1.0 / scale**2 - 2.0 * away / scale**3]]
    return [side / scale, away / scale**2 - 1.0 / scale], second


def _student_t(x: FloatArray, location: float, scale: float, freedom: float) -> Terms:
    if freedom == np.inf:  # the normal distribution, which more degrees of freedom do not change
        (by_location, by_scale), ((twice, mixed), (curve,)) = _normal(x, location, scale)
        return [by_location, by_scale, 0.0], [[twice, mixed, 0.0], [curve, 0.0], [0.0]]
    f, s, z = freedom, scale, (x - location) / scale
    u = z**2
    by_u, by_uu = -0.5 * (f + 1.0) / (f + u), 0.5 * (f + 1.0) / (f + u) ** 2
    by_uf = -0.5 * (u - 1.0) / (f + u) ** 2
    by_f = 0.5 * (digamma(0.5 * (f + 1.0)) - digamma(0.5 * f) - 1.0 / f - np.log1p(u / f))
    by_f = by_f + 0.5 * (f + 1.0) * u / (f * (f + u))
    by_ff = 0.25 * (polygamma(1, 0.5 * (f + 1.0)) - polygamma(1, 0.5 * f)) + 0.5 / f**2
    by_ff = by_ff + 0.5 * u / (f * (f + u)) - 0.5 * u * (f**2 + 2.0 * f + u) / (f * (f + u)) ** 2
    u_l, u_s = -2.0 * z / s, -2.0 * u / s  # derivatives of u
    second = [
        [by_uu * u_l**2 + by_u * 2.0 / s**2, by_uu * u_l * u_s + by_u * 4.0 * z / s**2, by_uf * u_l],
        [by_uu * u_s**2 + by_u * 6.0 * u / s**2 + 1.0 / s**2, by_uf * u_s],
        [by_ff],
    ]
    return [by_u * u_l, by_u * u_s - 1.0 / s, by_f], second


def _exponential(x: FloatArray, rate: float) -> Terms:
    return [1.0 / rate - x], [[-1.0 / rate**2]]


def _gamma(x: FloatArray, shape: float, rate: float) -> Terms:
    gradient = [np.log(rate) - digamma(shape) + np.log(x), shape / rate - x]
    return gradient, [[-polygamma(1, shape), 1.0 / rate], [-shape / rate**2]]


def _beta(x: FloatArray, alpha: float, beta: float) -> Terms:
    both, curve = digamma(alpha + beta), polygamma(1, alpha + beta)
    gradient = [both - digamma(alpha) + np.log(x), both - digamma(beta) + np.log1p(-x)]
    return gradient, [[curve - polygamma(1, alpha), curve], [curve - polygamma(1, beta)]]


def _poisson(x: FloatArray, rate: float) -> Terms:
    return [x / rate - 1.0], [[-x / rate**2]]


def _outcomes(successes: Any, failures: Any, p: float) -> Terms:
    ups, downs = _over(successes, p), _over(failures, 1.0 - p)
    return [ups - downs], [[-_over(ups, p) - _over(downs, 1.0 - p)]]


def _over(count: Any, p: float) -> FloatArray:
    """count / p, and 0 where nothing was counted: 0 log 0 is 0."""
    counts = np.asarray(count, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(counts == 0, 0.0, counts / p)


OF_NUMBERS: dict[str, tuple[tuple[str, ...], Callable[..., Terms]]] = {
    "normal": (("mean", "stddev"), _normal),
    "normal mean": (("mean",), _normal_mean),
    "log-normal": (("mean", "stddev"), _log_normal),
    "laplace": (("location", "scale"), _laplace),
    "student-t": (("location", "scale", "freedom"), _student_t),
    "exponential": (("rate",), _exponential),
    "gamma": (("shape", "rate"), _gamma),
    "beta": (("alpha", "beta"), _beta),
    "poisson": (("rate",), _poisson),
    "bernoulli": (("probability",), lambda x, p: _outcomes(x, 1.0 - x, p)),
    "binomial": (("probability",), lambda x, p, trials: _outcomes(x, trials - x, p)),
    "geometric": (("probability",), lambda x, p: _outcomes(1.0, x, p)),
}


# -- levels, words and rows -------------------------------------------------------------------------------------------
def _shares(parameters: Any, counts: FloatArray) -> Derivatives:
    """sum_j n_j log p_j, by the probabilities of all levels but the last, which has what they leave."""
    p = np.asarray(parameters.probability, dtype=np.float64).reshape(-1)
    names = tuple(str(level) for level in parameters.levels)[:-1]
    ratio = np.divide(counts, p, out=np.zeros_like(p), where=counts > 0)
    square = np.divide(ratio, p, out=np.zeros_like(p), where=counts > 0)
    return names, ratio[:-1] - ratio[-1], -np.diag(square[:-1]) - square[-1]


def _categorical(parameters: Any, data: Any) -> Derivatives:
    codes = np.asarray(data, dtype=np.int64).ravel()
    return _shares(parameters, np.bincount(codes[codes >= 0], minlength=len(parameters.levels)).astype(np.float64))


def _multinomial(parameters: Any, data: Any) -> Derivatives:
    return _shares(parameters, np.atleast_2d(np.asarray(data, dtype=np.float64)).sum(axis=0))


def _multivariate_normal(parameters: Any, data: Any) -> Derivatives:
    """By the means m_i and the entries c_ij, i <= j, of the covariance, with P its inverse and E_ij its derivative.

    d/dm = P sum d; d/dE = -(n tr PE - tr PEPS) / 2; d2/dm dm = -n P; d2/dm dE = -P E P sum d;
    d2/dE dF = (n tr PFPE - tr PFPEPS - tr PEPFPS) / 2, with d = x - m and S = sum d d'.
    """
    rows = np.atleast_2d(np.asarray(data, dtype=np.float64))
    mean = np.asarray(parameters.mean, dtype=np.float64).reshape(-1)
    k, n = len(mean), len(rows)
    precision = np.linalg.inv(np.asarray(parameters.covariance, dtype=np.float64).reshape(k, k))
    away = rows - mean
    total, scatter = away.sum(axis=0), away.T @ away
    pairs = list(combinations_with_replacement(range(k), 2))
    entries = []
    for i, j in pairs:
        entry = np.zeros((k, k))
        entry[i, j] = entry[j, i] = 1.0
        entries.append(entry)
    moved = [precision @ entry for entry in entries]  # P E
    outer = precision @ scatter  # P S
    by_entry = [-0.5 * (n * np.trace(each) - np.trace(each @ outer)) for each in moved]
    gradient = np.concatenate([precision @ total, by_entry])
    matrix = np.zeros((k + len(pairs), k + len(pairs)))
    matrix[:k, :k] = -n * precision
    for a, one in enumerate(moved):
        matrix[:k, k + a] = matrix[k + a, :k] = -(one @ precision @ total)
        for b, other in enumerate(moved):
            both = n * np.trace(other @ one) - np.trace(other @ one @ outer) - np.trace(one @ other @ outer)
            matrix[k + a, k + b] = 0.5 * both
    names = (*(f"mean_{i}" for i in range(k)), *(f"covariance_{i}{j}" for i, j in pairs))
    return names, gradient, matrix


_OF_ROWS: dict[str, Callable[[Any, Any], Derivatives]] = {
    "categorical": _categorical,
    "multinomial": _multinomial,
    "multivariate normal": _multivariate_normal,
}
