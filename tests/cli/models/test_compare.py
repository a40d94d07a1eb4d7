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


# -- a baseline, and tables of few rows -------------------------------------------------------------------------


def test_the_baseline_has_the_class_shares_of_the_other_folds(bayeswise: Command, tmp_path: Path) -> None:
    """Eight rows in two folds: 4 n and 4 y, so that each share is a half, and each row costs log 2."""
    table = tmp_path / "half.csv"
    table.write_text("x,y\n" + "a,n\nb,n\na,y\nb,y\n" * 2)
    words = ["compare", table, "-t", "y", "--cv", "2", "--models", "naive-bayes"]
    found = json.loads(bayeswise(*words, "--json").out)
    assert found["baseline"]["model"] == "baseline (prior only)"
    assert found["baseline"]["log_loss"]["mean"] == pytest.approx(np.log(2), rel=1e-12)
    assert not found["beats_baseline"]
    answer = bayeswise(*words)
    assert "baseline (prior only)" in answer.out
    assert "No model has a log-loss clearly below that of the baseline, the class shares alone." in answer.err


def test_a_model_that_beats_the_baseline_is_not_doubted(bayeswise: Command, xor: Path) -> None:
    answer = bayeswise("compare", xor, "-t", "y", "--models", "tan")
    assert "baseline (prior only)" in answer.out and "clearly below" not in answer.err
    found = compare_models(xor, "y", models=["tan"])
    assert found.beats_baseline and found.baseline.log_loss.mean == pytest.approx(np.log(2), abs=0.01)


@pytest.mark.parametrize("cv", [5, 20])
def test_a_row_whose_class_no_other_fold_has_counts_with_log_n(bayeswise: Command, tmp_path: Path, cv: int) -> None:
    """199 rows p and one q: whoever learns without the q cannot know it, and every model would lose infinitely much."""
    table = tmp_path / "rare.csv"
    values = np.random.default_rng(0).normal(size=200).tolist()
    table.write_text("a,y\n" + "".join(f"{a},{'q' if k == 7 else 'p'}\n" for k, a in enumerate(values)))
    answer = bayeswise("compare", table, "-t", "y", "--models", "naive-bayes,tree", "--cv", cv)
    assert "inf" not in answer.out and "1.8e308" not in answer.out
    assert "1 row of a class without a row outside the fold (q)" in answer.err and "log(200) = 5.298" in answer.err
    found = compare_models(table, "y", models=["naive-bayes", "tree"], cv=cv)
    assert found.unlearned == {"q": 1} and np.isfinite(found.best.log_loss.high)
    assert found.baseline.evaluation.surprise[7] == pytest.approx(np.log(200))


def test_one_class_is_certain(bayeswise: Command, tmp_path: Path) -> None:
    table = tmp_path / "one.csv"
    table.write_text("a,y\n" + "1,yes\n2,yes\n3,yes\n" * 4)
    answer = bayeswise("compare", table, "-t", "y", "--models", "naive-bayes,tree")
    assert answer.code == 0 and "0.0000 (0 to 0)" in answer.out


@pytest.mark.parametrize("n_rows", [2, 40])
@pytest.mark.parametrize("model", ["naive-bayes", "logistic", "tree"])
def test_rows_of_classes_of_their_own_are_refused_in_folds(
    bayeswise: Command, tmp_path: Path, n_rows: int, model: str
) -> None:
    table = tmp_path / "unique.csv"
    table.write_text("a,b,y\n" + "".join(f"{k % 7},{k % 3},c{k}\n" for k in range(n_rows)))
    for words in (["compare", table, "--models", model], ["compare", table, "--models", model, "--cv", "2"]):
        answer = bayeswise(*words, "-t", "y")
        assert answer.code == 2, answer.err
        assert f"each of {n_rows} rows has a class of its own" in answer.err
    saved = tmp_path / "m.bayeswise"
    bw.fit(table, "y", model="naive-bayes").save(saved)
    answer = bayeswise("check", saved, table, "--cv", "2")
    assert answer.code == 2 and f"each of {n_rows} rows has a class of its own" in answer.err


def test_the_number_of_folds_that_is_proposed_is_one_that_works(bayeswise: Command, tmp_path: Path) -> None:
    table = tmp_path / "three.csv"
    table.write_text("a,y\n1,yes\n2,yes\n3,no\n")
    words = ["compare", table, "-t", "y", "--models", "naive-bayes"]
    answer = bayeswise(*words)
    assert answer.code == 2 and "5 folds of 3 rows. Fix: choose --cv 3." in answer.err
    assert bayeswise(*words, "--cv", "3").code == 0


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


def test_a_target_that_is_a_number_is_an_error_of_the_data_as_in_fit(bayeswise: Command, tmp_path: Path) -> None:
    table = tmp_path / "prices.csv"
    table.write_text("a,price\n" + "".join(f"{k % 5},{k * 1.25 + 0.1}\n" for k in range(200)))
    answer, fitted = (bayeswise(verb, table, "-t", "price") for verb in ("compare", "fit"))
    assert answer.code == fitted.code == 3
    assert "is a measurement" in answer.err and "which is not compared (bayeswise fit --model linear)" in answer.err


def test_the_folds_that_check_proposes_are_ones_that_it_takes(bayeswise: Command, tmp_path: Path) -> None:
    """A graph of 60 columns is selected again without each row: too much for 300 rows, so that folds are proposed."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{k}": draw.choice(["a", "b", "c"], 300) for k in range(60)})
    frame["y"] = draw.choice(["n", "p"], 300)
    table, model = tmp_path / "wide.csv", tmp_path / "m.bayeswise"
    frame.to_csv(table, index=False)
    for kind, folds in (("k-dependence", "10"), ("naive-bayes", "loo")):
        assert bayeswise("fit", table, "-t", "y", "--model", kind, "-o", model).code == 0
        assert f"add --cv {folds}," in bayeswise("check", model, table).err
        assert bayeswise("check", model, table, "--cv", folds).code == 0
