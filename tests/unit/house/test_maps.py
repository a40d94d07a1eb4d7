"""The maps of the folders: the docstring of a package names every file in it, and no other; lists kept twice agree."""

from __future__ import annotations

import ast
import re
import tomllib
import typing
from pathlib import Path

import pytest

from bayeswise.cli.commands.models import export, fit
from bayeswise.cli.commands.network import NetworkFile
from bayeswise.cli.options import completion
from bayeswise.exports.dialects import NAMES
from bayeswise.models.registry import MODELS
from bayeswise.networks.formats import FORMATS
from tests.paths import ROOT
from tests.scheduling import LONG

PACKAGE = ROOT / "src" / "bayeswise"
ROOMS = sorted(file.parent for file in PACKAGE.rglob("__init__.py"))
ENTRY = re.compile(r"^ *(\w+\.py|\w+/) {2,}\S", re.MULTILINE)  # a name, then what it is


def named(room: Path) -> list[str]:
    """The files and folders on the map in a package's docstring."""
    docstring = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return ENTRY.findall(docstring)


def held(room: Path) -> set[str]:
    """The files and folders that a package really has."""
    files = {file.name for file in room.glob("*.py")} - {"__init__.py", "__main__.py"}
    return files | {f"{file.parent.name}/" for file in room.glob("*/__init__.py")}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE.parent)))
def test_the_docstring_of_a_package_names_every_file_in_it_once(room: Path) -> None:
    assert sorted(named(room)) == sorted(held(room))


def test_the_layers_stand_in_one_order_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"][1:]  # without __main__
    decided = (ROOT / "docs" / "adr" / "0004-order-of-the-layers.md").read_text(encoding="utf-8")
    listed = re.search(r"From top to bottom: (.*?)\.", decided, re.DOTALL)
    _, _, table = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("\n| layer |")
    assert [folder.rstrip("/") for folder in named(PACKAGE)] == layers
    assert listed is not None
    assert re.split(r",\s+", listed[1]) == layers
    assert re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE) == layers


def test_the_map_names_the_rooms_of_each_layer() -> None:
    _, _, table = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("\n| layer |")
    rows = re.findall(r"^\| `(\w+)/` \|.*\| (.*)\|$", table, re.MULTILINE)
    rooms = {layer: set(re.findall(r"`(\w+/)`", inside)) for layer, inside in rows}
    assert rooms == {layer: {name for name in held(PACKAGE / layer) if name.endswith("/")} for layer in rooms}


def test_lists_of_choices_are_those_of_the_formats_and_dialects_there_are() -> None:
    dialects = typing.get_args(typing.get_type_hints(export.run, include_extras=True)["dialect"])[0]
    (choices,) = (kind for kind in typing.get_args(dialects) if typing.get_origin(kind) is typing.Literal)
    assert typing.get_args(choices) == NAMES
    assert set(completion._NETWORKS) == set(FORMATS)
    in_help = re.findall(r"\.\w+", typing.get_args(NetworkFile)[1].help)
    assert {FORMATS[suffix] for suffix in in_help if suffix in FORMATS} == set(FORMATS.values())


def test_the_help_of_fit_names_every_kind_of_model() -> None:
    option = typing.get_args(typing.get_type_hints(fit.run, include_extras=True)["kind"])[1]
    assert [kind.name for kind in MODELS if not re.search(rf"\b{kind.name}\b", option.help)] == []


def test_files_of_tests_that_are_scheduled_first_are_there() -> None:
    assert [path for path in LONG if not (ROOT / path).is_file()] == []
