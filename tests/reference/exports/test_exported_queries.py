"""Exported queries in real databases: the posteriors of `predict_proba`, to 1e-12 of the largest."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.models.calibrated import CalibratedModel
from bayeswise.posteriors.calibration_maps import AsItIs, Platt, Temperature
from tests.cases.export_cases import CASES, EXAMPLES, REGRESSIONS, decided_in, example, mixed, posterior_in
from tests.databases import Database, Duck, Lite, Postgres

TOLERANCE = 1e-12


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    try:
        started = Postgres.started()
        with started as running:
            yield running
    except LookupError as reason:
        warnings.warn(f"POSTGRESQL IS NOT TESTED: {reason}", UserWarning, stacklevel=1)
        pytest.skip(f"POSTGRESQL IS NOT TESTED: {reason}")


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Database:
    if request.param == "postgres":
        found: Database = request.getfixturevalue("server")
        return found
    return Duck() if request.param == "duckdb" else Lite()


@pytest.mark.parametrize("case", list(CASES))
def test_a_query_gives_the_posterior_of_the_model(database: Database, case: str) -> None:
    model, rows = CASES[case]()
    answers = database.answers(rows, model.to_sql(database.name))
    expected = model.predict_proba(rows)
    np.testing.assert_allclose(posterior_in(answers, model), expected, rtol=0.0, atol=TOLERANCE * expected.max())
    predicted = answers.get(model.schema.target.name, answers.get("predicted"))
    clear = np.flatnonzero(decided_in(expected))
    most_probable = model.predict(rows)
    assert [predicted[row] for row in clear] == [most_probable[row] for row in clear]


@pytest.mark.parametrize("case", list(REGRESSIONS))
def test_a_query_gives_the_mean_of_a_regression(database: Database, case: str) -> None:
    model, rows = REGRESSIONS[case]()
    answers = database.answers(rows, model.to_sql(database.name))
    expected = model.predict(rows)
    np.testing.assert_allclose(answers["price"], expected, rtol=0.0, atol=TOLERANCE * np.abs(expected).max())


# -- decisions ----------------------------------------------------------------------------------------------------
def test_a_query_decides_as_the_model_does_with_costs_from_columns(database: Database) -> None:
    model, rows = CASES["credit naive-bayes"]()
    rows = {**rows, "amount": [1000.0 if cell is None else cell for cell in rows["amount"]]}
    answers = database.answers(rows, model.to_sql(database.name, EXAMPLES / "credit.toml", columns=["amount"]))
    expected = bw.decide(model, rows, EXAMPLES / "credit.toml")
    assert list(answers) == ["amount", "action", "expected_cost", "p_no", "p_yes"]
    assert answers["action"] == expected.action.tolist()
    np.testing.assert_allclose(answers["expected_cost"], expected.least_cost, rtol=0.0, atol=1e-9)
    assert set(answers["action"]) == {"lend", "refuse", "ask"}


def test_a_cost_that_needs_a_missing_cell_decides_nothing(database: Database) -> None:
    model, rows = CASES["credit naive-bayes"]()
    answers = database.answers(rows, model.to_sql(database.name, EXAMPLES / "credit.toml"))
    missing = [cell is None for cell in rows["amount"]]
    assert any(missing)
    assert [cell is None for cell in answers["action"]] == missing
    assert [cell is None for cell in answers["expected_cost"]] == missing


def test_the_prior_of_a_decision_file_shifts_the_posterior(database: Database, tmp_path: Path) -> None:
    model, rows = CASES["golf naive-bayes"]()
    path = tmp_path / "decision.toml"
    path.write_text(
        "prior = { yes = 0.9, no = 0.1 }\n[costs]\nplay = { yes = 0, no = 3 }\nrest = { yes = 1, no = 0 }\n"
    )
    decision = DecisionFile.read(path, model.classes)
    answers = database.answers(rows, model.to_sql(database.name, decision))
    from bayeswise.posteriors.prior import shifted

    prior = decision.prior_of(model.classes)
    assert prior is not None
    expected = shifted(model.predict_proba(rows), np.exp(model.log_prior), prior, model.classes)
    np.testing.assert_allclose(posterior_in(answers, model), expected, rtol=0.0, atol=TOLERANCE)


# -- names and labels that are not meant well ---------------------------------------------------------------------
HOSTILE = [
    "it's", 'a "b"', "x; DROP TABLE rows; --", "back\\slash", "\\' OR 1=1 --", "two\nlines", "tab\tbed", "🦆 emoji",
    "/* comment", "%s", "$1", "{x}", ":name", "?", "NULL", "select", "`tick`", "é", "e\u0301", "İ", "''", "\\",
]  # fmt: skip


def hostile_table(levels: list[str]) -> dict[str, list[Any]]:
    generator = np.random.default_rng(3)
    names = [name for name in HOSTILE if name not in ("e\u0301", "?", ":name")][:12]
    table = {name: [levels[k] for k in generator.integers(0, len(levels), 90)] for name in names[:-1]}
    numbers = generator.normal(size=90).tolist()
    return {**table, names[-1]: numbers, "the 'class'; --": [("a'b", 'c"d', "e\\f")[k % 3] for k in range(90)]}


def test_hostile_names_and_labels_are_only_names_and_labels(database: Database) -> None:
    levels = HOSTILE if database.name == "postgres" else [*HOSTILE, "nul\x00byte", ""]
    table = hostile_table(levels)
    model = bw.fit(table, target="the 'class'; --", model="naive-bayes")
    rows = {name: cells for name, cells in table.items() if name != "the 'class'; --"}
    name = 'rows"; DROP TABLE x; --'
    answers = database.answers(rows, model.to_sql(database.name, table=[name]), table_name=name)
    np.testing.assert_allclose(posterior_in(answers, model), model.predict_proba(rows), rtol=0.0, atol=TOLERANCE)
    assert set(answers["the 'class'; --"]) <= {"a'b", 'c"d', "e\\f"}
    assert all(answers[each] == cells for each, cells in rows.items() if isinstance(cells[0], str))


def test_labels_that_are_numbers_and_flags_are_compared_as_such(database: Database) -> None:
    generator = np.random.default_rng(4)
    table: dict[str, list[Any]] = {
        "big": [(2**60, 2**60 + 1, -5)[k % 3] for k in range(60)],
        "flag": [bool(k % 2) for k in range(60)],
        "share": [(0.1, 0.25, 1e-7)[k] for k in generator.integers(0, 3, 60)],
        "y": [k % 3 for k in range(60)],
    }
    model = bw.fit(table, target="y", model="naive-bayes", kinds={"big": "category", "share": "category"})
    rows: dict[str, list[Any]] = {
        "big": [2**60, 2**60 + 1, 7, None],
        "flag": [True, False, None, True],
        "share": [0.1, 1e-7, 0.5, None],
    }
    answers = database.answers(rows, model.to_sql(database.name))
    np.testing.assert_allclose(posterior_in(answers, model), model.predict_proba(rows), rtol=0.0, atol=TOLERANCE)
    assert [int(label) for label in answers["y"]] == model.predict(rows)


# -- numbers ------------------------------------------------------------------------------------------------------
def test_every_double_is_read_back_to_the_last_bit(database: Database) -> None:
    from bayeswise.exports.dialects import dialect_of

    generator = np.random.default_rng(5)
    bits = generator.integers(0, 2**63, 500, dtype=np.uint64).view(np.float64)
    special = [
        0.0,
        5e-324,
        2.2250738585072014e-308,
        1e300,
        1.7976931348623157e308,
        0.1,
        1 / 3,
        1e22,
        1e23,
        123456789.125,
    ]
    values = [*special, *bits[np.isfinite(bits)].tolist(), *(-abs(generator.normal(size=300))).tolist()]
    dialect = dialect_of(database.name)
    for start in range(0, len(values), 500):
        part = values[start : start + 500]
        columns = [dialect.sql.alias_(dialect.number(x), f"v{k}") for k, x in enumerate(part)]
        query = dialect.sql.select(*columns).from_("rows").sql(dialect=database.name)
        answers = database.answers({"one": [1]}, query)
        assert [cells[0] for cells in answers.values()] == part


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 1e15, 1e300])
def test_columns_of_any_size_are_scored(database: Database, scale: float) -> None:
    generator = np.random.default_rng(6)
    offset = 1e15 if scale == 1.0 else 0.0
    table: dict[str, list[Any]] = {
        "x": (offset + scale * generator.normal(np.arange(80) % 2, 1.0)).tolist(),
        "y": ["ab"[k % 2] for k in range(80)],
    }
    for kind in ("naive-bayes", "averaged", "gaussian", "logistic"):
        if kind == "logistic" and not 1e-100 < scale < 1e100:
            continue  # refused when it is fitted
        model = bw.fit(table, target="y", model=kind)
        rows = {"x": [*table["x"][:20], offset + 30 * scale, *([] if kind == "logistic" else [None])]}
        answers = database.answers(rows, model.to_sql(database.name))
        np.testing.assert_allclose(posterior_in(answers, model), model.predict_proba(rows), rtol=0.0, atol=TOLERANCE)


def test_large_counts_keep_their_digits(database: Database) -> None:
    generator = np.random.default_rng(7)
    counts = generator.poisson(np.where(np.arange(60) % 2, 1e6, 1.001e6)).tolist()
    table: dict[str, list[Any]] = {"n": counts, "y": ["ab"[k % 2] for k in range(60)]}
    model = bw.fit(table, target="y", model="naive-bayes", kinds={"n": "count"})
    rows = {"n": [1_000_400, 1_000_500, 1_000_600, 0]}
    answers = database.answers(rows, model.to_sql(database.name))
    np.testing.assert_allclose(posterior_in(answers, model), model.predict_proba(rows), rtol=0.0, atol=TOLERANCE)


# -- rows without an answer ---------------------------------------------------------------------------------------
def test_rows_that_a_model_refuses_have_no_answer(database: Database) -> None:
    table = mixed()
    model = bw.fit(table, target="class", model="naive-bayes", kinds={"n": "count"}, unseen="error", smoothing=0.0)
    known: dict[str, Any] = {"x": 0.0, "z": 5.0, "n": 2.0, "colour": "red", "flag": True}
    wrong = [{"x": float("inf")}, {"x": float("-inf")}, {"n": 1.5}, {"n": -1.0}, {"colour": "violet"}, {"z": 1e307}]
    listed = [known, *({**known, **each} for each in wrong)]
    rows = {name: [row[name] for row in listed] for name in known}
    answers = database.answers(rows, model.to_sql(database.name))
    assert answers["class"][0] is not None
    assert answers["class"][1:] == [None] * len(wrong)
    assert np.isnan(posterior_in(answers, model)[1:]).all()


def test_a_missing_cell_has_no_answer_where_the_model_refuses_it(database: Database) -> None:
    complete = {name: cells for name, cells in mixed().items() if name in ("z", "n", "class")}
    model = bw.fit(complete, target="class", model="logistic", missing="error")
    rows = {"z": [1.0, None], "n": [2, 2]}
    answers = database.answers(rows, model.to_sql(database.name))
    assert [cell is None for cell in answers["class"]] == [False, True]


@pytest.mark.parametrize("calibration", [AsItIs(), Temperature(2.0), Platt(np.ones(2), np.zeros(2))])
def test_a_row_that_no_class_allows_has_no_answer(database: Database, calibration: Any) -> None:
    table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", "v"], "c": ["k", "k", "l", "l"]}
    model = CalibratedModel(bw.fit(table, target="c", model="naive-bayes", smoothing=0.0), calibration, 4)
    answers = database.answers({"a": ["x", "x"], "b": ["u", "v"]}, model.to_sql(database.name))
    assert answers["c"] == ["k", None]
    assert answers["p_k"] == [1.0, None]


def test_a_row_that_one_member_of_a_mixture_refuses_is_answered_by_the_others(database: Database) -> None:
    g = np.random.default_rng(3)
    rich = g.random(240) < 0.5
    amount = np.exp(g.normal(3, 1, 240) + 1.2 * rich).tolist()  # one member takes it for a log-normal, above 0 only
    model = bw.fit({"amount": amount, "y": np.where(rich, "rich", "poor").tolist()}, target="y", model="auto")
    rows = {"amount": [0.0, -2.5, 7.0]}
    answers = database.answers(rows, model.to_sql(database.name))
    np.testing.assert_allclose(posterior_in(answers, model), model.predict_proba(rows), rtol=0.0, atol=TOLERANCE)


def test_text_in_a_number_column_of_sqlite_is_not_read_as_zero() -> None:
    model, rows = CASES["credit naive-bayes"]()
    rows = {**rows, "income": ["1500" if k % 2 else "" for k in range(len(rows["income"]))]}
    answers = Lite().answers(rows, model.to_sql("sqlite"))
    assert answers["predicted" if "repaid" in rows else "repaid"] == [None] * len(rows["income"])


def test_a_column_that_sqlite_compares_without_case_is_compared_with_it() -> None:
    import sqlite3

    model = bw.fit({"a": ["x", "x", "X"] * 5, "y": ["k", "k", "l"] * 5}, target="y", model="naive-bayes")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE rows (a TEXT COLLATE NOCASE)")
    connection.executemany("INSERT INTO rows VALUES (?)", [("x",), ("X",)])
    found = [row[1] for row in connection.execute(model.to_sql("sqlite"))]
    connection.close()
    assert found == ["k", "l"]


def test_examples_are_the_bundled_ones() -> None:
    assert {path.name for path in EXAMPLES.glob("*.csv")} >= {"golf.csv", "golf-tomorrow.csv", "credit.csv"}
    assert len(example("credit.csv")["repaid"]) > 100
