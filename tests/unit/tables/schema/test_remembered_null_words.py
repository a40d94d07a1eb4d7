"""Words that mean "missing", as a schema keeps them and as a file holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayeswise as bw
from bayeswise.foundation.errors import ParameterError, StoreError
from bayeswise.store import file as store_file
from bayeswise.store.document import Document, pack, unpack
from bayeswise.tables.schema.columns import Column, Columns
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.null_words import MOST_WORDS
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import open_source

TYPES = (Schema, Column, Columns)


def read_back(tree: object) -> Schema:
    schema = unpack(Document(tree, {}), TYPES)
    assert isinstance(schema, Schema)
    return schema


def tree_of(*words: str) -> dict[str, object]:
    tree = pack(Schema((Column("age", "number"),), None, None, words)).tree
    assert isinstance(tree, dict)
    return tree


def test_a_file_from_before_words_were_remembered_still_loads() -> None:
    column = {
        "$type": "Column", "name": "age", "kind": "number", "labels": None, "levels": None,
        "missing": "ignore", "unseen": "smooth", "reason": "",
    }  # fmt: skip
    old = {"$type": "Schema", "columns": [column], "target": None, "weight": None}
    _, today = store_file.migrated("example", Document(old, {}), written=1)
    schema = read_back(today.tree)
    assert schema.null_words is None
    assert pack(schema).tree == today.tree


def test_unusual_words_are_in_the_file() -> None:
    tree = tree_of("X", "-")
    assert tree["null_words"] == ["-", "x"]
    assert read_back(tree).null_words == ("-", "x")


@pytest.mark.parametrize("words", [None, [None], ["b", "a"], ["A"], [1], "ab", {"$list": ["a"]}])
def test_words_that_nobody_would_have_written_are_damage(words: object) -> None:
    with pytest.raises(StoreError):
        read_back({**tree_of("a"), "null_words": words})


def test_no_word_at_all_is_remembered() -> None:
    assert read_back(tree_of()).null_words == ()


def test_too_many_words_are_refused() -> None:
    with pytest.raises(ParameterError, match="at most 1,000 can"):
        tree_of(*map(str, range(MOST_WORDS + 1)))


def test_a_dataframe_has_no_words_and_is_read_by_the_usual_ones(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,a\n2,b\n-,a\n")
    assert infer_schema(open_source(path, null_words=["-"]), "y").null_words == ("-",)
    assert infer_schema(open_source({"x": [1, 2], "y": ["a", "b"]}), "y").null_words is None


def test_a_schema_that_is_given_says_how_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "none,a\nsome,b\n-,a\n" * 3)
    first = bw.fit(open_source(path, null_words=["-"]), "y", model="naive-bayes")
    assert bw.fit(str(path), "y", schema=first.schema, model="naive-bayes").statistics == first.statistics
