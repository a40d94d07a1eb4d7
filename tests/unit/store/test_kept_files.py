"""Files of every kind of model that earlier versions wrote are read, and say what they said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.models import registry
from bayeswise.models.files import CALIBRATED, Kinds, bytes_of, inner_of
from bayeswise.store.file import FORMAT, describe
from tests.unit.store.files.make_files import CASES, FILES, answers_of

KEPT = json.loads((FILES / "answers.json").read_text())


def numbers_of(answers: Any) -> np.ndarray[Any, Any]:
    listed = list(answers.values()) if isinstance(answers, dict) else answers
    return np.concatenate([np.ravel(each) for each in listed])


@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_file_of_an_earlier_version_says_what_it_said(name: str) -> None:
    model = bw.load(FILES / f"{name}.bayeswise")
    found = numbers_of(answers_of(model, KEPT[name]["rows"]))
    assert found == pytest.approx(numbers_of(KEPT[name]["answers"]), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_file_of_an_earlier_version_is_the_same_model_when_it_is_saved_today(name: str, tmp_path: Path) -> None:
    today = bytes_of(bw.load(FILES / f"{name}.bayeswise"))
    path = tmp_path / "again.bayeswise"
    path.write_bytes(today)
    assert bytes_of(bw.load(path)) == today


def test_there_is_a_file_of_every_kind_of_model() -> None:
    kinds = {describe(path)["kind"].removeprefix(CALIBRATED) for path in FILES.glob("*.bayeswise")}
    assert kinds == set(Kinds()), f"add a model of {set(Kinds()) - kinds} to tests/cases/model_cases.py"


@pytest.mark.parametrize("kind", registry.MODELS, ids=lambda kind: kind.name)
def test_there_is_a_file_of_each_model_that_fit_learns(kind: registry.ModelKind) -> None:
    found = [inner_of(bw.load(path)) for path in FILES.glob("*.bayeswise") if describe(path)["kind"] in kind.files]
    structures = {getattr(model.settings, "structure", kind.name) for model in found}  # of networks
    assert kind.name in structures, f"add a model of {kind.name} to tests/cases/model_cases.py"


def test_the_answers_that_are_kept_are_those_of_the_files() -> None:
    assert set(KEPT) == set(CASES) == {path.stem for path in FILES.glob("*.bayeswise")}


def test_files_of_every_format_are_kept() -> None:
    assert {describe(path)["format"] for path in FILES.glob("*.bayeswise")} == set(range(1, FORMAT + 1))


@pytest.mark.parametrize("name", sorted(name for name in CASES if name.endswith("-format-3")))
def test_a_file_that_was_migrated_is_the_file_of_today(name: str) -> None:
    today = bytes_of(bw.load(FILES / f"{CASES[name]}.bayeswise"))
    assert today == (FILES / f"{name}.bayeswise").read_bytes()
