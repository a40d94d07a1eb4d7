"""Names of a package or class that are imported when they are first used: a file does not wait for all others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def late_names() -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """The names that the calling package imports `if TYPE_CHECKING`, and its `__getattr__` and `__dir__`.

    The code of a module keeps the names of a block that never runs, each module before what is imported from it: so
    they are written once, where type checkers and editors see them, and here each is imported when it is first used
    (ADR 22). A name that is also a file of the package is imported at once: to import the file would put it in its
    place.

    >>> from bayeswise import families
    >>> "Beta" in families.__all__, families.Beta.__module__
    (True, 'bayeswise.families.continuous.beta')
    >>> families.Gauss
    Traceback (most recent call last):
    AttributeError: module 'bayeswise.families' has no attribute 'Gauss'
    """
    caller = sys._getframe(1)
    known, code = caller.f_globals, caller.f_code
    package = known["__name__"]
    imported = {name for each in code.co_consts if isinstance(each, tuple) for name in each}
    home_of, module = dict[str, str](), ""
    for name in code.co_names:  # in the order in which they are met
        if "." in name or name == package:
            module = name
        elif name in imported and name not in known:
            home_of[name] = module

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = home_of[name]  # the package itself, if the name is a module of it
        known[name] = import_module(f"{home}.{name}") if home == package else getattr(import_module(home), name)
        return known[name]

    def names() -> list[str]:
        """The public names, and those that every module has."""
        return sorted({*known.get("__all__", home_of), *(name for name in known if name.startswith("__"))})

    return list(home_of), get, names


class LateFunction(staticmethod):  # type: ignore[type-arg]
    """A function of another module as a static method that is imported when it is first used: `help` shows it whole.

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
