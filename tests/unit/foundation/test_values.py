"""Frozen values behave as those of the standard decorator, and compile nothing where they are defined."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from bayeswise.foundation.values import dataclass

DECORATORS = {"standard": dataclasses.dataclass, "late": dataclass}


def described(decorate: Any) -> type:
    @decorate(frozen=True)
    class Described:
        name: str
        kind: str = "number"
        levels: list[str] = dataclasses.field(default_factory=list, hash=False)
        note: str = dataclasses.field(default="", compare=False, repr=False, kw_only=True)
        length: int = dataclasses.field(init=False, default=0)
        known: ClassVar[int] = 3

        def __post_init__(self) -> None:
            object.__setattr__(self, "length", len(self.name))

    return Described


def derived(decorate: Any) -> type:
    @decorate(frozen=True, eq=False, repr=False)
    class Derived(described(decorate)):  # type: ignore[misc]
        kind: str = "category"
        size: float = 1.0

    return Derived


def with_own_methods(decorate: Any) -> type:
    @decorate(frozen=True)
    class WithOwnMethods:
        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self))

        def __repr__(self) -> str:
            return "<own>"

    return WithOwnMethods


MADE: list[Callable[[type], Any]] = [
    lambda cls: inspect.signature(cls),
    lambda cls: [(field.name, field.type, field.init) for field in dataclasses.fields(cls)],
    lambda cls: repr(cls("a")).replace(hex(id(cls("a"))), ""),
    lambda cls: cls("a") == cls("a"),
    lambda cls: cls("a") == cls("b"),
    lambda cls: cls("a") == "a",
    lambda cls: hash(cls("a")) == hash(cls("a")),
    lambda cls: vars(cls("a")),
    lambda cls: cls("a", "count", ["x"], note="n").levels,
    lambda cls: cls("a").levels is cls("a").levels,
    lambda cls: dataclasses.replace(cls("a"), name="long"),
    lambda cls: dataclasses.asdict(cls("a")),
    lambda cls: copy.copy(cls("a")) == cls("a"),
    lambda cls: cls(),
    lambda cls: cls("a", unknown=1),
    lambda cls: cls("a", "b", [], "note"),
    lambda cls: setattr(cls("a"), "name", "b"),
    lambda cls: setattr(cls("a"), "other", "b"),
    lambda cls: delattr(cls("a"), "name"),
    lambda cls: setattr(type("Plain", (cls,), {})("a"), "other", "b"),
    lambda cls: setattr(type("Plain", (cls,), {})("a"), "name", "b"),
    lambda cls: cls.__match_args__,
    lambda cls: cls.__dataclass_params__.frozen,
]


def outcome(act: Callable[[type], Any], cls: type) -> str:
    try:
        found = act(cls)
    except (TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    return "an instance without a text of its own" if " object at 0x" in repr(found) else repr(found)


@pytest.mark.parametrize("made", [described, derived, with_own_methods])
@pytest.mark.parametrize("act", MADE, ids=range(len(MADE)))
def test_a_late_value_does_what_the_standard_one_does(made: Callable[[Any], type], act: Callable[[type], Any]) -> None:
    expected, found = (outcome(act, made(decorate)) for decorate in DECORATORS.values())
    assert found == expected


@pytest.mark.parametrize("base", DECORATORS)
@pytest.mark.parametrize("inner", DECORATORS)
def test_standard_and_late_values_inherit_from_each_other(base: str, inner: str) -> None:
    @DECORATORS[inner](frozen=True)
    class Wider(described(DECORATORS[base])):  # type: ignore[misc]
        size: int = 2

    assert (Wider("abc").length, Wider("abc").size) == (3, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Wider("abc").size = 3
    with pytest.raises(TypeError, match="frozen"):
        DECORATORS[inner](type("Open", (Wider,), {"__annotations__": {"x": "int"}}))


def test_a_method_is_compiled_when_it_is_first_asked_for() -> None:
    late = described(dataclass)
    assert not inspect.isfunction(vars(late)["__init__"])
    late("a")
    assert inspect.isfunction(vars(late)["__init__"])
    assert not inspect.isfunction(vars(late)["__eq__"])


@dataclass(frozen=True)
class Kept:
    """A value that is found by its name."""

    name: str


def test_a_value_that_was_read_and_never_made_is_compared() -> None:
    read = pickle.loads(pickle.dumps(Kept.__new__(Kept)))
    read.__dict__["name"] = "a"
    assert not inspect.isfunction(vars(Kept)["__init__"])
    assert read == Kept("a")
