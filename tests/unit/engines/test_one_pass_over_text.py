"""A long text file is read once for its profile and statistics, by any number of threads; the model, or the error, is
that of two passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import BayeswiseError
from bayeswise.models.files import bytes_of
from bayeswise.tables.sources import opening
from bayeswise.tables.sources.text import csv

N_ROWS = 600
LATE = 500  # beyond the first chunk

FIRST = {
    "decimals": lambda k: f"{k * 0.37 - 80:.2f}",
    "integers": lambda k: str(k * 7 % 101),
    "flags": lambda k: str(k % 2),
    "flags written otherwise": lambda k: f"{k % 2}.0",
    "row numbers": str,
    "row numbers from 500 down": lambda k: str((N_ROWS + 499 - k) % N_ROWS),
    "constant": lambda k: "3",
    "constant at first": lambda k: "3" if k < LATE else str(k * 5 % 17),
    "levels": lambda k: ["red", "green", "blue"][k % 3],
    "padded": lambda k: f"{k % 50:03d}",
    "missing": lambda k: "NA" if k % 3 else f"{k}.5",
    "nothing": lambda k: "",
    "dates": lambda k: f"2024-01-{k % 28 + 1:02d}",
}
CHANGES = ["", "0007", "x", "0.5", "9007199254740993", "1e400", "inf", "?", '"12"', "0.0", "-1"]


def outcome(path: Path, **settings: Any) -> Any:
    try:
        return bytes_of(bw.fit(path, "y", **settings))
    except BayeswiseError as error:
        return type(error).__name__, str(error)


@pytest.fixture
def sweeps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Small chunks, every file a long one; what is swept."""
    monkeypatch.setattr(csv, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(csv, "BLOCK_BYTES_PER_COLUMN", 1)
    made: list[str] = []
    pieces = csv.CsvSource.pieces

    def counted(source: csv.CsvSource, indices: Any) -> Any:
        made.append(source.description)
        return pieces(source, indices)

    monkeypatch.setattr(csv.CsvSource, "pieces", counted)
    return made


def both(path: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> tuple[Any, Any]:
    """By one pass and by two."""
    monkeypatch.setattr(opening, "LONG_TEXT", 0)
    by_one, by_four = (outcome(path, threads=threads, **settings) for threads in (1, 4))
    assert by_one == by_four
    monkeypatch.setattr(opening, "LONG_TEXT", 1 << 60)
    return by_one, outcome(path, **settings)


def written(path: Path, columns: dict[str, list[str]]) -> Path:
    rows = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n")
    return path


def labels() -> list[str]:
    return [("no", "yes")[(k * k) % 7 > 2] for k in range(N_ROWS)]


@pytest.mark.parametrize("first", FIRST)
def test_whatever_comes_late_the_model_is_that_of_two_passes(
    first: str, tmp_path: Path, sweeps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for change in CHANGES:
        cells = [FIRST[first](k) for k in range(N_ROWS)]
        cells[LATE] = change or cells[LATE]
        other = [str(k * 31 % 13) for k in range(N_ROWS)]
        path = written(tmp_path / "rows.csv", {"a": cells, "b": other, "y": labels()})
        one, two = both(path, monkeypatch, model="naive-bayes")
        assert one == two, change


@pytest.mark.parametrize("model", ["naive-bayes", "gaussian", "averaged", "logistic", "tan"])
def test_models_are_the_same_by_one_pass(
    model: str, tmp_path: Path, sweeps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    columns = {name: [f"{x:.3f}" for x in rng.normal(size=N_ROWS)] for name in ("u", "v")}
    colours = rng.choice(["red", "blue"], N_ROWS).tolist()
    path = written(tmp_path / "rows.csv", {**columns, "colour": colours, "y": labels()})
    one, two = both(path, monkeypatch, model=model)
    assert isinstance(one, bytes) and one == two


def test_a_file_is_read_once_where_the_first_rows_show_the_schema(
    tmp_path: Path, sweeps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"u": [f"{k * 0.5}" for k in range(N_ROWS)], "y": labels()}
    path = written(tmp_path / "rows.csv", columns)
    monkeypatch.setattr(opening, "LONG_TEXT", 0)
    done: list[int] = []
    bw.fit(path, "y", model="naive-bayes", progress=done.append)
    assert len(sweeps) == 2  # the first rows, then all of them
    assert sum(done) == N_ROWS


@pytest.mark.parametrize("line", ["1,2,3,no", "1.5", '1.0,"no'])
def test_a_line_that_cannot_be_read_is_the_same_error(
    line: str, tmp_path: Path, sweeps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "rows.csv", {"u": [f"{k}.5" for k in range(N_ROWS)], "y": labels()})
    path.write_text(path.read_text() + line + "\n")
    one, two = both(path, monkeypatch, model="naive-bayes")
    assert one == two and one[0] == "SourceError"


def test_overridden_columns_are_as_by_two_passes(
    tmp_path: Path, sweeps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = {name: [FIRST[kind](k) for k in range(N_ROWS)] for name, kind in zip("abc", FIRST, strict=False)}
    path = written(tmp_path / "rows.csv", {**cells, "w": [str(k % 4) for k in range(N_ROWS)], "y": labels()})
    for settings in (
        {"kinds": {"b": "category"}, "weight": "w"},
        {"kinds": {"c": "number"}, "ignore": ["a"]},
        {"levels": {"b": [str(k) for k in range(101)]}},
        {"missing": "error"},
    ):
        one, two = both(path, monkeypatch, model="naive-bayes", **settings)
        assert one == two, settings


def test_threads_take_pieces_in_turn_and_name_their_rows(tmp_path: Path, sweeps: list[str]) -> None:
    path = written(tmp_path / "rows.csv", {"row": [str(k) for k in range(N_ROWS)], "long": ["x" * 50] * N_ROWS})
    source = csv.CsvSource(path)
    turns = source.in_turns(["row"])
    one, other = turns.chunks(), turns.chunks()
    taken = [next(chunks) for chunks in (one, other, one, other)]
    taken += [*one, *other]
    assert len(taken) > 1 and sum(chunk.n_rows for chunk in taken) == source.n_rows == N_ROWS
    for chunk in taken:
        assert chunk.numbers("row")[0].tolist() == list(range(chunk.first_row, chunk.first_row + chunk.n_rows))


def test_no_thread_takes_another_piece_of_a_sweep_that_is_given_up(tmp_path: Path, sweeps: list[str]) -> None:
    path = written(tmp_path / "rows.csv", {"row": [str(k) for k in range(N_ROWS)], "long": ["x" * 50] * N_ROWS})
    source = csv.CsvSource(path)
    turns = source.in_turns(["row"])
    chunks = turns.chunks()
    next(chunks)
    turns.stop()
    assert list(chunks) == [] and source.n_rows is None


def test_an_interrupt_of_one_thread_ends_the_pass(
    tmp_path: Path, sweeps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "rows.csv", {"u": [f"{k % 90}.5" for k in range(N_ROWS)], "y": labels()})
    monkeypatch.setattr(opening, "LONG_TEXT", 0)

    def interrupt(rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bw.fit(path, "y", model="naive-bayes", progress=interrupt, threads=4)
    assert len(sweeps) == 2  # the first rows, then those that were begun
