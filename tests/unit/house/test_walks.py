"""The walks in docs/architecture.md: every step exists, and running the line calls the steps in that order."""

from __future__ import annotations

import ast
import csv
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import bayeswise as bw
from tests.paths import ROOT

PACKAGE = Path(bw.__file__).parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = {
    title: body.splitlines()
    for title, body in re.findall(r"^### ([^\n]+)\n\n```walk\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
}
LONGEST = 30  # steps
# What a walk needs before it starts.
BEFORE = {
    "Predict": "fit examples/golf.csv --target play --model naive-bayes --output golf.bayeswise",
    "Decide with costs": "fit examples/credit.csv --decision examples/credit.toml --model naive-bayes "
    "--output credit.bayeswise",
    "Query a network": "network learn examples/golf.csv --output golf.bif",
}


def steps_of(title: str) -> list[str]:
    return [line.split()[0] for line in WALKS[title][1:]]


def functions_in(file: Path) -> set[str]:
    """The functions and methods that a file defines, as `name` or `Class.name`."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{member.name}" for member in node.body if isinstance(member, ast.FunctionDef)}
    return found


@contextmanager
def calls_recorded() -> Iterator[dict[str, None]]:
    """The functions of the package in the order in which they are first called, on any thread."""
    calls: dict[str, None] = {}

    def record(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            calls.setdefault(f"{Path(code.co_filename).relative_to(PACKAGE).as_posix()}:{code.co_qualname}")

    before = sys.getprofile()
    threading.setprofile(record)
    sys.setprofile(record)
    try:
        yield calls
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def test_there_are_five_walks() -> None:
    assert [*WALKS] == ["Fit a CSV", "Predict", "Decide with costs", "Query a network", "Fit through scikit-learn"]


@pytest.mark.parametrize("title", WALKS)
def test_every_step_of_a_walk_exists_and_says_what_it_does(title: str) -> None:
    assert len(steps_of(title)) <= LONGEST
    for line in WALKS[title][1:]:
        step, _, meaning = line.partition(" ")
        file, function = step.split(":")
        assert function in functions_in(PACKAGE / file), step
        assert meaning.strip(), step


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_goes_through_its_steps_in_order(
    title: str, bayeswise: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    if title in BEFORE:
        assert bayeswise(*BEFORE[title].split()).code == 0
    first = WALKS[title][0]
    if first.startswith("$ bayeswise "):
        with calls_recorded() as calls:
            answer = bayeswise(*first.removeprefix("$ bayeswise ").split())
        assert answer.code == 0, answer.err
    else:
        pandas = pytest.importorskip("pandas")
        with (tmp_path / "examples" / "golf.csv").open(encoding="utf-8") as file:
            X = pandas.DataFrame(list(csv.DictReader(file)))
        y = X.pop("play")
        with calls_recorded() as calls:
            eval(first, {"bw": bw, "X": X, "y": y})
    assert [step for step in calls if step in steps_of(title)] == steps_of(title)
