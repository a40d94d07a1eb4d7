"""`bayeswise compare`: bits and rows left out, model by model."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.models.averaged_naive_bayes import fit_averaged
from bayeswise.models.description_length.lengths import description_length
from tests.paths import GOLF


def test_bits_differ_by_the_log_of_the_odds_that_columns_are_relevant(bayeswise: Callable[..., Any]) -> None:
    answer = bayeswise("compare", "--by", "bits", GOLF, "-t", "play", "--json")
    assert answer.code == 0
    models = {line["model"]: line for line in json.loads(answer.out)["models"]}
    assert set(models) == {"baseline (prior only)", "naive Bayes", "averaged"}
    odds = math.prod(p / (1 - p) for p in fit_averaged(GOLF, target="play").relevance.values())
    saved = models["baseline (prior only)"]["bits"] - models["naive Bayes"]["bits"]
    assert saved == pytest.approx(math.log2(odds), rel=1e-10)


def test_the_log_loss_is_that_of_leaving_each_row_out(bayeswise: Callable[..., Any]) -> None:
    found = json.loads(bayeswise("compare", "--by", "bits", GOLF, "-t", "play", "--json").out)["models"]
    model = bw.fit(GOLF, target="play", model="naive-bayes")
    lines = GOLF.read_text().split()[1:]
    own = [model.classes.index(line.rsplit(",", 1)[1]) for line in lines]
    left_out = model.leave_one_out(GOLF)
    expected = -np.log(left_out[np.arange(14), own]).mean()
    assert next(m["log_loss"] for m in found if m["model"] == "naive Bayes") == pytest.approx(expected, rel=1e-12)


def test_costs_decide_what_rows_left_out_cost(tmp_path: Path, bayeswise: Callable[..., Any]) -> None:
    costs = tmp_path / "costs.csv"
    costs.write_text("action,no,yes\nstay,0,1\ngo,5,0\n")
    page = bayeswise("compare", "--by", "bits", GOLF, "-t", "play", "--costs", costs)
    assert page.code == 0 and "cost" in page.out.splitlines()[0]


def test_number_columns_bring_a_choice_of_families(tmp_path: Path, bayeswise: Callable[..., Any]) -> None:
    generator = np.random.default_rng(0)
    path = tmp_path / "waits.csv"
    rows = [f"{generator.exponential(1 + 3 * (k % 2)):.4f},{'ab'[k % 2]}" for k in range(200)]
    path.write_text("wait,y\n" + "\n".join(rows) + "\n")
    models = json.loads(bayeswise("compare", "--by", "bits", path, "-t", "y", "--json").out)["models"]
    assert models[0]["model"] == "averaged, families by evidence"


def test_costs_about_another_target_are_refused(tmp_path: Path, bayeswise: Callable[..., Any]) -> None:
    costs = tmp_path / "decision.toml"
    costs.write_text('target = "rain"\n[costs]\ngo = { yes = 0, no = 4 }\nstay = { yes = 1, no = 0 }\n')
    answer = bayeswise("compare", "--by", "bits", GOLF, "-t", "play", "--costs", costs)
    assert answer.code == 4 and "is about 'rain', not about 'play'" in answer.err


@pytest.mark.parametrize("scale", ["1e300", "1e-310"])
def test_numbers_whose_squares_are_not_floats_are_compared(
    tmp_path: Path, bayeswise: Callable[..., Any], scale: str
) -> None:
    table = tmp_path / "table.csv"
    cells = [f"{k % 4 - 1.5}{scale[1:]},{k % 3},{'ab'[k % 2]}" for k in range(24)]
    table.write_text("\n".join(["x,z,y", *cells]) + "\n")
    answer = bayeswise("compare", "--by", "bits", table, "-t", "y", "--number", "x", "--count", "z", "--json")
    assert answer.code == 0, answer.err
    assert all(math.isfinite(line["bits"]) for line in json.loads(answer.out)["models"])


def test_each_reading_says_how_to_fit_it(bayeswise: Callable[..., Any], tmp_path: Path) -> None:
    table = str(GOLF.parent / "credit.csv")
    found = json.loads(bayeswise("compare", table, "-t", "repaid", "--by", "bits", "--json").out)
    assert found["interval"] == "95 % interval, corrected for shared training rows"
    assert len(found["models"]) == 4
    for line in found["models"]:
        options = [f"--{name}={value}" for name, value in line["fit"]["settings"].items()]
        saved = tmp_path / "model.bayeswise"
        said = bayeswise(
            "fit", table, "-t", "repaid", "--model", line["fit"]["model"], *options, "-o", saved, "--force"
        )
        assert said.code == 0, said.err
        assert description_length(bw.load(saved)).bits == pytest.approx(line["bits"])
