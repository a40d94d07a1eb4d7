"""From natural parameters back to ordinary ones, for every exponential family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from bayeswise.families.arithmetic.chance import Chance
from bayeswise.families.beta import BetaParameters
from bayeswise.families.categorical import CategoricalParameters
from bayeswise.families.exponential import ExponentialParameters
from bayeswise.families.functions import refuse_count
from bayeswise.families.gamma import GammaParameters
from bayeswise.families.laplace import LaplaceParameters
from bayeswise.families.log_normal import LogNormalParameters
from bayeswise.families.multivariate_normal import MultivariateNormalParameters
from bayeswise.families.normal import NormalParameters
from bayeswise.families.poisson import PoissonParameters
from bayeswise.families.protocol import refuse_unless
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.special import expit
from bayeswise.tables.schema.labels import Vocabulary


def parameters_of(family: Any, known: Mapping[str, float], eta: tuple[FloatArray, ...]) -> Any:
    """The parameters at eta; natural parameters outside of the family's domain are refused."""
    if family.name == "laplace":
        return _laplace(known, eta)
    if family.name in _SEVERAL:
        return _SEVERAL[family.name](eta)
    if family.name not in _MADE:
        raise ParameterError(f"a {family.name} family is not an exponential family")
    count, make = _MADE[family.name]
    refuse_count(eta, count, family.name)
    return make(*((family, *eta) if family.name == "normal mean" else eta))


def _chance(eta: FloatArray) -> Chance:
    return Chance(expit(eta), expit(-eta))


def _failures(eta: FloatArray) -> Chance:
    refuse_unless(eta < 0, "the natural parameter of a geometric family must be below 0", eta)
    return Chance(-np.expm1(eta), np.exp(eta))


def _rate(eta: FloatArray) -> ExponentialParameters:
    refuse_unless(eta < 0, "the natural parameter of an exponential family must be below 0", eta)
    return ExponentialParameters(-eta)


def _gamma(shape: FloatArray, rate: FloatArray) -> GammaParameters:
    refuse_unless(rate < 0, "the second natural parameter of a gamma family must be below 0", rate)
    return GammaParameters(shape + 1.0, -rate)


def _moments(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    refuse_unless(second < 0, "the second natural parameter of a normal family must be below 0", second)
    variance = -0.5 / second
    return np.asarray(first * variance), np.sqrt(variance)


def _normal_mean(family: Any, eta: FloatArray) -> NormalParameters:
    return NormalParameters(eta * family.stddev**2, np.full(np.shape(eta), family.stddev))


def _laplace(known: Mapping[str, float], eta: tuple[FloatArray, ...]) -> LaplaceParameters:
    refuse_count(eta, 1, "laplace")
    if "location" not in known:
        raise ParameterError(
            "a Laplace family is an exponential one while its location is known", fix="natural_form(location=0.0)"
        )
    refuse_unless(eta[0] < 0, "the natural parameter of a Laplace family must be below 0", eta[0])
    return LaplaceParameters(np.full(np.shape(eta[0]), known["location"]), -1.0 / eta[0])


def _shares(eta: tuple[FloatArray, ...]) -> CategoricalParameters:
    """p_j proportional to exp(eta_j), and the last one to 1."""
    log_p = np.stack([*eta, np.zeros(np.shape(eta[0]))], axis=-1)
    weight = np.exp(log_p - log_p.max(axis=-1, keepdims=True))
    p = np.atleast_2d(weight / weight.sum(axis=-1, keepdims=True))
    levels = Vocabulary([f"level {j}" for j in range(p.shape[-1])])
    return CategoricalParameters(levels, p, 1.0 - p, np.zeros(p.shape[:-1]))


def _rows(eta: tuple[FloatArray, ...]) -> MultivariateNormalParameters:
    """P_ii = -2 eta_ii, P_ij = -eta_ij; covariance = P^-1, mean = covariance eta."""
    k = next((k for k in range(1, 200) if k + k * (k + 1) // 2 == len(eta)), 0)
    if not k:
        raise ParameterError(f"no number of columns has {len(eta)} natural parameters", fix="give k + k (k + 1) / 2")
    flat = [float(np.reshape(each, ())) for each in eta]
    precision = np.zeros((k, k))
    for value, (i, j) in zip(flat[k:], combinations_with_replacement(range(k), 2), strict=True):
        precision[i, j] = precision[j, i] = -2.0 * value if i == j else -value
    refuse_unless(np.linalg.eigvalsh(precision) > 0, "the natural precision must be positive definite", precision)
    covariance = np.linalg.inv(precision)
    return MultivariateNormalParameters.of(covariance @ np.array(flat[:k]), 0.5 * (covariance + covariance.T))


_MADE: dict[str, tuple[int, Callable[..., Any]]] = {
    "bernoulli": (1, _chance),
    "binomial": (1, _chance),
    "geometric": (1, _failures),
    "poisson": (1, lambda eta: PoissonParameters(np.exp(eta))),
    "exponential": (1, _rate),
    "gamma": (2, _gamma),
    "beta": (2, lambda a, b: BetaParameters(a + 1.0, b + 1.0)),
    "normal": (2, lambda a, b: NormalParameters(*_moments(a, b))),
    "log-normal": (2, lambda a, b: LogNormalParameters(*_moments(a, b))),
    "normal mean": (1, _normal_mean),
}
_SEVERAL: dict[str, Callable[[tuple[FloatArray, ...]], Any]] = {
    "categorical": _shares,
    "multinomial": _shares,
    "multivariate normal": _rows,
}
