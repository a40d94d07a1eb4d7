"""bayeswise predict: the table again, with an answer beside each row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.models.files import bytes_of

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]

NEW = "outlook,temperature,humidity,wind\nsunny,cool,high,strong\novercast,hot,normal,weak\n"


def table(text: str, delimiter: str = ",") -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return header, rows


# -- the answer ---------------------------------------------------------------------------------------------


def test_columns_and_rows_stay_and_the_answer_is_named_like_the_target(
    bayeswise: Command, golf_model: Path, write: Write
) -> None:
    answer = bayeswise("predict", golf_model, write(NEW))
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "outlook,temperature,humidity,wind,play\nsunny,cool,high,strong,no\novercast,hot,normal,weak,yes\n"
    )


def test_probabilities_are_those_of_python_to_the_last_digit(bayeswise: Command, golf_model: Path, golf: Path) -> None:
    names, rows = table(bayeswise("predict", golf_model, golf, "--proba", "--evidence").out)
    model = bw.load(golf_model)
    assert names[-4:] == ["predicted", "p_no", "p_yes", "log_evidence"]
    assert np.array_equal([[float(p) for p in row[-3:-1]] for row in rows], model.predict_proba(str(golf)))
    assert np.array_equal([float(row[-1]) for row in rows], model.log_evidence(str(golf)))
    assert [row[-4] for row in rows] == model.predict(str(golf))
    assert round(float(rows[0][-3]), 4) == 0.688


numbers = st.floats(-1e6, 1e6).map(repr) | st.integers(-9, 9).map(str) | st.just("")
labels = st.sampled_from(["u", "v", " w", "ü, x", '"', "", "NA", "0007", "-"])
mixed_rows = st.lists(st.tuples(numbers, labels, labels, st.sampled_from("pqr")), min_size=2, max_size=25)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(rows=mixed_rows, new=mixed_rows)
def test_the_command_line_says_what_python_says(
    bayeswise: Command, tmp_path: Path, rows: list[Any], new: list[Any]
) -> None:
    """Fit and predict any small table: the same model, the same digits, or the same kind of error."""
    train, fresh, model = tmp_path / "train.csv", tmp_path / "new.csv", tmp_path / "law.bayeswise"
    for path, content in ((train, rows), (fresh, new)):
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("x", "c", "d", "y"), *content])
    try:
        fitted = bw.fit(str(train), target="y", model="naive-bayes")
        expected = fitted.predict_proba(str(fresh))
    except bw.BayeswiseError as error:
        codes = [
            bayeswise("fit", train, "-t", "y", "--model", "naive-bayes", "-o", model).code,
            bayeswise("predict", model, fresh).code,
        ]
        assert error.exit_code in codes
        return
    assert bayeswise("fit", train, "-t", "y", "--model", "naive-bayes", "-o", model).code == 0
    assert model.read_bytes() == bytes_of(fitted)
    answer = bayeswise("predict", model, fresh, "--proba")
    names, answered = table(answer.out)
    assert names[:5] == ["x", "c", "d", "y", "predicted"]
    assert np.array_equal([[float(p) for p in row[5:]] for row in answered], expected)
    assert [row[4] for row in answered] == fitted.predict(str(fresh))


def test_a_name_that_is_taken_is_not_taken_again(bayeswise: Command, golf_model: Path, write: Write) -> None:
    header = "outlook,temperature,humidity,wind,play,predicted,p_no,log_evidence,🎉 p_yes"
    answer = bayeswise(
        "predict", golf_model, write(f"{header}\nsunny,hot,high,weak,a,b,c,d,e\n"), "--proba", "--evidence"
    )
    names, rows = table(answer.out)
    assert names[:9] == header.split(",")
    assert names[9:] == ["predicted_2", "p_no_2", "p_yes", "log_evidence_2"]
    assert rows[0][:9] == ["sunny", "hot", "high", "weak", "a", "b", "c", "d", "e"]
    assert "The table has a column 'play' already: the answer is in 'predicted_2'." in answer.err


def test_classes_that_are_numbers_come_back_as_numbers(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    train = write("x,y\n" + "".join(f"{k % 2 * 5 + k % 3}.5,{k % 2}\n" for k in range(20)))
    assert bayeswise("fit", train, "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m").code == 0
    new = write("x\n0\n7\n", "new.csv")
    assert table(bayeswise("predict", tmp_path / "m", new, "--proba").out)[0] == ["x", "y", "p_0", "p_1"]
    lines = bayeswise("predict", tmp_path / "m", new, "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["y"] for line in lines] == [0, 1]


def test_other_classifiers_answer_too(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    from bayeswise.models import gaussian_bayes

    rows = write("x,z,y\n" + "".join(f"{k % 7 + 2 * (k % 2)}.5,{k % 5},{'ab'[k % 2]}\n" for k in range(60)))
    model = gaussian_bayes.fit(str(rows), target="y")
    model.save(tmp_path / "m")
    _, answered = table(bayeswise("predict", tmp_path / "m", rows, "--proba", "--evidence").out)
    assert [row[3] for row in answered] == model.predict(str(rows))
    assert np.array_equal([[float(p) for p in row[4:6]] for row in answered], model.predict_proba(str(rows)))
    assert np.array_equal([float(row[6]) for row in answered], model.log_evidence(str(rows)))
    facts = json.loads(bayeswise("inspect", tmp_path / "m", "--json").out)
    assert facts["columns"][0]["learned"]["mean"]["b"] == pytest.approx(model.means[1, 0])
    assert bayeswise("inspect", tmp_path / "m").code == 0


def test_columns_can_be_chosen(bayeswise: Command, golf_model: Path, golf: Path) -> None:
    assert table(bayeswise("predict", golf_model, golf, "--columns", "none").out)[0] == ["play"]
    chosen = table(bayeswise("predict", golf_model, golf, "--columns", "wind,outlook").out)
    assert chosen[0] == ["outlook", "wind", "play"]
    assert chosen[1][1][:2] == ["sunny", "strong"]
    wrong = bayeswise("predict", golf_model, golf, "--columns", "wnd")
    assert (wrong.code, wrong.out) == (4, "")
    assert "did you mean 'wind'?" in wrong.err


def test_header_alone_gives_a_header_alone(bayeswise: Command, golf_model: Path, write: Write) -> None:
    answer = bayeswise("predict", golf_model, write("outlook,temperature,humidity,wind\n"))
    assert (answer.code, answer.out) == (0, "outlook,temperature,humidity,wind,play\n")


def test_several_files_are_one_table(bayeswise: Command, golf_model: Path, write: Write) -> None:
    header, first, second = NEW.splitlines()
    one, two = write(f"{header}\n{first}\n", "1.csv"), write(f"{header}\n{second}\n", "2.csv")
    assert bayeswise("predict", golf_model, one, two).out == bayeswise("predict", golf_model, write(NEW)).out


# -- cells --------------------------------------------------------------------------------------------------

cell_text = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('",\n=+-@;'), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(cells=st.lists(cell_text, min_size=1, max_size=8))
def test_cells_keep_their_letters(bayeswise: Command, golf_model: Path, tmp_path: Path, cells: list[str]) -> None:
    """All of them with --raw; without it, only an apostrophe before formulas is new."""
    path = tmp_path / "odd.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["outlook", "temperature", "humidity", "wind", "remark", "code"])
        writer.writerows(["sunny", "hot", "high", "weak", cell, "0007"] for cell in cells)
    names, rows = table(bayeswise("predict", golf_model, path, "--raw").out)
    assert names == ["outlook", "temperature", "humidity", "wind", "remark", "code", "play"]
    assert [row[4:6] for row in rows] == [[cell, "0007"] for cell in cells]
    _, guarded = table(bayeswise("predict", golf_model, path).out)
    for cell, row in zip(cells, guarded, strict=True):
        assert row[4] in (cell, f"'{cell}")
        assert row[4][:1] not in ("=", "@")


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("-", "'-"),
        ("-5", "-5"),
        ("+4.5e-3", "+4.5e-3"),
        ("-1.234,56", "-1.234,56"),
        ("-12%", "-12%"),
        ("a=b", "a=b"),
        ("'=1", "'=1"),
        ("", ""),
    ],
)
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(
    bayeswise: Command, golf_model: Path, write: Write, cell: str, written: str
) -> None:
    quoted = '"' + cell.replace('"', '""') + '"'
    path = write(f'outlook,temperature,humidity,wind,"=evil()"\nsunny,hot,high,weak,{quoted}\n')
    names, rows = table(bayeswise("predict", golf_model, path).out)
    assert names[4] == "'=evil()"
    assert rows[0][4] == written


def test_a_class_that_is_a_formula_is_guarded_too(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    train = write("x,y\n" + "".join(f"{k % 2 * 5}.{k % 3},{'=a()' if k % 2 else '@b'}\n" for k in range(20)))
    bayeswise("fit", train, "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m")
    names, rows = table(bayeswise("predict", tmp_path / "m", write("x\n5\n", "new.csv"), "--proba").out)
    assert names == ["x", "y", "p_=a()", "p_@b"]
    assert rows[0][1] == "'=a()"


def test_negative_numbers_of_the_model_stay_numbers(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    train = write("x,y\n" + "".join(f"{'-' if k % 2 else ''}{k % 5}.25,{'ab'[k % 2]}\n" for k in range(40)))
    bayeswise("fit", train, "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m")
    _, rows = table(bayeswise("predict", tmp_path / "m", write("x\n-3.50\n-x\n" + "1\n" * 200, "new.csv")).out)
    assert [row[0] for row in rows[:2]] == ["-3.50", "'-x"]


def test_the_dialect_of_the_table_stays(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    rows = "".join(f'{k % 2 * 5},{k % 4}5;"a;{k % 2}";{"pq"[k % 2]}\n' for k in range(40))
    train = write(f"größe;art;y\n{rows}")
    bayeswise("fit", train, "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m")
    new = write('größe;art\n1,50;"a;1"\n', "new.csv")
    header, (row,) = table(bayeswise("predict", tmp_path / "m", new, "--proba").out, delimiter=";")
    assert header == ["größe", "art", "y", "p_p", "p_q"]
    assert row[:2] == ["1,50", "a;1"]
    p = bw.load(tmp_path / "m").predict_proba([{"größe": 1.5, "art": "a;1"}])[0]
    assert [float(share.replace(",", ".")) for share in row[3:]] == p.tolist()


def test_typed_tables_come_back_as_text(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame(
        {"n": [1, 2, 3, 40] * 5, "x": [0.1, None, 2.5, 9.0] * 5, "tags": [[1]] * 20, "ok": [True, False] * 10}
    ).assign(y=["a", "a", "b", "b"] * 5)
    frame.to_parquet(tmp_path / "t.parquet")
    assert (
        bayeswise(
            "fit", tmp_path / "t.parquet", "-t", "y", "--model", "naive-bayes", "--ignore", "tags", "-o", tmp_path / "m"
        ).code
        == 0
    )
    answer = bayeswise("predict", tmp_path / "m", tmp_path / "t.parquet")
    names, rows = table(answer.out)
    assert names == ["n", "x", "ok", "y", "predicted"]
    assert [row[:4] for row in rows[:2]] == [["1", "0.1", "True", "a"], ["2", "", "False", "a"]]
    assert "tags: lists and bytes are not cells of a text table; left out." in answer.err
    line = bayeswise("predict", tmp_path / "m", tmp_path / "t.parquet", "--format", "jsonl").out.splitlines()[1]
    assert {**json.loads(line), "predicted": ""} == {"n": 2, "x": None, "ok": False, "y": "a", "predicted": ""}


# -- JSON ---------------------------------------------------------------------------------------------------


def test_json_lines_and_one_json_document(bayeswise: Command, golf_model: Path, write: Write) -> None:
    new = write(NEW)
    lines = [json.loads(line) for line in bayeswise("predict", golf_model, new, "--format", "jsonl").out.splitlines()]
    assert lines[0] == {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong", "play": "no"}
    whole: dict[str, Any] = json.loads(bayeswise("predict", golf_model, new, "--json").out)
    assert whole.pop("rows") == lines
    assert whole == {
        "schema": 1,
        "target": "play",
        "answer": "play",
        "classes": ["no", "yes"],
        "n_rows": 2,
        "missing": {},
        "unseen": {},
        "no_numbers": {},
    }
    empty = write("outlook,temperature,humidity,wind\n", "header.csv")
    assert json.loads(bayeswise("predict", golf_model, empty, "--json").out)["rows"] == []


def test_json_has_no_infinity(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    bayeswise("fit", write("x,y\n1,a\n2,a\n5,b\n7,b\n"), "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m")
    far = write("x\n1e200\n", "far.csv")
    answer = bayeswise("predict", tmp_path / "m", far, "--evidence", "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["rows"][0]["log_evidence"] == "-inf"


# -- what is reported and refused -------------------------------------------------------------------------------


def test_missing_unseen_and_invalid_cells_are_counted(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    train = write("x,c,y\n" + "".join(f"{k % 7}.5,{'uvw'[k % 3]},{'ab'[k % 2]}\n" for k in range(60)))
    bayeswise("fit", train, "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m")
    new = write("x,c\n" + "1,u\n" * 300 + "3a,u\n,zzz\nNA,\n", "new.csv")
    answer = bayeswise("predict", tmp_path / "m", new, "--json")
    report = json.loads(answer.out)
    assert report["missing"] == {"x": 3, "c": 1}
    assert report["unseen"] == {"c": 1}
    assert "'3a' (line 302)" in report["no_numbers"]["x"]
    assert "x: 3 cells are missing; of these 1 of 301 cells is not a number: '3a' (line 302)." in answer.err
    assert "c: 1 cell is missing; 1 cell is unseen" in answer.err


def test_a_table_of_other_columns_is_refused_before_anything_is_written(
    bayeswise: Command, golf_model: Path, write: Write, tmp_path: Path
) -> None:
    other = write("Outlook,temp,humidity,wind\nsunny,1,2,3\n")
    for words in ([], ["-o", tmp_path / "out.csv"]):
        answer = bayeswise("predict", golf_model, other, *words)
        assert (answer.code, answer.out) == (4, "")
        assert "did you mean 'Outlook'?" in answer.err
    assert not (tmp_path / "out.csv").exists()


def test_a_number_column_of_text_is_refused_before_a_short_table_is_written(
    bayeswise: Command, write: Write, tmp_path: Path
) -> None:
    bayeswise("fit", write("x,y\n1,a\n2,a\n5,b\n7,b\n"), "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m")
    answer = bayeswise("predict", tmp_path / "m", write("x\nfoo\nbar\n", "new.csv"))
    assert (answer.code, answer.out) == (4, "")


def test_a_row_that_is_impossible_is_named(bayeswise: Command, golf: Path, write: Write, tmp_path: Path) -> None:
    bayeswise("fit", golf, "-t", "play", "--model", "naive-bayes", "--convention", "exact", "-o", tmp_path / "m")
    answer = bayeswise("predict", tmp_path / "m", write(NEW + "hail,hot,high,weak\n"))
    assert answer.code == 4
    assert "row 3 of table.csv has probability 0 in every class" in answer.err


def test_damaged_and_missing_models_are_errors_of_data(bayeswise: Command, golf_model: Path, golf: Path) -> None:
    data = golf_model.read_bytes()
    golf_model.write_bytes(data[:-7] + b"damage!")
    for path in (golf_model, golf, golf_model.parent / "none", golf_model.parent):
        answer = bayeswise("predict", path, golf)
        assert (answer.code, answer.out) == (3, "")
        assert "cannot load" in answer.err


def test_an_output_file_is_whole_or_not_there(
    bayeswise: Command, golf_model: Path, write: Write, tmp_path: Path, partials: Callable[[], list[Any]]
) -> None:
    out = tmp_path / "out.csv"
    answer = bayeswise("predict", golf_model, write(NEW), "-o", out)
    assert (answer.code, answer.out) == (0, "")
    assert f"Saved {out}: 2 rows, the answer in column 'play'." in answer.err
    before = out.read_bytes()
    assert before.decode() == bayeswise("predict", golf_model, write(NEW)).out
    ragged = write(NEW + "sunny,hot\n", "ragged.csv")
    answer = bayeswise("predict", golf_model, ragged, "-o", out)
    assert answer.code == 3
    assert "line 4 of ragged.csv" in answer.err
    assert out.read_bytes() == before
    assert partials() == []


def test_neither_table_nor_model_can_be_the_output(bayeswise: Command, golf_model: Path, write: Write) -> None:
    new = write(NEW)
    for out in (golf_model, new):
        answer = bayeswise("predict", golf_model, new, "-o", out)
        assert answer.code == 2
        assert "would be overwritten" in answer.err
    assert new.read_text() == NEW
