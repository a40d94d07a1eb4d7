"""Our data classes are those of the standard library in all that can be seen of them."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import pydoc
import re
import sys
import typing
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, FrozenInstanceError, InitVar, asdict, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pytest

import bayeswise
from bayeswise.foundation.dataclass import dataclass

Decorator = Callable[..., Any]


def plain(dataclass: Decorator) -> type:
    @dataclass
    class Shape:
        """Says what it is."""

        a: int
        b: str = "b"
        c: ClassVar[int] = 3

    return Shape


def without_text(dataclass: Decorator) -> type:
    @dataclass(frozen=True)
    class Shape:
        a: int
        b: list[int] = field(default_factory=list)

    return Shape


def frozen(dataclass: Decorator) -> type:
    @dataclass(frozen=True)
    class Shape:
        """Frozen."""

        a: int
        b: float = field(default=2.0, repr=False, metadata={"unit": "m"})
        c: tuple[int, ...] = field(default_factory=tuple, compare=False)
        d: int = field(default=5, init=False)
        e: list[int] = field(default_factory=list, init=False, hash=False)

        @cached_property
        def doubled(self) -> int:
            return 2 * self.a

    return Shape


def by_keyword(dataclass: Decorator) -> type:
    @dataclass(frozen=True, kw_only=True, eq=False, repr=False)
    class Shape:
        """By keyword."""

        b: int = 1
        a: int

    return Shape


def some_by_keyword(dataclass: Decorator) -> type:
    @dataclass(eq=False)
    class Shape:
        """Some by keyword."""

        a: int
        b: int = 2
        _: KW_ONLY
        c: dict[str, int] = field(default_factory=dict)
        d: int = 4

    return Shape


def checked(dataclass: Decorator) -> type:
    @dataclass(frozen=True)
    class Shape:
        """Checked."""

        a: int
        half: float = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "half", self.a / 2)

    return Shape


def inherited(dataclass: Decorator) -> type:
    @dataclass(frozen=True)
    class Base:
        """Base."""

        a: int
        b: int = 2

        def __post_init__(self) -> None:
            if self.a < 0:
                raise ValueError("negative")

    @dataclass(frozen=True, repr=False)
    class Shape(Base):
        """Shape."""

        c: int = 3
        a: int = 10

    return Shape


def with_methods_of_its_own(dataclass: Decorator) -> type:
    @dataclass(frozen=True)
    class Shape:
        """Its own."""

        a: int

        def __init__(self, a: int) -> None:
            object.__setattr__(self, "a", a + 1)

        def __repr__(self) -> str:
            return f"<{self.a}>"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and self.a % 7 == other.a % 7

    return Shape


def with_a_hash_of_its_own(dataclass: Decorator) -> type:
    @dataclass
    class Shape:
        """Its own hash."""

        a: int

        def __hash__(self) -> int:
            return 7

    return Shape


def of_no_fields(dataclass: Decorator) -> type:
    @dataclass(frozen=True)
    class Shape:
        """Nothing."""

    return Shape


def abstract(dataclass: Decorator) -> type:
    @dataclass(frozen=True)
    class Shape(ABC):
        """Abstract."""

        a: int

        @abstractmethod
        def area(self) -> float: ...

    return Shape


def subclassed(dataclass: Decorator) -> type:
    class Shape(frozen(dataclass)):  # type: ignore[misc]
        """Not a data class itself."""

    return Shape


SHAPES = [
    plain, without_text, frozen, by_keyword, some_by_keyword, checked, inherited, with_methods_of_its_own,
    with_a_hash_of_its_own, of_no_fields, abstract, subclassed,
]  # fmt: skip


@pytest.fixture(params=SHAPES, ids=lambda shape: shape.__name__)
def pair(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """The same class by our decorator and by that of the standard library."""
    return request.param(dataclass), request.param(dataclasses.dataclass)


def outcome(action: Callable[[], Any]) -> object:
    try:
        return action()
    except Exception as error:
        return type(error), str(error)


ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}), ((1,), {}), ((1, 2), {}), ((-1,), {}), ((1, 2, 3, 4, 5), {}), ((), {"a": 1}), ((1,), {"a": 1}),
    ((), {"a": 1, "b": 2}), ((1,), {"c": (4,)}), ((), {"a": 1, "x": 2}), ((1,), {"d": 9}), ((1,), {"half": 9}),
]  # fmt: skip


def values(kind: Any) -> list[Any]:
    made = [outcome(lambda given=given, named=named: kind(*given, **named)) for given, named in ARGUMENTS]
    return [each for each in made if isinstance(each, kind)]


@pytest.mark.parametrize(("given", "named"), ARGUMENTS)
def test_values_are_created_from_the_same_arguments_or_refused_in_the_same_words(pair, given, named):
    ours, theirs = (outcome(lambda kind=kind: vars(kind(*given, **named))) for kind in pair)
    assert ours == theirs


def test_signature_help_and_text_are_the_same(pair):
    ours, theirs = pair
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__doc__ == theirs.__doc__
    assert pydoc.render_doc(ours) == pydoc.render_doc(theirs)
    assert ours.__init__.__annotations__ == theirs.__init__.__annotations__


def test_methods_have_the_same_names_and_modules(pair):
    ours, theirs = pair
    assert set(vars(ours)) == set(vars(theirs))
    for name in ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__"):
        mine, other = (getattr(kind, name) for kind in pair)
        assert type(mine) is type(other), name
        assert getattr(mine, "__qualname__", None) == getattr(other, "__qualname__", None)
        assert getattr(mine, "__module__", None) == getattr(other, "__module__", None)
        assert outcome(lambda mine=mine: str(inspect.signature(mine))) == outcome(
            lambda other=other: str(inspect.signature(other))
        )


def test_fields_and_parameters_are_the_same(pair):
    ours, theirs = pair
    assert is_dataclass(ours)
    described = ("name", "type", "default", "default_factory", "repr", "hash", "init", "compare", "metadata", "kw_only")
    assert [[getattr(each, name) for name in described] for each in fields(ours)] == [
        [getattr(each, name) for name in described] for each in fields(theirs)
    ]
    assert repr(ours.__dataclass_params__) == repr(theirs.__dataclass_params__)
    assert ours.__match_args__ == theirs.__match_args__
    assert [hasattr(ours, each.name) for each in fields(ours)] == [hasattr(theirs, each.name) for each in fields(ours)]


def test_values_are_shown_compared_and_hashed_alike(pair):
    ours, theirs = map(values, pair)
    assert len(ours) == len(theirs)
    if pair[1].__repr__ is not object.__repr__:
        assert list(map(repr, ours)) == list(map(repr, theirs))
    assert [[one == other for one in ours] for other in ours] == [[one == other for one in theirs] for other in theirs]
    assert [one == 1 for one in ours] == [one == 1 for one in theirs]
    assert issubclass(pair[0], Hashable) is issubclass(pair[1], Hashable)
    if pair[1].__hash__ is not object.__hash__:
        assert [outcome(lambda one=one: hash(one)) for one in ours] == [
            outcome(lambda one=one: hash(one)) for one in theirs
        ]


def test_values_are_frozen_alike(pair):
    for ours, theirs in zip(*map(values, pair), strict=True):
        for name in ("a", "b", "other"):
            assert outcome(lambda one=ours, name=name: setattr(one, name, 5)) == outcome(
                lambda one=theirs, name=name: setattr(one, name, 5)
            )
            assert outcome(lambda one=ours, name=name: delattr(one, name)) == outcome(
                lambda one=theirs, name=name: delattr(one, name)
            )
        assert vars(ours) == vars(theirs)


def test_values_are_replaced_copied_and_taken_apart_alike(pair):
    for ours, theirs in zip(*map(values, pair), strict=True):
        assert outcome(lambda one=ours: vars(replace(one, a=8))) == outcome(lambda one=theirs: vars(replace(one, a=8)))
        assert asdict(ours) == asdict(theirs)
        assert vars(copy.copy(ours)) == vars(copy.deepcopy(ours)) == vars(theirs)
        assert weakref.ref(ours)() is ours


def test_a_method_that_was_not_used_yet_works_on_values_that_init_did_not_create():
    for make in (frozen, plain):
        kind = make(dataclass)
        one, other = kind.__new__(kind), kind.__new__(kind)
        for each in (one, other):
            vars(each).update(a=1, b=2, c=(), e=[])
        assert one == other
        assert repr(one).startswith(kind.__qualname__ + "(a=1")


def test_each_method_is_compiled_once_at_its_first_use():
    kind = frozen(dataclass)
    late = {name: vars(kind)[name] for name in ("__init__", "__repr__", "__eq__", "__hash__")}
    assert not any(map(inspect.isfunction, late.values()))
    one = kind(1)
    assert inspect.isfunction(init := vars(kind)["__init__"])
    assert vars(kind)["__repr__"] is late["__repr__"]
    assert kind(1) == one
    assert hash(one) == hash(kind(1))
    assert vars(kind)["__init__"] is init
    assert inspect.isfunction(vars(kind)["__eq__"])


def test_a_cached_property_is_kept_in_a_frozen_value():
    one = frozen(dataclass)(4)
    assert one.doubled == 8
    assert vars(one)["doubled"] == 8


def test_a_value_in_itself_is_shown_by_dots():
    one = plain(dataclass)(1)
    one.b = one
    assert repr(one).endswith("(a=1, b=...)")


def test_a_constructor_calls_that_of_its_base():
    base = some_by_keyword(dataclass)

    class Wider(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__(1, d=9)

    assert (Wider().a, Wider().b, Wider().d) == (1, 2, 9)


@pytest.mark.parametrize("outer", [dataclass, dataclasses.dataclass])
@pytest.mark.parametrize("inner", [dataclass, dataclasses.dataclass])
def test_a_data_class_of_either_kind_inherits_from_the_other_and_only_from_one_that_is_as_frozen(inner, outer):
    base = frozen(inner)

    @outer(frozen=True)
    class Wider(base):  # type: ignore[misc, valid-type]
        more: int = 7

    assert [each.name for each in fields(Wider)] == ["a", "b", "c", "d", "e", "more"]
    assert Wider(1) == Wider(1, more=7) != Wider(1, more=8)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'a'"):
        Wider(1).a = 2
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        outer(type("Thawed", (base,), {}))
    with pytest.raises(TypeError, match="cannot inherit frozen dataclass from a non-frozen one"):
        outer(frozen=True)(type("Frozen", (plain(inner),), {}))


def test_annotations_of_a_constructor_are_found_in_the_module_of_its_class():
    assert typing.get_type_hints(frozen(dataclass).__init__)["c"] == tuple[int, ...]


def test_threads_may_create_the_first_value_together():
    kinds = [frozen(dataclass) for _ in range(50)]
    with ThreadPoolExecutor(8) as pool:
        for kind in kinds:
            assert [each.a for each in pool.map(kind, range(8))] == list(range(8))


@dataclass(frozen=True)
class Kept:
    """A value of this module, which pickle finds by its name."""

    a: int


def test_a_value_is_pickled():
    assert pickle.loads(pickle.dumps(Kept(3))) == Kept(3)


def test_a_frozen_class_with_a_setter_of_its_own_is_refused():
    with pytest.raises(TypeError, match="Cannot overwrite attribute __setattr__ in class Own"):
        dataclass(frozen=True)(type("Own", (), {"__setattr__": object.__setattr__}))


def test_what_this_package_does_not_use_is_refused():
    with pytest.raises(TypeError, match="order"):
        dataclass(order=True)

    @dataclass
    class Given:
        a: InitVar[int]

    with pytest.raises(TypeError, match="Given has an InitVar"):
        Given(1)


def test_a_field_without_a_default_after_one_that_has_one_is_refused():
    with pytest.raises((TypeError, SyntaxError), match="follows"):
        dataclass(type("Shape", (), {"__annotations__": {"a": "int", "b": "int"}, "a": 1}))(1, 2)


def test_the_constructor_of_a_frozen_value_is_as_fast_as_that_of_the_standard_library():
    ours, theirs = (frozen(each).__init__.__code__ for each in (dataclass, dataclasses.dataclass))
    assert len(ours.co_code) <= len(theirs.co_code), sys.version


def test_every_data_class_of_the_package_is_one_of_ours():
    package = Path(bayeswise.__file__).parent
    theirs = re.compile(r"^\s*(from dataclasses import .*\bdataclass\b|@dataclasses\.dataclass)", re.MULTILINE)
    found = {
        path.relative_to(package).as_posix() for path in package.rglob("*.py") if theirs.search(path.read_text("utf-8"))
    }
    assert found == {"foundation/dataclass.py"}  # for type checkers
