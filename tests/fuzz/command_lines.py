"""Command lines: every verb with its own options and others' values, over files that are right, wrong, or not there.

A command ends with one of the documented exit codes, says less than 2,000 bytes about what went wrong, and prints JSON
where it was told to.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import typer.main

import bayeswise as bw
from bayeswise.cli import main
from bayeswise.cli.app import GROUPS, VERBS, application
from bayeswise.foundation.errors import BayeswiseError
from tests.fuzz.answers import LONGEST_MESSAGE
from tests.network_cases import asia

EXAMPLES = Path(__file__).parents[2] / "examples"
CODES = (0, 2, 3, 4, 5)
NAMES = ("golf.csv", "credit.csv", "tomorrow.csv", "golf.bayeswise", "credit.bayeswise", "price.bayeswise", "asia.bif")
FILES = (
    *NAMES,
    "clinic.toml",
    "credit.toml",
    "empty.csv",
    "bytes.csv",
    "none.csv",
    "folder",
    "*.csv",
    "-",
    "",
    "~x.csv",
)
WORDS = (
    *("play", "repaid", "amount", "outlook", "wind=weak", "outlook=sunny", "yes", "no", "yes=0.5", "no=-1", "=", "a=b"),
    *("0", "1", "-1", "2", "0.5", "nan", "inf", "1e308", "1e-320", "99999999999999999999", "loo", "5", "auto", "none"),
    *("normal", "tan", "naive", "averaged", "gaussian", "logistic", "linear", "laplace", "shared", "student-t", "bic"),
    *("new.bayeswise", "new.csv", "new.html", "golf.csv", "\t", "\n", "ä😀", "x" * 3000, ";", "\ud800", "--", "-x"),
)
STDIN = (b"", b"play,wind\nyes,weak\nno,strong\n", b"\xff\xfe\x00", b"y\nn\nq\n")


def cases(seed: int, count: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Every verb in turn."""
    verbs = list(commands())
    for number in range(count):
        verb = verbs[(number + seed) % len(verbs)]
        random = Random(f"{seed} {number}")
        words = line(verb, random)
        stdin = random.choice(STDIN)
        shown = " ".join(word if len(word) < 40 else f"{word[:20]}..." for word in words)
        yield f"{number} bayeswise {shown!r}", lambda words=words, stdin=stdin: run(words, stdin)


@cache
def commands() -> dict[tuple[str, ...], list[Any]]:
    """Every verb, and the verbs of verbs, with their parameters."""
    found: dict[tuple[str, ...], list[Any]] = {}
    for verb in VERBS:
        if verb in GROUPS:
            group: Any = typer.main.get_command(import_module(f"bayeswise.cli.commands.{verb}").application([verb]))
            names = [(verb, name) for name in group.commands]
        else:
            names = [(verb,)]
        for words in names:
            command: Any = typer.main.get_command(application(list(words)))
            for word in words:
                command = command.commands[word]
            found[words] = list(command.params)
    return found


def line(verb: tuple[str, ...], random: Random) -> list[str]:
    """A command line of the verb: its arguments, what it requires, and a few more of its options."""
    words, subject = list(verb), random.choice(list(SUBJECTS.values()))
    parameters = commands()[verb]
    n_more = random.choice((0, 0, 1, 2, 3))
    options = [each for each in parameters if each.param_type_name == "option"]
    chosen = [each for each in options if each.required or each.name in ("target", "costs", "out", "row")]
    for parameter in parameters:
        if parameter.param_type_name == "argument" and random.random() < 0.97:
            many = 1 if parameter.nargs == 1 else random.choice((1, 1, 1, 2))
            words += [value(parameter, subject, random) for _ in range(many)]
    for option in [*chosen, *random.sample(options, min(n_more, len(options)))]:
        if option not in chosen or random.random() < 0.9:
            words += [random.choice(option.opts), *([] if option.is_flag else [value(option, subject, random)])]
    if random.random() < 0.3:
        words.append("--json")
    if random.random() < 0.05:
        random.shuffle(words)
    return words


# What a user would type, by the name of the parameter and the table that the command is about.
SUBJECTS: dict[str, dict[str, tuple[str, ...]]] = {
    "golf": {
        "model": ("golf.bayeswise",),
        "models": ("golf.bayeswise",),
        "files": ("golf.csv",),
        "target": ("play",),
        "row": ("outlook=sunny", "wind=weak"),
        "prior": ("yes=0.5", "no=0.5", "gaussian", "laplace"),
        "costs": ("golf.toml",),
    },
    "credit": {
        "model": ("credit.bayeswise",),
        "models": ("credit.bayeswise",),
        "files": ("credit.csv",),
        "target": ("repaid",),
        "row": ("amount=5000", "history=good"),
        "prior": ("yes=0.9", "no=0.1"),
        "positive": ("yes",),
    },
    "price": {
        "model": ("price.bayeswise",),
        "models": ("price.bayeswise",),
        "files": ("credit.csv",),
        "target": ("amount",),
        "kind": ("linear",),
        "row": ("repaid=yes",),
    },
}
LIKELY: dict[str, tuple[str, ...]] = {
    "file": ("clinic.toml", "asia.bif", "credit.toml"),
    "table": ("golf.csv",),
    "new": ("new.net", "new.xmlbif", "new.bif"),
    "costs": ("credit.toml",),
    "decision": ("credit.toml",),
    "out": ("new.bayeswise", "new.csv", "new.html"),
    "output": ("new.bif",),
    **dict.fromkeys(("html", "svg", "dot", "png"), ("new.html", "new.svg", "new.dot")),
    "names": ("smoking", "cancer", "either"),
    "node": ("smoking", "cancer", "disease", "result"),
    "nodes": ("disease", "result"),
    "given": ("smoking=yes", "visit=no", "test=yes"),
    "soft": ("smoking:yes=2,no=1",),
    "kind": ("naive-bayes", "averaged", "gaussian", "logistic", "tan", "aode", "k-dependence", "markov-blanket"),
    "cv": ("loo", "3", "2"),
    "calibrate": ("golf.csv", "credit.csv"),
    "prior": ("rain=0.3", "sun=0.7"),
    "likelihood": ("wet|rain=0.9", "wet|sun=0.2", "student-t", "poisson"),
    "observe": ("wet",),
    "family": ("amount=laplace", "amount=gamma"),
    "missing": ("ignore", "level", "error", "em"),
    "unseen": ("smooth", "ignore", "error"),
    "delimiter": (",", ";"),
    "decimal": (".", ","),
    "encoding": ("utf-8", "latin-1"),
    "null": ("?", "NA"),
    "form": ("csv", "json"),
    **dict.fromkeys(
        ("category", "number", "count", "ignore", "text", "binary"), ("outlook", "wind", "amount", "history")
    ),
    "score": ("bic", "bdeu", "k2"),
    "method": ("exact", "climb", "gibbs", "likelihood"),
}
ALMOST_ANYTHING = ("1", "2", "0.5", "3", "0", "yes", "no", "play", "amount", "wind=weak", "all", "auto")


def value(parameter: Any, subject: dict[str, tuple[str, ...]], random: Random) -> str:
    """What stands for a parameter: mostly something likely, else any file or any word."""
    name, chance = parameter.name or "", random.random()
    if chance < 0.85:
        return random.choice(subject.get(name) or LIKELY.get(name) or ALMOST_ANYTHING)
    return random.choice(FILES if chance < 0.92 else WORDS)


@cache
def prepared() -> Path:
    """A folder with small files of every kind; it goes with the temporary folder of the worker."""
    folder = Path(tempfile.mkdtemp())
    credit = (EXAMPLES / "credit.csv").read_text(encoding="utf-8").splitlines()[:50]
    (folder / "credit.csv").write_text("\n".join(credit) + "\n")
    for name, source in (("golf.csv", "golf.csv"), ("tomorrow.csv", "golf-tomorrow.csv")):
        shutil.copyfile(EXAMPLES / source, folder / name)
    for name in ("clinic.toml", "credit.toml"):
        shutil.copyfile(EXAMPLES / name, folder / name)
    bw.fit(str(folder / "golf.csv"), "play").save(folder / "golf.bayeswise")
    bw.fit(str(folder / "credit.csv"), "repaid").save(folder / "credit.bayeswise")
    bw.fit(str(folder / "credit.csv"), "amount", model="linear").save(folder / "price.bayeswise")
    costs = "[costs]\nplay = { yes = 0, no = 5 }\nstay = { yes = 2, no = 0 }\n"
    (folder / "golf.toml").write_text(costs)
    asia().write(folder / "asia.bif")
    (folder / "empty.csv").write_bytes(b"")
    (folder / "bytes.csv").write_bytes(bytes(range(256)) * 4)
    (folder / "folder").mkdir()
    return folder


class Refused(BayeswiseError):
    """A command that ended with an error of ours."""


class Terminal(io.TextIOWrapper):
    """Text that a command prints, kept in memory."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        self.flush()
        kept: io.BytesIO = self.buffer  # type: ignore[assignment]
        return kept.getvalue().decode("utf-8", "replace")


def run(words: list[str], stdin: bytes) -> None:
    """Run the command in a fresh folder, and check how it ended."""
    out, err, before, known = Terminal(), Terminal(), Path.cwd(), sys.stdin
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(prepared(), folder, dirs_exist_ok=True)
        os.chdir(folder)
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(words)
        finally:
            os.chdir(before)
            sys.stdin = known
    said = err.text()
    assert code in CODES, f"exit code {code}: {said[:600]}"
    assert len(said.encode()) < LONGEST_MESSAGE or code == 0, f"{len(said)} characters of messages: {said[:300]}"
    if code != 0:
        raise Refused(said)
    if "--json" in words and "--help" not in words and "-h" not in words:
        check_json(out.text())


def check_json(text: str) -> None:
    """One JSON value without NaN and infinity, or one in each line."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} in JSON")

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        for each in text.splitlines():
            json.loads(each, parse_constant=refuse)
