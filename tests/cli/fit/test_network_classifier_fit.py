"""`bayeswise fit --model tan` and related kinds: fitted, inspected, merged and used like any model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from tests.paths import GOLF

KINDS = ("tan", "aode", "k-dependence", "markov-blanket")
DAY = b"outlook,temperature,humidity,wind\nsunny,cool,,strong\n"

NUMBERS = "size,colour,kind\n" + "".join(
    f"{1 + k % 5 + 10 * (k % 2)},{'red' if k % 3 else 'blue'},{'big' if k % 2 else 'small'}\n" for k in range(40)
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_is_fitted_saved_and_queried(kind: str, tmp_path: Path, bayeswise: Callable[..., Any]) -> None:
    path = tmp_path / "play.bayeswise"
    fitted = bayeswise("fit", GOLF, "-t", "play", "-o", path, "--model", kind)
    assert fitted.code == 0, fitted.err
    answer = bayeswise("predict", path, "-", "--proba", stdin=DAY)
    assert answer.code == 0, answer.err
    row = {"outlook": "sunny", "temperature": "cool", "wind": "strong", "humidity": None}
    assert float(answer.out.split(",")[-1]) == pytest.approx(bw.load(path).predict_proba([row])[0, 1], rel=1e-12)
    explained = bayeswise("explain", path, "-", stdin=DAY)
    assert explained.code == 0 and "missing: summed" in explained.out


@pytest.mark.parametrize("kind", KINDS)
def test_halves_merge_into_the_whole_and_are_forgotten(
    kind: str, tmp_path: Path, bayeswise: Callable[..., Any]
) -> None:
    lines = GOLF.read_text().splitlines()
    halves = [tmp_path / f"{k}.csv" for k in range(2)]
    for k, half in enumerate(halves):
        half.write_text("\n".join([lines[0], *lines[1:][k::2]]) + "\n")
    whole, first, second, both, less = (tmp_path / f"{name}.bayeswise" for name in ("w", "f", "s", "b", "l"))
    bayeswise("fit", GOLF, "-t", "play", "-o", whole, "--model", kind)
    bayeswise("fit", halves[0], "-o", first, "--like", whole)
    bayeswise("fit", halves[1], "-o", second, "--like", whole)
    assert bayeswise("merge", first, second, "-o", both).code == 0
    assert both.read_bytes() == whole.read_bytes()
    assert bayeswise("forget", both, halves[1], "-o", less).code == 0
    assert less.read_bytes() == first.read_bytes()


def test_inspect_shows_cuts_parents_and_counts(
    write: Callable[..., Path], tmp_path: Path, bayeswise: Callable[..., Any]
) -> None:
    path = tmp_path / "kind.bayeswise"
    bayeswise("fit", write(NUMBERS), "-t", "kind", "-o", path, "--model", "tan", "--number", "size")
    shown = json.loads(bayeswise("inspect", path, "--json").out)
    size, colour = shown["columns"]
    assert size["reason"] == "cut at 8"
    assert size["learned"]["levels"] == ["< 8", ">= 8"]
    assert size["learned"]["count"] == {"big": [0, 20], "small": [20, 0]}
    assert (size["family"], colour["family"]) == ("alone", "alone")
    page = bayeswise("inspect", path)
    assert page.code == 0 and ">= 8" in page.out


def test_options_of_networks_reach_the_settings(
    write: Callable[..., Path], tmp_path: Path, bayeswise: Callable[..., Any]
) -> None:
    table, path = write(NUMBERS), tmp_path / "m.bayeswise"
    words = ("--model", "markov-blanket", "--max-parents", "2", "--score", "aic", "--prior", "bdeu", "big=1/4")
    words = (*words, "--smoothing", "3")
    done = bayeswise("fit", table, "-t", "kind", "-o", path, "--cuts", "size=-2,7.5", *words, "--number", "size")
    assert done.code == 0, done.err
    model = bw.load(path)
    assert model.cuts == {"size": (-2.0, 7.5)}
    assert (model.settings.max_parents, model.settings.score, model.settings.prior) == (2, "aic", "bdeu")
    assert (model.settings.smoothing, model.settings.class_prior) == (3.0, {"big": 0.25, "small": 0.75})
    assert model.network.parents("kind") == ()
    earlier = ("--model", "markov-blanket", "--parents", "2", "--criterion=aic", "--bdeu", "3", "--prior", "big=1/4")
    again = bayeswise("fit", table, "-t", "kind", "-o", path, "--cuts", "size=-2,7.5", *earlier, "--number", "size")
    assert bw.load(path).settings == model.settings
    for name, today in (("parents", "max-parents"), ("criterion", "score"), ("bdeu", "prior bdeu --smoothing")):
        assert f"--{name} is now called --{today}; the old name will be removed" in again.err


@pytest.mark.parametrize(("words", "what"), [
    (["--model", "tan", "--family", "normal"], "--family is not an option of a tan model"),
    (["--model", "tan", "--cuts", "size=a"], "--cuts size=a: 'a' is not a number"),
    (["--model", "tan", "--cuts", "size=9,3"], "increasing order"),
    (["--model", "aode", "--smoothing", "1", "--bdeu", "1"], "exclude each other"),
    (["--model", "gaussian", "--score", "bic"], "--score is not an option of a gaussian"),
])  # fmt: skip
def test_what_has_no_say_or_no_meaning_is_refused(
    words: list[str], what: str, write: Callable[..., Path], tmp_path: Path, bayeswise: Callable[..., Any]
) -> None:
    done = bayeswise("fit", write(NUMBERS), "-t", "kind", "-o", tmp_path / "m", "--number", "size", *words)
    assert done.code in (2, 3, 4)
    assert what in done.err


def test_the_network_of_a_classifier_is_queried_and_drawn(tmp_path: Path, bayeswise: Callable[..., Any]) -> None:
    path, svg = tmp_path / "play.bayeswise", tmp_path / "play.svg"
    bayeswise("fit", GOLF, "-t", "play", "-o", path, "--model", "tan")
    answer = bayeswise("network", "query", path, "play", "--given", "outlook=overcast", "--json")
    expected = bw.load(path).network.query("play", {"outlook": "overcast"})["yes"]
    assert answer.code == 0 and f"{expected:.10f}" in answer.out, answer.err
    assert bayeswise("network", "show", path, "--svg", svg).code == 0
    assert "outlook" in svg.read_text()
    bayeswise("fit", GOLF, "-t", "play", "-o", path, "--model", "aode")
    refused = bayeswise("network", "show", path)
    assert refused.code != 0 and "has no single graph" in refused.err


def test_em_finds_the_tables_and_says_so(
    write: Callable[..., Path], tmp_path: Path, bayeswise: Callable[..., Any]
) -> None:
    path, golf = tmp_path / "play.bayeswise", Path(GOLF).read_text(encoding="utf-8")
    with_missing = write(golf.replace("sunny,hot,", "sunny,,").replace(",strong,no", ",,no"))
    done = bayeswise("fit", with_missing, "-t", "play", "-o", path, "--model", "tan", "--missing", "em", "--json")
    assert json.loads(done.out)["convention"] == "tan, laplace 1, em"
    expected = bw.fit(str(with_missing), "play", model="tan", missing="em")
    assert bw.load(path).predict_proba(str(GOLF)).tolist() == expected.predict_proba(str(GOLF)).tolist()
    wrong = bayeswise("fit", with_missing, "-t", "play", "-o", path, "--force", "--model", "aode", "--missing", "em")
    assert wrong.code == 2
    assert "Fix: choose another structure" in wrong.err


def test_noise_is_not_predicted_in_folds_that_find_their_own_graph(
    tmp_path: Path, bayeswise: Callable[..., Any]
) -> None:
    """A graph that had seen the rows that it is checked on would say 20 % of errors here."""
    generator = np.random.default_rng(0)
    lines = [",".join([*(f"x{k}" for k in range(40)), "y"])]
    cells = generator.choice(["a", "b"], (120, 40))
    lines += [",".join([*row, "no" if k % 2 else "yes"]) for k, row in enumerate(cells)]
    table, model = tmp_path / "noise.csv", tmp_path / "noise.bayeswise"
    table.write_text("\n".join(lines) + "\n")
    assert bayeswise("fit", table, "-t", "y", "-o", model, "--model", "k-dependence").code == 0
    found = bayeswise("check", model, table, "--cv", "10", "--json")
    cost = json.loads(found.out)["cost_per_case"]
    assert cost["low"] < 0.5 < cost["high"] and cost["mean"] > 0.4


def test_leaving_out_too_many_rows_one_by_one_advises_folds(
    tmp_path: Path, bayeswise: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayeswise.models.relearning.MOST_CELLS", 100)
    table, model = tmp_path / "sizes.csv", tmp_path / "sizes.bayeswise"
    table.write_text(NUMBERS)
    assert bayeswise("fit", table, "-t", "kind", "-o", model, "--model", "tan").code == 0
    refused = bayeswise("check", model, table, "--cv", "loo")
    assert refused.code == 4 and "rows select the cuts" in refused.err and "--cv 10" in refused.err
    assert bayeswise("check", model, table, "--cv", "10").code == 0
