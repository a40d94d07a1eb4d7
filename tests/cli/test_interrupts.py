"""Ctrl-C, SIGTERM and SIGHUP: the exit code that shells use, no traceback, and nothing half-written anywhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.hearing import HEARING

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")

START = "import sys; from bayeswise.cli import main; print('ready', file=sys.stderr, flush=True); sys.exit(main())"


def interrupted(
    words: list[object], fed: bytes, folder: Path, by: signal.Signals = signal.SIGINT, before: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Start a command, feed it some rows through a pipe that stays open, and interrupt it while it waits.

    `before` is code that makes it immune to the signal; then the pipe is closed, and it goes on to its end.
    """
    temporary = folder / "tmp"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", HEARING + before + START, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    assert process.stderr.readline() == b"ready\n"
    process.stdin.write(fed)
    process.stdin.flush()
    time.sleep(1.5)  # it has read all there is, and waits for more
    process.send_signal(by)
    if before:
        process.stdin.close()
    try:
        process.wait(20)
    finally:
        process.kill()
    assert list(temporary.iterdir()) == []
    temporary.rmdir()
    return subprocess.CompletedProcess(words, process.returncode, process.stdout.read(), process.stderr.read())


@pytest.mark.parametrize(
    ("verb", "by", "code"),
    [
        ("fit", signal.SIGINT, 130),
        ("fit", signal.SIGTERM, 143),
        ("fit", signal.SIGHUP, 129),
        ("predict", signal.SIGINT, 130),
        ("predict", signal.SIGTERM, 143),
        ("forget", signal.SIGINT, 130),
        ("compare", signal.SIGINT, 130),
        ("check", signal.SIGINT, 130),
    ],
)
def test_an_interrupted_command_leaves_nothing_behind(
    golf: Path, golf_model: Path, tmp_path: Path, verb: str, by: signal.Signals, code: int
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    words = {
        "fit": ["fit", "-", "-t", "play", "--model", "naive-bayes", "-o", "out"],
        "predict": ["predict", golf_model, "-", "-o", "out"],
        "forget": ["forget", golf_model, "-", "-o", "out"],
        "compare": ["compare", "-", "-t", "play"],
        "check": ["check", golf_model, "-"],
    }[verb]
    header, *rows = golf.read_bytes().splitlines(keepends=True)
    # enough for `predict` to have written rows beside the place of its output
    done = interrupted(words, header + b"".join(rows) * 3_000, folder, by)
    assert (done.returncode, done.stdout) == (code, b"")
    assert b"Traceback" not in done.stderr
    if by == signal.SIGINT:
        assert done.stderr.splitlines()[-1] == b"bayeswise: interrupted"
    assert list(folder.iterdir()) == []


def test_an_interrupted_command_keeps_the_old_output(golf: Path, golf_model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "out").write_bytes(golf_model.read_bytes())
    done = interrupted(["fit", "-", "-t", "wind", "--model", "naive-bayes", "-o", "out"], golf.read_bytes(), folder)
    assert done.returncode == 130
    assert (folder / "out").read_bytes() == golf_model.read_bytes()


def test_what_the_caller_ignores_stays_ignored(golf: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    nohup = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); "
    done = interrupted(
        ["fit", "-", "-t", "play", "--model", "naive-bayes", "-o", "out"],
        golf.read_bytes(),
        folder,
        signal.SIGHUP,
        nohup,
    )
    assert done.returncode == 0
    assert (folder / "out").exists()
