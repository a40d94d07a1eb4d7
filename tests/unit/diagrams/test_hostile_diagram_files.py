"""Diagram and decision files that are wrong in structure, or that would take more memory than they look like."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.diagrams.documents import from_document
from bayeswise.diagrams.files import read
from bayeswise.foundation.errors import CostError, SourceError
from bayeswise.store.parsing import check_toml

CHANCE = {"states": ["rain", "sun"], "table": [0.3, 0.7]}
DECISION = {"options": ["take", "leave"]}
UTILITY = {"parents": ["umbrella", "weather"], "table": {"take": 20, "leave": {"rain": 0, "sun": 100}}}


def document(**changes: object) -> dict[str, object]:
    nodes = {"chance": {"weather": CHANCE}, "decision": {"umbrella": DECISION}, "utility": {"comfort": UTILITY}}
    return {**nodes, **changes}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"utility": {"comfort": {"table": UTILITY["table"]}}}, "the utility 'comfort' must be a number"),
        ({"chance": {"weather": {**CHANCE, "table": {"rain": {"bad": 0.2}, "sun": 0.1}}}}, "as a probability"),
        ({"chance": {"weather": {**CHANCE, "table": {"rain": [0.3], "sun": 0.7}}}}, "as a probability"),
        ({"chance": {"weather": {**CHANCE, "table": [0.3, 10**400]}}}, "is not an array of numbers"),
        ({"chance": {"weather": {**CHANCE, "table": {"rain": 10**400, "sun": 0}}}}, "too large for a float"),
        ({"chance": {"weather": {**CHANCE, "table": [[0.3, {}]]}}}, "is not an array of numbers"),
    ],
)
def test_a_table_without_its_parents_or_for_a_number_is_reported(changes: dict[str, object], what: str) -> None:
    with pytest.raises(SourceError, match=what):
        from_document(document(**changes))


def test_the_document_that_the_others_spoil_is_right() -> None:
    assert from_document(document()).solve() is not None


@pytest.mark.parametrize("reader", ["diagram", "decision"])
@pytest.mark.parametrize(
    ("text", "what"),
    [
        (".".join(["a"] * 20_000) + " = 1", "a key has more than"),
        ("\n".join(".".join([f"k{k}", *["a"] * 18]) + " = 1" for k in range(2_000)), "too many keys"),
        ("x = " + "[" * 10_000, "deep"),
        ("x = " + "{a=" * 10_000, "deep"),
    ],
    ids=["one long key", "many long keys", "lists", "tables"],
)
def test_a_small_file_that_would_take_gigabytes_is_refused(tmp_path: Path, reader: str, text: str, what: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "from bayeswise.diagrams.files import read as diagram\n"
        "from bayeswise.decisions.costs.decision_file import DecisionFile\n"
        "from bayeswise.foundation.errors import BayeswiseError\n"
        f"try: (diagram if {reader!r} == 'diagram' else DecisionFile.read)({str(path)!r})\n"
        "except BayeswiseError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert what in done.stdout and len(done.stdout) < 2_000


def test_texts_and_comments_are_not_keys() -> None:
    long = ".".join(["a"] * 100)
    for text in (f'x = "{long}"', f"x = '{long}'", f'x = """\n{long}"""', f"# {long}", "x = [1.5, 2.5, -0.25]"):
        check_toml(text, deepest=20, most_keys=10)


@pytest.mark.parametrize("text", ["a" * 200_000, '"""\\' * 50_000, '"\\' * 100_000, "a " * 100_000, "-" * 200_000])
def test_measuring_takes_time_in_proportion_to_the_text(text: str) -> None:
    check_toml(text, deepest=80, most_keys=1_000_000)


@pytest.mark.parametrize("entry", ['"1) - (2"', '{ spam = "1) - (2", ham = 0 }', '"(1"', '""'])
def test_a_gain_is_a_formula_of_its_own(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "decision.toml"
    path.write_text(f"[utilities]\nkeep = {entry}\nbin = {{ spam = 1, ham = -10 }}\n")
    with pytest.raises(CostError, match=r"formula|decision\.toml"):
        DecisionFile.read(path)


def test_a_diagram_file_that_is_deep_but_not_too_deep_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        '[chance.weather]\nstates = ["rain", "sun"]\ntable = [0.3, 0.7]\n'
        '[decision.umbrella]\noptions = ["take", "leave"]\n'
        '[utility.comfort]\nparents = ["umbrella", "weather"]\n'
        "table.take = 20\ntable.leave.rain = 0\ntable.leave.sun = 1\n"
    )
    assert read(path).utilities == ("comfort",)
