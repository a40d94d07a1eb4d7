"""`bayeswise network predict`, and networks with Gaussian nodes on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.networks import Node
from bayeswise.networks.mixed import GaussianNode, MixedNetwork
from tests.cases.network_cases import asia

Command = Callable[..., SimpleNamespace]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    asia().write(tmp_path / "asia.bif")
    return tmp_path / "asia.bif"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.csv"
    path.write_text("id,visit,dyspnoea\n1,yes,yes\n=2,no,\n")
    return path


def test_a_node_is_predicted_for_every_row(bayeswise: Command, file: Path, cases: Path) -> None:
    answer = bayeswise("network", "predict", file, cases, "--node", "cancer", "--proba", "--format", "jsonl")
    rows = [json.loads(line) for line in answer.out.splitlines()]
    assert [row["id"] for row in rows] == ["1", "=2"] and [row["cancer"] for row in rows] == ["no", "no"]
    evidence = [{"visit": "yes", "dyspnoea": "yes"}, {"visit": "no"}]
    exact = [asia().query("cancer", each)["yes"] for each in evidence]
    assert [row["p_yes"] for row in rows] == pytest.approx(exact, rel=1e-12)


def test_without_a_name_the_nodes_without_a_column_are_predicted(bayeswise: Command, file: Path, cases: Path) -> None:
    answer = bayeswise("network", "predict", file, cases)
    head, first, second = answer.out.splitlines()
    assert head == "id,visit,dyspnoea," + ",".join(n for n in asia() if n not in ("visit", "dyspnoea"))
    assert first.startswith("1,yes,yes,") and second.startswith("'=2,no,,")


def test_a_node_with_a_column_is_predicted_from_the_others_under_another_name(
    bayeswise: Command, file: Path, cases: Path
) -> None:
    answer = bayeswise("network", "predict", file, cases, "--node", "dyspnoea", "--node", "cancer", "--proba")
    names = answer.out.splitlines()[0].split(",")
    assert names[3:] == [
        "predicted_dyspnoea",
        "p_dyspnoea_yes",
        "p_dyspnoea_no",
        "cancer",
        "p_cancer_yes",
        "p_cancer_no",
    ]
    assert "'dyspnoea' in 'predicted_dyspnoea'" in answer.err
    shown = float(answer.out.splitlines()[1].split(",")[4])
    assert shown == pytest.approx(asia().query("dyspnoea", {"visit": "yes"})["yes"], rel=1e-12)


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ("visit\nmaybe\n", [], "'maybe', which is not a state"),
        ("other\n1\n", [], "no column has the name of a node"),
        ("visit\nyes\n", ["--node", "cancr"], "did you mean 'cancer'"),
    ],
)
def test_mistakes_are_named(
    bayeswise: Command, file: Path, tmp_path: Path, table: str, options: list[str], said: str
) -> None:
    (tmp_path / "odd.csv").write_text(table)
    answer = bayeswise("network", "predict", file, tmp_path / "odd.csv", *options)
    assert answer.code != 0 and said in answer.err


# -- numbers ----------------------------------------------------------------------------------------------------
@pytest.fixture
def people(tmp_path: Path) -> Path:
    nodes = [
        Node("sex", ["f", "m"], 0.5),
        GaussianNode("height", {"f": 165, "m": 178}, stddev=6, given=["sex"]),
        GaussianNode("weight", -90, {"height": 0.95}, stddev=10),
    ]
    rows = MixedNetwork(nodes).sample(3_000, seed=4)
    lines = zip(rows["sex"], rows["height"].tolist(), rows["weight"].tolist(), strict=True)
    path = tmp_path / "people.csv"
    path.write_text("sex,height,weight\n" + "".join(f"{s},{h!r},{w!r}\n" for s, h, w in lines))
    return path


def test_numbers_stay_numbers_in_a_learned_network(bayeswise: Command, people: Path, tmp_path: Path) -> None:
    file = tmp_path / "people.bayeswise"
    learned = bayeswise("network", "learn", people, "-o", file, "--gaussian")
    assert learned.out.splitlines() == ["sex -> height", "height -> weight"]
    found = json.loads(bayeswise("network", "query", file, "--given", "weight=60", "--json").out)["posterior"]
    network = bw.load(file)
    exact = network.query("height", {"weight": 60})
    assert found["height"]["mean"] == pytest.approx(exact.mean, rel=1e-12)
    assert [found["height"]["low"], found["height"]["high"]] == pytest.approx(exact.interval(0.95), rel=1e-9)
    assert found["sex"]["f"] == pytest.approx(0.77, abs=0.05)
    by_hand = bayeswise("network", "query", file, "sex", "--do", "height=190", "--json")
    assert json.loads(by_hand.out)["posterior"]["sex"]["f"] == pytest.approx(0.5, abs=0.05)
    shown = bayeswise("network", "show", file).out
    assert "height | sex" in shown and "f: 16" in shown
    drawing = bayeswise("network", "show", file, "--svg", "-", "--given", "sex=f").out
    assert "<svg" in drawing and "weight" in drawing
    assert np.isfinite(network.log_evidence({"sex": "f", "height": 170.0}))


def test_numbers_and_states_are_learned_by_tests_within_tiers(bayeswise: Command, people: Path, tmp_path: Path) -> None:
    by_tests = ("--gaussian", "--method", "pc", "--alpha", "0.01", "--tiers", "weight", "--tiers", "height")
    learned = bayeswise("network", "learn", people, "-o", tmp_path / "x.bayeswise", *by_tests)
    assert learned.code == 0 and "weight -> height" in learned.out.splitlines()


def test_what_gaussian_nodes_cannot_do_is_refused(bayeswise: Command, people: Path, tmp_path: Path) -> None:
    other = bayeswise("network", "learn", people, "-o", tmp_path / "x.bif", "--gaussian")
    assert other.code != 0 and "ends in .bayeswise" in other.err
    strengths = bayeswise("network", "learn", people, "-o", tmp_path / "x.bayeswise", "--gaussian", "--strengths")
    assert strengths.code != 0 and "makes no use of --strengths" in strengths.err
    exact = bayeswise("network", "learn", people, "-o", tmp_path / "x.bayeswise", "--gaussian", "--method", "exact")
    assert exact.code != 0 and "makes no use of --method exact" in exact.err
    bayeswise("network", "learn", people, "-o", tmp_path / "x.bayeswise", "--gaussian")
    best = bayeswise("network", "query", tmp_path / "x.bayeswise", "--best")
    assert best.code != 0 and "answers for single nodes" in best.err
    word = bayeswise("network", "query", tmp_path / "x.bayeswise", "--given", "height=tall")
    assert word.code != 0 and "is a number; found 'tall'" in word.err


@pytest.fixture
def heights(tmp_path: Path) -> Path:
    line = GaussianNode("height", {"f": 165, "m": 178}, stddev=6, given=["sex"])
    nodes = [Node("sex", ["f", "m"], 0.5), line, GaussianNode("weight", -90, {"height": 0.95}, stddev=10)]
    MixedNetwork(nodes).save(tmp_path / "heights.bayeswise")
    return tmp_path / "heights.bayeswise"


def test_nodes_parents_and_numbers_of_a_mixed_network_are_shown_as_json(bayeswise: Command, heights: Path) -> None:
    sex, height, weight = json.loads(bayeswise("network", "show", heights, "--json").out)["nodes"]
    assert sex == {"name": "sex", "parents": [], "kind": "states", "states": ["f", "m"], "rows": 1}
    assert height["parents"] == ["sex"] and height["kind"] == "number"
    assert height["lines"] == [
        {"given": {"sex": "f"}, "intercept": 165.0, "weights": {}, "stddev": 6.0},
        {"given": {"sex": "m"}, "intercept": 178.0, "weights": {}, "stddev": 6.0},
    ]
    assert weight["lines"] == [{"given": {}, "intercept": -90.0, "weights": {"height": 0.95}, "stddev": 10.0}]
    assert bayeswise("network", "show", heights, "weight").out.splitlines()[0] == "weight | height"


@pytest.mark.parametrize("words", [["predict", "TABLE"], ["inspect"], ["export", "--sql", "duckdb"]])
def test_other_verbs_point_from_a_mixed_network_to_network_query(
    bayeswise: Command, heights: Path, people: Path, words: list[str]
) -> None:
    verb, *others = words
    refused = bayeswise(verb, heights, *(people if word == "TABLE" else word for word in others))
    assert refused.code == 4
    assert f"bayeswise network query {heights} NODE" in refused.err


def test_soft_cells_are_evidence_and_expected_counts(bayeswise: Command, tmp_path: Path) -> None:
    nodes = [Node("rain", ["yes", "no"], 0.3), Node("wet", ["yes", "no"], [0.9, 0.2], ["rain"])]
    bw.BeliefNetwork(nodes).write(tmp_path / "rain.bif")
    table = tmp_path / "soft.csv"
    table.write_text("rain,wet\n" + "yes,yes\nno,no\nno,yes=0.8;no=0.1\nyes,no\n" * 5)
    answer = bayeswise("network", "predict", tmp_path / "rain.bif", table, "--node", "rain", "--proba")
    odds = 0.3 * (0.9 * 0.8 + 0.1 * 0.1) / (0.7 * (0.2 * 0.8 + 0.8 * 0.1))
    assert float(answer.out.splitlines()[3].split(",")[3]) == pytest.approx(odds / (1 + odds))
    learned = bayeswise("network", "learn", table, "-o", tmp_path / "out.bif", "--missing", "em")
    assert learned.code == 0 and bw.BeliefNetwork.read(tmp_path / "out.bif").states("wet") == ("no", "yes")
    refused = bayeswise("network", "learn", table, "-o", tmp_path / "out.bif")
    assert refused.code == 3 and "--missing em" in refused.err
