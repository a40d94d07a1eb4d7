"""The surface: what `import bayeswise` promises, and what it does not load."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import bayeswise

ROOT = Path(__file__).parents[3]
OPTIONAL = ("pandas", "polars", "pyarrow", "matplotlib", "python_calamine")


def loaded_by(script: str, packages: tuple[str, ...]) -> list[str]:
    """Run a script in a fresh interpreter and say which of the packages it loaded."""
    ask = f"import sys; {script}; print(*sorted({set(packages)!r} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr.splitlines()[-1]
    return answer.stdout.split()


@pytest.mark.parametrize("name", bayeswise.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(bayeswise, name) is not None
    assert name in dir(bayeswise)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'NaiveBaies'"):
        _ = bayeswise.NaiveBaies


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import bayeswise", ("numpy", "scipy", "sklearn", "duckdb", "typer", *OPTIONAL)) == []


def test_no_module_but_the_estimators_loads_what_is_heavy_or_optional() -> None:
    core = [
        module.name
        for module in pkgutil.walk_packages(bayeswise.__path__, "bayeswise.")
        if not module.name.startswith("bayeswise.estimators")
    ]
    assert loaded_by(f"import {', '.join(core)}", ("sklearn", "duckdb", "scipy.stats", *OPTIONAL)) == []


def test_the_version_is_that_of_the_project_and_heads_the_changelog() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert bayeswise.__version__ == project["version"]
    assert f"## [{project['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_map_in_the_docstring_is_the_folders_in_the_order_of_the_contract() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    layers = [layer.strip("()") for layer in tools["importlinter"]["contracts"][0]["layers"]]
    lines = (bayeswise.__doc__ or "").splitlines()
    folders = [line.split("/")[0].strip() for line in lines if line.startswith("    ") and "/" in line]
    assert folders == [layer for layer in layers if layer != "__main__"]  # which is a file


def test_nothing_unpickles() -> None:
    sources = (ROOT / "src").rglob("*.py")
    assert [path.name for path in sources if "import pickle" in path.read_text(encoding="utf-8")] == []
