"""Null words that are ordinary words, too: a declared level is a level, and what is taken for missing is reported."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import bayeswise as bw
from bayeswise.tables.schema.inference import examine
from bayeswise.tables.source import open_source

ROWS = [("none", "no"), ("full", "yes"), ("self", "yes"), ("self", "no")] * 20
LEVELS = ["none", "full", "self"]


def csv(folder: Path, rows: list[tuple[str, str]] = ROWS) -> Path:
    path = folder / "jobs.csv"
    path.write_text("job,y\n" + "".join(f"{job},{y}\n" for job, y in rows))
    return path


def workbook(folder: Path) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [("job", "y"), *ROWS]:
        book.active.append(row)
    book.save(folder / "jobs.xlsx")
    return folder / "jobs.xlsx"


def fitted(table: Any, **given: Any) -> bw.NaiveBayesModel:
    return bw.fit(table, "y", model="naive-bayes", **given)


@pytest.mark.parametrize("opened", [csv, workbook])
def test_a_declared_level_is_no_missing_cell_in_any_text_format(tmp_path: Path, opened: Any) -> None:
    table = opened(tmp_path)
    rows = [{"job": job, "y": y} for job, y in ROWS]
    model = fitted(str(table), levels={"job": LEVELS})
    assert model.statistics == fitted(rows, levels={"job": LEVELS}).statistics
    assert model.predict_proba(str(table)).tolist() == model.predict_proba(rows).tolist()


def test_a_declared_class_is_no_missing_target(tmp_path: Path) -> None:
    path = csv(tmp_path, [(y, job) for job, y in ROWS])
    model = bw.fit(str(path), "y", model="naive-bayes", levels={"y": LEVELS})
    assert list(model.classes) == LEVELS
    assert model.rows_learned == len(ROWS)


def test_a_long_file_that_is_read_once_keeps_declared_levels(tmp_path: Path) -> None:
    path = csv(tmp_path, ROWS * 8_000)
    assert path.stat().st_size > 1 << 22
    model = fitted(str(path), levels={"job": LEVELS})
    assert model.statistics == fitted([{"job": j, "y": y} for j, y in ROWS * 8_000], levels={"job": LEVELS}).statistics


def test_only_the_declared_word_of_the_declared_column_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("job,car,y\n" + "none,none,a\nfull,NA,b\nNA,two,a\nself,one,b\n" * 5)
    columns = examine(open_source(path), "y", levels={"job": LEVELS}).profiles
    assert dict(columns["job"].null_words) == {"NA": 5}
    assert dict(columns["car"].null_words) == {"NA": 5, "none": 5}


def test_an_empty_cell_is_missing_whatever_is_declared(tmp_path: Path) -> None:
    path = csv(tmp_path, [*ROWS, ("", "no")])
    assert examine(open_source(path), "y", levels={"job": ["", *LEVELS]}).profiles["job"].null_words[""] == 1


def test_a_level_that_a_model_learned_from_a_frame_is_a_level_in_a_file(tmp_path: Path) -> None:
    rows = [{"job": job, "y": y} for job, y in ROWS]
    model = fitted(rows)
    assert model.predict_proba(str(csv(tmp_path))).tolist() == model.predict_proba(rows).tolist()


def test_a_frequent_null_word_is_reported_with_the_option_that_keeps_it(tmp_path: Path) -> None:
    path = csv(tmp_path)
    with pytest.warns(UserWarning, match=r"column job: 20 cells are none, which means missing\. Fix: .*--null NA"):
        fitted(str(path))
    advice = [each for each in examine(open_source(path), "y").advice if each.column == "job"]
    assert [each.what for each in advice] == ["20 cells are none, which means missing"]
    words = advice[0].fix.partition("null_words=")[2].partition(" (")[0].replace("'", '"')
    assert "none" in [
        name for name, _ in examine(open_source(path, null_words=json.loads(words))).profiles["job"].levels
    ]


def test_a_class_that_is_a_null_word_is_reported(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="column y: 20 cells are none, which means missing"):
        fitted(str(csv(tmp_path, [(y, job) for job, y in ROWS])))


def test_a_column_of_one_level_and_a_null_word_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("job,x,y\n" + "none,1,a\nfull,1,b\nnone,2,b\nfull,2,a\n" * 5)
    with pytest.warns(UserWarning, match="column job: 10 cells are none"):
        fitted(str(path))


@pytest.mark.parametrize(("word", "n_missing"), [("", 60), ("?", 60), ("NA", 60), ("None", 60), ("none", 3)])
def test_missing_cells_that_are_few_or_as_programs_write_them_are_not_reported(
    tmp_path: Path, word: str, n_missing: int
) -> None:
    rows = [row for row in ROWS if row[0] != "none"] + [(word, "no")] * n_missing
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(str(csv(tmp_path, rows)))


def test_missing_numbers_are_not_reported(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "1,a\n2,b\n3.5,a\nNA,b\n" * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(str(path))
