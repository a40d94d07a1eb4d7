"""What is written for each database, and what is refused."""

from __future__ import annotations

import builtins
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sqlglot
from sqlglot import exp

import bayeswise as bw
from bayeswise.exports.answers import answer_of
from bayeswise.exports.dialects import NAMES
from bayeswise.foundation.errors import ExportError, KindError, NotInstalledError, ParameterError, TooLargeError
from bayeswise.models.auto.candidates import Member
from bayeswise.models.auto.inputs import AsNumbers
from tests.cases.export_cases import CASES, REGRESSIONS, mixed

LABELS = ["it's", 'a "b"', "x; DROP TABLE rows; --", "back\\slash", "\\' OR 1=1 --", "two\nlines", "🦆", "`tick`", "\t"]


def hostile_model() -> Any:
    table = {'co"l; --\n`x`\\': LABELS * 2, "y": (["a'b"] * 5 + ["c\\"] * 4) * 2}
    return bw.fit(table, target="y", model="naive-bayes", kinds={'co"l; --\n`x`\\': "category"})


@pytest.mark.parametrize("dialect", NAMES)
def test_a_query_is_one_select_that_reads_back(dialect: str) -> None:
    model, _ = CASES["mixed naive-bayes"]()
    statements = sqlglot.parse(model.to_sql(dialect, table="shop.orders"), read=dialect)
    assert len(statements) == 1
    assert isinstance(statements[0], exp.Select)
    tables = {(table.db, table.name) for table in statements[0].find_all(exp.Table)}
    assert ("shop", "orders") in tables
    assert statements[0].named_selects == ["x", "z", "n", "colour", "flag", "class", "p_maybe", "p_no", "p_yes"]


@pytest.mark.parametrize("dialect", NAMES)
def test_hostile_names_and_labels_read_back_as_they_are(dialect: str) -> None:
    model = hostile_model()
    (statement,) = sqlglot.parse(model.to_sql(dialect), read=dialect)
    assert statement is not None
    literals = {literal.this for literal in statement.find_all(exp.Literal) if literal.is_string}
    assert {*LABELS, "a'b", "c\\"} <= literals
    assert 'co"l; --\n`x`\\' in {identifier.this for identifier in statement.find_all(exp.Identifier)}


@pytest.mark.parametrize("dialect", ["duckdb", "spark", "bigquery"])
def test_numbers_have_an_exponent_so_that_they_are_doubles_and_not_decimals(dialect: str) -> None:
    model, _ = CASES["credit naive-bayes"]()
    (statement,) = sqlglot.parse(model.to_sql(dialect), read=dialect)
    assert statement is not None
    written = [
        literal.this for literal in statement.find_all(exp.Literal) if "." in literal.this and not literal.is_string
    ]
    assert written
    assert all("e" in number.lower() for number in written)


@pytest.mark.parametrize("name", ["golf auto", "mixed k-dependence", "credit gaussian per-class"])
def test_the_same_model_gives_the_same_query(name: str) -> None:
    model, _ = CASES[name]()
    assert model.to_sql("duckdb") == model.to_sql("duckdb")


def test_steps_are_not_called_like_the_table() -> None:
    model, _ = CASES["golf naive-bayes"]()
    query = sqlglot.parse_one(model.to_sql("sqlite", table="cells"), read="sqlite")
    assert "cells" not in {cte.alias for cte in query.find_all(exp.CTE)}


def test_answers_are_not_called_like_a_column_that_differs_in_case_only() -> None:
    model, _ = CASES["golf naive-bayes"]()
    query = sqlglot.parse_one(model.to_sql("duckdb", columns=["Play", "P_Yes"]), read="duckdb")
    assert query.named_selects == ["Play", "P_Yes", "predicted", "p_no", "p_yes_2"]


# -- what is refused ----------------------------------------------------------------------------------------------
def test_a_dialect_that_is_not_known_is_refused() -> None:
    model, _ = CASES["golf naive-bayes"]()
    with pytest.raises(ParameterError, match="did you mean 'postgres'"):
        model.to_sql("postgresql")


@pytest.mark.parametrize("table", ["", "a.b.c.d", ".rows", [], ["a", 3]])
def test_a_table_without_a_name_is_refused(table: Any) -> None:
    model, _ = CASES["golf naive-bayes"]()
    with pytest.raises(ParameterError, match="the table is called"):
        model.to_sql("duckdb", table=table)


def test_free_text_is_refused_by_name() -> None:
    texts = ["cheap pills now", "meeting at noon", "cheap watches", "lunch at noon"] * 5
    model = bw.fit({"body": texts, "y": ["spam", "ham"] * 10}, target="y", model="naive-bayes", kinds={"body": "text"})
    for write in (lambda: model.to_sql("duckdb"), model.to_onnx):
        with pytest.raises(ExportError, match="column 'body' is free text"):
            write()


def test_a_prior_of_how_many_columns_are_relevant_is_refused() -> None:
    model = bw.fit(mixed(), target="class", model="averaged", n_relevant="uniform")
    with pytest.raises(ExportError, match="n_relevant"):
        model.to_sql("duckdb")


def test_many_correlated_columns_are_refused() -> None:
    generator = np.random.default_rng(0)
    table = {f"x{k}": generator.normal(size=60).tolist() for k in range(30)}
    model = bw.fit({**table, "y": ["a", "b"] * 30}, target="y", model="gaussian", shrinkage=0.5)
    with pytest.raises(ExportError, match="30 correlated columns"):
        model.to_sql("duckdb")
    assert bw.fit({**table, "y": ["a", "b"] * 30}, target="y", model="gaussian", covariance="diagonal").to_sql("duckdb")


def test_more_columns_than_a_database_has_are_refused() -> None:
    table = {f"x{k}": [float(k), 1.0, 2.0, 3.0] for k in range(1_600)}
    model = bw.fit({**table, "y": ["a", "b", "a", "b"]}, target="y", model="naive-bayes")
    with pytest.raises(TooLargeError, match="columns; databases allow"):
        model.to_sql("postgres")


def test_costs_by_class_do_not_go_with_a_number() -> None:
    model, _ = REGRESSIONS["gaussian"]()
    with pytest.raises(KindError, match="answers with a number"):
        model.to_sql("duckdb", {"buy": {"a": 1}, "sell": {"a": 2}})


def test_labels_of_several_types_are_refused() -> None:
    from bayeswise.exports.dialects import dialect_of
    from bayeswise.render.expression import Levels

    with pytest.raises(ExportError, match="labels of several types"):
        dialect_of("duckdb").compared(Levels("a", (1, "1")))


@pytest.mark.parametrize(("library", "extra"), [("sqlglot", "sql"), ("onnx", "onnx")])
def test_a_library_that_is_not_installed_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch, library: str, extra: str
) -> None:
    model, _ = CASES["golf naive-bayes"]()
    real = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name.partition(".")[0] == library:
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NotInstalledError, match=rf"pip install 'bayeswise\[{extra}\]'"):
        model.to_sql("duckdb") if library == "sqlglot" else model.to_onnx()


def test_a_member_of_auto_that_is_not_exported_is_named_with_a_fix_for_auto() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(60, 30)) @ rng.normal(size=(30, 30))
    table = {f"x{k}": column for k, column in enumerate(numbers.T)} | {"y": np.where(numbers[:, 0] > 0, "a", "b")}
    gaussian = bw.fit(table, "y", model="gaussian")
    auto = bw.fit(table, "y", within="1s")
    inputs = AsNumbers.of(auto.schema, next(auto.batches(table)), filled=False)
    model = replace(auto, members=(Member("gaussian", inputs, gaussian),), weights=np.ones(1))
    with pytest.raises(ExportError, match=r"'gaussian', a member of this auto model: a covariance of 30") as caught:
        answer_of(model)
    assert "--model logistic" in str(caught.value) and "--covariance" not in str(caught.value)


def test_a_mixture_of_texts_says_to_leave_out_the_text() -> None:
    mails = {
        "text": ["win cash now", "lunch at noon"] * 20,
        "sender": ["a", "b", "a"] * 13 + ["b"],
        "y": ["spam", "ham"] * 20,
    }
    with pytest.raises(ExportError, match=r"Fix: leave out the text \(--ignore text\)"):
        bw.fit(mails, "y", kinds={"text": "text"}).to_sql("duckdb")
