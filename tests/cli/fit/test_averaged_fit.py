"""`bayeswise fit --model averaged`: the average over structures, saved, merged and used like any model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bayeswise as bw
from tests.paths import GOLF


def test_an_average_is_fitted_saved_and_used(tmp_path: Path, bayeswise: Callable[..., Any]) -> None:
    path = tmp_path / "play.bayeswise"
    assert bayeswise("fit", GOLF, "-t", "play", "-o", path, "--model", "averaged").code == 0
    assert round(bw.load(path).relevance["outlook"], 3) == 0.675
    day = b"outlook,temperature,humidity,wind\nsunny,cool,high,strong\n"
    answer = bayeswise("predict", path, "-", "--proba", stdin=day)
    assert answer.code == 0 and "0.6102" in answer.out
    assert bayeswise("inspect", path).code == 0


def test_halves_of_a_table_merge_into_the_average_of_the_whole(tmp_path: Path, bayeswise: Callable[..., Any]) -> None:
    lines = GOLF.read_text().splitlines()
    halves = [tmp_path / f"{k}.csv" for k in range(2)]
    for k, half in enumerate(halves):
        half.write_text("\n".join([lines[0], *lines[1:][k::2]]) + "\n")
    whole, first, second, both = (tmp_path / f"{name}.bayeswise" for name in ("whole", "first", "second", "both"))
    bayeswise("fit", GOLF, "-t", "play", "-o", whole, "--model", "averaged")
    bayeswise("fit", halves[0], "-t", "play", "-o", first, "--like", whole)
    bayeswise("fit", halves[1], "-t", "play", "-o", second, "--like", whole)
    merged = bayeswise("merge", first, second, "-o", both)
    assert merged.code == 0, merged.err
    assert both.read_bytes() == whole.read_bytes()


def test_the_facts_of_an_average_are_json(tmp_path: Path, bayeswise: Callable[..., Any]) -> None:
    answer = bayeswise("fit", GOLF, "-t", "play", "-o", tmp_path / "m", "--model", "averaged", "--json")
    assert answer.code == 0 and json.loads(answer.out)


def test_the_pages_say_how_relevant_columns_are_and_what_they_say_together(
    tmp_path: Path, bayeswise: Callable[..., Any]
) -> None:
    generator = np.random.default_rng(0)
    rows = [f"{x:.3f},{2 * x:.3f},{'ab'[k % 2]}" for k, x in enumerate(generator.normal(size=60) + np.arange(60) % 2)]
    table, model = tmp_path / "lengths.csv", tmp_path / "m.bayeswise"
    table.write_text("inch,cm,y\n" + "\n".join(rows) + "\n")
    page = bayeswise("fit", table, "-t", "y", "--model", "averaged", "-o", model).out
    assert "relevance" in page and "temper      0.5" in page
    facts = json.loads(bayeswise("inspect", model, "--json").out)
    assert 0.45 < facts["temper"] < 0.55
    assert [0 < column["relevance"] <= 1 for column in facts["columns"]] == [True, True]
    assert facts["columns"][0]["learned"]["mean"].keys() == {"a", "b"}


def test_pairs_of_categories_are_counted_on_request_and_an_exponent_is_taken_as_it_is(
    tmp_path: Path, bayeswise: Callable[..., Any]
) -> None:
    table, model = tmp_path / "twice.csv", tmp_path / "m.bayeswise"
    table.write_text("a,b,y\n" + "u,u,yes\nv,v,no\nu,u,yes\nu,u,no\nv,v,yes\nv,v,no\n" * 5)
    words = ("fit", table, "-t", "y", "--model", "averaged", "-o", model, "--force", "--temper")
    assert bayeswise(*words, "pairs").code == 0 and 0.45 < bw.load(model).temper < 0.6
    assert bayeswise(*words, "0.5").code == 0 and bw.load(model).settings.temper == 0.5
    assert bayeswise(*words, "2").code == 2
    assert bayeswise(*words, "some").code == 2
