"""`dataclass` of the standard library, with methods that are compiled when they are first used: most never are.

The default fit of 14 rows loads 190 data classes and creates values of 110; it prints none and compares those of two.
The standard library compiles up to six methods of each when it is loaded: a fifth of the time of that fit (ADR 26).
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import MISSING, FrozenInstanceError, fields, is_dataclass, make_dataclass
from typing import TYPE_CHECKING, Any


def _dataclass(
    kind: type | None = None,
    /,
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    frozen: bool = False,
    kw_only: bool = False,
) -> Any:
    """`dataclasses.dataclass` with the parameters that this package uses, and without `InitVar`.

    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float
    ...     y: float = 0
    >>> Point(1) == Point(1, 0), {Point(1): "here"}
    (True, {Point(x=1, y=0): 'here'})
    >>> Point(1).x = 2
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to field 'x'
    """

    def completed(kind: Any) -> Any:
        own = dict(vars(kind))
        hashed = own.get("__hash__", MISSING) is not (None if "__eq__" in own else MISSING)  # `__eq__` alone sets None
        for name, enabled in (("__init__", init), ("__repr__", repr), ("__eq__", eq)):
            if enabled and name not in own:
                setattr(kind, name, _LateMethod(kind, name, frozen))
        if eq and not hashed:
            kind.__hash__ = _LateMethod(kind, "__hash__", frozen) if frozen else None
        inherits = any(map(is_dataclass, kind.__mro__[1:]))  # the library checks that all of them are frozen, or none
        dataclasses.dataclass(init=False, repr=False, eq=False, frozen=frozen and inherits, kw_only=kw_only)(kind)
        if frozen and not inherits:
            _freeze(kind)
        shown = kind.__dataclass_params__
        shown.init, shown.repr, shown.eq, shown.frozen = init, repr, eq, frozen
        return kind

    return completed if kind is None else completed(kind)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass


class _LateMethod:
    """Stands in a class for a method, which takes its place when it is first looked up."""

    def __init__(self, kind: type, name: str, frozen: bool) -> None:
        self._kind, self._name, self._frozen = kind, name, frozen

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        kind, name = self._kind, self._name
        method = _init_of(kind, self._frozen) if name == "__init__" else _borrowed(kind, name)
        _put(kind, method)
        return method.__get__(instance, owner)


def _put(kind: Any, method: Any) -> None:
    method.__module__ = kind.__module__
    method.__qualname__ = f"{kind.__qualname__}.{method.__name__}"
    setattr(kind, method.__name__, method)


def _borrowed(kind: Any, name: str) -> Any:
    """A method that the standard library compiles for a class of the same fields."""
    same = [(each.name, each.type, each) for each in fields(kind)]
    twin = make_dataclass(
        kind.__name__,
        same,
        namespace={"__doc__": kind.__doc__},  # without one, the library would write it
        init=False,
        repr=name == "__repr__",
        eq=name == "__eq__",
        unsafe_hash=name == "__hash__",
    )
    return getattr(twin, name)


def _freeze(kind: Any) -> None:
    """Refuse to set or delete fields; a subclass that is not a data class may have more attributes."""
    names = {each.name for each in fields(kind)}

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is kind or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(kind, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is kind or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(kind, self).__delattr__(name)

    for method in (__setattr__, __delattr__):
        if method.__name__ in vars(kind):
            raise TypeError(f"Cannot overwrite attribute {method.__name__} in class {kind.__name__}")
        method.__annotations__ = {}  # `help` shows them as those of the standard library
        _put(kind, method)


class _FromFactory:
    """What a signature shows as the default of a field with a factory."""

    def __repr__(self) -> str:
        return "<factory>"


def _init_of(kind: Any, frozen: bool) -> Any:
    """`__init__`: the standard library compiles that of a frozen class together with two more methods.

    Its text has the names of the fields; what they are set to by default is in `known`.

        def __init__(self, owner, fruit=__unset__):
            __set__(self, 'owner', owner)
            __set__(self, 'fruit', __new_fruit__() if fruit is __unset__ else fruit)
    """
    if any("InitVar" in str(each.type) for each in kind.__dataclass_fields__.values()):
        raise TypeError(f"{kind.__name__} has an InitVar. Fix: use dataclasses.dataclass.")
    known: dict[str, Any] = {"__set__": object.__setattr__, "__unset__": _FromFactory()}
    positional, keyword, lines, types = ["self"], list[str](), list[str](), dict[str, Any]()
    for each in fields(kind):
        name, value, default = each.name, each.name, ""
        if each.default_factory is not MISSING:
            new = f"__new_{name}__"
            known[new] = each.default_factory
            value, default = f"{new}() if {name} is __unset__ else {name}" if each.init else f"{new}()", "=__unset__"
        elif each.default is not MISSING:
            default = f"=__default_{name}__"
            known[default[1:]] = each.default
        if each.init:
            (keyword if each.kw_only else positional).append(name + default)
            types[name] = each.type
        if each.init or each.default_factory is not MISSING:
            lines.append(f"__set__(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(positional + (["*", *keyword] if keyword else []))
    text = "\n  ".join([f"def made({', '.join(known)}):\n def __init__({parameters}):", *(lines or ["pass"])])
    found: dict[str, Any] = {}
    exec(f"{text}\n return __init__", getattr(sys.modules.get(kind.__module__), "__dict__", {}), found)
    init = found["made"](**known)
    init.__annotations__ = types | {"return": None}
    return init
