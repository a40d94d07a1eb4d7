"""What a shell offers after TAB: columns and classes of the table or model on the line, kinds of models, settings.

A line that is not complete must not cause errors or waiting: of a table only the beginning is read, what takes
longer than `SECONDS` is given up, and what cannot be found is not offered.
"""

from __future__ import annotations

import gzip
import json
import os
import shlex
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

SECONDS = 0.25
_VARIABLE = "_BAYESWISE_COMPLETE"
_SAMPLE = 1 << 16  # bytes of a table that are looked at
_LARGEST = 1 << 20  # bytes of a model's document that are parsed
_MOST = 200  # more names than this do not help
_MODEL = ".bayeswise"
_NETWORKS = (".bif", ".xmlbif", ".bifxml", ".xml", ".net", ".xdsl", ".dne", ".uai")  # a test compares them with FORMATS
_NOT_TABLES = (_MODEL, *_NETWORKS, ".toml", ".html", ".png", ".svg", ".pdf")
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat", "")


def is_completing() -> bool:
    """Whether a shell completes words, and no command is run."""
    return _VARIABLE in os.environ


def line() -> list[str]:
    """The words that a shell completes, which are in its environment and not among the arguments."""
    if not is_completing():
        return []
    text = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    try:
        return shlex.split(text)[1:]
    except ValueError:  # a quote is still open
        return text.split()[1:]


def words_for(parameter: Any, begun: str) -> list[str] | None:
    """The completions of a parameter that begin so; None for one whose words are not known."""
    found: list[str] | None = None
    with suppress(Exception), _in_time():
        found = _words(parameter, line(), begun)
    return None if found is None else [_typed(word) for word in found[:_MOST] if word.isprintable()]


def open_option(parameters: Iterable[Any], begun: str) -> Any:
    """The option of several values that the word belongs to, as in `--row outlook=sunny wi`, or None."""
    words = line()
    words = words[:-1] if words and words[-1] == begun else words
    last = next((k for k in range(len(words) - 1, -1, -1) if words[k].startswith("-")), None)
    if last is None or last == len(words) - 1:
        return None
    option = next((each for each in parameters if words[last] in each.opts), None)
    takes_several = option is not None and getattr(option, "multiple", False) and "=" in (option.metavar or "")
    return option if takes_several and all("=" in word for word in words[last + 1 :]) else None


def _words(parameter: Any, words: Sequence[str], begun: str) -> list[str] | None:
    before, comma, last = begun.rpartition(",")
    metavar = str(parameter.metavar or "").removesuffix(" ...")
    if metavar in ("COL", "COL[=A,B,C]") or (metavar == "NAME" and parameter.name == "column"):
        return _beginning(columns(words), begun)
    if metavar.startswith("COL="):
        return _beginning([f"{name}=" for name in columns(words)], begun)
    if metavar == "CLASS":
        return _beginning(classes(words), begun)
    if metavar.startswith("CLASS="):
        return _beginning([f"{name}=" for name in classes(words)], begun)
    if metavar == "KIND" or (parameter.name == "models" and metavar == "A,B"):
        from bayeswise.models.registry import MODELS

        kinds = [kind.name for kind in MODELS]
        return _beginning(kinds, begun) if metavar == "KIND" else _beginning(kinds, last, before + comma)
    if metavar in ("all|none|A,B", "none|A,B"):
        every = columns(words) if comma else [*metavar.split("|")[:-1], *columns(words)]
        return _beginning(every, last, before + comma)
    if metavar == "A,B,C" and parameter.name == "classes":
        return _beginning(classes(words), last, before + comma)
    return _choices(parameter, words, begun)


def _choices(parameter: Any, words: Sequence[str], begun: str) -> list[str] | None:
    """The words of a setting of `fit`, after COL= too."""
    if not words or words[0] != "fit":
        return None
    from bayeswise.models.settings.help_text import settings_by_option

    settings = settings_by_option().get(str(parameter.name), {})
    every = [choice for having in settings.values() for each in having.values() for choice in each.choices]
    shown = [word for word in str(parameter.metavar or "").removeprefix("[COL=]").split("|") if word.islower()]
    if parameter.name == "convention":
        from bayeswise.models.settings.naive_bayes import CONVENTIONS

        every += CONVENTIONS
    known = list(dict.fromkeys(word for word in (*every, *shown) if isinstance(word, str)))
    if not known:
        return None
    column, equals, last = begun.rpartition("=")
    return _beginning(known, last, column + equals)


def _beginning(words: Iterable[str], begun: str, before: str = "") -> list[str]:
    return [before + word for word in words if word.startswith(begun)]


def _typed(word: str) -> str:
    """As it has to be typed: bash takes what it is given, other shells quote by themselves."""
    return shlex.quote(word) if os.environ.get(_VARIABLE, "").endswith("bash") and not word.endswith("=") else word


# -- what the files on the line hold ------------------------------------------------------------------------------


def columns(words: Sequence[str]) -> list[str]:
    """The columns of the model or table on the line."""
    if (model := _first(words, is_model=True)) is not None:
        return _names(next(_parts(_document(model), "Schema")))
    table = _first(words, is_model=False)
    return [] if table is None else _header(table)


def classes(words: Sequence[str]) -> list[str]:
    """The classes of the model on the line, or those at the beginning of the target's column."""
    if (model := _first(words, is_model=True)) is not None:
        document = _document(model)
        declared = [target["classes"] for target in _parts(document, "Target")][:1]
        found = [grouped["labels"] for grouped in _parts(document, "Grouped")][:1]
        return next([str(label) for label in each["$plain"]] for each in (*declared, *found) if each)
    table, target = _first(words, is_model=False), _after(words, "-t", "--target")
    if table is None or target is None or table.suffix.removesuffix(".gz") not in _TEXT:
        return []
    names, *records = _records(table)
    place = names.index(target)
    return sorted({record[place] for record in records[:-1] if len(record) == len(names)} - {""})


def _first(words: Sequence[str], *, is_model: bool) -> Path | None:
    """The first file of its kind; only files that can be read without waiting."""
    for word in words[1:]:
        path = Path(word)
        is_it = path.suffix == _MODEL if is_model else path.suffix not in _NOT_TABLES
        if is_it and not word.startswith("-") and path.is_file():
            return path
    return None


def _after(words: Sequence[str], *options: str) -> str | None:
    return next((value for option, value in pairwise(words) if option in options), None)


def _document(path: Path) -> Any:
    """The tree of plain values in a model file, as store/file.py writes it; not checked, and no model is built."""
    with path.open("rb") as file:
        header = json.loads(file.read(min(int.from_bytes(file.read(8), "little"), _LARGEST)))
        begin, end = header["document"]["data_offsets"]
        file.seek(begin, os.SEEK_CUR)
        return json.loads(file.read(min(end - begin, _LARGEST)))


def _parts(tree: Any, kind: str) -> Iterator[dict[str, Any]]:
    """The parts of a tree that are of a type, from the outside to the inside."""
    if isinstance(tree, dict) and tree.get("$type") == kind:
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _parts(part, kind)


def _names(schema: dict[str, Any]) -> list[str]:
    columns = schema["columns"]
    return list(columns["$plain"][0]) if isinstance(columns, dict) else [column["name"] for column in columns]


def _header(path: Path) -> list[str]:
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if suffix in (".jsonl", ".ndjson"):
        return list(json.loads(_sample(path).splitlines()[0]))
    if suffix in _TEXT:
        return _records(path)[0]
    from bayeswise.tables.source import open_source

    return [column.name for column in open_source(path).columns]


def _records(path: Path) -> list[list[str]]:
    """The first records of a text, its names first."""
    from bayeswise.tables.sources.text.dialect import records_of, sniff

    sample = _sample(path)
    dialect = sniff(sample)
    records = records_of(sample, dialect)
    return [[name.strip() for name in records[0]], *records[1:]] if dialect.header else []


def _sample(path: Path) -> str:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        start = file.read(_SAMPLE)
    text = start.decode("utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", errors="replace")
    if "\0" in text:
        raise ValueError("it is not text")
    return text


@contextmanager
def _in_time() -> Iterator[None]:
    """Give up what takes more computing than a user waits for."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _give_up(*_: object) -> None:
    raise TimeoutError
