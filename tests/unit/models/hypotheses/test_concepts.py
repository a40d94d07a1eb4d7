"""Concepts from tables: boundaries by name, contradictions by row, the estimator and the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayeswise as bw
from bayeswise.estimators.concept import ConceptClassifier
from bayeswise.models.hypotheses import learn_concept
from bayeswise.models.hypotheses.boundaries import ANY, covers

ENJOY = """sky,air,humidity,wind,water,forecast,enjoy
sunny,warm,normal,strong,warm,same,yes
sunny,warm,high,strong,warm,same,yes
rainy,cold,high,strong,warm,change,no
sunny,warm,high,strong,cool,change,yes
"""


@pytest.fixture
def enjoy(tmp_path: Path) -> Path:
    path = tmp_path / "enjoy.csv"
    path.write_text(ENJOY)
    return path


def fixed(concept: dict[str, Any]) -> dict[str, Any]:
    return {name: level for name, level in concept.items() if level != "?"}


def test_the_textbook_example_ends_between_one_special_and_two_general_concepts(enjoy: Path) -> None:
    model = learn_concept(enjoy, "enjoy")
    assert [fixed(c) for c in model.S] == [{"sky": "sunny", "air": "warm", "wind": "strong"}]
    assert sorted(map(str, map(fixed, model.G))) == ["{'air': 'warm'}", "{'sky': 'sunny'}"]
    assert model.cube.n_consistent == 6


def test_the_most_specific_concept_is_followed_from_the_first_row_on(enjoy: Path) -> None:
    """A column of one value so far is demanded, for nothing else was seen."""
    header, *rows = ENJOY.splitlines()
    after = []
    for n in range(1, 5):
        enjoy.write_text("\n".join([header, *rows[:n]]) + "\n")
        after.append(fixed(learn_concept(enjoy, "enjoy", positive="yes").S[0]))
    first = dict(zip(header.split(","), rows[0].split(","), strict=True))
    assert after[0] == {name: level for name, level in first.items() if name != "enjoy"}
    dropped = [set(before) - set(now) for before, now in pairwise(after)]
    assert dropped == [{"humidity"}, set(), {"water", "forecast"}]
    assert "wind" not in learn_concept(enjoy, "enjoy", ignore=[" wind"]).columns


def test_a_covered_row_is_as_probable_as_the_concepts_that_cover_it() -> None:
    rows = [{"a": "pq"[k % 2], "b": "xyz"[k % 3], "c": "one", "y": ["no", "yes"][k % 4 == 0]} for k in range(12)]
    model = learn_concept(rows, "y", noise=0.1)
    cube = model.cube
    new = np.array([[0, 0, 0], [1, -1, 0], [-2, 2, -1], [-1, -1, -1]])
    every = [(cube.concept(k), p) for k, p in enumerate(cube.probability)]
    summed = [sum(p for concept, p in every if covers(concept, tuple(row))) for row in new.tolist()]
    assert cube.p_covered(new) == pytest.approx(summed, rel=1e-12)


@pytest.mark.parametrize("overrides", [{"noise": 0.5}, {"noise": "some"}, {"noise": float("nan")}, {"prior": "vague"}])
def test_a_rate_of_noise_and_a_prior_are_checked_before_anything_is_learned(enjoy: Path, overrides: Any) -> None:
    with pytest.raises(bw.UsageError, match="Fix: "):
        learn_concept(enjoy, "enjoy", **overrides)


def test_there_are_four_ways_to_answer(enjoy: Path) -> None:
    model = learn_concept(enjoy, "enjoy")
    assert repr(model) == "ConceptModel(enjoy = yes; 4 rows of sky, air, humidity, wind, water, forecast)"
    with pytest.raises(bw.UsageError, match="'average', 'map', 'find-s', 'gibbs'"):
        model.predict(enjoy, by="vote")  # type: ignore[arg-type]


def test_the_command_prints_s_and_g_by_column(enjoy: Path, bayeswise: Callable[..., Any]) -> None:
    answer = bayeswise("concept", enjoy, "-t", "enjoy", "--json")
    assert answer.code == 0
    facts = json.loads(answer.out)
    assert facts["S"][0]["sky"] == "sunny" and facts["S"][0]["water"] == "?"
    assert {"sky": "sunny", "air": "?"} in [{k: g[k] for k in ("sky", "air")} for g in facts["G"]]
    page = bayeswise("concept", enjoy, "-t", "enjoy")
    assert "6 concepts agree with every row" in page.out


def test_rows_that_contradict_each_other_are_named_and_the_soft_version_carries_on(
    tmp_path: Path, bayeswise: Callable[..., Any]
) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(ENJOY + "sunny,cold,high,weak,warm,same,\n" + "sunny,warm,normal,strong,warm,same,no\n")
    words = ("concept", path, "-t", "enjoy")
    page = bayeswise(*words)
    assert page.code == 0
    assert "row 6 " in page.out and "row 1 with the same cells" in page.out
    facts = json.loads(bayeswise(*words, "--noise", ".1", "--prior", "general", "--json").out)
    assert facts["collapsed"] and facts["S"] == facts["G"] == []
    assert facts["conflicts"][0]["row"] == 5 and facts["conflicts"][0]["same_cells"] == [0]
    assert facts["map"] is not None and facts["p_map"] > 0


def test_numbers_are_refused_with_a_way_out(bayeswise: Callable[..., Any]) -> None:
    answer = bayeswise("concept", "-", "-t", "y", stdin=b"x,y\n1.5,a\n2.5,b\n3.7,a\n9.25,b\n")
    assert answer.code == 3 and "'x'" in answer.err and "category" in answer.err


def test_several_classes_need_the_one_that_is_meant() -> None:
    rows = [{"a": v, "y": y} for v, y in (("p", "x"), ("q", "y"), ("r", "z"), ("p", "x"))]
    with pytest.raises(bw.DataError, match="two classes"):
        learn_concept(rows, "y", kinds={"a": "category"})
    assert [fixed(c) for c in learn_concept(rows, "y", positive="x", kinds={"a": "category"}).S] == [{"a": "p"}]


def test_too_many_concepts_still_have_boundaries() -> None:
    generator = np.random.default_rng(0)
    cells = generator.integers(0, 4, (60, 14))
    rows = [{f"c{k}": f"v{v}" for k, v in enumerate(row)} | {"y": "ab"[int(row[0] == 1)]} for row in cells]
    model = learn_concept(rows, "y", positive="b")
    assert not model.can_enumerate and [fixed(c) for c in model.G] == [{"c0": "v1"}]
    with pytest.raises(bw.UsageError, match="concepts, more than"):
        model.predict_proba(rows)


@parametrize_with_checks([ConceptClassifier(), ConceptClassifier(by="map", noise=0.1)])
def test_scikit_learn_finds_nothing_to_complain_about(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("by", ["average", "map", "find-s", "gibbs"])
def test_the_estimator_runs_in_a_pipeline_and_under_cross_validation(by: str) -> None:
    generator = np.random.default_rng(1)
    X = generator.choice(["p", "q", "r"], size=(200, 4)).astype(object)
    y = np.where((X[:, 0] == "p") & (X[:, 2] == "q"), "yes", "no")
    pipeline = make_pipeline(FunctionTransformer(), ConceptClassifier(noise=0.02, by=by))
    scores = cross_val_score(clone(pipeline), X, y, cv=4)
    assert scores.mean() == 1.0


def test_all_ways_of_answering_state_probabilities_with_sum_one() -> None:
    X = np.array([["a", "b"], ["a", "c"], ["d", "b"]], dtype=object)
    model = ConceptClassifier(noise=0.1).fit(X, [1, 1, 0])
    answer = model.predict_proba(np.array([["a", "b"], ["z", None]], dtype=object))
    assert answer.sum(axis=1) == pytest.approx(1.0)
    assert answer[0, 1] > 0.5 > answer[1, 1]


def random_rows(n_columns: int, n_rows: int) -> dict[str, list[str]]:
    """One row of the class, and others that differ from it here and there."""
    generator = np.random.default_rng(0)
    columns = {f"c{k}": ["pq"[v] for v in generator.integers(0, 2, n_rows)] for k in range(n_columns)}
    return {**columns, "y": ["yes"] + ["no"] * (n_rows - 1)}


def test_thousands_of_general_concepts_are_found_at_once_and_none_demands_too_much() -> None:
    table = random_rows(24, 30)
    model = learn_concept(table, "y")
    negatives = [tuple(row) for row, yes in zip(model.codes.tolist(), model.is_positive, strict=True) if not yes]
    general = model.boundaries.general
    assert len(general) > 1000
    for concept in general[::50]:
        assert not any(covers(concept, row) for row in negatives)
        for c in (c for c, want in enumerate(concept) if want != ANY):
            wider = (*concept[:c], ANY, *concept[c + 1 :])
            assert any(covers(wider, row) for row in negatives)


def test_more_general_concepts_than_can_be_listed_are_counted(
    tmp_path: Path, bayeswise: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayeswise.models.hypotheses.boundaries.MOST_GENERAL", 100)
    table = random_rows(24, 30)
    model = learn_concept(table, "y")
    assert len(model.S) == 1 and not model.collapsed and model.conflicts == []
    with pytest.raises(bw.BayeswiseError, match="more than 100 members"):
        _ = model.G
    names = list(table)
    lines = [",".join(names), *(",".join(row) for row in zip(*table.values(), strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    page = bayeswise("concept", tmp_path / "table.csv", "-t", "y")
    assert page.code == 0 and "too many to list" in page.out
    facts = json.loads(bayeswise("concept", tmp_path / "table.csv", "-t", "y", "--json").out)
    assert facts["G"] is None and len(facts["S"]) == 1
