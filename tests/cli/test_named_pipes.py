"""Tables that give their bytes only once: named pipes, descriptors of a shell, devices; every verb reads all rows."""

from __future__ import annotations

import contextlib
import gzip
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import SourceError
from bayeswise.tables.source import open_source
from bayeswise.tables.sources import files
from tests.paths import EXAMPLES

Command = Callable[..., SimpleNamespace]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
COSTS = ("--costs", "{costs}")
VERBS = [
    ("look", "{table}", "-t", "play"),
    ("fit", "{table}", "-t", "play", "--model", "naive-bayes", "-o", "{new}", "--json"),
    ("predict", "{model}", "{table}", "--proba"),
    ("decide", "{model}", "{table}", *COSTS),
    ("check", "{model}", "{table}", *COSTS),
    ("report", "{model}", "{table}", *COSTS, "-o", "{new}"),
    ("explain", "{model}", "{table}", "--row-number", "14"),
    ("forget", "{model}", "{table}", "-o", "{new}", "--json"),
    ("compare", "{table}", "-t", "play", "--json"),
    ("concept", "{table}", "-t", "play"),
    ("label", "{table}", "-t", "wind", "-o", "{new}", "--json"),
    ("network", "show", "{network}", "--strengths", "{table}"),
    ("network", "learn", "{table}", "-o", "{new}.bif", "--json"),
]


@pytest.fixture
def fed(tmp_path: Path) -> Iterator[Callable[[bytes, str], Path]]:
    """A named pipe that a thread fills once."""
    threads = []

    def make(content: bytes, name: str = "pipe") -> Path:
        path = tmp_path / name
        os.mkfifo(path)

        def fill() -> None:
            with contextlib.suppress(BrokenPipeError), path.open("wb") as pipe:
                pipe.write(content)

        threads.append(threading.Thread(target=fill, daemon=True))
        threads[-1].start()
        return path

    yield make
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize("words", VERBS, ids=lambda words: "-".join(words[:2]).split("-{")[0])
def test_every_verb_reads_a_named_pipe_as_it_reads_the_file(
    bayeswise: Command, golf: Path, golf_model: Path, tmp_path: Path, fed: Callable[..., Path], words: tuple[str, ...]
) -> None:
    places = {"model": golf_model, "costs": tmp_path / "costs.csv", "network": tmp_path / "golf.bif"}
    places["costs"].write_text("action,no,yes\ngo,1,0\nstay,0,3\n")
    bw.BeliefNetwork.learn(str(golf)).write(places["network"])

    def answer(table: Path, new: str) -> tuple[int, str, bytes]:
        done = bayeswise(*(word.format(table=table, new=tmp_path / new, **places) for word in words))
        assert done.code == 0, done.err
        written = [path for path in sorted(tmp_path.glob(f"{new}*")) if path.is_file()]
        content = written[0].read_bytes() if written else b""
        return done.code, done.out.replace(str(table), "T").replace(table.name, "T").replace(new, "N"), content

    pipe = fed(golf.read_bytes(), "golf.fifo")
    from_file, from_pipe = answer(golf, "one"), answer(pipe, "two")
    assert from_pipe[0] == 0
    if words[0] != "look":  # its table is as wide as the name of the file
        assert from_pipe[1] == from_file[1]
    if words[0] != "report":  # the page names its table
        assert from_pipe[2] == from_file[2]


def test_a_hundred_thousand_rows_come_through_the_shell(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(100_000)))
    start = "import sys; from bayeswise.cli import main; sys.exit(main())"
    command = f"'{sys.executable}' -c '{start}' look <(cat '{table}') --json"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert '"rows": 100000' in done.stdout
    assert '"source": "/dev/fd/' in done.stdout


def test_a_pipe_is_swept_again_and_again(fed: Callable[..., Path]) -> None:
    source = open_source(fed(b"x;y\n1,5;a\n2,5;b\n"))
    for _ in range(3):
        assert [value for chunk in source.chunks(["x"]) for value in chunk.numbers("x")[0]] == [1.5, 2.5]


def test_a_pipe_that_is_read_once_is_not_kept(fed: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    source = open_source(fed(b"x\ty\n1\ta\n", "pipe.tsv"), once=True)
    assert [chunk.texts("y") for chunk in source.chunks(["y"])] == [["a"]]


@pytest.mark.parametrize("kind", ["parquet", "arrow", "jsonl", "json", "gz"])
def test_packed_and_binary_tables_come_through_a_pipe(fed: Callable[..., Path], tmp_path: Path, kind: str) -> None:
    frame, path = pl.DataFrame({"x": [1, 2], "y": ["a", "b"]}), tmp_path / "table"
    {"parquet": frame.write_parquet, "arrow": frame.write_ipc, "jsonl": frame.write_ndjson}.get(
        kind, frame.write_json if kind == "json" else frame.write_csv
    )(path)
    content = gzip.compress(path.read_bytes()) if kind == "gz" else path.read_bytes()
    for once in (False, True):
        source = open_source(fed(content, f"pipe{once}"), once=once)
        assert [value for chunk in source.chunks(["x"]) for value in chunk.numbers("x")[0]] == [1.0, 2.0]


def test_a_database_too_large_for_a_pipe_is_refused(
    fed: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_SPOOLED", 1 << 16)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pipe = fed(b"PAR1" + bytes(1 << 20))
    with pytest.raises(SourceError, match=r"pipe sends more than .* Fix: save them in a file"):
        open_source(pipe)
    assert not list(tmp_path.glob("bayeswise-*"))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/null"])
def test_endless_and_empty_devices_are_refused(device: str) -> None:
    with pytest.raises(SourceError, match=rf"{device} is (not text|no text|empty)"):
        open_source(device)


def test_a_socket_is_not_a_table(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        with pytest.raises(SourceError, match="s cannot be read"):
            open_source(tmp_path / "s")


def test_a_closed_standard_input_is_said_in_one_line(tmp_path: Path) -> None:
    start = "import sys; from bayeswise.cli import main; sys.exit(main())"
    for verb in (
        ["look", "-"],
        ["fit", "-", "-t", "y", "--model", "naive-bayes", "-o", str(tmp_path / "m")],
        ["network", "query", "-", "play"],
        ["diagram", "solve", "-"],
        ["thresholds", "--costs", "-"],
    ):
        words = " ".join(f"'{word}'" for word in [sys.executable, "-c", start, *verb])
        done = subprocess.run(["sh", "-c", f"{words} <&-"], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("bayeswise: standard input is closed. Fix: ")


# -- networks, diagrams, decision files and models ------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".bif", ".net", ".xmlbif", ".xdsl", ".uai", ".bif.gz"])
def test_a_network_comes_through_a_pipe_and_its_first_words_say_the_format(
    bayeswise: Command, golf: Path, tmp_path: Path, fed: Callable[..., Path], suffix: str
) -> None:
    written = tmp_path / f"golf{suffix}"
    bw.BeliefNetwork.learn(str(golf)).write(written)
    node = bw.BeliefNetwork.read(written).names[0]
    pipe = fed(written.read_bytes())
    answers = [bayeswise("network", "query", place, node) for place in (written, pipe)]
    assert answers[1].code == 0, answers[1].err
    assert answers[0].out == answers[1].out


def test_what_is_not_a_network_is_said_so(bayeswise: Command, fed: Callable[..., Path]) -> None:
    answer = bayeswise("network", "query", fed(b"a,b\n1,2\n"), "a")
    assert answer.code != 0 and "pipe does not begin like a network file" in answer.err and ".bif" in answer.err


@pytest.mark.parametrize("form", ["toml", "json", "net"])
def test_a_diagram_comes_through_a_pipe(
    bayeswise: Command, tmp_path: Path, fed: Callable[..., Path], form: str
) -> None:
    written = tmp_path / f"oil.{form}"
    bw.InfluenceDiagram.read(EXAMPLES / "oil.toml").write(written)
    answers = [bayeswise("diagram", "solve", place) for place in (written, fed(written.read_bytes()))]
    assert answers[1].code == 0, answers[1].err
    assert answers[0].out == answers[1].out


@pytest.mark.parametrize(
    "content", [(EXAMPLES / "credit.toml").read_bytes(), b"action,no,yes\nlend,9,-1\nrefuse,0,0\n"], ids=["toml", "csv"]
)
def test_a_decision_file_comes_through_a_pipe(
    bayeswise: Command, tmp_path: Path, fed: Callable[..., Path], content: bytes
) -> None:
    written = tmp_path / ("d.toml" if content.startswith(b"#") or b"[" in content else "d.csv")
    written.write_bytes(content)
    row = ["--row", "amount=5000"] if written.suffix == ".toml" else []
    answers = [bayeswise("thresholds", place, *row) for place in (written, fed(content))]
    assert answers[1].code == 0, answers[1].err
    assert answers[0].out == answers[1].out


def test_costs_of_a_number_come_through_a_pipe(bayeswise: Command, tmp_path: Path, fed: Callable[..., Path]) -> None:
    model = tmp_path / "m.bayeswise"
    bw.fit(str(EXAMPLES / "credit.csv"), target="income", model="linear").save(model)
    content = b'target = "income"\n[number]\nunder = 2\nover = 1\n'
    (tmp_path / "n.toml").write_bytes(content)
    rows = EXAMPLES / "credit-test.csv"
    answers = [bayeswise("decide", model, rows, "--costs", place) for place in (tmp_path / "n.toml", fed(content))]
    assert answers[1].code == 0, answers[1].err
    assert answers[0].out == answers[1].out


def test_inspect_reads_a_model_once(bayeswise: Command, golf_model: Path, fed: Callable[..., Path]) -> None:
    pipe = fed(golf_model.read_bytes())
    answers = [bayeswise("inspect", place, "--json") for place in (golf_model, pipe)]
    assert answers[1].code == 0, answers[1].err
    assert answers[0].out.replace(str(golf_model), "M") == answers[1].out.replace(str(pipe), "M")


def test_standard_input_may_hold_costs_a_network_or_a_diagram(tmp_path: Path, golf: Path) -> None:
    bw.BeliefNetwork.learn(str(golf)).write(tmp_path / "golf.bif")
    start = [sys.executable, "-c", "import sys; from bayeswise.cli import main; sys.exit(main())"]
    for words, place in (
        (["thresholds", "-", "--row", "amount=5000"], EXAMPLES / "credit.toml"),
        (["network", "query", "-", "play"], tmp_path / "golf.bif"),
        (["diagram", "solve", "-"], EXAMPLES / "oil.toml"),
    ):
        named = [str(place) if word == "-" else word for word in words]
        piped = subprocess.run([*start, *words], input=place.read_bytes(), capture_output=True, check=False)
        assert piped.returncode == 0, piped.stderr
        assert piped.stdout == subprocess.run([*start, *named], capture_output=True, check=True).stdout
