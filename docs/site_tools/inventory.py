"""The public names, and what each of their parameters means.

A meaning stands in the docstring, in a block of lines `name   what it means`; that of a parameter which many functions
have in common (X, y, evidence, seed) stands once, in reference/parameters.toml.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from site_tools.docstrings import Docstring, taken_apart

ROOMS = (
    "families",
    "decisions",
    "evaluation",
    "networks",
    "diagrams",
    "posteriors",
    "explanations",
    "acquisition",
    "statistics",
    "models.hypotheses",
    "models.description_length",
)
"""Packages whose own public names are in the reference, beside those of `bayeswise`."""

PARAMETERS = Path(__file__).parents[1] / "reference" / "parameters.toml"


@cache
def shared_meanings() -> dict[str, str]:
    """What a parameter means wherever it occurs."""
    found: dict[str, str] = tomllib.loads(PARAMETERS.read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function: its default and type as text, empty where there are none."""

    name: str
    default: str
    type: str
    kind: Any
    meaning: str | None


@dataclass(frozen=True)
class Entry:
    """A public function, class, method or property."""

    name: str  # dotted, below the module
    value: Any
    kind: str  # "class", "function", "method", "classmethod", "staticmethod", "property", "exception"
    docstring: Docstring
    parameters: tuple[Parameter, ...]
    shown: inspect.Signature | None

    @property
    def undescribed(self) -> list[str]:
        """Parameters without a meaning."""
        return [parameter.name for parameter in self.parameters if not parameter.meaning]


def public_names() -> dict[str, str]:
    """Every public name that is not a module, with the module that it is imported from."""
    import bayeswise

    names = {name: "bayeswise" for name in bayeswise.__all__ if name not in ("__version__", *ROOMS)}
    at_the_top = {id(getattr(bayeswise, name)) for name in names}
    for room in ROOMS:
        module = import_module(f"bayeswise.{room}")
        for name in module.__all__:
            if id(getattr(module, name)) not in at_the_top:
                names.setdefault(f"{room}.{name}", f"bayeswise.{room}")
    return names


def listed(lines: list[str]) -> list[str]:
    """The names that lines of a reference page stand for: `decisions.*` is every name of that room."""
    rooms = [line.removesuffix("*") for line in lines]
    return [
        name
        for line, room in zip(lines, rooms, strict=True)
        for name in ([line] if line == room else [n for n in public_names() if n.rpartition(".")[0] == room[:-1]])
    ]


def fitted(line: str) -> tuple[Entry, list[Entry]]:
    """A kind of model and the chosen ones of its methods, from a line `models.auto.AutoModel: facts age`."""
    name, _, chosen = line.partition(": ")
    entry = entry_of(name)
    known = {member.name.rpartition(".")[2]: member for member in members(entry)}
    return entry, [known[method] for method in chosen.split()]


def entry_of(name: str) -> Entry:
    """A public name, as `Costs` or `decisions.FeatureRule`."""
    room, _, last = name.rpartition(".")
    value = getattr(import_module(f"bayeswise.{room}" if room else "bayeswise"), last)
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, Exception) else "class"
    else:
        kind = "function" if inspect.isroutine(value) else "data"
    return _entry(name, value, kind)


def members(entry: Entry) -> Iterator[Entry]:
    """The public methods and properties of a class that this package defines; those of a base class once."""
    if entry.kind != "class":
        return
    for name in _member_names(entry.value):
        value = inspect.getattr_static(entry.value, name)
        if isinstance(value, classmethod | staticmethod):
            kind = "staticmethod" if isinstance(value, staticmethod) else "classmethod"
            yield _entry(f"{entry.name}.{name}", getattr(entry.value, name), kind)
        elif isinstance(value, property) or type(value).__name__ == "cached_property":
            getter = value.fget if isinstance(value, property) else value.func
            yield _entry(f"{entry.name}.{name}", getter, "property")
        elif inspect.isfunction(value):
            yield _entry(f"{entry.name}.{name}", value, "method", _promised(entry.value, name))


def _member_names(owner: type) -> list[str]:
    """In the order of definition, those of the class before those of its bases."""
    names: dict[str, None] = {}
    for base in owner.__mro__:
        if base.__module__.startswith("bayeswise"):
            names.update(dict.fromkeys(name for name in vars(base) if not name.startswith("_")))
    return [name for name in names if _ours(inspect.getattr_static(owner, name))]


def _ours(value: Any) -> bool:
    function = getattr(value, "__func__", None) or getattr(value, "fget", None) or getattr(value, "func", None) or value
    return str(getattr(function, "__module__", "")).startswith("bayeswise")


def _promised(owner: type, name: str) -> str | None:
    """What the contract of families or of statistics says of a method that has no docstring of its own."""
    from bayeswise import families, statistics

    contracts = (families.Family, statistics.SufficientStatistics)
    contract = next((c for c in contracts if owner.__module__.startswith(c.__module__.rpartition(".")[0])), None)
    return inspect.getdoc(getattr(contract, name, None)) if contract else None


def _entry(name: str, value: Any, kind: str, otherwise: str | None = None) -> Entry:
    signature = _signature(value) if kind not in ("property", "data") else None
    names = list(signature.parameters) if signature else []
    docstring = taken_apart(_doc(value) or otherwise, names)
    parameters = tuple(
        Parameter(
            parameter.name,
            "" if parameter.default is parameter.empty else repr(parameter.default),
            _type_of(parameter.annotation),
            parameter.kind,
            docstring.meanings.get(parameter.name) or shared_meanings().get(place_of(name, parameter.name) or ""),
        )
        for parameter in (signature.parameters.values() if signature else ())
    )
    return Entry(name, value, kind, docstring, parameters, signature)


def place_of(owner: str, parameter: str) -> str | None:
    """Where the table describes a parameter: of this owner, of methods or classes of its name, else wherever it is."""
    places = (f"{owner}.{parameter}", f"{owner.rpartition('.')[2]}.{parameter}", parameter)
    return next((place for place in places if place in shared_meanings()), None)


def _doc(value: Any) -> str | None:
    """The docstring, if it is not the one that dataclasses write."""
    text = inspect.getdoc(value)
    return None if text and inspect.isclass(value) and text.startswith(f"{value.__name__}(") else text


def _signature(value: Any) -> inspect.Signature | None:
    if getattr(value, "_is_protocol", False) or not callable(value):
        return None
    try:
        signature = inspect.signature(value)
    except ValueError:  # what Python itself defines, such as warnings
        return None
    inner = [p for p in signature.parameters.values() if p.name not in ("self", "cls") and not p.name.startswith("_")]
    return signature.replace(parameters=inner)


def _type_of(annotation: Any) -> str:
    """An annotation as text, where it says something."""
    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return "" if text == "Any" else text.strip("'")
