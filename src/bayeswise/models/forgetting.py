"""Which batches of rows a model has forgotten: none is taken out twice unless that is meant.

The ledger belongs to the history of a model and not to its value: two models that learned the same rows are equal and
have the same bytes, whatever they forgot in between. The file `MODEL.forgotten` beside it has a line of
JSON for each of the last two states of the model file, named by the SHA-256 of its bytes, so that a kill between the
two files leaves the state that is there with the line that belongs to it, and a model that was fitted again has none
(ADR 14).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from bayeswise.foundation.atomic import write_bytes
from bayeswise.foundation.errors import KindError, NotFittedError, NotMergedError, StoreError
from bayeswise.statistics import fingerprint
from bayeswise.tables.schema.notes import difference
from bayeswise.tables.schema.null_words import open_like

M = TypeVar("M")

_LEDGER = "_forgotten"


def forgotten_by(model: Any) -> tuple[str, ...]:
    """The fingerprints of the batches that the model has forgotten, first to last."""
    ledger: tuple[str, ...] | StoreError = vars(model).get(_LEDGER, ())
    if isinstance(ledger, StoreError):
        raise ledger
    return ledger


def with_ledger(model: M, batches: Iterable[str]) -> M:
    """The model with this history; each batch is in it once."""
    ledger = tuple(dict.fromkeys(batches))
    if ledger:
        vars(model)[_LEDGER] = ledger  # as a cached property would be: no field, so no part of the value
    return model


def with_unknown_ledger(model: M, error: StoreError) -> M:
    """The model whose ledger cannot be read: it answers, but takes part in no history."""
    vars(model)[_LEDGER] = error
    return model


def history_with(model: Any, gone: Any) -> tuple[str, ...]:
    """The history of the model after it forgets rows with these statistics; not twice."""
    before, batch = forgotten_by(model), fingerprint(gone)
    if batch in before:
        raise NotMergedError(
            "the model has forgotten these rows before; taking them out again would take out others that are like them",
            fix="if it learned them more than once, pass again=True (--again in the shell)",
        )
    return before if gone.weight_of_rows.is_zero().all() else (*before, batch)


def refuse_other_parts(model: Any, gone: Any, remaining: Any, *, again: bool = False) -> None:
    """Refuse two tables that are not together the rows that a model of exact statistics has learned."""
    with warnings.catch_warnings(action="ignore"):  # about members of a mixture that cannot forget
        left = model.forget(gone, again=again)
    rows = open_like(remaining, model.schema)
    if not left.has_learned_exactly(rows):
        raise NotMergedError(
            f"{rows.description} does not hold the rows that remain once the others are forgotten",
            fix="give all rows that the model has learned but those to be forgotten",
        )


def having_learned(before: Any, after: M, found: Any, history: Sequence[str] = ()) -> M:
    """The model after it has learned rows with these statistics, and a history of their own with them.

    What it forgot and has learned again may be forgotten again.
    """
    ledger = (*forgotten_by(before), *history)
    return with_ledger(after, (each for each in ledger if each != fingerprint(found))) if ledger else after


@contextmanager
def refusing_unlearned(fix: str | None = None) -> Iterator[None]:
    """The error of a subtraction, said of rows and a model."""
    try:
        yield
    except (NotMergedError, NotFittedError) as error:
        what = f"these rows cannot all have been learned by the model: {error.what}"
        raise NotMergedError(what, fix=error.fix if fix is None else fix) from None


def refuse_other_settings(one: Any, other: Any, parts: Sequence[str] = ("schema", "settings")) -> None:
    """Models of different columns or settings, in a merge."""
    for what in parts:
        mine, theirs = getattr(one, what), getattr(other, what)
        if mine is not theirs and fingerprint(mine) != fingerprint(theirs):
            why = difference(mine, theirs) if what == "schema" else f"one has {mine}, the other {theirs}"
            raise KindError(f"the models cannot be merged: {why}", fix=f"fit both with the same {what}")


MOST_BYTES = 1 << 28
_DIGEST = re.compile(r"[0-9a-f]{64}")


def ledger_path(path: str | os.PathLike[str]) -> Path:
    """Where the ledger of a model file lies.

    >>> ledger_path("/tmp/loan.bayeswise").name
    'loan.bayeswise.forgotten'
    """
    place = Path(os.path.realpath(path))
    return place.with_name(f"{place.name}.forgotten")


def read_ledger(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The fingerprints of the batches that the model in a file has forgotten."""
    place = ledger_path(path)
    if not place.is_file() or not Path(path).is_file():
        return ()
    return _states(place).get(_digest(Path(path).read_bytes()), ())


def write_ledger(path: str | os.PathLike[str], model: bytes, forgotten: Sequence[str]) -> None:
    """Keep the ledger of a model that is about to be written to a path, and beside it that of the model now there."""
    place, now = ledger_path(path), Path(path)
    if now.exists() and not now.is_file():  # a pipe, or /dev/null
        return
    known = _states(place) if place.is_file() else {}
    if forgotten:
        old = _digest(now.read_bytes()) if now.is_file() else ""
        states = {**{each: known[each] for each in known if each == old}, _digest(model): tuple(forgotten)}
        lines = [json.dumps({"model": each, "forgotten": batches}) for each, batches in states.items()]
        write_bytes(place, ("\n".join(lines) + "\n").encode())


def settle_ledger(path: str | os.PathLike[str], forgotten: Sequence[str]) -> None:
    """Remove the ledger of what was in a file before, now that a model that forgot nothing is there."""
    if not forgotten and Path(path).is_file():
        ledger_path(path).unlink(missing_ok=True)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _states(place: Path) -> dict[str, tuple[str, ...]]:
    """The batches of each state of the model."""
    try:
        if place.stat().st_size > MOST_BYTES:
            raise ValueError("it is too large")
        lines = [json.loads(line) for line in place.read_bytes().splitlines()]
        return {_checked(line["model"]): tuple(map(_checked, line["forgotten"])) for line in lines}
    except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise StoreError(
            f"the ledger {str(place)!r} of forgotten rows cannot be read ({type(error).__name__})",
            fix="delete it, if no rows that were forgotten will be forgotten again",
        ) from error


def _checked(digest: object) -> str:
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise ValueError("it is not a fingerprint")
    return digest
