"""What can be packed, what comes back, and what is refused on either side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from bayeswise.foundation.errors import StoreError
from bayeswise.foundation.exact import ExactArray
from bayeswise.store.document import Document, pack, unpack
from bayeswise.tables.schema.columns import Column, Columns
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema, Target


@dataclass(frozen=True)
class Part:
    name: str
    weight: float
    choice: Literal["a", "b"] = "a"
    values: NDArray[np.float64] | None = None
    derived: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "derived", 2 * self.weight)


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    plain: Any = None


@dataclass(frozen=True)
class Positive:
    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", 1.0 / self.value)


def test_a_nested_dataclass_comes_back_with_its_types() -> None:
    whole = Whole((Part("x", 1.5), Part("y", 2, "b")), plain={"k": [1, (2,)]})
    back = unpack(pack(whole), types=(Whole, Part))
    assert back == whole
    assert back.parts[0].derived == 3.0
    assert type(back.plain["k"]) is list
    assert type(back.plain["k"][1]) is tuple


def test_a_schema_is_a_value_like_any_other() -> None:
    schema = Schema((Column("age", "number"), Column("size", "category", "mixed", [1, "1"])), Target("y", "text"))
    assert unpack(pack(schema), types=(Schema, Column, Columns, Target, Vocabulary)) == schema


def test_labels_that_python_calls_equal_stay_apart() -> None:
    labels = Vocabulary([True, 1, 1.0, "1"])
    back = unpack(pack(labels), types=[Vocabulary])
    assert [type(label) for label in back] == [bool, int, float, str]
    assert len({pack(value).digest() for value in (True, 1, 1.0, "1", (1,), [1])}) == 6


def test_an_array_may_be_a_strided_view_in_any_byte_order() -> None:
    grid = np.arange(12, dtype=np.int64).reshape(3, 4)
    for view in (grid[:, ::2], grid.T, grid[::-1], grid.astype(">i8"), np.asfortranarray(grid)):
        back = unpack(pack(view), types=())
        assert back.tolist() == view.tolist()
        assert pack(view) == pack(np.array(view.tolist()))


def test_a_numpy_scalar_is_packed_as_the_plain_one() -> None:
    assert pack((np.float64(1.5), np.int32(3), np.bool_(True), np.str_("a"))) == pack((1.5, 3, True, "a"))


def test_an_integer_may_have_more_digits_than_python_reads() -> None:
    huge = -(10**5000)
    assert unpack(pack((huge, {"in a map": huge})), types=()) == (huge, {"in a map": huge})


class TextOfItsOwn(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [
        {1, 2},
        object(),
        b"bytes",
        1j,
        print,
        Part,
        TextOfItsOwn("a"),
        np.array([1], dtype=np.float32),
        np.array(["a"]),
        np.array([object()]),
        {(1, 2): 3},
        {float("nan"): 1},
    ],
    ids=lambda value: repr(value).split(" at 0x")[0],
)
def test_what_is_not_plain_data_is_refused_before_it_is_saved(value: Any) -> None:
    with pytest.raises(TypeError, match="plain data"):
        pack({"inside": (value,)})


def test_a_field_that_could_not_be_loaded_is_refused_before_it_is_saved() -> None:
    with pytest.raises(TypeError, match=r"Part\.choice is 'c'"):
        pack(Part("x", 1.0, "c"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Part\.values"):
        pack(Part("x", 1.0, values=np.array([1])))  # type: ignore[arg-type]


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(TypeError, match="deeper than 40"):
        pack(loop)


def test_the_deepest_value_that_is_packed_is_also_unpacked() -> None:
    value: Any = ExactArray.from_floats([1.0])
    while True:
        try:
            document = pack((value,))
        except TypeError:
            break
        value = (value,)
        assert unpack(document, types=()) == value


def test_a_tree_that_is_deeper_than_any_packed_value_is_refused() -> None:
    tree: Any = 1
    for _ in range(42):
        tree = [tree]
    with pytest.raises(StoreError, match="nested deeper than 40 levels"):
        unpack(Document(tree, {}), types=())


def test_two_types_of_one_name_are_ambiguous() -> None:
    with pytest.raises(TypeError, match="two types are called Part"):
        unpack(pack(1), types=(Part, type("Part", (), {})))


GOOD = pack(Part("x", 1.0)).tree


@pytest.mark.parametrize(
    ("tree", "what"),
    [
        ({"$type": "os.system"}, "not one of the expected types"),
        ({"$type": "Popen", "args": "true"}, "not one of the expected types"),
        ({"$type": ["Part"]}, "not one of the expected types"),
        ({**GOOD, "name": 3}, "Part.name is 3"),
        ({**GOOD, "weight": True}, "Part.weight is True"),
        ({**GOOD, "choice": "z"}, "Part.choice is 'z'"),
        ({**GOOD, "extra": 1}, "found the members"),
        ({"$type": "Part", "name": "x"}, "found the members"),
        (dict(reversed(GOOD.items())), "found the members"),
        ({"$type": "Positive", "value": 0}, "ZeroDivisionError"),
        ({"$type": "Positive", "value": 2.0}, "canonical"),
        ({"$type": "Vocabulary", "$plain": "ab"}, "canonical"),
        ({"$type": "Vocabulary", "$plain": ["a", "a"]}, "named twice"),
        ({"$type": "Vocabulary", "$plain": [None]}, "a label must be"),
        ({"$type": "Vocabulary", "$plain": [-0.0]}, "canonical"),
        ({}, "ValueError"),
        ({"a": 1}, "KeyError"),
        ({"$float": "1.5"}, "not a number that JSON cannot write"),
        ({"$float": ["inf"]}, "not a number that JSON cannot write"),
        ({"$int": "0x10"}, "canonical"),
        ({"$int": 16}, "TypeError"),
        ({"$text": "61"}, "canonical"),
        ({"$text": "zz"}, "ValueError"),
        ({"$text": "ff"}, "UnicodeDecodeError"),
        ({"$tensor": "/elsewhere"}, "a reference leads to"),
        ({"$tensor": ["/"]}, "a reference leads to"),
        ({"$exact": {"$tensor": "/"}, "low": 0}, "KeyError"),
        ({"$exact": [1], "low": 0}, "32-bit words"),
        ({"$map": [["a", 1], ["a", 2]]}, "a key occurs twice"),
        ({"$map": [[["a"], 1]]}, "TypeError"),
        ({"$map": [["a"]]}, "ValueError"),
        ({"$map": {"a": 1}}, "ValueError"),
        ({"$list": "ab"}, "is not a list"),
    ],
    ids=repr,
)
def test_a_tree_that_packing_would_not_write_is_refused(tree: Any, what: str) -> None:
    with pytest.raises(StoreError, match="the document is damaged") as caught:
        unpack(Document(tree, {}), types=(Part, Positive, Vocabulary))
    assert what in str(caught.value)


def test_an_error_says_where_in_the_document_it_is() -> None:
    tree = pack(Whole((Part("x", 1.0), Part("y", 2.0)))).tree
    tree["parts"][1]["weight"] = "heavy"
    with pytest.raises(StoreError, match=r"at /parts/1: TypeError: Part\.weight is 'heavy'"):
        unpack(Document(tree, {}), types=(Whole, Part))


@pytest.mark.parametrize(
    ("words", "low"),
    [
        (np.array([[1, 0]], dtype=np.uint32), 0),  # a limb that nobody needs
        (np.array([[0, 1]], dtype=np.uint32), 0),
        (np.array([[0]], dtype=np.uint32), 0),
        (np.array([[1]], dtype=np.int64), 0),
        (np.array([[1]], dtype=np.uint32), 401),
        (np.array([[1]], dtype=np.uint32), 10**9),
        (np.array([[1]], dtype=np.uint32), True),
        (np.ones((1, 1000), dtype=np.uint32), -400),
        (np.array(1, dtype=np.uint32), 0),
    ],
)
def test_an_exact_sum_has_one_form(words: np.ndarray, low: Any) -> None:
    with pytest.raises(StoreError, match="the document is damaged"):
        unpack(Document({"$exact": {"$tensor": "/"}, "low": low}, {"/": words}), types=())


def test_a_tensor_without_a_place_in_the_tree_is_refused() -> None:
    with pytest.raises(StoreError, match="canonical"):
        unpack(Document([1], {"/0": np.array([1.0])}), types=())


def test_a_document_is_described_in_one_line() -> None:
    assert repr(pack((1, np.array([2.0])))) == "Document(20 bytes, 1 tensors)"


@dataclass(frozen=True)
class RowsOfToday:
    cells: int
    stored_name: ClassVar[str] = "RowsOfYesterday"


def test_a_class_with_a_new_name_keeps_its_old_one_in_documents() -> None:
    document = pack(RowsOfToday(3))
    assert document.tree == {"$type": "RowsOfYesterday", "cells": 3}
    assert unpack(document, [RowsOfToday]) == RowsOfToday(3)
