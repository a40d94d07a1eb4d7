"""The folder that commands work in, what happens to them, and what must hold afterwards."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import bayeswise as bw
from bayeswise.models.files import bytes_of
from tests.cli.hearing import HEARING
from tests.paths import EXAMPLES

READY = "import sys; from bayeswise.cli import main; print('ready', file=sys.stderr, flush=True); sys.exit(main())"
START = HEARING + READY
MOST_SECONDS = 120.0  # after which a command is taken to hang, however busy the machine is
CODES = (0, 2, 3, 4, 130, 143, 129, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGXFSZ)


@dataclass
class Place:
    """A folder with tables and models, and the bytes that each model file may have."""

    folder: Path
    whole: dict[str, set[bytes]] = field(default_factory=dict)

    @classmethod
    def prepared(cls, folder: Path) -> Place:
        text = (EXAMPLES / "credit.csv").read_text(encoding="utf-8")
        header, *rows = text.splitlines(keepends=True)
        (folder / "all.csv").write_text(header + "".join(rows) * 20)
        (folder / "some.csv").write_text(header + "".join(rows[:50]))
        (folder / "costs.toml").write_text((EXAMPLES / "credit.toml").read_text(encoding="utf-8"))
        (folder / "pool.csv").write_text("a,b\n" + "".join(f"{k},{k * k % 7}\n" for k in range(40)))
        whole = bw.fit(str(folder / "all.csv"), "repaid", model="naive-bayes")
        less = whole.forget(str(folder / "some.csv"))
        whole.save(folder / "whole")
        less.save(folder / "less")
        place = cls(folder)
        place.whole = {
            "model": {bytes_of(whole), bytes_of(less), bytes_of(less.merge(whole))},
            "other": {bytes_of(whole), bytes_of(less), bytes_of(less.merge(whole))},
        }
        return place

    def commands(self) -> dict[str, list[str]]:
        """Every command that writes, and where."""
        return {
            "fit": ["fit", "all.csv", "-t", "repaid", "--model", "naive-bayes", "-o", "model"],
            "merge": ["merge", "less", "whole", "-o", "model"],
            "forget": ["forget", "whole", "some.csv", "-o", "model"],
            "predict": ["predict", "whole", "all.csv", "--proba", "-o", "answers.csv"],
            "decide": ["decide", "whole", "all.csv", "--costs", "costs.toml", "-o", "decided.csv"],
            "report": ["report", "whole", "some.csv", "--costs", "costs.toml", "-o", "page.html"],
            "label": ["label", "pool.csv", "-t", "y", "--classes", "u,v", "-o", "labels"],
        }

    def start(self, words: list[str], **options: Any) -> subprocess.Popen[bytes]:
        settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([sys.executable, "-c", START, *words], cwd=self.folder, **settings)

    # -- what must hold ---------------------------------------------------------------------------------------
    def check(self) -> None:
        """No torn model, no torn table, no torn page."""
        for name, allowed in self.whole.items():
            path = self.folder / name
            if path.exists():
                assert path.read_bytes() in allowed, f"{name} is neither the model before nor the one after"
                bw.load(path)
        n_rows = len((self.folder / "all.csv").read_bytes().splitlines())
        for name in ("answers.csv", "decided.csv"):
            path = self.folder / name
            if path.exists():
                assert len(path.read_bytes().splitlines()) == n_rows, f"{name} is torn"
        page = self.folder / "page.html"
        assert not page.exists() or page.read_text(encoding="utf-8").rstrip().endswith("</html>"), "a torn page"

    def clean(self) -> None:
        """Remove what commands wrote; what a kill left half-written is recognized by its name."""
        for path in self.folder.iterdir():
            if path.name in ("model", "other", "answers.csv", "decided.csv", "page.html") or path.suffix == ".partial":
                path.unlink()


def ended(process: subprocess.Popen[bytes]) -> str:
    """Wait for the end of a command; its exit code is one that is documented, and it has no bug."""
    try:
        _, said = process.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise AssertionError(f"{process.args} hangs") from None
    text = (said or b"").decode(errors="replace")
    assert process.returncode in CODES, f"exit code {process.returncode}: {text[-800:]}"
    assert "this is a bug" not in text and "Traceback" not in text, text[-800:]
    return text


# -- what happens ---------------------------------------------------------------------------------------------
def struck(by: signal.Signals) -> Callable[[Place, Random], None]:
    """A command that a signal hits at any moment."""

    def event(place: Place, random: Random) -> None:
        words = place.commands()[random.choice(["fit", "merge", "forget", "predict", "decide", "report"])]
        process = place.start(words)
        assert process.stderr is not None
        process.stderr.readline()  # before, it is the interpreter that hears signals
        time.sleep(random.uniform(0.0, 3.0))
        process.send_signal(by)
        ended(process)

    return event


def full_disk(place: Place, random: Random) -> None:
    """A command whose files may not grow beyond so many bytes, as on a disk that is full."""
    words = place.commands()[random.choice(["fit", "merge", "forget", "predict", "decide", "report"])]
    most = random.choice((0, 1, 100, 4096, 100_000))

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    ended(place.start(words, preexec_fn=limit, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}))


def closed_pipe(place: Place, random: Random) -> None:
    """A command whose reader goes away."""
    words = random.choice([["predict", "whole", "all.csv"], ["look", "all.csv"], ["decide", "whole", "all.csv"]])
    if words[0] == "decide":
        words = [*words, "--costs", "costs.toml"]
    process = place.start(words, stdout=subprocess.PIPE)
    assert process.stdout is not None
    os.read(process.stdout.fileno(), random.choice((1, 100, 5_000)))
    process.stdout.close()
    process.stdout = None
    ended(process)


def two_writers(place: Place, random: Random) -> None:
    """Two commands that write the same model, one of which may be killed."""
    commands = place.commands()
    pair = [place.start(commands[random.choice(["fit", "merge", "forget"])]) for _ in range(2)]
    if random.random() < 0.5:
        time.sleep(random.uniform(0.5, 3.0))
        pair[0].kill()
    for process in pair:
        ended(process)


def labels(place: Place, random: Random) -> None:
    """Labels through a pipe until a kill: what was confirmed is there, and the next session gets the lock."""
    words = [*place.commands()["label"], "--json"]
    known = len(records(place))
    process = place.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    confirmed = answered(process, random.choice((0, 1, 3, 8)), random)
    process.kill()
    process.communicate()
    found = len(records(place)) - known
    assert found >= confirmed, f"{confirmed} labels were confirmed, and {found} are in the journal"
    again = place.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    _, said = again.communicate(b"q\n", timeout=MOST_SECONDS)
    assert again.returncode == 0, f"the session after a kill ends with {again.returncode}: {said.decode()[-500:]}"
    assert len(records(place)) - known >= confirmed, "a confirmed label is gone"
    if known > 20:
        shutil.rmtree(place.folder / "labels")


def answered(process: subprocess.Popen[bytes], n_answers: int, random: Random) -> int:
    """Answer so many questions and one more that nobody waits for; how many answers were confirmed."""
    assert process.stdin is not None and process.stdout is not None
    confirmed = 0
    while confirmed < n_answers:
        process.stdin.write(random.choice([b"1\n", b"2\n"]))
        process.stdin.flush()
        for line in process.stdout:
            if "saved" in json.loads(line):
                confirmed += 1
                break
    process.stdin.write(b"1\n")
    process.stdin.flush()
    time.sleep(random.uniform(0.0, 0.05))
    return confirmed


def records(place: Place) -> list[Any]:
    """The whole lines of the journal."""
    journal = place.folder / "labels" / "journal"
    lines = journal.read_bytes().split(b"\n")[:-1] if journal.is_file() else []
    return [json.loads(line.split(b" ", 1)[1]) for line in lines]


EVENTS: dict[str, Callable[[Place, Random], None]] = {
    "kill -9": struck(signal.SIGKILL),
    "SIGTERM": struck(signal.SIGTERM),
    "SIGINT": struck(signal.SIGINT),
    "full disk": full_disk,
    "closed pipe": closed_pipe,
    "two writers": two_writers,
    "labels": labels,
}


def soaked(folder: Path, seed: int, until: float, least: int = 0) -> Iterator[str]:
    """Events in turn until time is up, each followed by a check; at least so many."""
    place = Place.prepared(folder)
    names = list(EVENTS)
    number = 0
    while number < least or time.monotonic() < until:
        random, name = Random(f"{seed} {number}"), names[number % len(names)]
        try:
            EVENTS[name](place, random)
            place.check()
        except AssertionError as error:
            raise AssertionError(f"{name}, event {number} of seed {seed}: {error}") from error
        place.clean()
        number += 1
        yield name
