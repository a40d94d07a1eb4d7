"""Overrides by the user, column by column; they beat what was inferred."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypedDict, TypeVar

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.tables.schema.columns import KINDS, LABELLED, Kind, MissingPolicy, UnseenPolicy
from bayeswise.tables.schema.labels import Label, label_of
from bayeswise.tables.schema.names import find_name

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Override:
    """The overrides of one column."""

    kind: Kind | None = None
    levels: tuple[Label, ...] | None = None
    missing: MissingPolicy = "ignore"
    unseen: UnseenPolicy = "smooth"
    flag_is_number: bool = False
    """A column of 0 and 1 stays one of numbers."""


@dataclass(frozen=True)
class Names:
    """The names of a table, to one of which every override must belong."""

    names: tuple[str, ...]
    where: str

    def find(self, name: object, role: str = "column") -> str:
        return find_name(str(name), self.names, where=self.where, role=role)

    def keyed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The overrides, by the names of the table."""
        return {self.find(name): value for name, value in given.items()}

    def mapped(self, given: Any, what: str) -> dict[str, Any]:
        """Overrides that are a mapping by column, or None."""
        if given is not None and not isinstance(given, Mapping):
            raise ParameterError(f"{what} is {given!r}, not a mapping by column", fix=f"write {what}={{column: ...}}")
        return self.keyed(given or {})


class SchemaOverrides(TypedDict, total=False):
    """The overrides that a user may give when a table is read.

    `levels` of a category are all it can have, `levels` of the target are its classes; `missing` and `unseen` are one
    policy for all columns or a mapping for some. `flags_as_numbers` are columns of which 0 and 1 are amounts and not
    answers, or True for all of them.
    """

    weight: str | None
    kinds: Mapping[str, Kind] | None
    levels: Mapping[str, Iterable[Label]] | None
    ignore: Iterable[str]
    missing: MissingPolicy | Mapping[str, MissingPolicy]
    unseen: UnseenPolicy | Mapping[str, UnseenPolicy]
    flags_as_numbers: bool | Iterable[str]


_DEFAULTS: SchemaOverrides = {
    "weight": None,
    "kinds": None,
    "levels": None,
    "ignore": (),
    "missing": Override.missing,
    "unseen": Override.unseen,
    "flags_as_numbers": Override.flag_is_number,
}


def spelling_overrides(function: Function) -> Function:
    """Put each override into the signature of a function that takes them as `**overrides`: `help` shows it.

    >>> @spelling_overrides
    ... def read(table, **overrides): ...
    >>> ", ".join(inspect.signature(read).parameters)
    'table, weight, kinds, levels, ignore, missing, unseen, flags_as_numbers'
    """
    signature = inspect.signature(function)
    kept = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    spelled = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=SchemaOverrides.__annotations__[name].__forward_arg__,
        )
        for name, default in _DEFAULTS.items()
    ]
    function.__signature__ = signature.replace(parameters=[*kept, *spelled])  # type: ignore[attr-defined]
    return function


@dataclass(frozen=True)
class Overrides:
    """All overrides, by the names of the table."""

    features: tuple[str, ...]
    target: str | None
    weight: str | None
    by_column: dict[str, Override]

    def __getitem__(self, name: str) -> Override:
        return self.by_column[name]


def overrides_for(names: Names, target: str | None, given: SchemaOverrides) -> Overrides:
    """All overrides, checked against the table.

    >>> overrides_for(Names(("zip", "y"), "a.csv"), "y", {"kinds": {"zip": "category"}})["zip"].kind
    'category'
    """
    target = None if target is None else names.find(target, role="target")
    weight = given.get("weight")
    weight = None if weight is None else names.find(weight, role="weight column")
    overrides = _by_column(names, given)
    _check_roles(target, weight, overrides)
    return Overrides(tuple(name for name in names.names if name not in (target, weight)), target, weight, overrides)


def _by_column(names: Names, given: SchemaOverrides) -> dict[str, Override]:
    levels = names.mapped(given.get("levels"), "levels")
    by_levels = {name: _declared(name, declared) for name, declared in levels.items()}
    kinds: dict[str, Kind] = names.mapped(given.get("kinds"), "kinds")
    by_kind = _kinds(names, kinds, _ignored(given.get("ignore", ())), by_levels)
    policies: dict[str, Any] = {what: policy for what, policy in given.items() if what in ("missing", "unseen")}
    some = {what: names.keyed(policy) for what, policy in policies.items() if isinstance(policy, Mapping)}
    numeric = given.get("flags_as_numbers", False)
    common = Override(
        **{what: policy for what, policy in policies.items() if what not in some}, flag_is_number=numeric is True
    )
    amounts = set() if isinstance(numeric, bool) else set(map(names.find, numeric))
    own = {
        name: replace(
            common,
            kind=by_kind.get(name),
            levels=by_levels.get(name),
            flag_is_number=common.flag_is_number or name in amounts,
            **{what: by_name[name] for what, by_name in some.items() if name in by_name},
        )
        for name in {*by_kind, *by_levels, *some.get("missing", {}), *some.get("unseen", {}), *amounts}
    }
    return {**dict.fromkeys(names.names, common), **own}


def _declared(name: str, levels: Iterable[Label]) -> tuple[Label, ...]:
    declared = tuple(map(label_of, levels))
    if not declared:
        raise ParameterError(f"column {name!r} declares no level at all", fix="name its levels, or leave it out")
    return declared


def _ignored(ignore: object) -> list[str]:
    if isinstance(ignore, str):
        return [ignore]
    if not isinstance(ignore, Iterable):
        raise ParameterError(f"ignore is {ignore!r}, not a list of columns", fix="write ignore=[column, ...]")
    return list(ignore)


def _kinds(
    names: Names, kinds: Mapping[str, Kind], ignore: Iterable[str], levels: Mapping[str, tuple[Label, ...]]
) -> dict[str, Kind]:
    by_kind: dict[str, Kind] = dict(kinds)
    for name, kind in by_kind.items():
        if kind not in KINDS:
            choices = ", ".join(map(repr, KINDS))
            raise ParameterError(f"kind of column {name!r} is {kind!r}", fix=f"choose one of {choices}")
        if name in levels and kind not in LABELLED:
            raise ParameterError(f"column {name!r} has levels and cannot be {kind}", fix="give one of them")
    for name in map(names.find, ignore):
        if by_kind.get(name, "ignored") != "ignored" or name in levels:
            raise ParameterError(f"column {name!r} is both kept and ignored", fix="give one of them")
        by_kind[name] = "ignored"
    return by_kind


def _check_roles(target: str | None, weight: str | None, overrides: Mapping[str, Override]) -> None:
    if target is not None and target == weight:
        raise ParameterError(f"column {target!r} cannot be both target and weight", fix="name two columns")
    if target is not None and overrides[target].kind not in (None, *LABELLED):
        raise ParameterError(
            f"column {target!r} is the target and cannot be {overrides[target].kind}",
            fix="use 'category', or leave it out",
        )
    if weight is not None and overrides[weight].kind is not None:
        raise ParameterError(f"column {weight!r} is the weight and has no kind", fix="leave it out of kinds and ignore")
