"""A family with numbers for its parameters, as a frozen distribution of scipy.stats: density, cdf and quantiles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from inspect import Parameter, signature
from typing import Any

import numpy as np

from bayeswise import families
from bayeswise.families.protocol import OnNumbers
from bayeswise.foundation.earlier_names import earlier
from bayeswise.foundation.errors import ParameterError


@cache
def kinds_of_one_number() -> dict[str, type[OnNumbers[Any]]]:
    """The families of one number, by name."""
    every = [getattr(families, name) for name in families.__all__]
    found = [each for each in every if isinstance(each, type) and issubclass(each, OnNumbers)]
    return {each.name: each for each in sorted(found, key=lambda each: each.name) if each.support != "vector"}


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

    names = _parameters_of(family)
    typed = "give " + ", ".join(f"{name}=..." for name in names)
    unknown = [name for name in parameters if name not in names]
    if unknown:
        raise ParameterError(f"a {family} distribution has no parameter {unknown[0]!r}", fix=typed)
    missing = [name for name in names if name not in parameters]
    if missing:
        raise ParameterError(f"a {family} distribution needs {missing[0]}", fix=typed)
    numbers = {name: _number(name, parameters[name], each.annotation == "int") for name, each in names.items()}
    frozen = kinds_of_one_number()[family].law(stats, **numbers)
    with np.errstate(all="ignore"):
        if not np.isfinite(frozen.ppf(0.5)):
            given = ", ".join(f"{name}={parameters[name]!r}" for name in names)
            raise ParameterError(f"there is no {family} distribution with {given}", fix="give it a spread above 0")
    return frozen


def parameters_at(family: Any, parameters: Any, group: int, column: int) -> dict[str, float]:
    """The parameters of one group and column of a fitted family, by the names that `distribution` takes.

    Those that all groups share have one row.
    """
    names = _parameters_of(family.name)
    found = (getattr(parameters, name) if hasattr(parameters, name) else getattr(family, name) for name in names)
    values = np.broadcast_arrays(*map(np.asarray, found))
    return {name: float(value[min(group, len(value) - 1), column]) for name, value in zip(names, values, strict=True)}


def of_mapping(given: Mapping[str, Any], family: str) -> Any:
    """The distribution of parameters by name, as `{"mean": 15, "stddev": 3}`."""
    return distribution(family, **{str(name): value for name, value in given.items()})


def has_quantiles(family: Any) -> bool:
    """Whether `distribution` knows the family."""
    return hasattr(kinds_of_one_number().get(family.name), "law")


def _parameters_of(family: str) -> dict[str, Parameter]:
    """The parameters of its law, after the module that has it."""
    known = {name: kind for name, kind in kinds_of_one_number().items() if hasattr(kind, "law")}
    if family not in known:
        raise ParameterError(f"{family!r} is not a family of one number", fix=f"choose one of {', '.join(known)}")
    return dict(list(signature(known[family].law).parameters.items())[1:])


def _number(name: str, value: Any, whole: bool) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} is {value!r}, and not a number", fix=f"give a number for {name}") from None
    if not whole:
        return number
    if number < 1 or number != int(number):
        raise ParameterError(f"{name} is {number:g}", fix="give a whole number from 1 on")
    return int(number)
