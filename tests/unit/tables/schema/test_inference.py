"""What columns are taken for, and why."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayeswise.foundation.errors import BayeswiseError, MissingColumnError, NonFiniteError, ParameterError, SchemaError
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.inference import Examination, examine, infer_schema
from bayeswise.tables.schema.kinds import Finding, infer_kind
from bayeswise.tables.schema.overrides import Override
from bayeswise.tables.schema.profile import extremes
from bayeswise.tables.source import open_source
from bayeswise.tables.sources.table import TableSource

CsvOf = Callable[..., Path]


@pytest.fixture
def csv_of(tmp_path: Path) -> CsvOf:
    """Write columns as a CSV file and give its path."""

    def write(**columns: list[str]) -> Path:
        path = tmp_path / "table.csv"
        lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def finding(table: object, name: str = "x", **options: Any) -> Finding:
    examination = examine(open_source(table), **options)
    return next(found for found in examination.findings if found.column.name == name)


def column(table: object, name: str = "x", **options: Any) -> Column:
    return infer_schema(open_source(table), **options)[name]


def what(column: Column) -> tuple[str, str]:
    return column.kind, column.reason


# -- text files -----------------------------------------------------------------------------------------------
def test_yes_and_no_stay_text(csv_of: CsvOf) -> None:
    answers = column(csv_of(x=["yes", "no"] * 3))
    assert (answers.kind, answers.labels) == ("category", "text")


def test_true_and_false_in_a_text_file_stay_text(csv_of: CsvOf) -> None:
    flags = column(csv_of(x=["true", "False"] * 3))
    assert (flags.kind, flags.labels) == ("category", "text")


def test_leading_zeros_make_labels(csv_of: CsvOf) -> None:
    zips = column(csv_of(x=["0007", "0012"] * 3))
    assert (*what(zips), zips.labels) == ("category", "labels with leading zeros", "text")


def test_leading_zeros_that_are_all_different_are_an_id(csv_of: CsvOf) -> None:
    assert what(column(csv_of(x=["0007", "0008", "0009", "0010"]))) == ("ignored", "every value is different")


def test_numbers_with_missing_values_are_numbers_and_null_words_are_counted(csv_of: CsvOf) -> None:
    found = finding(csv_of(x=["1.5", "NA", "?", "NA", "2.5", "8"], y=list("aabbab")))
    assert found.column.kind == "number"
    assert "null words: ? 1, NA 2" in found.note


def test_null_words_are_what_the_user_says(csv_of: CsvOf) -> None:
    path = csv_of(x=["1.5", "-", "3", "NA", "NA"])
    found = examine(open_source(path, null_words=("-",)), kinds={"x": "category"}).findings[0]
    assert dict(found.profile.null_words) == {"-": 1}
    assert dict(found.profile.levels)["NA"] == 2


def test_one_invalid_value_in_a_hundred_is_missing_and_reported_with_its_line(csv_of: CsvOf) -> None:
    found = finding(csv_of(x=[str(k % 7 + 0.5) for k in range(99)] + ["3a"]))
    assert found.problem is None
    assert found.column.kind == "number"
    assert "'3a' (line 101)" in found.note
    assert "'3a' (line 101)" in found.advice[0].what
    assert "--category x" in found.advice[0].fix


@pytest.mark.parametrize("place", [0, 40, 98])
def test_more_than_one_invalid_value_in_a_hundred_is_an_error_wherever_it_stands(csv_of: CsvOf, place: int) -> None:
    cells = [str(k % 7 + 0.5) for k in range(98)]
    cells.insert(place, "3a")
    with pytest.raises(SchemaError, match=r"1 of its 99 cells are not: '3a' \(line \d+\).*kinds=\{'x': 'category'\}"):
        column(csv_of(x=cells))


def test_a_column_of_invalid_values_becomes_a_category_on_request(csv_of: CsvOf) -> None:
    sizes = column(csv_of(x=["1", "2", "3a", "1"]), kinds={"x": "category"})
    assert (*what(sizes), sizes.labels) == ("category", "declared", "text")


def test_a_declared_number_without_a_number_has_no_range(csv_of: CsvOf) -> None:
    found = examine(open_source(csv_of(x=["new", "old", "new"])), kinds={"x": "number"}).findings[0]
    assert found.note == "3 cells are not numeric: 'new' (line 2), …"


def test_text_with_a_few_numbers_is_text_without_complaint(csv_of: CsvOf) -> None:
    assert column(csv_of(x=["S", "M", "38", "S", "M", "M"])).kind == "category"


def test_integers_with_few_values_are_numbers_with_a_question(csv_of: CsvOf) -> None:
    found = finding(csv_of(x=[str(k % 12) for k in range(48)]))
    assert found.column.kind == "number"
    assert found.note.startswith("number (12 values) - category?")


def test_dates_in_text_are_ignored_as_dates_in_frames_are(csv_of: CsvOf) -> None:
    in_text = column(csv_of(x=["2024-02-29", "2024-03-01"] * 3))
    in_frame = column(pd.DataFrame({"x": pd.to_datetime(["2024-02-29", "2024-03-01"] * 3)}))
    assert in_text == in_frame
    assert what(in_text) == ("ignored", "dates and times")


@pytest.mark.parametrize("moment", ["2024-02-29T12:30:00Z", "29.2.2024", "2/29/2024 12:30", "2024/02/29", "12:30:05.5"])
def test_dates_are_known_in_many_writings(csv_of: CsvOf, moment: str) -> None:
    assert column(csv_of(x=[moment, moment.replace("2", "1", 1)] * 3)).kind == "ignored"


@pytest.mark.parametrize("label", ["1-2", "12-3456", "10:1", "1.2.3.4", "2024", "A-2024-01-01"])
def test_what_only_resembles_a_date_is_a_label(csv_of: CsvOf, label: str) -> None:
    assert column(csv_of(x=[label, "other"] * 3)).kind == "category"


def test_free_text_is_several_words_mostly_different(csv_of: CsvOf) -> None:
    assert what(column(csv_of(x=[f"this is remark {k}" for k in range(6)]))) == ("text", "free text")
    assert column(csv_of(x=["New York City", "Rio de Janeiro"] * 5)).kind == "category"


def test_integers_beyond_two_to_the_fifty_three_are_ids(csv_of: CsvOf) -> None:
    wide = ["12345678901234567890", "12345678901234567891", "5"] * 2
    found = finding(csv_of(x=wide))
    assert found.column.kind == "ignored"
    assert "2^53" in found.note
    kept = column(csv_of(x=wide), kinds={"x": "category"})
    assert (kept.kind, kept.labels) == ("category", "integer")


# -- any table ------------------------------------------------------------------------------------------------
def test_every_text_different_is_an_id_with_the_way_to_keep_it() -> None:
    found = finding({"x": ["a1", "b2", "c3", "d4", None]})
    assert what(found.column) == ("ignored", "every value is different")
    assert found.hint == "keep it with kinds={'x': 'category'} or --category x"
    assert column({"x": ["a1", "b2", "c3", "d4"]}, kinds={"x": "category"}).kind == "category"


def test_row_numbers_are_ids_and_other_different_numbers_are_not() -> None:
    assert what(column({"x": list(range(5, 25))})) == ("ignored", "every value is different")
    assert column({"x": [k * k for k in range(20)]}).kind == "number"
    assert column({"x": [1, 2, 3, 4]}).kind == "number"


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "customerId", "row.id", "user key", "Index"])
def test_different_numbers_that_are_named_like_an_id_are_one(name: str) -> None:
    assert column({name: [10, 17, 3, 99]}, name).kind == "ignored"


@pytest.mark.parametrize("name", ["paid", "humid", "monkey", "acid", "casino", "idle"])
def test_a_name_that_only_ends_like_an_id_is_none(name: str) -> None:
    assert column({name: [10, 17, 3, 99]}, name).kind == "number"


@pytest.mark.parametrize("cells", [["a", "a", None], [1, 1, 1], [1.5, float("nan"), 1.5], [0.0, -0.0, 0.0]])
def test_a_constant_is_ignored(cells: list[Any]) -> None:
    assert what(column({"x": cells})) == ("ignored", "only one value")


@pytest.mark.parametrize("cells", [[None, None, None], [float("nan")] * 3])
def test_a_column_of_missing_values_is_ignored(cells: list[Any]) -> None:
    assert what(column({"x": cells})) == ("ignored", "every cell is missing")


def test_flags_are_binary_with_both_states_declared() -> None:
    flags = column({"x": [True, False, None]})
    assert (flags.kind, flags.labels, list(flags.levels or ())) == ("binary", "boolean", [False, True])


def test_two_words_are_a_category_since_a_third_may_come() -> None:
    assert column({"x": ["m", "f", "m", "f"]}).kind == "category"
    assert column({"x": ["m", "f", "m", "f"]}, kinds={"x": "binary"}).kind == "binary"


def test_strings_of_a_frame_stay_strings_with_a_note() -> None:
    found = finding(pd.DataFrame({"x": ["101", "102", "101", "102", "NA", "NA"] * 4}))
    assert (found.column.kind, found.column.labels) == ("category", "text")
    found = finding(pd.DataFrame({"x": ["101", "102", "101", "102"]}))
    assert found.advice[0].what == "the cells are text that reads as numbers"
    assert column(pd.DataFrame({"x": ["101", "102", "101", "102"]}), kinds={"x": "number"}).kind == "number"


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([[1], [2, 3]] * 3, "lists and structs are not single values"),
        ([{"a": 1}, {"a": 2}] * 3, "lists and structs are not single values"),
        ([b"1", b"2"] * 3, "bytes have no meaning of their own"),
        ([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)] * 3, "dates and times"),
        ([datetime.timedelta(1), datetime.timedelta(2)] * 3, "dates and times"),
    ],
)
def test_cells_that_are_not_single_values_are_ignored(cells: list[Any], reason: str) -> None:
    assert what(column({"x": cells})) == ("ignored", reason)


def test_declared_levels_are_kept_in_their_order_seen_or_not() -> None:
    sizes = pd.Categorical(["M", "S", "M"], categories=["S", "M", "L", "XL"], ordered=True)
    found = column(pd.DataFrame({"x": sizes}))
    assert what(found) == ("category", "its levels are declared")
    assert list(found.levels or ()) == ["S", "M", "L", "XL"]


def test_levels_can_be_declared_by_hand(csv_of: CsvOf) -> None:
    found = column(csv_of(x=["M", "S", "M"]), levels={"x": ["S", "M", "L"]})
    assert found == column(pd.DataFrame({"x": pd.Categorical(["M", "S", "M"], categories=["S", "M", "L"])}))


def test_numbers_of_a_file_can_be_declared_as_text_or_as_integers(csv_of: CsvOf) -> None:
    path = csv_of(x=["1", "2", "1"])
    assert column(path, levels={"x": ["1", "2", "3"]}).labels == "text"
    assert column(path, levels={"x": [1, 2, 3]}).labels == "integer"


def test_levels_of_another_type_than_the_cells_are_refused() -> None:
    with pytest.raises(SchemaError, match="is not a label of type integer"):
        column({"x": [1, 2, 1]}, levels={"x": ["1", "2"]})


def test_labels_of_several_types_in_one_column_are_mixed() -> None:
    mixed = column({"x": [1, "a", True, 2.5] * 2})
    assert (mixed.kind, mixed.labels) == ("category", "mixed")


def test_one_word_among_python_numbers_is_an_error_as_in_a_file() -> None:
    with pytest.raises(SchemaError, match=r"'3a' \(row 3\)"):
        column({"x": [1, 2, "3a", 4]})


def test_infinity_is_an_error_that_names_the_column() -> None:
    with pytest.raises(NonFiniteError, match=r"column 'x' has 1 infinite cell\..*--ignore x"):
        column({"x": [1.0, float("inf"), 2.0]})
    assert column({"x": [1.0, float("inf"), 2.0]}, ignore=["x"]).kind == "ignored"


def test_half_of_the_cells_missing_is_worth_a_word() -> None:
    assert finding({"x": [1.0, 2.5, None, None, None]}).advice[0].what == "60 % of the cells are missing"


def test_many_levels_are_worth_a_word() -> None:
    names = [f"city{k % 30}" for k in range(40)]
    assert finding({"x": names}).advice[0].what == "30 different values in 40 cells: an id?"


def test_more_than_a_million_levels_are_not_a_category() -> None:
    few = finding({"x": ["a", "b", "a", "b"]}).profile
    many = replace(few, rows=9_000_000, invalid=9_000_000, distinct=1_000_001, distinct_exact=False, levels=())
    assert what(infer_kind(many, False, Override()).column) == ("ignored", "more than a million different values")
    assert infer_kind(many, False, Override(kind="category")).column.kind == "category"


def test_an_id_in_a_wide_table_is_known_by_its_estimated_number_of_values() -> None:
    few = finding({"x": ["a", "b", "a", "b"]}).profile
    ids = replace(few, rows=100_000, invalid=100_000, distinct=99_200, distinct_exact=False, levels=())
    assert what(infer_kind(ids, False, Override()).column) == ("ignored", "every value is different")


def test_columns_whose_name_is_not_a_text_are_selected_by_number() -> None:
    frame = pd.DataFrame([[1, 5.5], [2, 6.5], [1, 9.5]])
    schema = infer_schema(open_source(frame), kinds={0: "category"}, ignore=[1])  # type: ignore[dict-item, list-item]
    assert [(column.name, column.kind) for column in schema] == [("0", "category"), ("1", "ignored")]


# -- what the user overrides ----------------------------------------------------------------------------------------
def test_a_count_is_requested_and_checked() -> None:
    assert column({"x": [0, 3, 1, 0]}, kinds={"x": "count"}).kind == "count"
    assert column({"x": [0.0, 3.0, None, 0.0]}, kinds={"x": "count"}).kind == "count"
    for cells in ([0, -1, 2], [0.5, 1.0, 2.0]):
        with pytest.raises(SchemaError, match="cannot be a count"):
            column({"x": cells}, kinds={"x": "count"})


def test_a_flag_with_three_values_is_refused() -> None:
    with pytest.raises(SchemaError, match="3 different values and cannot be binary"):
        column({"x": ["a", "b", "c", "a"]}, kinds={"x": "binary"})


def test_lists_cannot_be_labels() -> None:
    with pytest.raises(SchemaError, match="holds nested cells"):
        column({"x": [[1], [2]]}, kinds={"x": "category"})


def test_dates_can_be_kept_as_labels_and_not_as_numbers() -> None:
    days = pd.DataFrame({"x": pd.to_datetime(["2024-02-29", "2024-03-01"] * 3)})
    assert column(days, kinds={"x": "category"}).labels == "text"
    with pytest.raises(SchemaError, match="holds temporal cells"):
        column(days, kinds={"x": "number"})


@pytest.mark.parametrize("options", [{"kinds": {"tempreature": "number"}}, {"levels": {"tempreature": ["a"]}},
                                   {"ignore": ["tempreature"]}, {"missing": {"tempreature": "error"}}])  # fmt: skip
def test_an_unknown_name_is_an_error_that_guesses(options: dict[str, Any]) -> None:
    with pytest.raises(MissingColumnError, match="did you mean 'temperature'"):
        infer_schema(open_source({"temperature": [1, 2, 4]}), **options)


def test_contradictions_are_errors() -> None:
    source = open_source({"x": [1, 2, 4], "y": ["a", "b", "a"]})
    for options in (
        {"kinds": {"x": "number"}, "ignore": ["x"]},
        {"kinds": {"x": "number"}, "levels": {"x": [1, 2]}},
        {"kinds": {"x": "nominal"}},
        {"target": "y", "kinds": {"y": "number"}},
        {"target": "y", "ignore": ["y"]},
        {"target": "y", "weight": "y"},
        {"weight": "x", "kinds": {"x": "number"}},
        {"missing": "skip"},
        {"unseen": {"x": "guess"}},
    ):
        with pytest.raises(ParameterError):
            infer_schema(source, **options)


def test_policies_are_for_all_columns_or_for_some() -> None:
    source = open_source({"x": [1, 2, 4], "z": ["a", "b", "a"]})
    assert [c.missing for c in infer_schema(source, missing="error")] == ["error", "error"]
    assert [c.unseen for c in infer_schema(source, unseen={"z": "ignore"})] == ["smooth", "ignore"]


# -- the target and the weight --------------------------------------------------------------------------------
def target_of(cells: list[Any], **options: Any) -> Examination:
    return examine(open_source({"x": list(range(len(cells))), "y": cells}), "y", **options)


@pytest.mark.parametrize(
    ("cells", "label_type"),
    [("ab", "text"), ([0, 1], "integer"), ([0.0, 1.0], "number"), ([True, False], "boolean"), ([1, "1"], "mixed")],
)
def test_a_target_has_labels_of_any_type(cells: list[Any], label_type: str) -> None:
    schema = target_of([*cells, *cells]).schema
    assert schema.target is not None
    assert schema.target.labels == label_type


def test_classes_are_counted_and_rows_without_one_are_reported() -> None:
    found = target_of(["b", "a", None, "b"]).target
    assert found is not None
    assert found.classes == (("a", 1), ("b", 2))
    assert found.without == 1
    assert found.advice[0].what == "1 of 4 rows have no target and are left out"


def test_numbers_of_a_file_are_integer_classes(csv_of: CsvOf) -> None:
    found = examine(open_source(csv_of(y=["1", "0", "1"], x=["3", "4", "9"])), "y").target
    assert found is not None
    assert found.classes == ((0, 1), (1, 2))


def test_a_measurement_is_not_a_class_unless_one_insists() -> None:
    cells = [k + 0.5 for k in range(30)]
    with pytest.raises(SchemaError, match=r"measurement with 30 different values.*regression"):
        _ = target_of(cells).schema
    assert target_of(cells, kinds={"y": "category"}).schema.target is not None


def test_declared_classes_stand_in_their_order_seen_or_not() -> None:
    found = target_of(["b", "a"], levels={"y": ["c", "b", "a"]})
    assert found.target is not None
    assert found.target.classes == (("c", 0), ("b", 1), ("a", 1))
    assert found.schema.target is not None
    assert list(found.schema.target.classes or ()) == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("cells", "error"),
    [([None, None], SchemaError), ([[1], [2]], SchemaError), ([1.0, float("inf")], NonFiniteError)],
)
def test_a_target_that_cannot_be_learned_is_an_error(cells: list[Any], error: type[BayeswiseError]) -> None:
    with pytest.raises(error, match="the target 'y'"):
        _ = target_of(cells).schema


def test_a_target_that_is_not_there_is_guessed() -> None:
    with pytest.raises(MissingColumnError, match=r"has no target 'pley'\. Fix: did you mean 'play'\?"):
        examine(open_source({"play": ["a", "b"]}), "pley")


def test_single_classes_and_single_rows_are_reported() -> None:
    assert "only the class a" in target_of(["a", "a"]).advice[0].what
    assert "a single row has the class b" in target_of(["a", "a", "b"]).advice[0].what


@pytest.mark.parametrize("weights", [[1.0, -1.0], [1.0, None], [1.0, float("inf")], [0.0, 0.0], ["1", "heavy"]])
def test_weights_that_are_none_are_refused(weights: list[Any]) -> None:
    source = open_source({"x": [1, 2], "w": weights})
    with pytest.raises(SchemaError, match="weight"):
        infer_schema(source, weight="w")


def test_the_weight_and_the_target_are_not_features() -> None:
    schema = infer_schema(open_source({"x": [1, 2], "w": [0, 2], "y": ["a", "b"]}), "y", weight="w")
    assert [column.name for column in schema] == ["x"]
    assert schema.weight == "w"


def test_nothing_in_a_schema_counts_rows() -> None:
    rows = {"x": ["a", "b", "a"], "n": [1.5, 2.5, 1.5], "id": ["p", "q", "r"], "y": ["u", "v", "u"]}
    once = infer_schema(open_source({name: cells * 4 + cells for name, cells in rows.items()}), "y")
    more = infer_schema(open_source({name: cells * 9 for name, cells in rows.items()}), "y")
    assert once == more


def test_columns_that_differ_by_name_only_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    check = Column.__post_init__

    def noted(column: Column) -> None:
        made.append(column.name)
        check(column)

    monkeypatch.setattr(Column, "__post_init__", noted)
    values = np.arange(300.0).reshape(3, 100) * 1.5
    frame = pd.DataFrame(values, columns=[f"gene{k}" for k in range(100)]).assign(y=["a", "b", "a"])
    schema = infer_schema(open_source(frame), "y", missing={"gene7": "error"}, ignore=["gene3"])
    assert sorted(made) == ["gene0", "gene3", "gene7"]
    assert schema == examine(open_source(frame), "y", missing={"gene7": "error"}, ignore=["gene3"]).schema
    assert (schema["gene7"].missing, schema["gene3"].kind, schema["gene99"].name) == ("error", "ignored", "gene99")


def test_what_a_parquet_file_states_of_its_numbers_is_what_a_sweep_finds(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "plain": [1.5, None, -2.0, 7.25] * 50,
            "counted": range(200),
            "gaps": [1, 1, None, 9] * 50,
            "flag": [0.0, 1.0, 1.0, None] * 50,
            "text": ["a", "b", "c", "d"] * 50,
            "empty": pl.Series([None] * 200, dtype=pl.Float64),
        }
    )
    frame.write_parquet(tmp_path / "numbers.parquet", row_group_size=30)
    source = open_source(tmp_path / "numbers.parquet")
    assert isinstance(source, TableSource)
    names = [column.name for column in source.columns if column.name != "text"]
    stated = source.stated_extremes(names)
    assert stated["plain"] == (-2.0, 7.25, 150) and stated["counted"] == (0.0, 199.0, 200)
    assert stated["gaps"] == (1.0, 9.0, 150) and "empty" not in stated
    swept = extremes(open_source(frame), names)
    for found, expected in zip(extremes(source, names), swept, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert infer_schema(source) == infer_schema(open_source(frame))


def test_numbers_of_which_some_may_be_nan_are_swept_if_their_number_matters(tmp_path: Path) -> None:
    values = [float(n) for n in range(1, 11)] + [math.nan] * 5  # all of 1 to 10, and cells without a number
    pq.write_table(pa.table({"row": values, "x": [0.5, *values[1:]]}), tmp_path / "nan.parquet")
    source = open_source(tmp_path / "nan.parquet")
    assert isinstance(source, TableSource)
    assert source.stated_extremes(["row", "x"]).keys() <= {"x"}
    assert infer_schema(source) == infer_schema(open_source({"row": values, "x": [0.5, *values[1:]]}))


def test_a_parquet_file_without_statistics_is_swept(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [0.5, 2.0, 9.0]}), tmp_path / "bare.parquet", write_statistics=False)
    source = open_source(tmp_path / "bare.parquet")
    assert isinstance(source, TableSource) and source.stated_extremes(["x"]) == {}
    assert [column.kind for column in infer_schema(source)] == ["number"]
