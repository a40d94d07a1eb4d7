"""The ledger beside a model file: which batches of rows the model has forgotten, so that none is forgotten twice.

`MODEL.forgotten` has a line of JSON for each of the last two states of the model file, named by the SHA-256 of its
bytes: a kill between the two files leaves the state that is there with the line that belongs to it, and a model that
was fitted anew has none. The model file itself stays, byte for byte, that of a model that never saw the rows (ADR 14).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from bayeswise.foundation.atomic import write_bytes
from bayeswise.foundation.errors import StoreError

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
        raise ValueError("a fingerprint is none")
    return digest
