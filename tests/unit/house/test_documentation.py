"""The shell examples in the documents are run, in order, and show what the reader will see.

Python examples are collected as doctests; these are the blocks marked `console`.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# What sets up or builds cannot run inside the tests; `make test` itself is the proof of those.
NOT_RUN = ("make", "pip", "git", "python")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def console_steps(document: Path) -> list[tuple[str, str]]:
    """Find each `$ command` of the document's console blocks with the output printed below it."""
    blocks = re.findall(r"^```console\n(.*?)^```", document.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    steps = []
    for block in blocks:
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = step.partition("\n")
            steps.append((command, shown))
    return steps


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_console_blocks_show_what_happens(document: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "88", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    for command, shown in console_steps(document):
        if command.split()[0] in NOT_RUN:
            continue
        happened = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=60,
        ).stdout
        assert doctest.OutputChecker().check_output(shown, happened, FLAGS), f"$ {command}\n{happened}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []
