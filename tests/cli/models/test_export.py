"""bayeswise export: queries on standard output or in a file, graphs in a file."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import bayeswise as bw
from tests.paths import EXAMPLES

Command = Callable[..., Any]


@pytest.fixture(scope="module")
def loan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "loan.bayeswise"
    bw.fit(EXAMPLES / "credit.csv", target="repaid", model="naive-bayes").save(path)
    return path


def test_a_query_gives_the_rows_that_predict_gives(bayeswise: Command, loan: Path, tmp_path: Path) -> None:
    query = bayeswise("export", loan, "--sql", "duckdb", "--table", "new").out
    rows = EXAMPLES / "credit-test.csv"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE new AS SELECT * FROM read_csv($1, all_varchar = false)", [str(rows)])
        connection.execute(
            "ALTER TABLE new ALTER employed TYPE VARCHAR USING CASE WHEN employed THEN 'yes' ELSE 'no' END"
        )
        found = connection.execute(query)
        place = [each[0] for each in found.description].index("p_yes")
        shares = sorted(row[place] for row in found.fetchall())
    predicted = csv.DictReader(bayeswise("predict", loan, rows, "--proba").out.splitlines())
    assert shares == pytest.approx(sorted(float(row["p_yes"]) for row in predicted), abs=1e-12)


def test_a_query_decides_as_decide_does(bayeswise: Command, loan: Path, tmp_path: Path) -> None:
    out = tmp_path / "loans.sql"
    done = bayeswise(
        "export", loan, "--sql", "sqlite", "--costs", EXAMPLES / "credit.toml", "--columns", "amount", "-o", out
    )
    assert (done.code, done.out) == (0, "")
    assert f"Saved {out}" in done.err
    decided = csv.DictReader(
        bayeswise("decide", loan, EXAMPLES / "credit-test.csv", "--costs", EXAMPLES / "credit.toml").out.splitlines()
    )
    import sqlite3

    with (EXAMPLES / "credit-test.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    connection = sqlite3.connect(":memory:")
    kinds = ("REAL", "REAL", "TEXT", "TEXT", "TEXT", "TEXT")
    connection.execute(f"CREATE TABLE rows ({', '.join(map(' '.join, zip(rows[0], kinds, strict=True)))})")
    cells = [[cell if cell else None for cell in row] for row in rows[1:]]
    connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(rows[0]))})", cells)
    found = [row[1] for row in connection.execute(out.read_text(encoding="utf-8"))]
    connection.close()
    assert found == [row["action"] for row in decided]


def test_a_graph_is_written_whole(bayeswise: Command, loan: Path, tmp_path: Path) -> None:
    path = tmp_path / "loan.onnx"
    done = bayeswise("export", loan, "--onnx", path, "--json")
    assert done.code == 0
    assert json.loads(done.out) == {"schema": 1, "onnx": str(path), "bytes": path.stat().st_size}
    assert path.read_bytes() == bw.load(loan).to_onnx()


def test_json_holds_the_query(bayeswise: Command, loan: Path) -> None:
    found = json.loads(bayeswise("export", loan, "--sql", "bigquery", "--json").out)
    assert found["dialect"] == "bigquery"
    assert found["sql"] == bw.load(loan).to_sql("bigquery")


def test_no_columns_are_kept_if_none_are_selected(bayeswise: Command, loan: Path) -> None:
    import sqlglot

    query = bayeswise("export", loan, "--sql", "duckdb", "--columns", "none").out
    assert sqlglot.parse_one(query, read="duckdb").named_selects == ["repaid", "p_no", "p_yes"]


@pytest.mark.parametrize("words", [(), ("--sql", "duckdb", "--onnx", "x.onnx")])
def test_either_a_query_or_a_graph_is_written(bayeswise: Command, loan: Path, words: tuple[str, ...]) -> None:
    done = bayeswise("export", loan, *words)
    assert done.code == 2
    assert "add --sql DIALECT or --onnx FILE" in done.err


def test_a_belief_network_is_converted_instead(bayeswise: Command, tmp_path: Path) -> None:
    network = bw.BeliefNetwork.learn(EXAMPLES / "golf.csv")
    for name in ("golf.bif", "golf.bayeswise"):
        network.write(tmp_path / name) if name.endswith(".bif") else network.save(tmp_path / name)
        for words in (("--sql", "duckdb"), ()):
            done = bayeswise("export", tmp_path / name, *words)
            assert done.code == 4
            assert f"bayeswise network convert {tmp_path / name} NEW.bif" in done.err


def test_a_query_does_not_replace_the_model(bayeswise: Command, loan: Path) -> None:
    before = loan.read_bytes()
    done = bayeswise("export", loan, "--sql", "duckdb", "-o", loan)
    assert done.code == 2
    assert loan.read_bytes() == before
