"""The command line among other commands: pipes that are closed, slow or full, and what is loaded at all."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Command = Callable[..., SimpleNamespace]

ROW = b"sunny,cool,high,strong\n"
HEADER = b"outlook,temperature,humidity,wind\n"
posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


def bayeswise_words(*words: object) -> list[str]:
    start = "import sys; from bayeswise.cli import main; sys.exit(main())"
    return [sys.executable, "-c", start, *map(str, words)]


def started(*words: object, **options: object) -> subprocess.Popen[bytes]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(bayeswise_words(*words), **{**pipes, **options})  # type: ignore[call-overload, no-any-return]


def test_one_row_comes_through_a_pipe(golf_model: Path) -> None:
    out, err = (process := started("predict", golf_model, "-")).communicate(HEADER + ROW)
    assert (process.returncode, err) == (0, b"")
    assert out == HEADER.rstrip() + b",play\n" + ROW.rstrip() + b",no\n"


def test_a_reader_that_has_seen_enough_ends_an_endless_stream(golf_model: Path) -> None:
    """Like `yes | bayeswise predict model - | head -2`: nothing waits for an end that never comes."""
    process = started("predict", golf_model, "-")
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None and stdout is not None and stderr is not None

    def feed() -> None:
        with contextlib.suppress(BrokenPipeError):
            stdin.write(HEADER)
            while True:
                stdin.write(ROW * 1000)

    threading.Thread(target=feed, daemon=True).start()
    lines = [stdout.readline(), stdout.readline()]
    stdout.close()
    assert process.wait(30) == 0
    assert lines == [HEADER.rstrip() + b",play\n", ROW.rstrip() + b",no\n"]
    assert stderr.read() == b""


@posix
def test_memory_stays_flat_however_long_the_stream_is(golf_model: Path, tmp_path: Path) -> None:
    def peak(n_rows: int) -> int:
        table = tmp_path / "table.csv"
        with table.open("wb") as file:
            file.write(b"remark," + HEADER)
            for _ in range(n_rows // 10_000):
                file.write((b"x" * 200 + b"," + ROW) * 10_000)
        code = (
            "import resource, sys; from bayeswise.cli import main; code = main();"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
        )
        words = [sys.executable, "-c", code, "predict", str(golf_model), "-"]
        with table.open("rb") as stdin:
            done = subprocess.run(words, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
        return int(done.stderr.split()[-1])  # kilobytes

    assert peak(400_000) < peak(100_000) + 25_000  # the tables have 90 and 23 MB


@posix
@pytest.mark.parametrize("verb", ["predict", "inspect", "explain", "--help"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stdout_is_reported_in_one_line(golf_model: Path, golf: Path, verb: str) -> None:
    words = {"predict": [golf_model, golf], "inspect": [golf_model], "explain": [golf_model, golf]}.get(verb, [])
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        process = started(verb, *words, stdout=full)
    _, err = process.communicate()
    assert process.returncode == 3
    assert b"cannot write to standard output: the disk is full" in err
    assert b"Traceback" not in err and b"Exception ignored" not in err


@posix
def test_a_closed_stdout_is_not_a_bug(golf_model: Path, golf: Path) -> None:
    for words, code in ((["predict", golf_model, golf], 2), (["inspect", golf_model], 0)):
        command = " ".join(f"'{word}'" for word in bayeswise_words(*words))
        done = subprocess.run(["sh", "-c", f"{command} >&-"], capture_output=True, check=False)
        assert done.returncode == code
        assert b"bug" not in done.stderr


def test_no_bar_is_drawn_into_a_pipe(golf_model: Path, golf: Path, tmp_path: Path) -> None:
    process = started("fit", "-", "-t", "play", "--model", "naive-bayes", "-o", tmp_path / "m")
    assert process.stdin is not None
    process.stdin.write(golf.read_bytes())
    process.stdin.flush()
    time.sleep(1.5)
    _, err = process.communicate()
    assert process.returncode == 0
    assert b"\x1b" not in err


@posix
def test_a_bar_is_drawn_on_a_terminal_when_it_takes_long(golf_model: Path, tmp_path: Path) -> None:
    import pty

    controller, terminal = pty.openpty()
    feed = tmp_path / "new.csv"
    feed.write_bytes(HEADER + ROW * 300_000)
    code = (
        "import sys; from bayeswise.cli import main; from bayeswise.foundation import progress;"
        "progress.PATIENCE = 0.0;"
        f"sys.exit(main(['predict', {str(golf_model)!r}, {str(feed)!r}, '-o', {str(tmp_path / 'out')!r}]))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    shown = b""
    while True:
        try:
            piece = os.read(controller, 65_536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    assert process.wait(30) == 0
    assert b"predicting new.csv" in shown
    assert b" rows" in shown


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["predict", "--help"], ["explain", "-h"]])
def test_help_loads_no_numbers(words: list[str]) -> None:
    code = (
        "import sys; from bayeswise.cli import main; main(sys.argv[1:]);"
        "sys.exit(len({'numpy', 'scipy', 'duckdb', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_verb_loads_scikit_learn(golf: Path, tmp_path: Path) -> None:
    model, other = str(tmp_path / "m"), str(tmp_path / "n")
    runs = [
        ["look", str(golf), "-t", "play"],
        ["fit", str(golf), "-t", "play", "--model", "naive-bayes", "-o", model],
        ["predict", model, str(golf), "--proba"],
        ["explain", model, str(golf), "--flip"],
        ["inspect", model],
        ["merge", model, model, "-o", other],
        ["forget", other, str(golf), "-o", other],
    ]
    code = (
        f"import sys; from bayeswise.cli import main; codes = [main(words) for words in {runs!r}];"
        "print(codes, sorted({'sklearn', 'pandas', 'polars', 'pyarrow', 'duckdb', 'matplotlib'} & set(sys.modules)),"
        " file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[0, 0, 0, 0, 0, 0, 0] []"


@pytest.mark.parametrize("verb", ["fit", "predict", "explain", "inspect", "merge", "forget"])
def test_every_verb_helps_with_an_example(bayeswise: Command, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = bayeswise(verb, "--help")
    assert answer.code == 0
    assert f"\n  bayeswise {verb} " in answer.out
    assert "--json" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80


@posix
def test_a_pipe_that_does_not_fit_on_the_disk_is_reported(golf: Path, tmp_path: Path) -> None:
    import resource

    header, *rows = golf.read_bytes().splitlines(keepends=True)
    _, err = (
        process := started(
            *("fit", "-", "-t", "play", "--model", "naive-bayes", "-o", tmp_path / "m"),
            env={**os.environ, "TMPDIR": str(tmp_path)},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)),
        )
    ).communicate(header + b"".join(rows) * 3_000)
    assert process.returncode == 3
    assert f"standard input does not fit into {tmp_path}, where temporary files go".encode() in err
    assert b"Fix: set TMPDIR to a folder with more room" in err
    assert list(tmp_path.iterdir()) == []


def test_the_command_is_a_module_too() -> None:
    done = subprocess.run([sys.executable, "-m", "bayeswise", "--version"], capture_output=True, check=True)
    assert done.stdout.startswith(b"bayeswise ")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_a_terminal_that_lacks_letters_gets_plain_ones(
    write: Callable[..., Path], tmp_path: Path, encoding: str
) -> None:
    table, model = write("wind,café\nstrong,oui 😀\nweak,non\nweak,oui 😀\n" * 3), tmp_path / "m.bayeswise"
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    assert started("fit", table, "-t", "café", "--model", "naive-bayes", "-o", model, env=environment).wait(60) == 0
    for words in (("explain", model, "--row", "wind=weak"), ("inspect", model), ("look", table, "-t", "café")):
        out, err = (process := started(*words, env=environment)).communicate(timeout=60)
        assert process.returncode == 0, err
        shown = out.decode(encoding)
        assert ("😀" in shown) == (encoding == "utf-8")
        assert ("\\U0001f600" in shown) == (encoding != "utf-8")
        assert ("█" in shown) == (encoding == "utf-8")
        assert ("#" in shown) == (encoding != "utf-8")
