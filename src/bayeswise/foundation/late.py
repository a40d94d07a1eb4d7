"""Names of a package or class that are imported when they are first used: a file does not wait for all others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def late_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package that gives names from other modules: those of each module, by its path.

    A name that is also a file of the package is imported at once: to import the file would put it in its place.

    >>> get, names = late_names("bayeswise.foundation", {"bayeswise.foundation.special": "beta_quantile"})
    >>> get("beta_quantile")(1.0, 1.0, 0.25)
    0.25
    >>> get("gamma_quantile")
    Traceback (most recent call last):
    AttributeError: module 'bayeswise.foundation' has no attribute 'gamma_quantile'
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *home_of})


class LateFunction(staticmethod):  # type: ignore[type-arg]
    """A function of another module as a static method that is imported when it is asked for: `help` shows it whole.

    >>> class Sums:
    ...     log_sum_exp = LateFunction("bayeswise.foundation.logspace", "log_sum_exp")
    >>> Sums.log_sum_exp.__module__
    'bayeswise.foundation.logspace'
    """

    def __init__(self, module: str, name: str) -> None:
        super().__init__(lambda *given, **named: self.__get__(None)(*given, **named))
        self._module, self._name = module, name

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(self._module), self._name)
        return function
