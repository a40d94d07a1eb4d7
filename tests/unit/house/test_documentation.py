"""The shell examples in the documents are run, in order, and show what the reader will see.

Python examples are collected as doctests; these are the blocks marked `console`.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bayeswise.cli import main
from tests.paths import ROOT

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# What sets up or builds cannot run inside the tests; `make test` itself is the proof of those.
NOT_RUN = ("make", "pip", "git", "python")
FOR_A_SHELL = set("|&;<>$`*?[~\\#(){}!")  # whatever a shell might read in its own way
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


def said_in_a_shell(command: str) -> str:
    """What a command says on both streams."""
    return subprocess.run(
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=60,
    ).stdout


def said_here(words: list[str], log: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same without a new process: both streams are written line by line."""
    log.write_text("")
    with (
        log.open("a", encoding="utf-8", buffering=1) as out,
        log.open("a", encoding="utf-8", buffering=1) as err,
        Path(os.devnull).open(encoding="utf-8") as nothing,
        monkeypatch.context() as streams,
    ):
        for name, stream in {"stdin": nothing, "stdout": out, "stderr": err}.items():
            streams.setattr(sys, name, stream)
        main(words)
    text = log.read_text(encoding="utf-8")
    log.unlink()
    return text


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_console_blocks_show_what_happens(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for name, value in {"PATH": path, "COLUMNS": "88", "NO_COLOR": "1", "PYTHONUTF8": "1"}.items():
        monkeypatch.setenv(name, value)
    for command, shown in console_steps(document):
        words = shlex.split(command)
        if words[0] in NOT_RUN:
            continue
        here = words[0] == "bayeswise" and not FOR_A_SHELL.intersection(command)
        happened = said_here(words[1:], tmp_path / "said", monkeypatch) if here else said_in_a_shell(command)
        assert doctest.OutputChecker().check_output(shown, happened, FLAGS), f"$ {command}\n{happened}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []
