"""Labels: known by type and value, and given back exactly as they came."""

from __future__ import annotations

import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from bayeswise.foundation.errors import SchemaError
from bayeswise.tables.schema.labels import Vocabulary, as_label, as_levels, label_key, label_of, label_type_of

AWKWARD = ["🎉🇩🇪", "שלום", "line\nbreak", "nul\0byte", "x" * 10_000, "", " a", "nan", "None", "101", "\ud800"]


def test_one_text_true_and_one_point_zero_are_four_labels() -> None:
    labels = Vocabulary([1, "1", True, 1.0])
    assert [labels.code(label) for label in (1, "1", True, 1.0)] == [0, 1, 2, 3]
    assert [type(label) for label in labels] == [int, str, bool, float]


def test_equal_numbers_of_different_types_make_different_vocabularies() -> None:
    assert Vocabulary([1]) != Vocabulary([True])
    assert Vocabulary([1]) != Vocabulary([1.0])
    assert hash(Vocabulary([1, "a"])) == hash(Vocabulary([np.int64(1), np.str_("a")]))


@pytest.mark.parametrize("label", AWKWARD, ids=range(len(AWKWARD)))
def test_awkward_text_comes_back_as_it_was(label: str) -> None:
    labels = Vocabulary([*AWKWARD])
    assert labels[labels.code(label)] == label


def test_minus_zero_and_zero_are_one_label() -> None:
    assert math.copysign(1.0, label_of(-0.0)) == 1.0
    with pytest.raises(SchemaError, match="named twice"):
        Vocabulary([0.0, -0.0])


@pytest.mark.parametrize("missing", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_a_missing_value_is_not_a_label(missing: float) -> None:
    with pytest.raises(SchemaError, match="must be finite"):
        label_of(missing)


@pytest.mark.parametrize("thing", [None, b"bytes", [1], (1,), 1j])
def test_what_is_not_a_label_is_refused_by_name_of_its_type(thing: object) -> None:
    with pytest.raises(SchemaError, match=type(thing).__name__):
        label_of(thing)


def test_canonical_order_puts_types_first_then_values() -> None:
    assert list(Vocabulary.of(["b", 10, 9, False, "a", 2.5])) == [False, 9, 10, 2.5, "a", "b"]


def test_numpy_scalars_are_found() -> None:
    assert np.int32(3) in Vocabulary([3])
    assert np.bool_(True) not in Vocabulary([1])
    assert [1] not in Vocabulary([1])


@pytest.mark.parametrize(
    ("cell", "label_type", "label"),
    [
        ("1", "integer", 1),
        (" -7 ", "integer", -7),
        ("12345678901234567890123", "integer", 12345678901234567890123),
        ("1_000", "integer", None),
        ("٣", "integer", None),
        ("1.5", "integer", None),
        ("2.0", "integer", 2),
        ("1e400", "number", None),
        ("1,5", "number", 1.5),
        ("1e3", "number", 1000.0),
        ("3a", "number", None),
        ("True", "boolean", True),
        ("yes", "boolean", None),
        ("true", "text", "true"),
        (" a", "text", " a"),
    ],
)
def test_text_from_a_file_becomes_a_label_of_the_schema_or_none(cell: str, label_type: str, label: object) -> None:
    found = as_label(cell, label_type, textual=True)  # type: ignore[arg-type]
    assert found == label
    assert type(found) is type(label)


@pytest.mark.parametrize(
    ("cell", "label_type", "label"),
    [
        ("1", "integer", None),
        (1, "text", None),
        (1.0, "integer", 1),
        (1.5, "integer", None),
        (1, "number", 1.0),
        (2**53 + 1, "number", None),
        (10**400, "number", None),
        (10**400, "integer", 10**400),
        (True, "integer", None),
        (1, "boolean", None),
        (True, "boolean", True),
        (1, "mixed", 1),
        ("1", "mixed", "1"),
    ],
)
def test_a_typed_cell_changes_its_type_only_where_nothing_is_lost(cell: object, label_type: str, label: object) -> None:
    found = as_label(cell, label_type, textual=False)  # type: ignore[arg-type]
    assert found == label
    assert type(found) is type(label)


def test_the_type_of_labels_is_what_they_share() -> None:
    assert label_type_of([True, False]) == "boolean"
    assert label_type_of([True, 1]) == "mixed"


def test_declared_levels_must_be_labels_of_their_column() -> None:
    assert as_levels([1, 2], "number", "grade") == (1.0, 2.0)
    with pytest.raises(SchemaError, match=r"'a' of column 'grade' is not a label of type integer"):
        as_levels([1, "a"], "integer", "grade")


@given(
    one=st.lists(st.sampled_from([3, -1, 2**70, 0, 1]), unique=True),
    other=st.lists(st.sampled_from([3, -1, 2**70, 0, 1, True, 1.0, "1"]), unique_by=repr),
)
def test_integers_by_themselves_are_what_they_are_among_other_labels(one: list[Any], other: list[Any]) -> None:
    mine, theirs = Vocabulary(one), Vocabulary(other)
    keys = [label_key(label) for label in other]
    assert mine.positions_in(theirs).tolist() == [keys.index(key) if key in keys else -1 for key in map(label_key, one)]
    assert [label_key(label) for label in mine.union(theirs)] == sorted({*map(label_key, one), *keys})
    assert mine.is_canonical == (one == sorted(one))
    assert mine.begins(theirs) == ([label_key(label) for label in one] == keys[: len(one)])


def test_an_integer_that_is_named_twice_is_refused() -> None:
    with pytest.raises(SchemaError, match="the label 3 is named twice"):
        Vocabulary([3, 1, 3])
