"""`bayeswise densities`: regions, errors and the picture of a model's column, or of classes that are typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tests.paths import EXAMPLES

LETTERS = ("--class", "a=normal:mean=15,stddev=3", "b=normal:mean=25,stddev=4", "--prior", "a=.75")


def test_letters_that_are_typed_have_regions_and_errors(bayeswise: Any) -> None:
    answer = bayeswise("densities", *LETTERS, "--boundary", "24", "--json")
    facts = json.loads(answer.out)
    assert [piece["class"] for piece in facts["regions"]] == ["b", "a", "b"]
    assert facts["error"] == pytest.approx(0.75 * stats.norm.sf(24, 15, 3) + 0.25 * stats.norm.cdf(24, 25, 4))
    assert facts["reducible"] == pytest.approx(facts["error"] - facts["irreducible"])
    assert "from -16.59 to 20.88  a" in bayeswise("densities", *LETTERS).out


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_column_of_a_model_is_drawn(bayeswise: Any, tmp_path: Path, suffix: str, start: bytes) -> None:
    pytest.importorskip("matplotlib")
    model, out = tmp_path / "golf.bayeswise", tmp_path / f"wind.{suffix}"
    bayeswise("fit", EXAMPLES / "golf.csv", "--target", "play", "--model", "naive-bayes", "-o", model)
    answer = bayeswise("densities", model, "--column", "wind", "--png", out)
    assert answer.code == 0 and "strong" in answer.out
    assert out.read_bytes().startswith(start)


def test_actions_under_costs(bayeswise: Any, tmp_path: Path) -> None:
    costs = tmp_path / "costs.csv"
    costs.write_text("action,a,b\ntake a,0,1\ntake b,10,0\nask,0.4,0.4\n")
    facts = json.loads(bayeswise("densities", *LETTERS, "--costs", costs, "--json").out)
    assert [piece["action"] for piece in facts["regions"]][-3:] == ["take a", "ask", "take b"]
    assert facts["risk"] > facts["irreducible"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "a model or classes are needed"),
        ((*LETTERS, "--png", "classes.jpg"), "end"),
        (("--class", "a=normal"), "does not describe one more class"),
        (("--class", "a=normal:mean=1,stddev=x"), "--class a stddev"),
        (("--class", "a=cauchy:mean=1"), "not a family"),
    ],
)
def test_what_cannot_be_drawn_is_refused(bayeswise: Any, words: tuple[str, ...], says: str) -> None:
    answer = bayeswise("densities", *words)
    assert answer.code == 2 and says in answer.err and "Fix:" in answer.err


def test_densities_without_a_bound_or_outside_of_a_support_are_json_too(bayeswise: Any) -> None:
    answer = bayeswise("densities", "--class", "a=exponential:rate=1", "b=beta:alpha=.5,beta=.5", "--json")
    curves = json.loads(answer.out)["curves"]
    assert answer.code == 0 and None in curves["posterior_a"] and "inf" in curves["density_b"]


def test_two_columns_of_a_model_are_a_plane(bayeswise: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    model, out, credit = tmp_path / "credit.bayeswise", tmp_path / "plane.png", EXAMPLES / "credit.csv"
    assert bayeswise("fit", credit, "--target", "repaid", "--model", "naive-bayes", "-o", model).code == 0
    two = ("--column", "income", "--column", "amount", "--rows", credit)
    facts = json.loads(bayeswise("densities", model, *two, "--png", out, "--json").out)
    assert sum(region["share"] for region in facts["regions"]) == pytest.approx(1.0)
    assert facts["columns"] == ["income", "amount"] and out.read_bytes().startswith(b"\x89PNG")
    assert bayeswise("densities", model, *two, "--boundary", "3").code == 2
    assert bayeswise("densities", *LETTERS, "--rows", credit).code == 2
