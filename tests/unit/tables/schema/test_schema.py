"""A schema: checked when it is made, the same after a round trip through a document."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from bayeswise.foundation.errors import MissingColumnError, ParameterError, SchemaError, StoreError
from bayeswise.store.document import Document, pack, unpack
from bayeswise.tables.schema.columns import Column, Columns
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.schema import Schema, Target

TYPES = (Schema, Column, Columns, Target, Vocabulary)


def a_schema() -> Schema:
    return Schema(
        (
            Column("age", "number", missing="error"),
            Column("visits", "count"),
            Column("size", "category", "text", ["S", "M", "L"], missing="level", unseen="error", reason="declared"),  # type: ignore[arg-type]
            Column("odd", "category", "mixed", [1, "1", True, 1.0, "", " a", "nan", "\ud800\0\n🎉"]),  # type: ignore[arg-type]
            Column("flag", "binary", "boolean", [False, True]),  # type: ignore[arg-type]
            Column("note", "text"),
            Column("id", "ignored", reason="every value is different"),
        ),
        Target("fits", "integer", [0, 1]),  # type: ignore[arg-type]
        "weight",
    )


def test_columns_are_grouped_as_batches_hold_them() -> None:
    schema = a_schema()
    assert schema.numbers == ("age", "visits")
    assert schema.categories == ("size", "odd", "flag")
    assert schema.texts == ("note",)
    assert schema.ignored == ("id",)
    assert schema.used == ("age", "visits", "size", "odd", "flag", "note")


def test_a_document_gives_the_same_schema_back() -> None:
    again = unpack(pack(a_schema()), TYPES)
    assert again == a_schema()
    assert [type(level) for level in again["odd"].levels or ()][:4] == [int, str, bool, float]
    assert pack(again) == pack(a_schema())


def test_declared_levels_of_different_types_make_different_schemas() -> None:
    one, other = [Column("x", "category", "mixed", levels) for levels in ([1, "a"], [True, "a"])]  # type: ignore[arg-type]
    assert one != other


def test_declared_levels_keep_their_order() -> None:
    assert list(a_schema()["size"].levels or ()) == ["S", "M", "L"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([Column("a", "number"), Column(" a ", "number")], "one name"),
        ([Column("café", "number"), Column("cafe\u0301", "number")], "one name"),
        ([Column("fits", "number")], "one name"),
    ],
)
def test_two_columns_of_one_name_are_refused(columns: list[Column], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema(tuple(columns), Target("fits", "text"))


def test_a_column_without_a_name_is_refused() -> None:
    with pytest.raises(SchemaError, match="must have a name"):
        Column("  ", "number")


@pytest.mark.parametrize("setting", ["kind", "missing", "unseen"])
def test_an_impossible_setting_is_refused_with_the_possible_ones(setting: str) -> None:
    settings: dict[str, Any] = {"name": "x", "kind": "number", setting: "maybe"}
    with pytest.raises(ParameterError, match=r"is 'maybe'\. Fix: choose one of"):
        Column(**settings)


def test_a_flag_has_two_levels() -> None:
    with pytest.raises(SchemaError, match="has 3 levels"):
        Column("flag", "binary", "text", ["a", "b", "c"])  # type: ignore[arg-type]


def test_a_category_without_levels_to_declare_is_refused() -> None:
    with pytest.raises(SchemaError, match="no level at all"):
        Column("x", "category", "text", [])  # type: ignore[arg-type]


def test_a_mistyped_name_is_guessed() -> None:
    with pytest.raises(MissingColumnError, match="did you mean 'visits'"):
        a_schema()["Vists"]
    with pytest.raises(MissingColumnError, match="choose one of 'outlook', 'play'"):
        find_name("zzz", ["outlook", "play"], where="golf.csv")


NAMES, FORMS, FORM_OF = (["columns", "$plain", part] for part in range(3))


def damaged(path: list[Any], value: Any) -> Any:
    data: Any = copy.deepcopy(pack(a_schema()).tree)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["columns"], {}),
        ([*FORMS, 0], None),
        ([*FORMS, 0], {"name": "age"}),
        ([*FORMS, 0, "name"], 3),
        ([*FORMS, 0, "name"], ""),
        ([*FORMS, 0, "name"], "visits"),
        ([*FORMS, 0, "kind"], "number "),
        ([*FORMS, 0, "kind"], ["number"]),
        ([*FORMS, 0, "extra"], 1),
        ([*FORMS, 2, "labels"], None),
        ([*FORMS, 2, "labels"], "words"),
        ([*FORMS, 2, "levels", "$plain"], "SML"),
        ([*FORMS, 2, "levels"], "SML"),
        ([*FORMS, 2, "levels", "$plain"], []),
        ([*FORMS, 2, "levels", "$plain"], ["S", "S"]),
        ([*FORMS, 2, "levels", "$plain"], ["S", None]),
        ([*FORMS, 2, "levels", "$plain"], ["S", ["M"]]),
        ([*FORMS, 2, "levels", "$plain"], [1]),
        ([*FORMS, 2, "levels", "$plain"], [float("nan")]),
        ([*FORMS, 2, "unseen"], "panic"),
        ([*FORMS, 2, "reason"], None),
        (["columns", "$plain"], []),
        (NAMES, "age"),
        (NAMES, ["age"]),
        ([*NAMES, 0], "visits"),
        ([*NAMES, 0], "height"),
        ([*NAMES, 0], ""),
        ([*NAMES, 0], 3),
        ([*FORMS, 1], {"$type": "Target", "name": "visits", "labels": "text", "classes": None}),
        (FORM_OF, [0, 1, 2, 3, 4, 5]),
        (FORM_OF, [0, 1, 2, 3, 4, 5, 7]),
        (FORM_OF, [0, 1, 2, 3, 4, 5, 5]),
        (FORM_OF, [1, 0, 2, 3, 4, 5, 6]),
        ([*FORM_OF, 0], False),
        ([*FORM_OF, 0], -1),
        (["target"], "fits"),
        (["target", "classes", "$plain"], [0, "1"]),
        (["target", "labels"], None),
        (["weight"], 1),
        (["weight"], "age"),
        (["version"], 1),
    ],
)
def test_damage_in_a_file_is_a_store_error(path: list[Any], value: Any) -> None:
    with pytest.raises(StoreError):
        unpack(Document(damaged(path, value), {}), TYPES)


@pytest.mark.parametrize("data", [None, [], "schema", 3, {}])
def test_what_is_not_a_schema_at_all_is_a_store_error(data: object) -> None:
    with pytest.raises(StoreError):
        unpack(Document({"$type": "Schema", "$plain": data}, {}), TYPES)


def test_a_schema_reads_like_a_sentence() -> None:
    schema = Schema((Column("id", "ignored", reason="every value is different"), Column("age", "number")))
    assert repr(schema) == "Schema(id: ignored (every value is different), age: number)"


# -- many columns -------------------------------------------------------------------------------------------
def test_columns_that_differ_by_name_only_are_written_once() -> None:
    names = tuple(f"gene {k}" for k in range(500))
    schema = Schema((*(Column(name, "number") for name in names), Column("sex", "binary", "text")))
    assert [form.name for form in schema.forms] == ["gene 0", "sex"]
    written = json.dumps(pack(schema).tree)
    assert written.count('"Column"') == 2
    assert unpack(pack(schema), TYPES) == schema


def test_columns_alike_are_the_same_as_columns_one_by_one() -> None:
    names = ("a", "b", "c")
    alike = Schema(Columns.alike(names, "category", "integer"))
    single = Schema(tuple(Column(name, "category", "integer") for name in names))
    assert alike == single
    assert hash(alike) == hash(single)
    assert alike["b"] == single["b"] == Column("b", "category", "integer")
    assert alike.columns[-1].name == "c"
    assert alike.columns[:2] == tuple(single)[:2]
    assert alike != Schema(tuple(single)[:2])


@pytest.mark.parametrize("names", [("a", " "), ("a", ""), ("a", "\n")])
def test_among_many_names_one_that_says_nothing_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(SchemaError, match="must have a name"):
        Columns.alike(names, "number")


@pytest.mark.parametrize("twin", ["x7", " x7", "x7\n", "x7\u00a0"])
def test_among_many_names_two_that_read_the_same_are_refused(twin: str) -> None:
    with pytest.raises(SchemaError, match="one name"):
        Schema(Columns.alike((*(f"x{k}" for k in range(50)), twin), "number"))


def test_names_of_two_lines_are_two_names_of_nothing_else() -> None:
    assert Schema(Columns.alike(("a\nb", "a", "b"), "number")).numbers == ("a\nb", "a", "b")
