"""Names of earlier versions: functions and values still accept them, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from bayeswise.foundation.errors import ParameterError

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Kind = TypeVar("Kind", bound=type[Any])


def earlier(**current: str) -> Callable[[Callable[Given, Answer]], Callable[Given, Answer]]:
    """A function that also accepts keywords by their names of earlier versions, with a warning.

    >>> counted = earlier(strength="smoothing")(lambda smoothing=1.0: smoothing)
    >>> counted(smoothing=2.0)
    2.0
    """

    def taking(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
        @wraps(function)
        def renamed(*given: Given.args, **named: Given.kwargs) -> Answer:
            return function(*given, **renamed_keywords(named, current, stacklevel=3))

        return renamed

    return taking


def earlier_fields(**current: str) -> Callable[[Kind], Kind]:
    """A dataclass whose fields can also be given and read by their names of earlier versions, with a warning.

    >>> from dataclasses import dataclass
    >>> @earlier_fields(freedom="df")
    ... @dataclass(frozen=True)
    ... class Tails:
    ...     df: float
    >>> with warnings.catch_warnings(action="ignore"):
    ...     Tails(freedom=4.0).freedom
    4.0
    """

    def taking(kind: Kind) -> Kind:
        kind.__init__ = earlier(**current)(kind.__init__)
        for name, field in current.items():
            setattr(kind, name, _read_as(name, field))
        return kind

    return taking


def _read_as(name: str, field: str) -> property:
    def read(value: Any) -> Any:
        warn_of_earlier(name, field, stacklevel=3)
        return getattr(value, field)

    return property(read, doc=f"The earlier name of `{field}`.")


def renamed_keywords(given: Mapping[str, Any], current: Mapping[str, str], *, stacklevel: int) -> dict[str, Any]:
    """Keywords by their current names, with a warning for each earlier one; other names are kept."""
    for name in given:
        if name in current:
            if current[name] in given:
                raise ParameterError(f"{name} and {current[name]} are the same setting", fix=f"give {current[name]}")
            warn_of_earlier(name, current[name], stacklevel=stacklevel + 1)
    return {current.get(name, name): value for name, value in given.items()}


def warn_of_earlier(earlier: str, current: str, *, stacklevel: int) -> None:
    """Warn that a name is that of an earlier version; stacklevel is that of `warnings.warn`, called from here."""
    message = f"{earlier} is now called {current}; the old name will be removed"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)
