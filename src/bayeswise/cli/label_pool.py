"""The pool of a labelling session: its cells as they were written, its fingerprint, and the labels that it has."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayeswise.foundation.errors import FitError, UsageError
from bayeswise.tables.label_types import as_label, label_type_of
from bayeswise.tables.labels import Label
from bayeswise.tables.names import normal_name
from bayeswise.tables.source import DEFAULT_NULL_WORDS, Source

MOST_ROWS = 2_000_000


@dataclass(frozen=True)
class PoolTable:
    """All cells of the columns to be shown, and the labels by row."""

    source: Source
    cells: Mapping[str, Sequence[Any]]
    labels: Mapping[int, Label]
    n_rows: int
    fingerprint: str

    @classmethod
    def read(cls, source: Source, target: str) -> PoolTable:
        """One sweep; a column of the target's name holds labels, where it is filled."""
        names = [column.name for column in source.columns]
        inside = next((name for name in names if normal_name(name) == normal_name(target)), None)
        cells: dict[str, list[Any]] = {name: [] for name in names if name != inside}
        digests = {name: hashlib.sha256() for name in names}
        known: dict[Any, Any] = {}  # equal texts are kept once; of other cells 1 and True would be equal
        labels: dict[int, Label] = {}
        n_rows = 0
        for chunk in source.chunks(names):
            for name in names:
                found = chunk.cells(name)
                digests[name].update("\x1f".join(map(repr, found)).encode("utf-8", "surrogatepass") + b"\x1f")
                if name != inside:
                    cells[name] += map(known.setdefault, found, found) if source.textual else found
            if inside is not None:
                codes, levels = chunk.labels(inside)
                labels.update({n_rows + k: levels[code] for k, code in enumerate(codes.tolist()) if code >= 0})
            n_rows += chunk.n_rows
            if n_rows > MOST_ROWS:
                raise UsageError(f"{source.description} has more than {MOST_ROWS:,} rows", fix="label a sample of it")
        whole = hashlib.sha256(repr([(name, digest.hexdigest()) for name, digest in digests.items()]).encode())
        return cls(source, cells, _typed(labels), n_rows, whole.hexdigest())

    def check_same(self, header: Mapping[str, Any], folder: str) -> None:
        """Refuse a table that is not the one the session began with."""
        if header.get("pool") == self.fingerprint:
            return
        before = header.get("n_rows")
        now = f"it has {self.n_rows:,} rows now" if before != self.n_rows else "cells have changed"
        raise FitError(
            f"{self.source.description} is not the pool that {folder!r} was begun with ({before} rows): {now}",
            fix="give the pool as it was, or begin another session with -o",
        )

    def check_class(self, label: Label) -> None:
        """Refuse a name that is lost in the table of labels, where it would mean that there is none."""
        words = self.source.null_words if self.source.textual else DEFAULT_NULL_WORDS
        name = str(label).strip()
        if not name:
            raise UsageError("a class has no name", fix="leave out the comma, or name it")
        if name.casefold() in {word.strip().casefold() for word in words}:
            raise UsageError(
                f"a class named {name!r} would be read as a missing one", fix="name it otherwise, or say --null WORD"
            )

    def row(self, index: int) -> dict[str, Any]:
        """The cells of a row by column, without the target."""
        return {name: column[index] for name, column in self.cells.items()}


def _typed(labels: dict[int, Label]) -> dict[int, Label]:
    """Labels of a text file that are all whole numbers are numbers, as `fit` takes them."""
    return dict(zip(labels, as_classes(list(labels.values())), strict=True))


def as_classes(names: Sequence[Label]) -> list[Label]:
    """Names of classes; whole numbers if all of them are written so.

    >>> as_classes(["0", "1"]), as_classes(["0", "01"]), as_classes(["😀", "no"])
    ([0, 1], ['0', '01'], ['😀', 'no'])
    """
    if label_type_of(names) != "text":
        return list(names)
    numbers = [as_label(name, "integer", textual=True) for name in names]
    plain = all(str(number) == name for number, name in zip(numbers, names, strict=True))
    return [number for number in numbers if number is not None] if plain else list(names)
