"""`dataclass` for frozen values whose methods are compiled when they are first asked for (ADR 24).

The standard decorator compiles six methods of a frozen class where it is defined, and a command defines hundreds of
classes of which it makes a few. This one leaves the fields to the standard decorator and puts the methods off. Type
checkers see the standard decorator; `fields`, `replace` and `asdict` work as ever.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, init=True, repr=True, eq=True, kw_only=False):
        """The decorator of the standard library; the methods of a frozen class are compiled late.

        >>> @dataclass(frozen=True)
        ... class Cell:
        ...     row: int
        ...     column: int = 0
        >>> Cell(2), Cell(2) == Cell(2, 0), dataclasses.replace(Cell(2), row=3).row
        (Cell(row=2, column=0), True, 3)
        >>> Cell(2).row = 3
        Traceback (most recent call last):
        dataclasses.FrozenInstanceError: cannot assign to field 'row'
        """

        def decorated(cls):
            if not frozen:
                return dataclasses.dataclass(cls, init=init, repr=repr, eq=eq, kw_only=kw_only)
            return _frozen(cls, init=init, repr=repr, eq=eq, kw_only=kw_only)

        return decorated if cls is None else decorated(cls)


def _frozen(cls: Any, *, init: bool, repr: bool, eq: bool, kw_only: bool) -> Any:
    own = cls.__dict__
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # the standard decorator would look for a signature
    has_hash = own.get("__hash__") is not None  # Python itself sets it to None beside an `__eq__`
    inherits = any("__dataclass_params__" in base.__dict__ for base in cls.__mro__[1:])
    dataclasses.dataclass(cls, init=False, repr=False, eq=False, kw_only=kw_only, frozen=inherits)
    cls.__dataclass_params__.frozen = True
    if init and "__init__" not in own:
        cls.__init__ = _Late(cls, "__init__")
    if repr and "__repr__" not in own:
        cls.__repr__ = _Late(cls, "__repr__")
    if eq and "__eq__" not in own:
        cls.__eq__ = _Late(cls, "__eq__")
    if eq and not has_hash:
        cls.__hash__ = _Late(cls, "__hash__")
    if not inherits:
        cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
    return cls


class _Late:
    """A method that compiles itself, and takes its own place, when it is first asked for."""

    def __init__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = _COMPILED[self._name](self._owner)
        method.__qualname__ = f"{self._owner.__qualname__}.{self._name}"
        method.__module__ = self._owner.__module__
        setattr(self._owner, self._name, method)
        return method.__get__(instance, owner)


class _Factory:
    """What stands in the signature for a default that is made anew for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _init(cls: Any) -> Any:
    known: dict[str, Any] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    parts: dict[bool, list[str]] = {False: [], True: []}  # by whether it is given by keyword alone
    lines, types = [], {}
    for field in dataclasses.fields(cls):
        name, value, has_factory = field.name, field.name, field.default_factory is not dataclasses.MISSING
        known[f"_default_{name}"] = field.default_factory if has_factory else field.default
        has_default = has_factory or field.default is not dataclasses.MISSING
        if has_factory:
            value = f"_default_{name}()"
        if field.init:
            default = ("=_FACTORY" if has_factory else f"=_default_{name}") if has_default else ""
            parts[field.kw_only is True].append(name + default)
            value = f"{value} if {name} is _FACTORY else {name}" if has_factory else name
            types[name] = field.type
        elif not has_factory:
            continue  # a default of the class, if there is one, is read from the class
        lines.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    given = ["self", *parts[False], *(["*", *parts[True]] if parts[True] else [])]
    method = _compiled("__init__", ", ".join(given), lines or ["pass"], known)
    method.__annotations__ = {**types, "return": None}
    return method


def _repr(cls: Any) -> Any:
    shown = ", ".join(f"{field.name}={{self.{field.name}!r}}" for field in dataclasses.fields(cls) if field.repr)
    return _compiled("__repr__", "self", [f'return f"{{self.__class__.__qualname__}}({shown})"'])


def _eq(cls: Any) -> Any:
    compared = [field.name for field in dataclasses.fields(cls) if field.compare]
    mine, others = _tuple_of("self", compared), _tuple_of("other", compared)
    lines = ["if other.__class__ is not self.__class__: return NotImplemented", f"return {mine} == {others}"]
    return _compiled("__eq__", "self, other", lines)


def _hash(cls: Any) -> Any:
    known = dataclasses.fields(cls)
    hashed = [field.name for field in known if (field.compare if field.hash is None else field.hash)]
    return _compiled("__hash__", "self", [f"return hash({_tuple_of('self', hashed)})"])


def _tuple_of(who: str, names: list[str]) -> str:
    return "(" + "".join(f"{who}.{name}, " for name in names) + ")"


def _compiled(name: str, parameters: str, lines: list[str], known: dict[str, Any] | None = None) -> Any:
    found: dict[str, Any] = {}
    body = "\n    ".join(lines)
    exec(f"def {name}({parameters}):\n    {body}", known or {}, found)
    return found[name]


_COMPILED = {"__init__": _init, "__repr__": _repr, "__eq__": _eq, "__hash__": _hash}


def _is_refused(self: object, name: str) -> bool:
    """A class that only inherits may have other attributes."""
    return "__dataclass_fields__" in type(self).__dict__ or name in type(self).__dataclass_fields__  # type: ignore[attr-defined]


def _refuse_to_set(self: object, name: str, value: object) -> None:
    if _is_refused(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: object, name: str) -> None:
    if _is_refused(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)
