"""The pool of a labelling session: its cells as written, its fingerprint, the labels it has, and where it is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bayeswise.cli.output.table_form import TableForm
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, UsageError, shortened
from bayeswise.tables.schema.labels import Label, as_label, label_type_of
from bayeswise.tables.schema.names import normal_name
from bayeswise.tables.source import DEFAULT_NULL_WORDS, Source

MOST_ROWS = 2_000_000


@dataclass(frozen=True)
class PoolTable:
    """All cells of the columns to be shown, the labels by row, and the classes that were named beside them."""

    source: Source
    cells: Mapping[str, Sequence[Any]]
    labels: Mapping[int, Label]
    named: tuple[Label, ...]
    n_rows: int
    fingerprint: str

    @classmethod
    def read(cls, source: Source, target: str, named: Sequence[Label] = ()) -> PoolTable:
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
        classes = _of_one_type(named, list(labels.values()))
        typed = dict(zip(labels, classes[len(named) :], strict=True))
        return cls(source, cells, typed, tuple(classes[: len(named)]), n_rows, whole.hexdigest())

    @property
    def classes(self) -> list[Label]:
        """Those that were named, then those of the labels."""
        return list(dict.fromkeys([*self.named, *sorted(set(self.labels.values()), key=str)]))

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
                f"a class named {name!r} would be read as a missing one", fix="name it otherwise, or give --null WORD"
            )

    def row(self, index: int) -> dict[str, Any]:
        """The cells of a row by column, without the target."""
        return {name: column[index] for name, column in self.cells.items()}


def _of_one_type(named: Sequence[Label], labels: Sequence[Label]) -> list[Label]:
    """Names and labels; where all are text that reads as whole numbers they are numbers, as `fit` takes them."""
    if labels and label_type_of(labels) != "text":
        return [*(as_label_like(str(name), labels) for name in named), *labels]
    return as_classes([*named, *labels])


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


def as_label_like(name: str, classes: Sequence[Label]) -> Label:
    """A name of the type that the classes have.

    >>> as_label_like("7", (0, 1)), as_label_like("7", ("a", "b"))
    (7, '7')
    """
    label = as_label(name, label_type_of(classes), textual=True)
    if label is None:
        raise UsageError(
            f"{name!r} is not of type {label_type_of(classes)} as other classes are", fix="use a name of that type"
        )
    return label


@dataclass(frozen=True)
class SessionFiles:
    """The folder of a session, and the table of labelled rows inside it or beside it."""

    folder: Path
    table: Path
    form: TableForm

    @classmethod
    def of(cls, out: str) -> SessionFiles:
        """A folder that holds labelled.csv; the name of a table is a table beside the folder of that name.

        A folder that exists is a folder whatever its name, and so is a name that ends in a slash.

        >>> SessionFiles.of("mail").table.name, SessionFiles.of("mail.jsonl.gz").folder.name
        ('labelled.csv', 'mail')
        """
        path = Path(out)
        if not path.suffix or path.is_dir() or out.endswith("/"):
            return cls(path, path / "labelled.csv", TableForm("csv"))
        form = TableForm.of_suffix(out, otherwise="end the name of a folder in /")
        stem = path.with_suffix("") if form.packing else path
        return cls(stem.with_suffix(""), path, form)

    @property
    def journal(self) -> Path:
        return self.folder / "journal"

    @property
    def model(self) -> Path:
        return self.folder / "model.bayeswise"

    def refuse_foreign(self) -> None:
        """Refuse a folder without a journal that has files of these names: it is not a session."""
        for path in (self.table, self.model):
            if path.exists():
                raise UsageError(
                    f"{shortened(path)} already exists, and there is no journal {_where(path, self.folder)}",
                    fix="name another session, or move the file away",
                )

    def make_folder(self) -> None:
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            problem = f"cannot make the folder {str(self.folder)!r}: {error.strerror}"
            raise UsageError(problem, fix="name another one") from None


def _where(path: Path, folder: Path) -> str:
    return "beside it" if path.parent == folder else f"in {shortened(folder)}"
