"""compare: all kinds of models by rows that they never saw."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.evaluation.evaluate import evaluate
from bayeswise.evaluation.model_comparison import compare_models, names_of_classifiers
from bayeswise.models.held_out import held_out
from tests.paths import EXAMPLES

Command = Callable[..., SimpleNamespace]

CREDIT, TOML = EXAMPLES / "credit.csv", EXAMPLES / "credit.toml"
QUICK = "naive-bayes,logistic,tan"


@pytest.fixture(scope="module")
def xor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What naive Bayes cannot see, and a tree of dependences can."""
    generator = np.random.default_rng(0)
    a, b = generator.integers(0, 2, (2, 400))
    y = np.where(generator.random(400) < 0.9, a ^ b, 1 - (a ^ b))
    path = tmp_path_factory.mktemp("xor") / "xor.csv"
    pd.DataFrame({"a": np.where(a, "u", "v"), "b": np.where(b, "p", "q"), "y": np.where(y, "yes", "no")}).to_csv(
        path, index=False
    )
    return path


def test_the_best_comes_first_and_the_rest_by_their_log_loss(bayeswise: Command, xor: Path) -> None:
    found = json.loads(bayeswise("compare", xor, "-t", "y", "--models", QUICK, "--json").out)
    losses = [line["log_loss"]["mean"] for line in found["models"]]
    assert found["best"] == "tan" and losses == sorted(losses)
    naive = next(line for line in found["models"] if line["model"] == "naive-bayes")
    assert naive["difference"]["low"] > 0.2 and not naive["as_good_as_the_best"]
    assert found["models"][0]["difference"] is None


def test_the_figures_are_those_of_folds(bayeswise: Command, xor: Path) -> None:
    found = json.loads(bayeswise("compare", xor, "-t", "y", "--models", QUICK, "--cv", "4", "--json").out)
    for line in found["models"]:
        known = held_out(bw.fit(xor, "y", model=line["model"]), xor, cv=4)
        own = known.posterior[np.arange(len(known.truth)), known.truth]
        assert line["log_loss"]["mean"] == pytest.approx(-np.log(own).mean(), rel=1e-9)
        assert line["log_loss"]["low"] < line["log_loss"]["mean"] < line["log_loss"]["high"]


def test_the_command_that_is_named_learns_the_winner(bayeswise: Command, xor: Path, tmp_path: Path) -> None:
    answer = bayeswise("compare", xor, "-t", "y", "--models", QUICK)
    assert answer.out.splitlines()[1].split()[:2] == ["*", "tan"]
    command = next(line for line in answer.err.splitlines() if line.startswith("Take it: "))
    words = shlex.split(command.removeprefix("Take it: "))
    assert bayeswise(*words[1:], "-o", tmp_path / "m.bayeswise").code == 0


def test_the_command_that_is_named_reads_the_same_rows(bayeswise: Command, xor: Path, tmp_path: Path) -> None:
    import sqlite3

    database = tmp_path / "two tables.sqlite"
    with sqlite3.connect(database) as connection:
        pd.read_csv(xor).to_sql("own rows", connection, index=False)
        pd.read_csv(xor)[:3].to_sql("other", connection, index=False)
    found = json.loads(
        bayeswise(
            "compare", database, "--table", "own rows", "-t", "y", "--models", "tree", "--null", "x", "--json"
        ).out
    )
    words = shlex.split(found["fit"])
    assert words[words.index("--table") + 1] == "own rows" and words[words.index("--null") + 1] == "x"
    assert bayeswise(*words[1:], "-o", tmp_path / "m.bayeswise").code == 0


def test_a_pipe_is_a_file_in_the_command_that_is_named(bayeswise: Command, xor: Path) -> None:
    answer = bayeswise("compare", "-", "-t", "y", "--models", "naive-bayes", "--delimiter", ",", stdin=xor.read_bytes())
    assert "Take it: bayeswise fit FILE -t y --model naive-bayes --delimiter ,\n" in answer.err


def test_models_are_refused_where_bits_compare_their_own(bayeswise: Command, xor: Path) -> None:
    answer = bayeswise("compare", xor, "-t", "y", "--by", "bits", "--models", "tan")
    assert answer.code == 2 and "leave out --models" in answer.err


def test_costs_decide_where_they_are_given(bayeswise: Command) -> None:
    found = json.loads(bayeswise("compare", CREDIT, "-t", "repaid", "--costs", TOML, "--models", QUICK, "--json").out)
    costs = [line["cost"]["mean"] for line in found["models"]]
    assert found["by"] == "cost" and costs == sorted(costs)
    by_loss = json.loads(
        bayeswise(
            "compare", CREDIT, "-t", "repaid", "--costs", TOML, "--models", QUICK, "--by", "log-loss", "--json"
        ).out
    )
    losses = [line["log_loss"]["mean"] for line in by_loss["models"]]
    assert by_loss["by"] == "log-loss" and losses == sorted(losses)


def test_a_model_that_cannot_learn_is_named_with_the_reason(bayeswise: Command, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("c,y\n" + "a,yes\nb,no\n" * 20)
    answer = bayeswise("compare", table, "-t", "y", "--models", "naive-bayes,gaussian")
    assert answer.code == 0 and "gaussian: " in answer.err and "naive-bayes" in answer.out


def test_all_kinds_of_classes_are_compared() -> None:
    assert "linear" not in names_of_classifiers() and {"auto", "logistic", "aode"} <= set(names_of_classifiers())


def test_models_that_cannot_be_distinguished_are_equally_good() -> None:
    generator = np.random.default_rng(1)
    rows = {"x": generator.normal(size=100).tolist(), "y": generator.integers(0, 2, 100).astype(str).tolist()}
    found = compare_models(rows, "y", models=["naive-bayes", "logistic"])
    assert all(line.as_good for line in found.models)


def test_by_cost_needs_costs(bayeswise: Command, xor: Path) -> None:
    answer = bayeswise("compare", xor, "-t", "y", "--by", "cost")
    assert answer.code == 2 and "--by cost needs costs" in answer.err


# -- a posterior that is too small for a number ----------------------------------------------------------------


@pytest.mark.parametrize("cv", [None, "loo", 5])
def test_a_posterior_that_only_underflows_has_a_finite_log_loss(cv: int | str | None) -> None:
    """A row 100 standard deviations from its class: p = exp(-5000) is 0 as a number, and its logarithm is not."""
    generator = np.random.default_rng(2)
    x = np.r_[generator.normal(0.0, 1.0, 50), generator.normal(100.0, 1.0, 50)]
    y = np.array(["a"] * 50 + ["b"] * 50)
    learned = {"x": x.tolist(), "y": y.tolist()}
    model = bw.fit(learned, "y", model="naive-bayes")
    rows = {"x": [0.0, 100.0], "y": ["b", "b"]} if cv is None else learned
    if cv is not None:
        rows = {"x": [*x, 100.0], "y": [*y, "a"]}
        model = bw.fit(rows, "y", model="naive-bayes", shared_variance=True)
    found = evaluate(model, rows, cv=cv)
    assert np.isfinite(found.log_loss.mean)
    if cv is None:
        assert found.surprise[0] == pytest.approx(-model.predict_log_proba({"x": 0.0})[0, 1], rel=1e-9)
        assert found.surprise[0] > 1000.0


def test_what_a_model_rules_out_has_an_infinite_log_loss() -> None:
    rows = [{"a": a, "y": y} for a, y in [("u", "n"), ("u", "n"), ("v", "y"), ("v", "n")]]
    model = bw.fit(rows, "y", model="naive-bayes", smoothing=0.0)
    assert evaluate(model, [{"a": "u", "y": "y"}]).log_loss.mean == np.inf


def test_every_verb_that_reads_tables_takes_all_options_about_reading(bayeswise: Command, tmp_path: Path) -> None:
    path = tmp_path / "comma.csv"
    path.write_text("x;y\n" + "0,5;no\n1,5;yes\n" * 20)
    for words in (["compare"], ["concept", "--category", "x"]):
        assert bayeswise(*words, path, "-t", "y", "--decimal", ",", "--delimiter", ";", "--json").code == 0


def test_the_rows_that_remain_are_read_from_the_table_that_is_named(bayeswise: Command, tmp_path: Path) -> None:
    import sqlite3

    database, rows = tmp_path / "rows.sqlite", pd.read_csv(EXAMPLES / "golf.csv")
    with sqlite3.connect(database) as connection:
        rows.to_sql("rows", connection, index=False)
        rows[:2].to_sql("other", connection, index=False)
    bayeswise(
        "fit", database, "--table", "rows", "-t", "play", "--model", "naive-bayes", "-o", tmp_path / "all.bayeswise"
    )
    gone, new = tmp_path / "gone.sqlite", tmp_path / "new.bayeswise"
    with sqlite3.connect(gone) as connection:
        rows[:1].to_sql("rows", connection, index=False)
    remaining = tmp_path / "remaining.sqlite"
    with sqlite3.connect(remaining) as connection:
        rows[1:].to_sql("rows", connection, index=False)
        rows[:2].to_sql("other", connection, index=False)
    done = bayeswise("forget", tmp_path / "all.bayeswise", gone, "--rows", remaining, "--table", "rows", "-o", new)
    assert done.code == 0, done.err


def test_the_target_of_a_decision_file_needs_no_option(bayeswise: Command) -> None:
    costs = EXAMPLES / "credit.toml"
    answer = bayeswise("compare", EXAMPLES / "credit.csv", "--costs", costs, "--models", "naive-bayes", "--cv", "2")
    assert answer.code == 0, answer.err
    assert " -t repaid " in answer.err
    without = bayeswise("compare", EXAMPLES / "credit.csv", "--models", "naive-bayes")
    assert without.code == 2 and "there is no target. Fix: add -t COL" in without.err
