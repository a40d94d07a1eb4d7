"""What a shell offers after TAB, by the protocol in which bash, zsh and fish ask."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bayeswise as bw
from tests.paths import EXAMPLES

GOLF = EXAMPLES / "golf.csv"


def offered(text: str, folder: Path, shell: str = "bash") -> list[str]:
    """The words for a line that ends where TAB is pressed; nothing may appear beside them."""
    words = text.split(" ")
    if shell == "bash":
        request = {"COMP_WORDS": text, "COMP_CWORD": str(len(words) - 1)}
    else:
        request = {"_TYPER_COMPLETE_ARGS": text, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    environment = {**os.environ, **request, "_BAYESWISE_COMPLETE": f"complete_{shell}"}
    command = [sys.executable, "-m", "bayeswise"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=folder, check=False)
    assert done.stderr == ""
    return [word for word in done.stdout.splitlines() if word]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table in several forms, a model, and files that cannot be read."""
    folder = tmp_path_factory.mktemp("completing")
    (folder / "golf.csv").write_bytes(GOLF.read_bytes())
    (folder / "spaced.csv").write_text("blood pressure,sick\n120,no\n140,yes\n")
    (folder / "broken.bayeswise").write_bytes(b"not a model")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 100)
    bw.fit(str(GOLF), target="play", model="naive-bayes").save(folder / "golf.bayeswise")
    return folder


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bayeswise fit golf.csv --target ", ["outlook", "temperature", "humidity", "wind", "play"]),
        ("bayeswise fit golf.csv -t play --ignore w", ["wind"]),
        ("bayeswise look spaced.csv --target b", ["'blood pressure'"]),
        ("bayeswise concept golf.csv -t play --positive ", ["no", "yes"]),
        ("bayeswise explain golf.bayeswise --row ou", ["outlook="]),
        ("bayeswise explain golf.bayeswise --row outlook=sunny wi", ["wind="]),
        ("bayeswise explain golf.bayeswise --against ", ["no", "yes"]),
        ("bayeswise predict golf.bayeswise golf.csv --columns outlook,w", ["outlook,wind"]),
        ("bayeswise fit golf.csv --model logi", ["logistic"]),
        ("bayeswise compare golf.csv --models naive-bayes,logi", ["naive-bayes,logistic"]),
        ("bayeswise fit golf.csv --convention w", ["weka"]),
        ("bayeswise fit golf.csv --missing wind=l", ["wind=level"]),
        ("bayeswise fit golf.csv --variance-rule a", ["added"]),
        ("bayeswise predict m.bayeswise golf.csv --format p", ["parquet"]),
    ],
)
def test_columns_classes_and_settings_are_offered(folder: Path, text: str, words: list[str]) -> None:
    assert offered(text, folder) == words


@pytest.mark.parametrize("file", ["missing.csv", "binary.csv", "broken.bayeswise", "-"])
def test_what_cannot_be_read_offers_nothing_and_says_nothing(folder: Path, file: str) -> None:
    offered(f"bayeswise fit {file} --target ", folder)
    assert offered(f"bayeswise explain {file} --row ", folder) == []


def test_zsh_and_fish_are_offered_the_same(folder: Path) -> None:
    zsh = "\n".join(offered("bayeswise fit golf.csv --target ", folder, "zsh"))
    fish = "\n".join(offered("bayeswise fit golf.csv --target ", folder, "fish"))
    for name in ("outlook", "temperature", "humidity", "wind", "play"):
        assert name in zsh and name in fish


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_shown(shell: str) -> None:
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [sys.executable, "-m", "bayeswise", "--show-completion", shell]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "_BAYESWISE_COMPLETE=complete_" in done.stdout
