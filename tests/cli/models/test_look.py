"""bayeswise look: what a user sees before any model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len

from tests.paths import GOLF

Command = Callable[..., SimpleNamespace]


@pytest.fixture
def look(bayeswise: Command) -> Callable[..., dict[str, Any]]:
    """Run `look --json` and read what it prints."""

    def run(*words: object, stdin: bytes = b"") -> dict[str, Any]:
        answer = bayeswise("look", *words, "--json", stdin=stdin)
        assert answer.code == 0, answer.err
        assert answer.err == ""
        found: dict[str, Any] = json.loads(answer.out)
        return found

    return run


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "table.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def column(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(found for found in report["columns"] if found["name"] == name)


def test_json_has_the_columns_the_classes_and_the_warnings(look: Callable[..., dict[str, Any]]) -> None:
    report = look(GOLF, "-t", "play")
    parts = ["name", "kind", "missing", "distinct", "distinct_exact", "note"]
    assert [list(found) for found in report["columns"]] == [parts] * 5
    assert column(report, "outlook")["kind"] == "category"
    play = {"name": "play", "kind": "target", "missing": 0, "distinct": 2, "distinct_exact": True, "note": ""}
    assert column(report, "play") == play
    assert (report["rows"], report["target"], report["classes"]) == (14, "play", {"no": 5, "yes": 9})
    assert report["warnings"] == []


def test_values_that_are_too_many_to_count_are_estimated_and_said_to_be(
    bayeswise: Command, look: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayeswise.tables.schema.profile.EXACT_DISTINCT", 1)  # 4,096 is the least
    table = tmp_path / "many.csv"
    table.write_text("x,y\n" + "".join(f"{k // 2}.5,{k % 2}\n" for k in range(18_000)))
    found = column(look(table, "-t", "y"), "x")
    assert not found["distinct_exact"] and found["distinct"] == pytest.approx(9_000, rel=0.05)
    assert column(look(table, "-t", "y"), "y")["distinct_exact"]
    shown = next(line for line in bayeswise("look", table, "-t", "y").out.splitlines() if line.startswith("x "))
    assert re.search(r" 0  about [89],\d\d0 ", shown), shown


def test_stdin_is_a_table_too(look: Callable[..., dict[str, Any]]) -> None:
    assert look("-", "-t", "play", stdin=GOLF.read_bytes())["columns"] == look(GOLF, "-t", "play")["columns"]


def test_without_a_target_there_are_no_classes(look: Callable[..., dict[str, Any]]) -> None:
    report = look(GOLF)
    assert (report["target"], report["classes"]) == (None, {})


def test_kinds_can_be_set(look: Callable[..., dict[str, Any]], file: Callable[[str], Path]) -> None:
    rows = [f"{k % 3},{k % 4},{k % 5},remark {k % 2},{'SML'[k % 3]},{k % 2},a{k},{'pq'[k % 2]}\n" for k in range(30)]
    path = file("zip,visits,score,remark,size,flag,id,y\n" + "".join(rows))
    report = look(
        path, "-t", "y", "--category", "zip", "--count", "visits", "--number", "score", "--text", "remark",
        "--category", "size=S,M,L,XL", "--binary", "flag", "--ignore", "id",
    )  # fmt: skip
    kinds = {found["name"]: found["kind"] for found in report["columns"]}
    assert kinds == {"zip": "category", "visits": "count", "score": "number", "remark": "text", "size": "category",
                     "flag": "binary", "id": "ignored", "y": "target"}  # fmt: skip
    assert column(report, "size")["note"] == "declared: S, M, L, XL"
    assert column(report, "id")["note"] == "ignored on request"


def test_null_words_are_counted_and_can_be_chosen(
    look: Callable[..., dict[str, Any]], file: Callable[[str], Path]
) -> None:
    path = file("x,y\n1.5,a\nNA,b\n,a\n-,b\n2.5,a\n" + "3.5,b\n" * 200)
    assert column(look(path), "x")["missing"] == 2
    assert "null words: empty 1, NA 1" in column(look(path), "x")["note"]
    report = look(path, "--null", "-", "--null", "", "--null", "NA")
    assert column(report, "x")["missing"] == 3


def test_an_id_is_ignored_with_the_way_to_keep_it(
    look: Callable[..., dict[str, Any]], file: Callable[[str], Path]
) -> None:
    report = look(file("id,x,y\n" + "".join(f"{100 + 7 * k},{k % 3},{'ab'[k % 2]}\n" for k in range(9))), "-t", "y")
    assert column(report, "id")["kind"] == "ignored"
    assert column(report, "id")["note"] == (
        "every value is different; keep it with kinds={'id': 'category'} or --category id"
    )


def test_a_copy_of_the_target_is_reported_with_its_remedy(
    look: Callable[..., dict[str, Any]], file: Callable[[str], Path]
) -> None:
    rows = "".join(f"{k % 3},{'XYZ'[k % 3]},{k % 5},{'abc'[k % 3]}\n" for k in range(45))
    report = look(file("code,letter,fine,y\n" + rows), "-t", "y")
    assert {found["column"] for found in report["warnings"]} == {"code", "letter"}
    assert all("copies the target" in found["what"] and "--ignore" in found["fix"] for found in report["warnings"])


def test_a_column_whose_values_decide_the_class_is_reported(
    look: Callable[..., dict[str, Any]], file: Callable[[str], Path]
) -> None:
    rows = "".join(f"town{k % 6},{'ab'[k % 6 > 2]}\n" for k in range(60))
    (warning,) = look(file("town,y\n" + rows), "-t", "y")["warnings"]
    assert "each of its values goes with one class" in warning["what"]


def test_too_many_invalid_values_are_shown_and_end_with_exit_code_3(
    bayeswise: Command, file: Callable[[str], Path]
) -> None:
    path = file("x,y\n" + "1.5,a\n2.5,b\n" * 10 + "3a,a\n")
    answer = bayeswise("look", path, "-t", "y", "--json")
    assert answer.code == 3
    (warning, *_) = json.loads(answer.out)["warnings"]
    assert (warning["column"], warning["stops"]) == ("x", True)
    assert "'3a' (line 22)" in warning["what"]
    assert "--category x" in warning["fix"]
    assert "column 'x' looks numeric" in answer.err


def test_a_mistyped_target_is_guessed(bayeswise: Command) -> None:
    answer = bayeswise("look", GOLF, "-t", "Play")
    assert answer.code == 4
    assert answer.out == ""
    assert "did you mean 'play'?" in answer.err


def test_a_file_that_is_not_there_ends_with_exit_code_3(bayeswise: Command) -> None:
    assert bayeswise("look", "no such file.csv").code == 3


LONG = f"long level {'x' * 60}"
AWKWARD = "a very long column name that goes on and on and on,🎉 party,שלום,[bold]markup[/bold],y\n" + "".join(
    f'"{LONG} {k % 3}",👩\u200d👩\u200d👧 {k % 2},א{k % 3},"[red]\nline {k % 2}",{"ab"[k % 2]}\n' for k in range(20)
)


def test_the_page_fits_a_terminal_of_80_columns(
    bayeswise: Command, file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = bayeswise("look", file(AWKWARD), "-t", "y")
    assert answer.code == 0
    assert max(map(cell_len, answer.out.splitlines())) <= 80
    for word in ("🎉 party", "שלום", "[bold]markup[/bold]", "[red]\\nline"):
        assert word in " ".join(answer.out.split())


def test_the_page_shows_shares_and_remedies(bayeswise: Command, file: Callable[[str], Path]) -> None:
    rows = [f"{'XY'[k % 2]},r{k},{'ab'[k % 2]}\n" for k in range(10)]
    answer = bayeswise("look", file("copy,id,y\n" + "".join(rows)), "-t", "y")
    assert "table.csv: 10 rows, 3 columns" in answer.out
    assert "50.0 %" in answer.out
    assert "Keep a column that is ignored with --category COL" in answer.out
    assert "Fix: if not: ignore=['copy'] or --ignore copy" in answer.out
