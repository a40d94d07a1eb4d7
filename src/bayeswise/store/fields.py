"""Which fields of a dataclass a document holds: those of its constructor, but none that came later and says nothing.

A field that is added to a class makes no older file unreadable, and no newer one different where it is not used; one
that gets another name keeps its own in documents.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Reading:
...     delimiter: str
...     null_word: str | None = added_later(None)
>>> written(Reading(",")), written(Reading(",", "?"))
({'delimiter': 'delimiter'}, {'delimiter': 'delimiter', 'null_word': 'null_word'})
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import Field, field, fields
from functools import cache
from inspect import get_annotations
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

_LATER = "bayeswise: added later"
_STORED = "bayeswise: stored as"


def added_later(default: Any) -> Any:
    """A field that older files do not have; its default means that it is absent, and is never written."""
    return field(default=default, metadata=stored_field({}, later=True))


def stored_field(metadata: Mapping[str, Any], name: str | None = None, later: bool = False) -> dict[str, Any]:
    """The metadata of a field that documents know by another name, or that older ones do not have."""
    return {**metadata, **({_LATER: True} if later else {}), **({_STORED: name} if name else {})}


def stored_name(kind: type) -> str:
    """What documents call a class: its name, or the one that it had when it was first stored, as `stored_name`."""
    return str(vars(kind).get("stored_name", kind.__name__))


def by_stored_name(types: Iterable[type]) -> dict[str, type]:
    """Types by what documents call them."""
    found: dict[str, type] = {}
    for kind in types:
        if found.setdefault(stored_name(kind), kind) is not kind:
            raise TypeError(f"two types are called {stored_name(kind)}")
    return found


def written(value: Any) -> dict[str, str]:
    """The fields that a document of the value has, by their names in it."""
    return {
        _stored(each): each.name
        for each in fields(value)
        if each.init and not (_LATER in each.metadata and _is_default(getattr(value, each.name), each.default))
    }


def _is_default(value: Any, default: Any) -> bool:
    """Whether a value is the default; None is compared by identity, because arrays compare cell by cell."""
    return value is None if default is None else bool(value == default)


def expected(kind: type[Any], found: Container[str]) -> dict[str, str]:
    """The fields that a document of the class must have, by their names in it, given those that were found there."""
    return {
        _stored(each): each.name
        for each in fields(kind)
        if each.init and (_LATER not in each.metadata or _stored(each) in found)
    }


def _stored(each: Field[Any]) -> str:
    return str(each.metadata.get(_STORED, each.name))


def check_field(kind: type, name: str, value: Any) -> None:
    """Raise `TypeError` if a dataclass cannot hold the value in this field."""
    hint = field_hint(kind, name)
    if not fits(value, hint):
        expected = getattr(hint, "__name__", hint)
        raise TypeError(f"{kind.__name__}.{name} is {value!r:.80}, which is not {expected}")


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the annotated type, as far as can be seen; a NumPy scalar counts as plain."""
    origin = get_origin(hint)
    if origin in _FITS_ORIGIN:
        return _FITS_ORIGIN[origin](value, get_args(hint))
    if getattr(origin, "__module__", "") == "numpy":
        return _fits_array(value, get_args(hint))
    kind = origin or hint
    if kind is Any or not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True
    plain = value.item() if _is_of_numpy(value, "generic") else value
    if kind in (int, float):
        return type(plain) in (int, kind)
    return isinstance(plain, kind)


_PLAIN = (str, int, float, bool)


@cache
def field_hint(kind: type, name: str) -> Any:
    """The type of one field; `later_types` of its class is called only for a name that the module does not import."""
    owner = next(each for each in kind.__mro__ if name in get_annotations(each))
    return field_hint(owner, name) if owner is not kind else _evaluated(owner, get_annotations(owner)[name])


def _evaluated(owner: type, annotation: Any) -> Any:
    known = vars(sys.modules[owner.__module__])
    named = known.get(annotation, vars(builtins).get(annotation))
    if isinstance(named, type):  # the name of a class needs no compiler
        return named
    holder = SimpleNamespace(__annotations__={"field": annotation})
    try:
        return get_type_hints(holder, known)["field"]
    except NameError:
        if not hasattr(owner, "later_types"):
            raise
        return get_type_hints(holder, {**known, **owner.later_types()})["field"]


def _fits_tuple(value: Any, hints: tuple[Any, ...]) -> bool:
    if type(value) is not tuple:
        return False
    if len(hints) == 2 and hints[1] is Ellipsis:
        alike = hints[0] in _PLAIN and set(map(type, value)) <= {hints[0]}  # thousands of names are seen at once
        return alike or all(fits(item, hints[0]) for item in value)
    return len(value) == len(hints) and all(map(fits, value, hints))


def _fits_mapping(value: Any, hints: tuple[Any, ...]) -> bool:
    key, item = hints
    return isinstance(value, Mapping) and all(fits(k, key) and fits(v, item) for k, v in value.items())


def _fits_literal(value: Any, choices: tuple[Any, ...]) -> bool:
    return any(type(value) is type(choice) and value == choice for choice in choices)


def _fits_array(value: Any, hints: tuple[Any, ...]) -> bool:
    """`NDArray[np.float64]` is np.ndarray[shape, np.dtype[np.float64]]."""
    (scalar,) = get_args(hints[1]) or (Any,)
    if not _is_of_numpy(value, "ndarray"):
        return False
    return not isinstance(scalar, type) or scalar is Any or issubclass(value.dtype.type, scalar)


def _is_of_numpy(value: Any, kind: str) -> bool:
    """Where NumPy is not loaded nothing is; the help needs declarations and no numbers."""
    return "numpy" in sys.modules and isinstance(value, getattr(sys.modules["numpy"], kind))


_FITS_ORIGIN: dict[Any, Callable[[Any, tuple[Any, ...]], bool]] = {
    Union: lambda value, hints: any(fits(value, hint) for hint in hints),
    UnionType: lambda value, hints: any(fits(value, hint) for hint in hints),
    Annotated: lambda value, hints: fits(value, hints[0]),
    Literal: _fits_literal,
    tuple: _fits_tuple,
    list: lambda value, hints: type(value) is list and all(fits(item, hints[0]) for item in value),
    Mapping: _fits_mapping,
    dict: _fits_mapping,
}
