"""Options that name a column take a list, too, as --columns does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bayeswise as bw

TABLE = "id,applied,age,zip,y\n" + "".join(
    f"{k},d{k % 7},{20 + k % 9},{1000 + k % 3},{'ab'[k % 2]}\n" for k in range(60)
)


@pytest.mark.parametrize("names", ["id,applied", "id, applied"])
def test_a_list_of_columns_is_each_of_them(
    bayeswise: Callable[..., Any], write: Callable[..., Path], names: str, tmp_path: Path
) -> None:
    model = tmp_path / "m.bayeswise"
    fit = ("fit", write(TABLE), "-t", "y", "--model", "naive-bayes", "-o", model)
    assert bayeswise(*fit, "--ignore", names, "--category", "age,zip").code == 0
    schema = bw.load(model).schema
    assert [(column.name, column.kind) for column in schema.columns] == [
        ("id", "ignored"), ("applied", "ignored"), ("age", "category"), ("zip", "category"),
    ]  # fmt: skip


def test_a_name_with_a_comma_is_a_column_where_the_table_has_it(
    bayeswise: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    table = write(TABLE.replace("id,applied", '"applied,age",applied', 1))
    model = tmp_path / "m.bayeswise"
    assert (
        bayeswise("fit", table, "-t", "y", "--ignore", "applied,age", "--model", "naive-bayes", "-o", model).code == 0
    )
    kinds = {column.name: column.kind for column in bw.load(model).schema.columns}
    assert (kinds["applied,age"], kinds["applied"], kinds["age"]) == ("ignored", "category", "number")


def test_a_list_with_an_unknown_name_is_refused(bayeswise: Callable[..., Any], write: Callable[..., Path]) -> None:
    answer = bayeswise("look", write(TABLE), "-t", "y", "--ignore", "id,wind")
    assert answer.code != 0 and "id,wind" in answer.err
