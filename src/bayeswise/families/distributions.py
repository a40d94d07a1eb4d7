"""A family with numbers for its parameters, as a frozen distribution of scipy.stats: density, cdf and quantiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayeswise.foundation.earlier_names import earlier
from bayeswise.foundation.errors import ParameterError

# Family -> the names of its parameters, and the distribution that they make.
_MAKERS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "normal": (("mean", "stddev"), lambda stats, mean, stddev: stats.norm(mean, stddev)),
    "laplace": (("location", "scale"), lambda stats, location, scale: stats.laplace(location, scale)),
    "student-t": (
        ("location", "scale", "df"),
        lambda stats, location, scale, df: (
            stats.t(df, location, scale) if np.isfinite(df) else stats.norm(location, scale)
        ),
    ),
    "exponential": (("rate",), lambda stats, rate: stats.expon(scale=1.0 / rate)),
    "gamma": (("shape", "rate"), lambda stats, shape, rate: stats.gamma(shape, scale=1.0 / rate)),
    "beta": (("alpha", "beta"), lambda stats, alpha, beta: stats.beta(alpha, beta)),
    "log-normal": (("mean", "stddev"), lambda stats, mean, stddev: stats.lognorm(stddev, scale=np.exp(mean))),
    "poisson": (("rate",), lambda stats, rate: stats.poisson(rate)),
    "bernoulli": (("probability",), lambda stats, probability: stats.bernoulli(probability)),
    "binomial": (
        ("trials", "probability"),
        lambda stats, trials, probability: stats.binom(trials, probability),
    ),
    "geometric": (("probability",), lambda stats, probability: stats.geom(probability, loc=-1)),
}

NAMES = tuple(_MAKERS)
"""The families of one number."""


@earlier(freedom="df")
def distribution(family: str, /, **parameters: float) -> Any:
    """The distribution of a family with these parameters: `logpdf` or `logpmf`, `cdf`, `ppf`, `rvs`.

    >>> found = distribution("normal", mean=15, stddev=3)
    >>> round(float(found.pdf(15.0)), 6), float(found.ppf(0.5))
    (0.132981, 15.0)
    >>> distribution("poisson", mean=3)
    Traceback (most recent call last):
    bayeswise.foundation.errors.ParameterError: a poisson distribution has no parameter 'mean'. Fix: give rate=....
    """
    from scipy import stats

    names, make = _MAKERS[_known(family)]
    typed = "give " + ", ".join(f"{name}=..." for name in names)
    unknown = [name for name in parameters if name not in names]
    if unknown:
        raise ParameterError(f"a {family} distribution has no parameter {unknown[0]!r}", fix=typed)
    missing = [name for name in names if name not in parameters]
    if missing:
        raise ParameterError(f"a {family} distribution needs {missing[0]}", fix=typed)
    found = make(stats, **{name: _number(name, parameters[name]) for name in names})
    with np.errstate(all="ignore"):
        if not np.isfinite(found.ppf(0.5)):
            given = ", ".join(f"{name}={parameters[name]!r}" for name in names)
            raise ParameterError(f"there is no {family} distribution with {given}", fix="give it a spread above 0")
    return found


def parameters_at(family: Any, parameters: Any, group: int, column: int) -> dict[str, float]:
    """The parameters of one group and column of a fitted family, by the names that `distribution` takes.

    Those that all groups share have one row.
    """
    names = _MAKERS[_known(family.name)][0]
    own = {"trials": family.trials} if "trials" in names else {}
    values = np.broadcast_arrays(
        *(np.asarray(own[name] if name in own else getattr(parameters, name)) for name in names)
    )
    return {name: float(value[min(group, len(value) - 1), column]) for name, value in zip(names, values, strict=True)}


def of_mapping(given: Mapping[str, Any], family: str) -> Any:
    """The distribution of parameters by name, as `{"mean": 15, "stddev": 3}`."""
    return distribution(family, **{str(name): value for name, value in given.items()})


def _known(family: str) -> str:
    if family not in _MAKERS:
        raise ParameterError(f"{family!r} is not a family of one number", fix=f"choose one of {', '.join(NAMES)}")
    return family


def _number(name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} is {value!r}, and not a number", fix=f"give a number for {name}") from None
    if name != "trials":
        return found
    if found < 1 or found != int(found):
        raise ParameterError(f"trials is {found:g}", fix="give a whole number from 1 on")
    return int(found)
