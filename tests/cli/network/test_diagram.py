"""`bayeswise diagram`: policies, values and sensitivities from a file that a person wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from bayeswise.diagrams import InfluenceDiagram
from tests.cases.diagram_cases import medical, oil
from tests.paths import EXAMPLES

Command = Callable[..., SimpleNamespace]
OIL = EXAMPLES / "oil.toml"


def test_the_examples_are_the_wildcatter_and_the_clinic() -> None:
    assert InfluenceDiagram.read(OIL) == oil()
    assert InfluenceDiagram.read(OIL.with_name("clinic.toml")) == medical()


def test_solve_says_what_to_do_and_shows_every_case(bayeswise: Command) -> None:
    answer = bayeswise("diagram", "solve", OIL)
    assert answer.code == 0
    head, *table = answer.out.split("\n\n")
    assert head.splitlines() == [
        "expected utility 22.5",
        "test: yes",
        "drill: yes if report is closed or open, else no",
    ]
    assert table[0].splitlines()[3].split() == ["yes", "diffuse", "no", "0.41", "-30.4878", "0"]


def test_solve_speaks_json_with_scenarios_and_risks(bayeswise: Command) -> None:
    facts = json.loads(bayeswise("diagram", "solve", OIL, "--scenarios", "--risk", "--json").out)
    assert facts["expected_utility"] == pytest.approx(22.5)
    assert facts["policies"]["drill"]["rule"] == "yes if report is closed or open, else no"
    assert sum(row["contribution"] for row in facts["scenarios"]) == pytest.approx(22.5)
    assert facts["risk"]["probability_of_loss"] == pytest.approx(0.61)
    assert "probability of a loss 0.61" in bayeswise("diagram", "solve", OIL, "--risk").out


def test_what_is_known_and_what_is_not_free(bayeswise: Command) -> None:
    assert bayeswise("diagram", "solve", OIL, "--given", "test=yes", "report=diffuse").out.splitlines() == [
        "expected utility -10",
        "drill: no",
    ]
    assert bayeswise("diagram", "solve", OIL, "--policy", "test=no").out.startswith("expected utility 20\n")


def test_value_of_knowing(bayeswise: Command) -> None:
    answer = bayeswise("diagram", "value", OIL, "oil", "--before", "drill", "--price", "oil=5")
    assert answer.out == "oil before drill: worth 32.5 at a price of 5\n"
    facts = json.loads(bayeswise("diagram", "value", OIL, "--json").out)
    assert facts["perfect_information"] == pytest.approx(32.5)
    assert [row["decision"] for row in facts["nodes"]] == ["test", "drill"]


def test_tornado_and_sensitivity(bayeswise: Command) -> None:
    widest = json.loads(bayeswise("diagram", "tornado", OIL, "--spread", ".2", "--json").out)["rows"][0]
    assert (widest["entry"], widest["policy_changes"]) == ("P(oil = dry)", True)
    facts = json.loads(bayeswise("diagram", "sensitivity", OIL, "oil", "dry", "--json").out)
    assert facts["thresholds"] == pytest.approx([27 / 59, 44 / 65, 39 / 56])
    assert "is -70" in bayeswise("diagram", "sensitivity", OIL, "gain", "--case", "drill=yes", "oil=dry").out


def test_show_draws_the_solved_diagram(bayeswise: Command, tmp_path: Path) -> None:
    answer = bayeswise("diagram", "show", OIL, "-o", tmp_path / "oil.svg")
    assert answer.code == 0
    assert "decision  drill | test, report: yes, no" in answer.out
    assert "59.0 %" in (tmp_path / "oil.svg").read_text(encoding="utf-8")
    assert json.loads(bayeswise("diagram", "show", OIL, "--json").out)["order"] == ["test", "drill"]


def test_pictures_are_written_beside_the_answer(bayeswise: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    for words in (("solve", OIL), ("tornado", OIL), ("sensitivity", OIL, "oil", "dry")):
        path = tmp_path / f"{words[0]}.png"
        answer = bayeswise("diagram", *words, "--png", path)
        assert (answer.code, answer.err.startswith(f"Saved {path}")) == (0, True)
        assert path.read_bytes().startswith(b"\x89PNG")
    assert bayeswise("diagram", "tornado", OIL, "--png", OIL).code == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("solve", OIL, "--given", "report=open"), 2, "depends on the decision 'test', which is still open"),
        (("solve", OIL, "--given", "oil=soakin"), 2, "did you mean 'soaking'?"),
        (("solve", OIL, "--given", "test=no", "report=open"), 4, "the evidence is impossible"),
        (("value", OIL, "report", "--before", "test"), 2, "test -> report"),
        (("sensitivity", OIL, "report", "open"), 2, "is given 'test' too"),
        (("value", OIL, "oil", "--given", "test=yes", "drill=no"), 2, "no decision is open"),
        (("solve", "none.toml"), 3, "cannot read 'none.toml'"),
        (("solve", "none.csv"), 2, "unknown suffix for a diagram file"),
        (("show", OIL, "--given", "test=yes"), 2, "changes the picture only"),
    ],
)
def test_mistakes_are_reported_with_their_exit_code(bayeswise: Command, words: object, code: int, said: str) -> None:
    answer = bayeswise("diagram", *words)  # type: ignore[misc]
    assert answer.code == code
    assert said in answer.err


def test_evaluate_shows_policies_beside_the_best(bayeswise: Command, tmp_path: Path) -> None:
    (tmp_path / "habits.toml").write_text(
        'drill = { yes = { closed = "yes", open = "yes", diffuse = [0.5, 0.5], "not done" = "no" }, no = "no" }\n'
    )
    answer = bayeswise("diagram", "evaluate", OIL, "--policies", str(tmp_path / "habits.toml"))
    assert answer.code == 0
    assert answer.out.startswith("utility 16.25; the best policies reach 22.5, 6.25 more\ntest: yes\n")
    assert "P(yes)" in answer.out
    facts = json.loads(bayeswise("diagram", "evaluate", OIL, "--policy", "test=no", "--json").out)
    assert (round(facts["expected_utility"], 6), round(facts["best"], 6), round(facts["regret"], 6)) == (20, 22.5, 2.5)
    assert bayeswise("diagram", "evaluate", OIL).code == 2
    assert bayeswise("diagram", "evaluate", OIL, "--softmax", "0").code == 2


def test_attitudes_to_risk_are_typed(bayeswise: Command) -> None:
    answer = bayeswise("diagram", "solve", OIL, "--risk-tolerance", "200")
    assert answer.out.startswith(
        "certainty equivalent 5.89958 (risk tolerance 200): expected value 22.5, risk premium 16.6"
    )
    points = json.loads(bayeswise("diagram", "solve", OIL, "--utility-points", "-100:-2,0:0,100:1", "--json").out)
    assert points["certainty_equivalent"] == pytest.approx(2.4)
    for wrong in (["--risk-tolerance", "0"], ["--utility-points", "1,2"], ["--utility-points", "0:0,1:x"]):
        assert bayeswise("diagram", "solve", OIL, *wrong).code == 2
    assert bayeswise("diagram", "solve", OIL, "--risk-tolerance", "9", "--utility-points", "0:0,1:1").code == 2


def test_sensitivity_to_a_weight_instead_of_an_entry(bayeswise: Command, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(
        '[decision.go]\noptions = ["yes", "no"]\n'
        '[utility.joy]\nparents = ["go"]\ntable = [1, 0]\nattribute = "joy"\n'
        '[cost.price]\nparents = ["go"]\ntable = [30, 0]\nattribute = "money"\n'
        "[attribute.joy]\nweight = 0.6\n[attribute.money]\nweight = 0.4\nworst = -30\nbest = 0\n"
    )
    answer = bayeswise("diagram", "sensitivity", str(tmp_path / "d.toml"), "--weight", "joy")
    assert answer.out == "weight of joy is 0.6\nfrom 0 to 0.5: go: no\nfrom 0.5 to 1: go: yes\n"
    assert "joy: 1 (weight 0.6, adds 0.6)" in bayeswise("diagram", "solve", str(tmp_path / "d.toml")).out
    assert bayeswise("diagram", "sensitivity", str(tmp_path / "d.toml")).code == 2
    assert bayeswise("diagram", "sensitivity", OIL, "oil", "dry", "--weight", "joy").code == 2


@pytest.mark.parametrize(
    "suffix", ["xdsl", "net", "dne", "xmlbif", "bifxml", "xdsl.gz", "toml", "json", "toml.gz", "json.gz"]
)
def test_a_diagram_goes_into_every_format_and_back(bayeswise: Command, tmp_path: Path, suffix: str) -> None:
    there, back = tmp_path / f"oil.{suffix}", tmp_path / "back.toml"
    answer = bayeswise("diagram", "convert", OIL, there)
    assert answer.code == 0 and answer.out == "" and answer.err.startswith("Saved")
    assert bayeswise("diagram", "convert", there, back).code == 0
    assert InfluenceDiagram.read(there) == oil() == InfluenceDiagram.read(back)


def test_convert_lists_what_the_format_cannot_hold(bayeswise: Command, tmp_path: Path) -> None:
    source = tmp_path / "care.toml"
    source.write_text(
        """
        [chance.ill]
        states = ["yes", "no"]
        table = [0.1, 0.9]
        [decision.look]
        options = ["yes", "no"]
        [decision.care]
        options = ["treat", "wait"]
        knows = ["look"]
        forgets = "everything"
        forbidden = [{ care = "wait", look = "no" }]
        [utility.gain]
        parents = ["care", "ill"]
        table = { treat = [5, -1], wait = [-9, 0] }
        attribute = "money"
        [attribute.money]
        weight = 0.5
        [attitude]
        kind = "exponential"
        tolerance = 50
        """
    )
    *lost, said = bayeswise("diagram", "convert", source, tmp_path / "care.net").err.splitlines()
    assert [line.split()[0] for line in lost] == ["what", "options", "attributes", "the"] and said.startswith("Saved")
    assert "'care' forgets is lost" in lost[0] and "risk tolerance 50" in lost[3]
    assert bayeswise("diagram", "convert", source, tmp_path / "care.json").err.startswith("Saved")


def test_convert_writes_no_file_that_cannot_hold_a_decision(bayeswise: Command, tmp_path: Path) -> None:
    answer = bayeswise("diagram", "convert", OIL, tmp_path / "oil.bif")
    assert answer.code == 3 and "neither decisions nor utilities" in answer.err and not list(tmp_path.iterdir())
    assert bayeswise("diagram", "convert", OIL, OIL).code == 2
    unknown = bayeswise("diagram", "convert", OIL, tmp_path / "oil.csv.gz")
    assert unknown.code == 2 and "for a diagram file" in unknown.err
