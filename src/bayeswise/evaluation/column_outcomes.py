"""How a column of each family is distributed in each state, as densities with quantiles or as a list of outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.decisions.information import Densities, Outcomes
from bayeswise.foundation.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from bayeswise.models.gaussian_bayes import GaussianBayesModel


_TAIL = 1e-13  # of the mass of a count in any state: what is beyond is one outcome
_MOST_COUNTS = 20_000  # outcomes of one column


def family_outcomes(family: Any, parameters: Any, column: int, n_states: int) -> Outcomes | Densities | str:
    """The column of a family's parameters (n_states, n_columns), or the reason why it has no distribution to plan with.

    Densities are those of scipy.stats, so that regions end where an action changes and hold what the distribution
    function says, without a grid. Counts are listed up to a tail of 1e-13, which is one outcome more.
    """
    make = _MAKERS.get(family.name)
    if make is None:
        return f"the family {family.name!r} has no quantiles"
    each = [make(family, _of_state(parameters, state, column)) for state in range(n_states)]
    if any(one is None for one in each):
        return "a class has one certain value, which is not a density"
    if not hasattr(each[0], "logpmf"):
        return Densities(tuple(each))
    return _counts(each)


def _of_state(parameters: Any, state: int, column: int) -> dict[str, float]:
    """One number for each parameter; those that all states or columns share are repeated."""
    shape = np.broadcast_shapes(*(np.shape(value) for value in vars(parameters).values()))
    arrays = {name: np.broadcast_to(np.asarray(value), shape) for name, value in vars(parameters).items()}
    return {name: float(array[min(state, shape[0] - 1), column]) for name, array in arrays.items()}


def _counts(each: list[Any]) -> Outcomes | str:
    most = max(float(one.ppf(1.0 - _TAIL)) for one in each)
    if not most <= _MOST_COUNTS:
        return f"its counts go beyond {_MOST_COUNTS:,}"
    values = np.arange(int(most) + 1)
    likelihood: FloatArray = np.stack([one.pmf(values) for one in each], axis=1)  # (n_values, n_states)
    rest = np.array([float(one.sf(most)) for one in each])
    names: tuple[Any, ...] = (*values.tolist(), f"above {int(most)}")
    table = np.vstack([likelihood, rest])
    return Outcomes(names, table / table.sum(axis=0))


def _normal(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import norm

    return norm(p["mean"], p["stddev"]) if p["stddev"] > 0 else None


def _log_normal(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import lognorm

    return lognorm(p["stddev"], scale=np.exp(p["mean"])) if p["stddev"] > 0 else None


def _exponential(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import expon

    return expon(scale=1.0 / p["rate"]) if np.isfinite(p["rate"]) else None


def _gamma(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import gamma

    return gamma(p["shape"], scale=1.0 / p["rate"]) if np.isfinite(p["rate"]) else None


def _beta(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import beta

    return beta(p["alpha"], p["beta"]) if np.isfinite(p["alpha"] + p["beta"]) else None


def _laplace(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import laplace

    return laplace(p["location"], p["scale"]) if p["scale"] > 0 else None


def _student_t(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import norm, t

    if not p["scale"] > 0:
        return None
    wide = np.isfinite(p["freedom"])
    return t(p["freedom"], p["location"], p["scale"]) if wide else norm(p["location"], p["scale"])


def _poisson(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import poisson

    return poisson(p["rate"])


def _geometric(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import geom

    return geom(p["probability"], loc=-1) if p["probability"] > 0 else None  # failures, not trials


def _bernoulli(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import bernoulli

    return bernoulli(p["probability"])


def _binomial(family: Any, p: dict[str, float]) -> Any:
    from scipy.stats import binom

    return binom(int(family.trials), p["probability"])


_MAKERS = {
    "normal": _normal,
    "log-normal": _log_normal,
    "exponential": _exponential,
    "gamma": _gamma,
    "beta": _beta,
    "laplace": _laplace,
    "student-t": _student_t,
    "poisson": _poisson,
    "geometric": _geometric,
    "bernoulli": _bernoulli,
    "binomial": _binomial,
}


def gaussian_outcomes(
    model: GaussianBayesModel, row: FloatArray, names: Sequence[str]
) -> tuple[Mapping[str, Densities], bool]:
    """The distribution of each empty column in each state, and whether they are independent there.

    With o the columns that are there, S_jo the covariances and z = S_oo^-1 (x_o - mean_o),

        mean = mean_j + S_jo z        variance = S_jj - S_jo S_oo^-1 S_oj

    and for Student-t with f degrees of freedom the variance times (f + z . (x_o - mean_o)) / (f + |o|), with f + |o|.
    """
    densities = model.densities.in_own_units()
    there = np.flatnonzero(~np.isnan(row))
    states = range(len(model.classes))
    found = {}
    for name in names:
        column = model.columns.index(name)
        found[name] = Densities(tuple(_given(densities, state, row, there, column) for state in states))
    diagonal = all(spread.is_diagonal for spread in densities.spreads) and densities.freedom is None
    return found, diagonal


def _given(densities: Any, state: int, row: FloatArray, there: IntArray, column: int) -> Any:
    from scipy.stats import norm, t

    spread = densities.spreads[state]
    mean = densities.mean[state] + densities.mean_low[state]
    scores = (row[there] - mean[there]) / spread.stddev[there]
    inner = spread.correlation[np.ix_(there, there)]
    across = spread.correlation[column, there]
    solved = np.linalg.solve(inner, np.stack([scores, across], axis=1)) if len(there) else np.zeros((0, 2))
    middle = float(mean[column] + spread.stddev[column] * (across @ solved[:, 0]))
    left = max(float(1.0 - across @ solved[:, 1]), np.finfo(np.float64).tiny)
    width = float(spread.stddev[column]) * left**0.5
    if densities.freedom is None:
        return norm(middle, width)
    freedom = float(densities.freedom[state])
    wider = (freedom + float(scores @ solved[:, 0])) / (freedom + len(there))
    return t(freedom + len(there), middle, width * wider**0.5)
