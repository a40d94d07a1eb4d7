"""Whatever a command advises can be typed in a command."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]

ARGUMENT = re.compile(r"""\b[a-z_]+=('|"|\{|\[|True|False|None)""")
TABLE = "x,c,y\n1,a,u\n2,a,u\n3,b,v\n4,b,v\n"


def advice(answer: SimpleNamespace) -> str:
    assert answer.code in (2, 3, 4), answer.err
    fix: str = answer.err.partition("Fix: ")[2]
    assert fix and not ARGUMENT.search(fix), answer.err
    return fix


@pytest.mark.parametrize(
    ("fit", "cells", "fix"),
    [
        (["--unseen", "error"], "1,zz", "`bayeswise fit --unseen smooth` or `bayeswise fit --unseen ignore` for 'c'"),
        (["--missing", "error"], ",a", "`bayeswise fit --missing ignore` for 'x'"),
    ],
)
def test_what_belongs_to_the_model_is_advised_as_an_option_of_fit(
    bayeswise: Command, write: Write, tmp_path: Path, fit: list[str], cells: str, fix: str
) -> None:
    model = tmp_path / "model"
    assert bayeswise("fit", write(TABLE), "-t", "y", "--model", "naive-bayes", "-o", model, *fit).code == 0
    assert fix in advice(bayeswise("predict", model, write(f"x,c\n{cells}\n", name="new.csv")))


@pytest.mark.parametrize(
    ("table", "words", "fix"),
    [
        ("c,y\na,u\na,u\nb,v\nb,v\n", ["fit", "-t", "y", "--model", "gaussian"], "--ignore c, or --model naive-bayes"),
        (TABLE, ["fit", "-t", "y", "--model", "linear"], "--model logistic"),
        (TABLE, ["fit", "-t", "y", "--model", "naive-bayes", "--levels", "y=u"], "--levels y=A,B,C"),
        ("a,b\nx,\ny,u\nx,v\n", ["network", "learn"], "--missing drop"),
        ("a,b\nx,u\ny,u\nx,v\n", ["network", "learn", "--method", "k2"], "--order A,B,C, causes first"),
        (TABLE, ["concept", "-t", "y"], "--category x"),
    ],
)
def test_advice_names_options(
    bayeswise: Command, write: Write, tmp_path: Path, table: str, words: list[str], fix: str
) -> None:
    n_verbs = 2 if words[0] == "network" else 1
    outputs = {"fit": ["-o", tmp_path / "out.bayeswise"], "network": ["-o", tmp_path / "out.bif"], "concept": []}
    answer = bayeswise(*words[:n_verbs], write(table), *words[n_verbs:], *outputs[words[0]])
    assert fix in advice(answer)
    assert advice(answer).count("--category") <= 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("export m.bayeswise --sql duckbd", "--sql is 'duckbd'. Fix: did you mean 'duckdb'?"),
        ("export m.bayeswise --sql oracle", "--sql is 'oracle'. Fix: choose one of 'duckdb', 'sqlite', 'postgres'"),
        ("fit t.csv --target y --engine daks", "--engine is 'daks'. Fix: did you mean 'dask'?"),
        ("fit t.csv --target y --model naive-bayes --smoothing much", "--smoothing is 'much'. Fix: give a number."),
        ("look t.csv --threads 0", "--threads is '0'. Fix: give a whole number from 1 on."),
        ("next-test m.bayeswise --costs d.toml --depth 9", "--depth is '9'. Fix: give a whole number from 1 to 4."),
    ],
)
def test_a_value_that_an_option_does_not_take_is_answered_by_what_to_type(
    words: str, said: str, bayeswise: Command
) -> None:
    answer = bayeswise(*words.split())
    assert answer.code == 2
    assert said in answer.err
    assert "Value error" not in answer.err
