"""`bayeswise network`: questions, files and learning from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from bayeswise.networks import BeliefNetwork, Node
from tests.cases.network_cases import asia

Command = Callable[..., SimpleNamespace]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    asia().write(tmp_path / "asia.bif")
    return tmp_path / "asia.bif"


def test_a_query_prints_the_posterior_of_each_node(bayeswise: Command, file: Path) -> None:
    answer = bayeswise("network", "query", file, "cancer", "bronchitis", "--given", "visit=yes", "dyspnoea=yes")
    assert answer.code == 0
    words = answer.out.split()
    assert words[0::5] == ["cancer", "bronchitis"]
    assert [round(float(words[k]), 4) for k in (2, 4, 7, 9)] == [0.0995, 0.9005, 0.8114, 0.1886]


def test_a_query_without_nodes_is_about_all_of_them_and_speaks_json(bayeswise: Command, file: Path) -> None:
    answer = json.loads(bayeswise("network", "query", file, "--given", "visit=yes", "dyspnoea=yes", "--json").out)
    assert round(answer["posterior"]["tuberculosis"]["yes"], 4) == 0.0878
    assert len(answer["posterior"]) == 8
    assert answer["log_evidence"] == pytest.approx(asia().log_evidence({"visit": "yes", "dyspnoea": "yes"}))


def test_joint_best_and_soft_questions(bayeswise: Command, file: Path) -> None:
    joint = json.loads(bayeswise("network", "query", file, "cancer", "smoking", "--joint", "--json").out)
    assert joint["posterior"]["cancer x smoking"]["yes, yes"] == pytest.approx(0.05)
    best = json.loads(bayeswise("network", "query", file, "--best", "--given", "smoking=no", "--json").out)
    assert best["states"]["cancer"] == "no"
    soft = bayeswise("network", "query", file, "smoking", "--soft", "smoking:yes=3", "smoking:no=1", "--json")
    assert json.loads(soft.out)["posterior"]["smoking"]["yes"] == pytest.approx(0.75)


def test_a_belief_that_shall_hold_is_what_is_believed_afterwards(bayeswise: Command, file: Path) -> None:
    words = ("network", "query", file, "--belief", "smoking:yes=.9", "smoking:no=.1", "--given", "x-ray=yes", "--json")
    posterior = json.loads(bayeswise(*words).out)["posterior"]
    assert posterior["smoking"]["yes"] == pytest.approx(0.9, abs=1e-12)
    parts = [asia().query("cancer", {"x-ray": "yes", "smoking": state})["yes"] for state in ("yes", "no")]
    assert posterior["cancer"]["yes"] == pytest.approx(0.9 * parts[0] + 0.1 * parts[1], abs=1e-12)
    together = asia().marginals({"x-ray": "yes"}, distributions={"smoking": {"yes": 0.9, "no": 0.1}})
    assert together["cancer"]["yes"] == pytest.approx(posterior["cancer"]["yes"], abs=1e-15)


def test_mistakes_are_reported_with_their_exit_code(bayeswise: Command, file: Path) -> None:
    assert bayeswise("network", "query", file, "cancr").code == 2
    answer = bayeswise("network", "query", file, "cancer", "--given", "tuberculosis=yes", "either=no")
    assert answer.code == 4
    assert "tuberculosis = yes and either = no have probability 0 together" in answer.err
    assert bayeswise("network", "show", file.with_name("none.bif")).code == 3
    assert bayeswise("network", "query", file, "--soft", "smoking=1").code == 2
    assert bayeswise("network", "convert", file).code == 2


def test_show_and_convert(bayeswise: Command, file: Path) -> None:
    assert "either | tuberculosis, cancer: yes, no" in bayeswise("network", "show", file).out
    assert json.loads(bayeswise("network", "show", file, "--json").out)["parameters"] == 18
    assert '"visit" -> "tuberculosis";' in bayeswise("network", "show", file, "--dot").out
    other = file.with_suffix(".net")
    assert bayeswise("network", "convert", file, other).code == 0
    assert BeliefNetwork.read(other) == asia()


def test_show_draws_beliefs_given_evidence(bayeswise: Command, file: Path) -> None:
    drawing, page = file.with_suffix(".svg"), file.with_suffix(".html")
    answer = bayeswise(
        "network", "show", file, "--svg", drawing, "--html", page, "--evidence", "visit=yes", "dyspnoea=yes"
    )
    assert (answer.code, answer.out) == (0, "")
    assert "8.8 %" in drawing.read_text(encoding="utf-8")  # tuberculosis
    assert "<svg" in page.read_text(encoding="utf-8")
    part = bayeswise("network", "show", file, "--svg", "-", "--around", "visit", "--no-beliefs").out
    assert part.startswith("<svg")
    assert "tuberculosis" in part
    assert "cancer" not in part
    assert (
        '"visit" [style=rounded, penwidth=2' in bayeswise("network", "show", file, "--dot", "--given", "visit=yes").out
    )
    assert bayeswise("network", "show", file, "--given", "visit=yes").code == 2
    assert bayeswise("network", "show", file, "--svg", file).code == 2


@pytest.mark.parametrize("drawing", [["--dot"], ["--svg", "-"], ["--html", "page.html"]])
def test_a_drawing_is_not_json(bayeswise: Command, file: Path, drawing: list[str]) -> None:
    answer = bayeswise("network", "show", file, *drawing, "--json")
    assert answer.code == 2
    assert answer.out == ""
    assert "--json lists the nodes" in answer.err


def test_explain_shows_weights_conflict_and_what_to_observe_next(bayeswise: Command, file: Path) -> None:
    words = ("network", "explain", file, "cancer", "--state", "yes", "--given", "visit=yes", "dyspnoea=yes")
    answer = bayeswise(*words, "--sensitivity", "2")
    assert answer.code == 0
    assert answer.out.startswith("Why cancer = yes: 0.09953, and 0.055 before the evidence?")
    assert "The findings agree" in answer.out
    assert "P(cancer = yes | smoking = yes) = 0.1" in answer.out
    facts = json.loads(bayeswise(*words, "--sensitivity", "2", "--json").out)
    assert [finding["node"] for finding in facts["findings"]] == ["dyspnoea", "visit"]
    assert next(iter(facts["information_bits"])) == "either"
    assert len(facts["sensitivity"]) == 2
    page = file.with_suffix(".html")
    assert bayeswise(*words, "--html", page).code == 0
    assert "<svg" in page.read_text(encoding="utf-8")
    assert bayeswise("network", "explain", file, "cancer", "--given", "cancer=yes").code == 2


def test_sampled_answers_have_error_bars(bayeswise: Command, file: Path) -> None:
    words = ("network", "query", file, "cancer", "--given", "visit=yes", "dyspnoea=yes", "--rows", "20000")
    for method in ("importance", "likelihood-weighting", "gibbs"):
        facts = json.loads(bayeswise(*words, "--method", method, "--json").out)
        error = facts["standard_error"]["cancer"]["yes"]
        assert 0.0 < error < 0.02
        assert facts["posterior"]["cancer"]["yes"] == pytest.approx(0.0995, abs=5 * error)
        assert f"cancer ({method}, worth" in bayeswise(*words, "--method", method).out
    assert "0.099525 \N{PLUS-MINUS SIGN} 0.000000" in bayeswise(*words, "--method", "auto").out
    assert bayeswise(*words, "--method", "gibs").code == 2
    assert bayeswise("network", "query", file, "--method", "gibbs").code == 2


def test_a_network_in_a_model_file_is_queried_like_any_other(bayeswise: Command, file: Path) -> None:
    model = file.with_suffix(".bayeswise")
    assert bayeswise("network", "convert", file, model).code == 0
    assert bayeswise("network", "show", model).out == bayeswise("network", "show", file).out
    refused = bayeswise("inspect", model)
    assert refused.code == 4
    assert "bayeswise network show" in refused.err


def test_learn_writes_a_network_and_prints_its_edges(bayeswise: Command, tmp_path: Path) -> None:
    rows = asia().sample(2_000, seed=1)
    table = tmp_path / "rows.csv"
    names = list(rows)
    lines = [",".join(names), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    table.write_text("\n".join(lines), encoding="utf-8")
    answer = bayeswise("network", "learn", table, "-o", tmp_path / "out.bif", "--max-parents", "2")
    assert answer.code == 0
    learned = BeliefNetwork.read(tmp_path / "out.bif")
    assert {f"{parent} -> {child}" for parent, child in learned.edges} == set(answer.out.splitlines())
    assert bayeswise("network", "learn", table).code == 2


def test_edges_are_shown_as_strong_as_the_rows_of_a_table_make_them(bayeswise: Command, file: Path) -> None:
    rows = asia().sample(500, seed=1)
    table, drawing = file.with_suffix(".csv"), file.with_suffix(".svg")
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    table.write_text("\n".join(lines), encoding="utf-8")
    printed = bayeswise("network", "show", file, "--strengths", table).out.splitlines()
    bars = [line for line in printed if " -> " in line]
    assert len(bars) == len(asia().edges)
    assert bars[0].count("\N{FULL BLOCK}") == 20
    assert "bars: what the score loses without the edge" in printed
    facts = json.loads(bayeswise("network", "show", file, "--strengths", table, "--json").out)
    strongest = facts["strengths"][0]
    assert bars[0].strip().startswith(f"{strongest['parent']} -> {strongest['child']}")
    bayeswise("network", "show", file, "--strengths", table, "--resamples", 3, "--svg", drawing)
    assert "either way round" in drawing.read_text(encoding="utf-8")
    assert "penwidth" in bayeswise("network", "show", file, "--strengths", table, "--dot").out
    assert "width of an edge" not in bayeswise("network", "show", file, "--svg", "-").out
    assert bayeswise("network", "show", file, "--resamples", 3).code == 2
    table.write_text(table.read_text(encoding="utf-8").replace("dyspnoea", "dyspnea"), encoding="utf-8")
    lost = bayeswise("network", "show", file, "--strengths", table)
    assert lost.code == 4
    assert "dyspnea" in lost.err


def test_memory_for_exact_answers_is_chosen(bayeswise: Command, file: Path) -> None:
    found = bayeswise("network", "query", file, "cancer", "--memory", "0.001", "--given", "visit=yes")
    assert found.code == 0  # eight nodes fit into a megabyte
    assert bayeswise("network", "query", file, "cancer", "--memory", "0").code == 2


def test_nodes_are_set_by_hand(bayeswise: Command, file: Path) -> None:
    seen = json.loads(bayeswise("network", "query", file, "smoking", "--given", "cancer=yes", "--json").out)
    done = json.loads(bayeswise("network", "query", file, "smoking", "--do", "cancer=yes", "--json").out)
    assert done["posterior"]["smoking"]["yes"] == pytest.approx(0.5)
    assert seen["posterior"]["smoking"]["yes"] > 0.9
    text = bayeswise("network", "effect", file, "smoking", "dyspnoea").out
    assert "do(smoking = yes)" in text and "adjust for nothing" in text
    facts = json.loads(bayeswise("network", "effect", file, "cancer", "dyspnoea", "--json").out)
    assert facts["adjusted_by"] == ["smoking"] or facts["adjusted_by"] == ["bronchitis"]


def test_several_explanations_and_conflicts_are_printed(bayeswise: Command, file: Path) -> None:
    text = bayeswise("network", "query", file, "--given", "x-ray=yes", "--top", "3").out
    assert len(text.splitlines()) == 4
    facts = json.loads(bayeswise("network", "query", file, "--top", "2", "--json").out)
    assert len(facts["explanations"]) == 2
    found = bayeswise("network", "conflict", file, "--given", "smoking=no", "x-ray=yes", "bronchitis=no")
    assert found.out.startswith("conflict ")
    assert bayeswise("network", "conflict", file).code == 2


@pytest.mark.parametrize(
    "ignored", [["--method", "gibbs"], ["--joint"], ["--best"], ["cancer"]], ids=["method", "joint", "best", "nodes"]
)
def test_what_the_most_probable_explanations_would_ignore_is_refused(
    bayeswise: Command, file: Path, ignored: list[str]
) -> None:
    refused = bayeswise("network", "query", file, *ignored, "--top", "3")
    assert refused.code == 2 and not refused.out
    assert "makes no use of" in refused.err and "Fix: leave them out, or leave out --top" in refused.err


def test_a_joint_distribution_and_the_most_probable_explanation_are_two_questions(
    bayeswise: Command, file: Path
) -> None:
    refused = bayeswise("network", "query", file, "cancer", "smoking", "--joint", "--best")
    assert refused.code == 2 and "--joint and --best exclude each other" in refused.err


def test_states_that_are_numbers_and_flags_are_typed_as_text(bayeswise: Command, tmp_path: Path) -> None:
    nodes = [Node("n", [6, 12], 0.5), Node("paid", [False, True], [0.1, 0.7], ["n"])]
    BeliefNetwork(nodes).save(tmp_path / "n.bayeswise")
    answer = bayeswise("network", "query", str(tmp_path / "n.bayeswise"), "paid", "--given", "n=12", "--json")
    assert json.loads(answer.out)["posterior"]["paid"]["False"] == pytest.approx(0.7)
    answer = bayeswise("network", "query", str(tmp_path / "n.bayeswise"), "n", "--given", "paid=false", "--json")
    assert json.loads(answer.out)["posterior"]["n"]["12"] == pytest.approx(0.875)
    answer = bayeswise("network", "query", str(tmp_path / "n.bayeswise"), "n", "--soft", "n:6=1", "n:12=3", "--json")
    assert json.loads(answer.out)["posterior"]["n"]["12"] == pytest.approx(0.75)
