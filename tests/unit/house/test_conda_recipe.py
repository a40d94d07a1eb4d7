"""The conda recipe needs what pyproject.toml names, in the names that conda has for it."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import yaml

from tests.paths import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE: dict[str, Any] = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
NAMES = {"duckdb": "python-duckdb"}


def needs(requirements: list[str]) -> set[tuple[str, str]]:
    """{(name in conda, versions)}."""
    found = [re.fullmatch(r"([\w-]+)\s*(.*)", each) for each in requirements]
    return {(NAMES.get(each[1], each[1]), each[2]) for each in found if each is not None}


def test_the_recipe_is_of_this_version() -> None:
    project = PROJECT["project"]
    assert RECIPE["context"]["version"] == project["version"]
    assert RECIPE["about"]["summary"] == project["description"]
    assert RECIPE["about"]["license"] == project["license"]


def test_the_recipe_needs_what_the_package_needs() -> None:
    python = ("python", PROJECT["project"]["requires-python"])
    assert needs(RECIPE["requirements"]["run"]) == needs(PROJECT["project"]["dependencies"]) | {python}
    host = needs(RECIPE["requirements"]["host"]) - {("pip", ""), python}
    assert host == needs(PROJECT["build-system"]["requires"])
