"""Rows on their way to a prediction: the schema says what a cell means, whatever table it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayeswise.foundation.errors import KindError, MissingColumnError, UnseenLevelError
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema, Target
from bayeswise.tables.source import open_source

COLUMNS = (
    Column("id", "ignored"),
    Column("wind", "category", "text"),
    Column("degrees", "number"),
    Column("grade", "category", "integer"),
)
SCHEMA = Schema(COLUMNS, Target("play", "text"))
KNOWN = {"wind": Vocabulary(["strong", "weak"]), "grade": Vocabulary([1, 2]), "play": Vocabulary(["no", "yes"])}
ROWS: dict[str, list[Any]] = {"wind": ["weak", "storm", None], "degrees": [20.0, 25.0, None], "grade": [2, 1, 9]}


def predict(table: object, schema: Schema = SCHEMA, **options: Any) -> Batch:
    encoder = Encoder(schema, learning=False, vocabularies=KNOWN, **options)
    (batch,) = encoder.batches(open_source(table))
    return batch


def test_an_unseen_level_has_a_code_of_its_own_and_a_missing_value_another() -> None:
    batch = predict(ROWS)
    assert batch.codes.tolist() == [[1, 1], [-2, 0], [-1, -2]]
    assert batch.vocabularies == (KNOWN["wind"], KNOWN["grade"])
    assert batch.groups is None


def test_unseen_levels_are_counted() -> None:
    encoder = Encoder(SCHEMA, learning=False, vocabularies=KNOWN)
    list(encoder.batches(open_source(ROWS, chunk_rows=1)))
    assert encoder.report.unseen == {"wind": 1, "grade": 1}


def test_vocabularies_do_not_grow() -> None:
    encoder = Encoder(SCHEMA, learning=False, vocabularies=KNOWN)
    list(encoder.batches(open_source(ROWS)))
    assert {name: encoder.vocabularies[name] for name in ("wind", "grade")} == {n: KNOWN[n] for n in ("wind", "grade")}


def test_an_unseen_level_is_an_error_where_the_policy_says_so() -> None:
    schema = Schema((Column("wind", "category", "text", unseen="error"),))
    with pytest.raises(UnseenLevelError, match="column 'wind' has the level 'storm', which the model never saw"):
        predict(ROWS, schema)


def test_the_order_of_columns_does_not_matter_and_more_columns_are_not_read() -> None:
    shuffled = {"extra": [[1], [2], [3]], "grade": ROWS["grade"], "wind": ROWS["wind"], "degrees": ROWS["degrees"]}
    np.testing.assert_array_equal(predict(shuffled).codes, predict(ROWS).codes)
    np.testing.assert_array_equal(predict(shuffled).values, predict(ROWS).values)


def test_a_missing_column_is_named_and_guessed() -> None:
    with pytest.raises(MissingColumnError, match=r"has no column 'degrees', which .*\. Fix: did you mean 'degree'"):
        predict({"wind": ["weak"], "degree": [1.0], "grade": [1]})


def test_names_are_found_up_to_blanks_and_unicode_form() -> None:
    assert predict({" wind ": ["weak"], "degrees": [1.0], "grade": [1]}).codes.tolist() == [[1, 0]]


def test_rows_keep_their_order_and_number_with_or_without_a_target() -> None:
    batch = predict({**ROWS, "play": ["yes", None, "maybe"]}, with_target=True)
    assert batch.n_rows == 3
    assert batch.groups is not None
    assert batch.groups.tolist() == [1, -1, -2]
    with pytest.raises(MissingColumnError, match="no column 'play'"):
        predict(ROWS, with_target=True)


def test_a_file_gives_the_codes_of_a_frame(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("wind,degrees,grade\nweak,20,2\nstorm,25,1\nNA,,9\n", encoding="utf-8")
    np.testing.assert_array_equal(predict(path).codes, predict(ROWS).codes)
    np.testing.assert_array_equal(predict(path).values, predict(ROWS).values)


def test_integers_that_a_missing_value_made_floats_are_the_same_levels() -> None:
    frame = pd.DataFrame({**ROWS, "grade": [2, None, 1]})
    assert frame["grade"].dtype == np.float64
    assert predict(frame).codes[:, 1].tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("change", "stored"),
    [
        ({"grade": ["2", "1", "9"]}, "integer labels in the model, but dict of lists stores it as text"),
        ({"grade": [True, False, True]}, "stores it as boolean"),
        ({"wind": [1, 2, 3]}, "text labels in the model, but dict of lists stores it as integer"),
        ({"wind": [[1], [2], [3]]}, "stores it as nested"),
        ({"degrees": [b"1", b"2", b"3"]}, "a number in the model, but dict of lists stores it as binary"),
    ],
)
def test_a_column_of_another_type_is_an_error_and_not_a_column_of_missing_values(
    change: dict[str, Any], stored: str
) -> None:
    with pytest.raises(KindError, match=stored):
        predict({**ROWS, **change})


def test_words_where_numbers_were_are_an_error() -> None:
    with pytest.raises(KindError, match="3 of 3 cells are not numbers: 'hot'"):
        predict({**ROWS, "degrees": ["hot", "cold", "mild"]})


def test_declared_levels_of_another_type_are_an_error() -> None:
    with pytest.raises(KindError, match="stores it as integer"):
        predict(pd.DataFrame({**ROWS, "wind": pd.Categorical([1, 2, 1])}))


def test_an_array_is_read_by_position() -> None:
    schema = Schema((Column("id", "ignored"), Column("a", "number"), Column("b", "number")))
    with_ignored = predict(np.array([[9.0, 1.0, 2.0]]), schema)
    only_used = predict(np.array([[1.0, 2.0]]), schema)
    assert with_ignored.values.tolist() == only_used.values.tolist() == [[1.0, 2.0]]
    with pytest.raises(MissingColumnError, match="has 4 columns, the model 3 of which it uses 2: 'a', 'b'"):
        predict(np.zeros((1, 4)), schema)


def test_one_row_gives_what_it_gives_among_others() -> None:
    whole = predict(ROWS)
    for row in range(3):
        alone = predict({name: cells[row : row + 1] for name, cells in ROWS.items()})
        np.testing.assert_array_equal(alone.codes, whole.codes[row : row + 1])
        np.testing.assert_array_equal(alone.values, whole.values[row : row + 1])


def test_a_schema_without_columns_still_counts_rows() -> None:
    batch = predict(ROWS, Schema((Column("id", "ignored"),)))
    assert (batch.n_rows, batch.values.shape, batch.codes.shape) == (3, (3, 0), (3, 0))


def test_words_that_were_never_learned_count_nothing() -> None:
    schema = Schema((Column("note", "text"),))
    encoder = Encoder(schema, learning=False, vocabularies={"note": Vocabulary(["red", "blue"])})
    (batch,) = encoder.batches(open_source({"note": ["red green red", "green"]}))
    assert batch.texts[0].counts.toarray().tolist() == [[2, 0], [0, 0]]
