"""Rows on their way into a statistic."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayeswise.foundation.errors import KindError, MissingCellError, ParameterError, SchemaError
from bayeswise.tables.batch import Batch, TextBlock
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema, Target
from bayeswise.tables.source import open_source

GOLF = {"wind": ["weak", "strong", None, "weak"], "degrees": [20, 25, None, 31], "play": ["yes", "no", "yes", None]}
SCHEMA = Schema((Column("wind", "category", "text"), Column("degrees", "number")), Target("play", "text"))


def learn(table: object, schema: Schema = SCHEMA, chunk_rows: int | None = None, **options: Any) -> list[Batch]:
    return list(Encoder(schema, **options).batches(open_source(table, chunk_rows=chunk_rows)))


def labels_of(batches: list[Batch], column: int = 0) -> list[object]:
    """The labels behind the codes, None for missing."""
    return [
        batch.vocabularies[column][code] if code >= 0 else None for batch in batches for code in batch.codes[:, column]
    ]


def test_numbers_categories_and_classes_find_their_place() -> None:
    (batch,) = learn(GOLF)
    assert batch.n_rows == 3
    assert labels_of([batch]) == ["weak", "strong", None]
    assert batch.values[:, 0].tolist()[:2] == [20.0, 25.0]
    assert math.isnan(batch.values[2, 0])
    assert batch.groups is not None
    assert [batch.group_labels[group] for group in batch.groups] == ["yes", "no", "yes"]


def test_a_row_without_target_is_left_out_counted_and_defines_no_level() -> None:
    encoder = Encoder(SCHEMA)
    list(encoder.batches(open_source({**GOLF, "wind": ["weak", "strong", None, "storm"]})))
    assert encoder.report.without_target == 1
    assert encoder.vocabularies == {"wind": Vocabulary(["weak", "strong"]), "play": Vocabulary(["yes", "no"])}


def test_a_row_of_weight_zero_is_absent_with_its_class_and_levels() -> None:
    schema = Schema(SCHEMA.columns, SCHEMA.target, "w")
    table = {"wind": ["weak", "storm", "calm"], "degrees": [1, 2, 3], "play": ["yes", "never", "no"], "w": [2, 0, 0.5]}
    encoder = Encoder(schema)
    (batch,) = encoder.batches(open_source(table))
    assert batch.weights is not None
    assert batch.weights.tolist() == [2.0, 0.5]
    assert batch.values[:, 0].tolist() == [1.0, 3.0]
    assert encoder.vocabularies == {"wind": Vocabulary(["weak", "calm"]), "play": Vocabulary(["yes", "no"])}
    assert encoder.report.without_weight == 1


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_a_bad_weight_is_an_error_that_names_its_row(bad: float) -> None:
    schema = Schema(SCHEMA.columns, SCHEMA.target, "w")
    with pytest.raises(SchemaError, match="the weight in row 3 of column 'w'"):
        learn({**GOLF, "w": [1.0, 1.0, bad, 1.0]}, schema, chunk_rows=2)


def test_all_weights_zero_is_an_error() -> None:
    schema = Schema(SCHEMA.columns, SCHEMA.target, "w")
    with pytest.raises(SchemaError, match="all 4 weights of column 'w' are zero"):
        learn({**GOLF, "w": [0, 0, 0, 0]}, schema, chunk_rows=3)


def test_weights_and_targets_may_stand_beside_the_table() -> None:
    encoder = Encoder(SCHEMA, batch_rows=2)
    table = open_source({"wind": ["a", "b", "c"], "degrees": [1, 2, 3]}, chunk_rows=2)
    targets = open_source({"any name": ["no", "yes", "no"]})
    first, second = encoder.batches(table, targets=targets, weights=[1, 2, 3])
    assert (first.n_rows, second.n_rows) == (2, 1)
    assert first.groups is not None
    assert first.groups.tolist() == [0, 1]
    assert second.weights is not None
    assert second.weights.tolist() == [3.0]


@pytest.mark.parametrize("count", [2, 4])
def test_weights_and_targets_beside_the_table_must_match_in_number(count: int) -> None:
    table = open_source({"wind": ["a", "b", "c"], "degrees": [1, 2, 3]})
    with pytest.raises(ParameterError, match=f"there are {count} targets"):
        list(Encoder(SCHEMA).batches(table, targets=open_source({"y": ["a"] * count})))
    with pytest.raises(ParameterError, match=f"there are {count} weights"):
        list(Encoder(SCHEMA).batches(table, targets=open_source({"y": ["a"] * 3}), weights=np.ones(count)))


@pytest.mark.parametrize("weights", [["heavy", "light", "light"], [[1.0], [1.0], [1.0]]])
def test_weights_that_are_not_numbers_are_refused(weights: Any) -> None:
    table = open_source({"wind": ["a", "b", "c"], "degrees": [1, 2, 3], "play": ["y", "n", "y"]})
    with pytest.raises(SchemaError, match="one number for each row"):
        list(Encoder(SCHEMA).batches(table, weights=weights))


def test_many_rows_are_read_by_several_threads_and_stay_the_same() -> None:
    n_rows = 50_000
    table = {f"c{k}": [f"level {(row * row + k) % 11}" for row in range(n_rows)] for k in range(4)}
    schema = Schema(tuple(Column(name, "category", "text") for name in table))
    batches = learn(table, schema, batch_rows=None)
    for k, cells in enumerate(table.values()):
        assert labels_of(batches, k) == cells


@pytest.mark.parametrize("chunk_rows", [1, 2, 3, None])
@pytest.mark.parametrize("batch_rows", [1, 2, None])
def test_chunks_and_batches_do_not_change_the_rows(chunk_rows: int | None, batch_rows: int | None) -> None:
    batches = learn(GOLF, chunk_rows=chunk_rows, batch_rows=batch_rows)
    assert labels_of(batches) == ["weak", "strong", None]
    np.testing.assert_array_equal(np.concatenate([batch.values for batch in batches]), [[20.0], [25.0], [np.nan]])
    classes = [batch.group_labels[group] for batch in batches for group in batch.groups]  # type: ignore[union-attr]
    assert classes == ["yes", "no", "yes"]


def test_an_impossible_size_of_batches_is_refused() -> None:
    with pytest.raises(ParameterError, match="batch_rows is 0"):
        Encoder(SCHEMA, batch_rows=0)


def test_a_matrix_of_doubles_passes_without_a_copy() -> None:
    matrix = np.random.default_rng(1).normal(size=(1000, 4))
    schema = infer_schema(open_source(matrix))
    (batch,) = Encoder(schema, batch_rows=None).batches(open_source(matrix))
    assert np.shares_memory(batch.values, matrix)
    parts = list(Encoder(schema, batch_rows=300).batches(open_source(matrix)))
    assert [part.n_rows for part in parts] == [300, 300, 300, 100]
    assert all(np.shares_memory(part.values, matrix) for part in parts)


def test_codes_stay_true_when_later_batches_bring_new_levels() -> None:
    table = {"x": ["b", "a", "c", "a"], "y": ["p", "p", "q", "r"]}
    schema = Schema((Column("x", "category", "text"),), Target("y", "text"))
    batches = learn(table, schema, chunk_rows=1)
    assert labels_of(batches) == ["b", "a", "c", "a"]
    assert [len(batch.group_labels) for batch in batches] == [1, 1, 2, 3]


def test_an_encoder_goes_on_where_it_stopped() -> None:
    schema = Schema((Column("x", "category", "text"),))
    encoder = Encoder(schema, vocabularies={"x": Vocabulary(["z"])})
    list(encoder.batches(open_source({"x": ["b", "a"]})))
    list(encoder.batches(open_source({"x": ["a", "c"]})))
    assert encoder.vocabularies["x"] == Vocabulary(["z", "b", "a", "c"])


# -- labels ---------------------------------------------------------------------------------------------------
def test_labels_of_four_types_are_four_levels() -> None:
    schema = Schema((Column("x", "category", "mixed"),))
    cells = [1, "1", True, 1.0, -0.0, 0.0]
    (batch,) = learn({"x": cells}, schema)
    found = labels_of([batch])
    assert [(type(label), label) for label in found] == [(type(cell), cell) for cell in [*cells[:4], 0.0, 0.0]]
    assert len(batch.vocabularies[0]) == 5


def test_awkward_text_goes_in_and_comes_out() -> None:
    awkward = ["🎉🇩🇪", "שלום", "line\nbreak", "nul\0byte", "x" * 10_000, "", " a", "nan", "None", "101"]
    schema = infer_schema(open_source({"x": awkward * 2}))
    assert schema["x"].labels == "text"
    assert labels_of(learn({"x": awkward * 2}, schema, chunk_rows=3)) == awkward * 2


def test_a_quoted_file_keeps_newlines_quotes_and_blanks(tmp_path: Path) -> None:
    awkward = ["🎉", "שלום", "line\nbreak", 'say "hi"', "a,b", " a"]
    path = tmp_path / "odd.csv"
    pd.DataFrame({"x": awkward * 2, "y": ["p", "q"] * 6}).to_csv(path, index=False)
    schema = infer_schema(open_source(path), "y")
    assert labels_of(learn(path, schema)) == awkward * 2


def test_text_of_a_file_becomes_the_labels_of_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "zip.csv"
    path.write_text("zip,grade,size\n101,1.5,1\n7,2,x\n101,1.5,1\n", encoding="utf-8")
    schema = infer_schema(open_source(path), kinds=dict.fromkeys(["zip", "grade", "size"], "category"))
    (batch,) = learn(path, schema)
    assert [labels_of([batch], k) for k in range(3)] == [[101, 7, 101], [1.5, 2.0, 1.5], ["1", "x", "1"]]


def test_a_level_that_was_not_declared_is_an_error_while_learning() -> None:
    schema = Schema((Column("x", "category", "text", Vocabulary(["S", "M"])),))
    (batch,) = learn({"x": ["M", "M"]}, schema)
    assert batch.vocabularies[0] == Vocabulary(["S", "M"])
    with pytest.raises(SchemaError, match=r"has the level 'XL', which is not among the declared ones: S, M"):
        learn({"x": ["M", "XL"]}, schema)


def test_a_class_that_was_not_declared_is_an_error_while_learning() -> None:
    schema = Schema((Column("x", "number"),), Target("y", "text", Vocabulary(["a", "b"])))
    with pytest.raises(SchemaError, match="'c', which is not among the declared ones"):
        learn({"x": [1, 2], "y": ["a", "c"]}, schema)


def test_a_label_of_another_type_is_an_error_while_learning() -> None:
    schema = Schema((Column("x", "category", "integer"),))
    with pytest.raises(KindError, match="has integer labels; found 'a'"):
        learn({"x": [1, "a"]}, schema)


# -- numbers --------------------------------------------------------------------------------------------------
def file_with_strays(path: Path, n_numbers: int, n_strays: int) -> Path:
    cells = [*["3a"] * n_strays, *[str(k % 7 + 0.5) for k in range(n_numbers)]]
    path.write_text("x,y\n" + "".join(f"{cell},{'pq'[k % 2]}\n" for k, cell in enumerate(cells)), encoding="utf-8")
    return path


NUMBER = Schema((Column("x", "number"),), Target("y", "text"))


def test_invalid_values_up_to_one_percent_are_missing_and_reported(tmp_path: Path) -> None:
    encoder = Encoder(NUMBER)
    path = file_with_strays(tmp_path / "a.csv", 99, 1)
    (batch,) = encoder.batches(open_source(path))
    assert math.isnan(batch.values[0, 0])
    assert str(encoder.report.invalid["x"]) == "1 of 100 cells is not a number: '3a' (line 2)"


@pytest.mark.parametrize("chunk_rows", [1, 7, None])
def test_more_invalid_values_are_an_error_at_the_end_of_the_table(tmp_path: Path, chunk_rows: int | None) -> None:
    path = file_with_strays(tmp_path / "a.csv", 98, 1)
    with pytest.raises(SchemaError, match=r"1 of 99 cells is not a number: '3a' \(line 2\)"):
        learn(path, NUMBER, chunk_rows=chunk_rows)
    assert len(learn(path, NUMBER, check_invalid=False)) == 1


def test_the_only_cell_of_a_column_is_named_without_counting(tmp_path: Path) -> None:
    path = file_with_strays(tmp_path / "a.csv", 0, 1)
    with pytest.raises(SchemaError, match=r"column 'x' is a number, but .*a.csv has '3a' \(line 2\)\. Fix"):
        learn(path, NUMBER)


def test_a_word_after_row_65536_changes_no_column(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_text("x,y\n" + "1.5,p\n2.5,q\n" * 33_000 + "oops,p\n", encoding="utf-8")
    schema = infer_schema(open_source(path), "y")
    encoder = Encoder(schema)
    values = np.concatenate([batch.values for batch in encoder.batches(open_source(path))])
    assert schema["x"].kind == "number"
    assert np.isnan(values).sum() == 1
    assert "'oops' (line 66002)" in str(encoder.report.invalid["x"])


def test_what_is_not_a_count_is_refused_in_a_count_column() -> None:
    schema = Schema((Column("n", "count"),))
    (batch,) = learn({"n": [0, 3, None]}, schema)
    assert batch.values[:2, 0].tolist() == [0.0, 3.0]
    for bad in (-1, 0.5):
        with pytest.raises(KindError, match="column 'n' is a count, but row 2 holds"):
            learn({"n": [0, bad]}, schema)


@pytest.mark.parametrize("kind", [("number", None), ("category", "text")])
def test_a_missing_value_is_an_error_where_the_policy_says_so(kind: tuple[Any, Any]) -> None:
    column = Column("x", *kind, missing="error")
    cells = [1.5, None] if kind[0] == "number" else ["a", None]
    with pytest.raises(MissingCellError, match="column 'x' is missing in row 2"):
        learn({"x": cells}, Schema((column,)), chunk_rows=1)


def test_a_missing_value_in_a_row_that_is_left_out_is_not_an_error() -> None:
    schema = Schema((Column("x", "number", missing="error"),), Target("y", "text"))
    assert learn({"x": [1.5, None], "y": ["a", None]}, schema)[0].n_rows == 1


def test_flags_are_zero_and_one_where_the_kind_is_number() -> None:
    schema = infer_schema(open_source({"x": [True, False, None]}), kinds={"x": "number"})
    (batch,) = learn({"x": [True, False, None]}, schema)
    assert batch.values[:2, 0].tolist() == [1.0, 0.0]


def test_dates_are_labels_where_the_kind_is_category() -> None:
    frame = pd.DataFrame({"x": pd.to_datetime(["2024-02-29", "2024-03-01", None])})
    schema = infer_schema(open_source(frame), kinds={"x": "category"})
    first, second, missing = labels_of(learn(frame, schema))
    assert (str(first)[:10], str(second)[:10], missing) == ("2024-02-29", "2024-03-01", None)


# -- text -----------------------------------------------------------------------------------------------------
def test_words_are_counted_in_lower_case() -> None:
    schema = Schema((Column("note", "text"),), Target("y", "text"))
    table = {"note": ["Red or dead.", None, "RED, red; é x"], "y": ["a", "b", "a"]}
    (batch,) = learn(table, schema)
    (block,) = batch.texts
    assert block.vocabulary == Vocabulary(["red", "or", "dead"])
    assert block.counts.toarray().tolist() == [[1, 1, 1], [0, 0, 0], [2, 0, 0]]


def test_words_of_a_row_that_is_left_out_are_not_learned() -> None:
    schema = Schema((Column("note", "text"),), Target("y", "text"))
    encoder = Encoder(schema)
    batches = list(encoder.batches(open_source({"note": ["one two", "three"], "y": ["a", None]}, chunk_rows=1)))
    assert encoder.vocabularies["note"] == Vocabulary(["one", "two"])
    assert sum(batch.n_rows for batch in batches) == 1


def test_composed_and_decomposed_letters_are_one_word() -> None:
    schema = Schema((Column("note", "text"),))
    (batch,) = learn({"note": ["caf\u00e9", "cafe\u0301"]}, schema)
    assert batch.texts[0].counts.toarray().tolist() == [[1], [1]]


def test_a_range_of_texts_is_a_view() -> None:
    from scipy.sparse import csr_array

    counts = csr_array(np.array([[0, 2, 1], [0, 0, 0], [3, 0, 0], [0, 0, 4]]))
    some = TextBlock(counts, Vocabulary(["a", "b", "c"])).rows(slice(1, 3))
    assert some.counts.toarray().tolist() == [[0, 0, 0], [3, 0, 0]]
    assert np.shares_memory(some.counts.data, counts.data)
