"""`bayeswise network learn`: methods, rules, missing values and strengths from the command line."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
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


def with_invalid(path: Path, n_invalid: int) -> Path:
    numbers = np.random.default_rng(0).normal(size=200).round(3).tolist()
    x = [*numbers[: 200 - n_invalid], *["12k"] * n_invalid]
    return written(path, {"x": list(x), "y": ["a", "b"] * 100})


def test_a_cell_that_is_not_a_number_is_missing_and_named(bayeswise: Command, tmp_path: Path) -> None:
    table, out = with_invalid(tmp_path / "rows.csv", 1), tmp_path / "out.bif"
    for option in ([], ["--number", "x"]):
        answer = bayeswise("network", "learn", table, "-o", out, *option)
        assert answer.code != 0 and "cells of 'x' are not numbers: '12k' (line 201)" in answer.err
        assert "correct these cells, or --category x" in answer.err
        answer = bayeswise("network", "learn", table, "-o", out, "--missing", "drop", "--json", *option)
        assert answer.code == 0 and len(BeliefNetwork.read(out).states("x")) == 5
        (note,) = [note for note in json.loads(answer.out)["notes"] if "not numeric" in note]
        assert "x: 1 cell is not numeric and taken as missing: '12k' (line 201)" in note and note in answer.err
    network = BeliefNetwork.learn(str(table), missing="drop")
    assert any("taken as missing: '12k' (line 201)" in note for note in network.notes)
    assert bayeswise("network", "learn", table, "-o", out, "--category", "x").code == 0
    assert "12k" in BeliefNetwork.read(out).states("x")


def test_many_cells_that_are_not_numbers_are_refused_as_by_fit(bayeswise: Command, tmp_path: Path) -> None:
    table, out = with_invalid(tmp_path / "rows.csv", 4), tmp_path / "out.bif"
    for option, taken in (([], "looks numeric"), (["--number", "x"], "is declared numeric")):
        answer = bayeswise("network", "learn", table, "-o", out, *option)
        assert (
            answer.code != 0 and f"column 'x' {taken}, but 4 of its 200 cells are not: '12k' (line 198)" in answer.err
        )
        assert "--category x" in answer.err


def test_columns_that_make_poor_nodes_are_named_with_the_option_to_leave_them_out(
    bayeswise: Command, tmp_path: Path
) -> None:
    columns: dict[str, list[object]] = {
        "id": [f"{k:05d}" for k in range(300)],
        "day": [f"2020-01-{k % 28 + 1:02d}" for k in range(300)],
        "same": ["x"] * 300,
        "y": ["a", "b"] * 150,
    }
    table = written(tmp_path / "rows.csv", columns)
    answer = bayeswise("network", "learn", table, "-o", tmp_path / "out.bif")
    assert answer.code == 0
    assert "id: every value is different; it is a node of 300 states. Fix: leave it out" in answer.err
    assert "day: dates and times; it is a node of 28 states." in answer.err
    assert "same: only one value; it is a node of 1 state." in answer.err and "--ignore same" in answer.err
    notes = BeliefNetwork.learn(str(table)).notes
    assert [note.partition(":")[0] for note in notes if "leave it out" in note] == ["id", "day", "same"]


def test_tables_are_read_by_the_options_of_other_verbs(bayeswise: Command, tmp_path: Path) -> None:
    path, out = tmp_path / "rows.txt", tmp_path / "out.bif"
    cells = [f"{k},5|{'?' if k == 3 else 'ab'[k % 2]}" for k in range(60)]
    path.write_text("\n".join(["x|y", *cells]), encoding="utf-8")
    options = ("--delimiter", "|", "--decimal", ",", "--null", "?", "--missing", "drop")
    assert bayeswise("network", "learn", path, "-o", out, *options).code == 0
    network = BeliefNetwork.read(out)
    assert network.states("y") == ("a", "b") and len(network.states("x")) == 5
    database = tmp_path / "loans.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("create table loans (paid, late)")
        connection.execute("create table others (x)")
        connection.executemany("insert into loans values (?, ?)", [("yes", "no"), ("no", "yes")] * 20)
    answer = bayeswise("network", "learn", database, "-o", out)
    assert answer.code != 0 and "--table loans" in answer.err
    assert bayeswise("network", "learn", database, "-o", out, "--table", "loans").code == 0
    assert set(BeliefNetwork.read(out)) == {"paid", "late"}


def test_one_step_is_not_steps(bayeswise: Command, tmp_path: Path) -> None:
    rows = tmp_path / "missing.csv"
    rows.write_text("a,b\n" + "x,u\ny,v\n" * 10 + "x,\n")
    answer = bayeswise("network", "learn", rows, "--missing", "em", "-o", tmp_path / "out.bif")
    assert "EM ended after 1 step;" in answer.err


def test_names_in_quotes_are_noted_where_other_programs_do_not_read_them(bayeswise: Command, tmp_path: Path) -> None:
    table = tmp_path / "years.csv"
    table.write_text("year,z\n" + "".join(f"{2000 + k},{'ab'[k > 40]}\n" for k in range(80)))
    learned = bayeswise("network", "learn", table, "--cuts", "year=2020,2050", "-o", tmp_path / "n.bif")
    assert learned.code == 0, learned.err
    note = "are in quotes, which pyAgrum and others do not read in BIF; they read them in .net and .xdsl"
    assert learned.err.count(note) == 1
    assert note in bayeswise("network", "convert", tmp_path / "n.bif", tmp_path / "m.bif").err
    assert note not in bayeswise("network", "convert", tmp_path / "n.bif", tmp_path / "m.xdsl").err
