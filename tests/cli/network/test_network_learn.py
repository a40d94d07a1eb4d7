"""`bayeswise network learn`: methods, rules, missing values and strengths from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bayeswise.networks import BeliefNetwork
from tests.cases.network_cases import asia

Command = Callable[..., SimpleNamespace]


def written(path: Path, rows: dict[str, list[object]], share: float = 0.0) -> Path:
    lost = np.random.default_rng(0)
    lines = [
        ",".join("" if lost.random() < share else str(cell) for cell in row) for row in zip(*rows.values(), strict=True)
    ]
    path.write_text("\n".join([",".join(rows), *lines]), encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return written(tmp_path / "rows.csv", asia().sample(1_000, seed=1))


@pytest.mark.parametrize("method", ["hill-climbing", "exact", "chow-liu", "k2", "pc", "miic"])
def test_each_method_writes_the_network_that_python_learns(
    bayeswise: Command, table: Path, tmp_path: Path, method: str
) -> None:
    order = ["--order", ",".join(asia().names)] if method == "k2" else []
    answer = bayeswise("network", "learn", table, "-o", tmp_path / "out.bif", "--method", method, *order, "--json")
    assert answer.code == 0
    learned = BeliefNetwork.learn(str(table), method=method, order=list(asia().names) if method == "k2" else None)
    facts = json.loads(answer.out)
    assert facts["edges"] == [list(edge) for edge in learned.edges]
    assert BeliefNetwork.read(tmp_path / "out.bif") == learned


def test_rules_are_kept(bayeswise: Command, table: Path, tmp_path: Path) -> None:
    rules = ["--require", "visit -> x-ray", "--forbid", "either->x-ray", "--tier", "smoking", "--tier", "cancer,either"]
    answer = bayeswise("network", "learn", table, "-o", tmp_path / "out.bif", *rules, "--max-parents", 2)
    edges = answer.out.splitlines()
    assert "visit -> x-ray" in edges
    assert not {"either -> x-ray", "cancer -> smoking", "either -> smoking"} & set(edges)
    assert bayeswise("network", "learn", table, "-o", tmp_path / "x.bif", "--require", "visit").code == 2
    wrong = bayeswise("network", "learn", table, "-o", tmp_path / "x.bif", "--forbid", "vist -> x-ray")
    assert wrong.code == 2
    assert "did you mean 'visit'" in wrong.err


@pytest.mark.parametrize("method", ["hill-climbing", "exact", "pc", "miic"])
def test_tiers_are_kept_and_those_against_required_edges_refused(
    bayeswise: Command, table: Path, tmp_path: Path, method: str
) -> None:
    options = (
        "-o",
        tmp_path / "x.bif",
        "--method",
        method,
        "--tiers",
        "x-ray,dyspnoea",
        "--tiers",
        "cancer,bronchitis",
    )
    edges = [line.split(" -> ") for line in bayeswise("network", "learn", table, *options).out.splitlines()]
    early, late = {"x-ray", "dyspnoea"}, {"cancer", "bronchitis"}
    assert any({parent, child} & late for parent, child in edges)
    assert not any(parent in late and child in early for parent, child in edges)
    required = bayeswise("network", "learn", table, *options, "--require", "cancer -> x-ray")
    assert required.code == 2 and "'cancer' is in a later tier than 'x-ray'" in required.err
    twice = bayeswise("network", "learn", table, *options, "--tiers", "cancer")
    assert twice.code == 2 and "'cancer' is in tiers 2 and 3" in twice.err


def test_em_fills_the_tables_of_a_given_graph_and_finds_hidden_nodes(bayeswise: Command, tmp_path: Path) -> None:
    rows = asia().sample(1_000, seed=2)
    del rows["either"]
    table = written(tmp_path / "missing values.csv", rows, share=0.1)
    asia().write(tmp_path / "asia.bif")
    words = ["--graph", tmp_path / "asia.bif", "--method", "em", "--starts", 2]
    answer = bayeswise("network", "learn", table, "-o", tmp_path / "out.bif", *words)
    assert answer.code == 0
    assert "EM ended after" in answer.err
    learned = BeliefNetwork.read(tmp_path / "out.bif")
    assert set(learned.edges) == set(asia().edges)
    assert set(learned.states("either")) == {"yes", "no"}
    assert bayeswise("network", "learn", table, "-o", tmp_path / "x.bif", *words, "--strengths").code == 2
    refused = bayeswise("network", "learn", table, "-o", tmp_path / "x.bif")
    assert refused.code == 4
    assert "--missing em" in refused.err and "missing='em'" not in refused.err
    searched = bayeswise("network", "learn", table, "-o", tmp_path / "out.bif", "--missing", "em", "--json")
    assert any("EM ended" in note for note in json.loads(searched.out)["notes"])
    lonely = bayeswise("network", "learn", table, "-o", tmp_path / "x.bif", "--method", "em")
    assert (lonely.code, "add --graph" in lonely.err) == (2, True)


def test_strengths_are_reported_for_each_edge(bayeswise: Command, table: Path, tmp_path: Path) -> None:
    words = ["network", "learn", table, "-o", tmp_path / "out.bif", "--strengths", "--resamples", 10]
    answer = bayeswise(*words, "--averaged", "--score", "bdeu", "--json")
    facts = json.loads(answer.out)
    assert facts["resamples"] == 10
    assert [edge["in_graph"] for edge in facts["strengths"]].count(True) == len(facts["edges"])
    assert all(edge["posterior"] is not None for edge in facts["strengths"])
    assert "bronchitis" in bayeswise(*words).out.splitlines()[0]
    assert bayeswise("network", "learn", table, "-o", tmp_path / "x.bif", "--resamples", 3).code == 2


def test_a_column_of_weights_counts_rows_and_is_not_a_node(bayeswise: Command, tmp_path: Path) -> None:
    rows = asia().sample(300, seed=4)
    times = np.random.default_rng(0).integers(0, 4, 300)
    copies = {name: list(np.repeat(np.array(column, dtype=object), times)) for name, column in rows.items()}
    weighted = written(tmp_path / "weighted.csv", {**rows, "times": times.tolist()})
    learned = [
        bayeswise("network", "learn", source, "-o", tmp_path / "out.bif", "--strengths", "--json", *more)
        for source, more in ((weighted, ["--weight", "times"]), (written(tmp_path / "copies.csv", copies), []))
    ]
    facts = [json.loads(answer.out) for answer in learned]
    assert facts[0]["edges"] == facts[1]["edges"]
    assert facts[0]["strengths"] == facts[1]["strengths"]
    assert facts[0]["weight"] == "times"
    assert "times" not in facts[0]["nodes"]
    wrong = bayeswise("network", "learn", weighted, "-o", tmp_path / "out.bif", "--weight", "tims")
    assert wrong.code in (2, 4)
    assert "times" in wrong.err
    text = bayeswise("network", "learn", weighted, "-o", tmp_path / "out.bif", "--weight", "visit")
    assert "weight in row 1 of column 'visit' is nan" in text.err


def test_the_earlier_name_of_smoothing_still_works(bayeswise: Command, table: Path, tmp_path: Path) -> None:
    words = ["network", "learn", table, "--score", "bdeu"]
    now = bayeswise(*words, "--smoothing", 4, "-o", tmp_path / "now.bif")
    before = bayeswise(*words, "--strength=4", "-o", tmp_path / "before.bif")
    assert now.code == before.code == 0
    assert "--strength is now called --smoothing" in before.err and "now called" not in now.err
    assert (tmp_path / "now.bif").read_bytes() == (tmp_path / "before.bif").read_bytes()


# -- numbers are cut -----------------------------------------------------------------------------------------


def measured(path: Path, n_rows: int = 200) -> Path:
    generator = np.random.default_rng(4)
    x = generator.normal(50.0, 10.0, n_rows).round(2)
    ill = np.where(generator.random(n_rows) < 1 / (1 + np.exp(-(x - 50.0) / 3.0)), "yes", "no")
    lines = [f"{a},{b},{k % 3}" for k, (a, b) in enumerate(zip(x, ill, strict=True))]
    path.write_text("pressure,ill,grade\n" + "\n".join(lines) + "\n")
    return path


def test_numbers_of_many_values_are_cut_into_intervals_in_their_order(bayeswise: Command, tmp_path: Path) -> None:
    table, out = measured(tmp_path / "t.csv"), tmp_path / "n.bif"
    answer = bayeswise("network", "learn", table, "-o", out)
    assert answer.code == 0, answer.err
    assert "pressure: cut at " in answer.err
    network = BeliefNetwork.read(out)
    states = network.states("pressure")
    assert len(states) == 5 and states[0].startswith("< ") and states[-1].startswith(">= ")
    lows = [float(state.split(" to ")[0].removeprefix(">= ")) for state in states[1:]]
    assert lows == sorted(lows)
    assert network.states("grade") == ("0", "1", "2") or list(map(str, network.states("grade"))) == ["0", "1", "2"]
    marginal = network.marginals()["pressure"]
    assert all(0.15 < marginal[state] < 0.25 for state in states)
    high = network.query("ill", {"pressure": states[-1]})
    low = network.query("ill", {"pressure": states[0]})
    assert high["yes"] > 0.9 > 0.1 > low["yes"]


def test_cuts_of_your_own_and_columns_that_stay(bayeswise: Command, tmp_path: Path) -> None:
    table, out = measured(tmp_path / "t.csv"), tmp_path / "n.bif"
    assert bayeswise("network", "learn", table, "-o", out, "--cuts", "pressure=45,55").code == 0
    assert list(BeliefNetwork.read(out).states("pressure")) == ["< 45", "45 to 55", ">= 55"]
    assert bayeswise("network", "learn", table, "-o", out, "--category", "pressure").code == 0
    assert len(BeliefNetwork.read(out).states("pressure")) > 100
    assert bayeswise("network", "learn", table, "-o", out, "--number", "grade").code == 0
    assert list(BeliefNetwork.read(out).states("grade")) == ["< 0.5", "0.5 to 1.5", ">= 1.5"]
