"""Costs from tables and files, and the columns that their formulas need."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayeswise.decisions.costs.cost_cells import check_distinct, named, plain_number, turned
from bayeswise.decisions.costs.costs import Costs
from bayeswise.foundation.arrays import FloatArray, plain
from bayeswise.foundation.errors import CostError, KindError, SourceError
from bayeswise.foundation.file_bytes import content_of, is_stream, name_of
from bayeswise.render.labels import shown
from bayeswise.store.parsing import check_toml
from bayeswise.tables.schema.column_evidence import place_of
from bayeswise.tables.schema.names import find_name, normal_name
from bayeswise.tables.source import InvalidValue, Source, open_source
from bayeswise.tables.sources.files import from_content

_SHAPES = "name the columns action, STATE, STATE, ...; or state, ACTION, ...; or action, state, cost"
FORMULAS = "formulas of costs"
_LONGEST_FILE = 10_000_000  # characters
_DEEPEST, _MOST_KEYS = 20, 50_000
_TOML_LINE = re.compile(r"""\s*(\[|[\w."' -]+=)""")  # [costs.lend], or target = "repaid"


def costs_in(document: dict[str, Any] | Source, path: str | os.PathLike[str]) -> Costs:
    """The `costs` of a TOML file that was read; any other table by its columns."""
    where = name_of(path) if is_stream(path) else str(path)
    if isinstance(document, dict):
        return costs_of_document(document, where)
    return _located(where, lambda: Costs(from_frame(document), textual=True))


def read_document(path: str | os.PathLike[str]) -> dict[str, Any] | Source:
    """A TOML file as it is, any other as a table; a stream is read once, and its first line shows which it is."""
    place = Path(path)
    if not is_stream(path):
        return read_toml(place) if place.suffix.lower() == ".toml" else open_source(str(path))
    name = name_of(path)
    data = content_of(path, _LONGEST_FILE, "costs")
    text = data.decode("utf-8-sig", errors="replace")
    first = next((line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    if not _TOML_LINE.match(first):
        return from_content(data, name)
    return _parsed(text, name)


def costs_of_document(document: Mapping[str, Any], where: str) -> Costs:
    """The `costs` of a decision file, or its `utilities` with the sign turned, its `reject` and `unit`."""
    found = [key for key in ("costs", "utilities") if isinstance(document.get(key), dict)]
    if len(found) != 1:
        what = "both [costs] and [utilities]" if found else "no [costs]"
        raise CostError(f"{where} has {what}", fix="add [costs.ACTION] with STATE = COST lines, once")
    refuse_misplaced(document, where)
    given = dict(document[found[0]])

    def made() -> Costs:
        costs = {action: turned(entries) for action, entries in given.items()} if found == ["utilities"] else given
        return Costs(costs, reject=document.get("reject"), textual=True, unit=document.get("unit"))

    return _located(where, made)


_TEXTS_ABOVE = ("target", "unit", "reject")  # entries of a decision file that are one text
_TABLES_ABOVE = ("prior", "priors")


def refuse_misplaced(document: Mapping[str, Any], where: str) -> None:
    """Refuse entries of the file that stand below [costs], where TOML takes them for actions.

    >>> refuse_misplaced({"costs": {"lend": {"yes": -1, "no": 5}, "ask": 1, "reject": "ask"}}, "loan.toml")
    Traceback (most recent call last):
    bayeswise.foundation.errors.CostError: loan.toml: reject = 'ask' is below [costs], as if it were an action. Fix: \
move it above [costs].
    """
    for key in ("costs", "utilities"):
        actions = document.get(key)
        if not isinstance(actions, dict):
            continue
        for name, entry in actions.items():
            if _is_text_of_the_file(name, entry, actions) or (name in _TABLES_ABOVE and _is_distribution(entry)):
                value = repr(shown(entry, 60)) if isinstance(entry, str) else "{ ... }"
                raise CostError(
                    f"{where}: {name} = {value} is below [{key}], as if it were an action",
                    fix=f"move it above [{key}]",
                )


def _is_text_of_the_file(name: str, entry: Any, actions: Mapping[str, Any]) -> bool:
    """To reject is an action too, whose cost may be a formula."""
    if name not in _TEXTS_ABOVE or not isinstance(entry, str):
        return False
    return name != "reject" or (entry in actions and entry != name)


def _is_distribution(entry: Any) -> bool:
    shares = [plain_number(p) for p in entry.values()] if isinstance(entry, dict) else []
    known = [p for p in shares if p is not None and 0.0 <= p <= 1.0]
    return len(known) == len(shares) > 1 and abs(sum(known) - 1.0) < 1e-9


def _located(where: str, make: Any) -> Costs:
    try:
        made: Costs = make()
    except CostError as error:
        raise CostError(f"{where}: {error.what}", fix=error.fix) from None
    return made


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as it is, or an error with the line."""
    try:
        with path.open(encoding="utf-8-sig") as file:  # some editors begin a file with a mark of its encoding
            text = file.read(_LONGEST_FILE + 1)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}", fix="name a file that exists") from None
    except ValueError as error:
        raise CostError(f"{path} is not TOML: {error}", fix="correct that place") from None
    if len(text) > _LONGEST_FILE:
        raise SourceError(f"{path} has more than {_LONGEST_FILE:,} characters", fix="name a file with costs")
    return _parsed(text, str(path))


def _parsed(text: str, path: str) -> dict[str, Any]:
    try:
        check_toml(text, deepest=_DEEPEST, most_keys=_MOST_KEYS)
        return tomllib.loads(text)
    except RecursionError:
        raise CostError(f"{path} is nested too deeply", fix="write [costs.ACTION] and STATE = COST lines") from None
    except ValueError as error:  # of TOML, of the encoding, and of numbers with thousands of digits
        raise CostError(f"{path} is not TOML: {error}", fix="correct that place") from None


def from_frame(table: Any) -> dict[Any, Any]:
    """{action: {state: cost}} of a table whose column names show which way round it is.

    >>> from_frame({"state": ["spam", "ham"], "bin": [0, 10], "keep": [1, 0]})
    {'bin': {'spam': 0, 'ham': 10}, 'keep': {'spam': 1, 'ham': 0}}
    """
    if isinstance(table, str | os.PathLike) and Path(table).suffix.lower() == ".toml":
        raise CostError(f"{table} is a decision file, not a table", fix=f"Costs.read({str(table)!r})")
    if _is_bare(table):
        raise CostError("a bare matrix does not name its actions and states", fix="write {action: {state: cost}}")
    if hasattr(table, "index") and getattr(table.index, "name", None) in ("action", "state"):
        table = table.reset_index()
    source = open_source(table)
    names = [column.name for column in source.columns]
    by_name = {normal_name(name).lower(): name for name in names}
    cells = _cells(source, names)
    if {"action", "state", "cost"} <= set(by_name):
        return _long(*(cells[by_name[name]] for name in ("action", "state", "cost")))
    if ("action" in by_name) == ("state" in by_name):
        unnamed = "; a pandas index counts if it is named" if hasattr(table, "iloc") else ""
        raise CostError(f"the table does not show where its actions are: {names[:8]}", fix=_SHAPES + unnamed)
    what = "action" if "action" in by_name else "state"
    key = by_name[what]
    others = [name for name in names if name != key]
    check_distinct([named(name, what) for name in cells[key]], what)
    if what == "action":
        return {action: {s: cells[s][k] for s in others} for k, action in enumerate(cells[key])}
    return {action: {state: cells[action][k] for k, state in enumerate(cells[key])} for action in others}


def _is_bare(table: Any) -> bool:
    rows = isinstance(table, list | tuple) and len(table) > 0 and not isinstance(table[0], Mapping)
    return rows or isinstance(table, np.ndarray)


def _long(actions: list[Any], states: list[Any], costs: list[Any]) -> dict[Any, Any]:
    """A line without a state is the cost of its action in every one."""
    found: dict[Any, dict[Any, Any]] = {}
    for action, state, cost in zip(actions, states, costs, strict=True):
        entries = found.setdefault(action, {})
        if state in entries:
            where = "" if state is None else f" in state {state!r}"
            raise CostError(f"the cost of {action!r}{where} is given twice", fix="give it once")
        entries[state] = cost
    for action, entries in found.items():
        if None in entries and len(entries) > 1:
            raise CostError(
                f"the action {action!r} has one cost for all states, and one for {next(s for s in entries if s)!r} too",
                fix="name the state in each of its lines",
            )
    return {action: entries.get(None, entries) for action, entries in found.items()}


def _cells(source: Source, names: Sequence[str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in names}
    for chunk in source.chunks(list(names)):
        for name in names:
            found[name].extend(_plain(cell) for cell in chunk.cells(name))
    return found


def _plain(cell: Any) -> Any:
    """A blank cell of a text file is missing; a number in it is a formula without columns."""
    if isinstance(cell, str):
        return cell.strip() or None
    return plain(cell)


def numbers_of(table: Any, names: Sequence[str], needed_by: str = FORMULAS) -> dict[str, FloatArray]:
    """The columns that formulas need, as numbers; a missing cell is NaN, which no cost survives.

    >>> numbers_of({"history": ["good", "bad"]}, ["history"])
    Traceback (most recent call last):
    bayeswise.foundation.errors.KindError: column 'history' is text, such as 'good' (row 1), and formulas of costs \
need numbers. Fix: name a column of numbers.
    """
    if not names:
        return {}
    source = open_source(table)
    known = [column.name for column in source.columns]
    found = {name: find_name(name, known, where=source.description) for name in names}
    parts: dict[str, list[FloatArray]] = {name: [] for name in names}
    texts: dict[str, list[InvalidValue]] = {name: [] for name in names}
    for chunk in source.chunks(list(dict.fromkeys(found.values()))):
        for name, column in found.items():
            values, invalid = chunk.numbers(column)
            parts[name].append(values)
            texts[name].extend(invalid[: 1 - len(texts[name])])
    whole = {name: np.concatenate(each) if each else np.zeros(0) for name, each in parts.items()}
    for name, values in whole.items():
        if texts[name] and np.isnan(values).all():
            raise text_in(found[name], texts[name][0], needed_by)
    return whole


def text_in(column: str, cell: InvalidValue, needed_by: str = FORMULAS) -> KindError:
    """The error of a column of text in the place of numbers."""
    return KindError(
        f"column {column!r} is text, such as {place_of(cell)}, and {needed_by} need numbers",
        fix="name a column of numbers",
    )
