"""bayeswise fit without a model, or with --model auto, and what other verbs make of its file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.store.file import describe

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]


@pytest.fixture
def table(write: Write) -> Path:
    g = np.random.default_rng(5)
    ill = g.random(90) < 0.4
    rows = [
        f"{x:.2f},{c},{'ill' if y else 'well'}"
        for x, c, y in zip(g.normal(ill), g.choice(list("ab"), 90), ill, strict=True)
    ]
    return write("x,c,y\n" + "\n".join(rows) + "\n", "table.csv")


@pytest.fixture
def model(bayeswise: Command, table: Path, tmp_path: Path) -> Path:
    path = tmp_path / "auto.bayeswise"
    answer = bayeswise("fit", table, "-t", "y", "--model", "auto", "-o", path)
    assert answer.code == 0
    assert "All together" in answer.out
    return path


def split(table: Path, write: Write) -> tuple[Path, Path]:
    header, *rows = table.read_text().splitlines(keepends=True)
    return write(header + "".join(rows[:3]), "gone.csv"), write(header + "".join(rows[3:]), "kept.csv")


def test_with_the_remaining_rows_the_file_is_the_one_that_never_saw_the_others(
    bayeswise: Command, table: Path, model: Path, write: Write, tmp_path: Path
) -> None:
    gone, kept = split(table, write)
    assert bayeswise("fit", kept, "-t", "y", "--model", "auto", "-o", tmp_path / "never").code == 0
    answer = bayeswise("forget", model, gone, "--rows", kept, "-o", tmp_path / "new")
    assert answer.code == 0
    assert (tmp_path / "new").read_bytes() == (tmp_path / "never").read_bytes()


def test_without_them_inspect_says_since_when_the_weights_stand(
    bayeswise: Command, table: Path, model: Path, write: Write, tmp_path: Path
) -> None:
    gone, _ = split(table, write)
    assert bayeswise("forget", model, gone, "-o", tmp_path / "new").code == 0
    page = bayeswise("inspect", tmp_path / "new").out
    assert "those of 90 rows; since then 3 forgotten" in page
    assert "As it was fitted, " in page and "All together" not in page  # its log-loss is not that of what is left


def test_columns_are_learned_by_models_and_not_by_families(bayeswise: Command, table: Path, tmp_path: Path) -> None:
    page = bayeswise("fit", table, "-t", "y", "--model", "auto", "-o", tmp_path / "model").out
    assert "learned by" in page and "family" not in page


def test_other_rows_than_those_that_remain_are_refused(
    bayeswise: Command, table: Path, model: Path, write: Write, tmp_path: Path
) -> None:
    gone, _ = split(table, write)
    answer = bayeswise("forget", model, gone, "--rows", table, "-o", tmp_path / "new")
    assert answer.code == 4
    assert "does not hold the rows that remain" in answer.err
    assert not (tmp_path / "new").exists()


def test_the_verbs_of_other_models_take_it(bayeswise: Command, table: Path, model: Path) -> None:
    assert bayeswise("predict", model, table).code == 0
    assert bayeswise("check", model, table, "--cv", "2").code == 0
    why = json.loads(bayeswise("explain", model, table, "--row-number", "1", "--json").out)
    assert why["balance"]
    facts = json.loads(bayeswise("inspect", model, "--json").out)["mixture"]
    assert sum(facts["members"].values()) == pytest.approx(1.0)


def test_best_keeps_one_model(bayeswise: Command, table: Path, tmp_path: Path) -> None:
    answer = bayeswise("fit", table, "-t", "y", "--model", "auto", "--choose", "best", "-o", tmp_path / "m", "--json")
    assert len(json.loads(answer.out)["mixture"]["members"]) == 1


def test_a_time_that_is_none_is_refused(bayeswise: Command, table: Path, tmp_path: Path) -> None:
    answer = bayeswise("fit", table, "-t", "y", "--model", "auto", "--within", "soon", "-o", tmp_path / "m")
    assert answer.code == 2
    assert "60s" in answer.err


def test_it_is_what_fit_learns_where_no_model_is_named(bayeswise: Command, table: Path, tmp_path: Path) -> None:
    for name, words in {"one": (), "other": ("--model", "auto")}.items():
        answer = bayeswise("fit", table, "-t", "y", *words, "-o", tmp_path / name)
        assert answer.code == 0 and "Note" not in answer.err, answer.err
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_an_option_of_naive_bayes_alone_learns_naive_bayes_and_says_so(
    bayeswise: Command, table: Path, tmp_path: Path
) -> None:
    answer = bayeswise("fit", table, "-t", "y", "--smoothing", "2", "-o", tmp_path / "m")
    assert answer.code == 0
    assert (
        "Note: --smoothing: not for auto, the default; this is a naive-bayes model (--model naive-bayes)" in answer.err
    )
    assert bw.load(tmp_path / "m").settings.smoothing == 2.0
    several = bayeswise("fit", table, "-t", "y", "--cuts", "x=1", "-o", tmp_path / "n")
    assert several.code == 2 and "Fix: choose --model tan or --model aode" in several.err
    share = next(iter(bw.load(tmp_path / "m").classes))
    prior = bayeswise("fit", table, "-t", "y", "--prior", f"{share}=.5", "-o", tmp_path / "p")
    assert prior.code == 0 and "Note" not in prior.err and describe(tmp_path / "p")["kind"] == "auto"


def test_rows_that_it_has_learned_are_not_taken_for_new_ones(bayeswise: Command, table: Path, tmp_path: Path) -> None:
    assert bayeswise("fit", table, "-t", "y", "-o", tmp_path / "m").code == 0
    answer = bayeswise("check", tmp_path / "m", table)
    assert "the rows that the model has learned" in answer.err and "Fix: add --cv 10" in answer.err
    refused = bayeswise("densities", tmp_path / "m")
    assert "holds an auto model" in refused.err and "fit --model naive-bayes" in refused.err


def test_the_costs_of_a_decision_file_choose_the_best_model(
    bayeswise: Command, table: Path, write: Write, tmp_path: Path
) -> None:
    classes = sorted({line.rsplit(",", 1)[1] for line in table.read_text().splitlines()[1:]})
    entries = ", ".join(f"{label} = {3 * k}" for k, label in enumerate(classes))
    decision = tmp_path / "decision.toml"
    decision.write_text(f'target = "y"\n[costs]\ngo = {{ {entries} }}\nstay = 1\n')
    assert bayeswise("fit", table, "--choose", "best", "--decision", decision, "-o", tmp_path / "m").code == 0
    model = bw.fit(table, "y", choose="best", costs=decision)
    assert bw.load(tmp_path / "m") == model
    assert model.settings.costs["stay"] == dict.fromkeys(classes, 1.0)


def test_costs_of_each_row_choose_no_model_and_a_note_says_so(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    decision = tmp_path / "decision.toml"
    decision.write_text('target = "play"\n[costs]\ngo = { yes = 0, no = "2 * fee" }\nstay = 1\n')
    answer = bayeswise("fit", golf, "--choose", "best", "--decision", decision, "-o", tmp_path / "m")
    assert answer.code == 0
    assert "depend on 'fee'" in answer.err
    assert bw.load(tmp_path / "m").settings.costs is None
