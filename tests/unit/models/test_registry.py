"""One table says what kinds of models there are; names, settings, learners and files follow from it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import bayeswise as bw
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.files import Kinds, kind_of
from bayeswise.models.registry import MODELS, NAMES, ModelKind, kind_of_name

CLASSES = {"x": [0.0, 1.0, 2.5, 3.0, 4.5, 5.0], "y": ["a", "a", "b", "a", "b", "b"]}
NUMBERS = {"x": [0.0, 1.0, 2.5, 3.0, 4.5, 5.0], "y": [0.0, 1.5, 2.0, 3.5, 4.0, 5.5]}
BY_NAME = pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.name)


def learned(kind: ModelKind, name: str | None = None, **settings: Any) -> Any:
    table = NUMBERS if kind.name == "linear" else CLASSES
    return bw.fit(table, "y", model=name or kind.name, kinds={"x": "number"}, **settings)


@BY_NAME
def test_a_kind_names_the_settings_and_the_files_of_the_models_it_learns(kind: ModelKind) -> None:
    model = learned(kind)
    assert type(model.settings) is kind.settings_type()
    assert kind_of(model) in kind.files
    assert type(model) is Kinds()[kind_of(model)][0] and kind.settings_type() in Kinds()[kind_of(model)]


def test_every_kind_of_file_but_networks_and_their_counts_is_that_of_one_kind_of_model() -> None:
    named = {file for kind in MODELS for file in kind.files}
    assert set(Kinds()) - named == {"belief-network", "family-counts"}
    assert named <= set(Kinds())


@BY_NAME
def test_an_alias_learns_the_same_model(kind: ModelKind) -> None:
    for alias in kind.aliases:
        assert kind_of_name(alias) is kind
        assert repr(learned(kind, alias)) == repr(learned(kind))


def test_a_name_means_one_kind() -> None:
    assert len(NAMES) == sum(1 + len(kind.aliases) for kind in MODELS)


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ParameterError, match=r"there is no model 'gausian'.*gaussian"):
        kind_of_name("gausian")


def test_names_and_choices_load_no_numbers() -> None:
    code = "import sys, bayeswise.models.registry; sys.exit(len({'numpy', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
