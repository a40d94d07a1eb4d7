"""The kinds of input that are generated, and the module of each."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

MODULES = {
    "tables": "tables",
    "models": "model_files",
    "networks": "networks",
    "diagrams": "diagrams",
    "decisions": "decision_files",
    "commands": "command_lines",
}
KINDS = tuple(kind for kind, name in MODULES.items() if find_spec(f"tests.fuzz.{name}") is not None)


def module_of(kind: str) -> ModuleType:
    """The module whose `cases` are of this kind."""
    return import_module(f"tests.fuzz.{MODULES[kind]}")
