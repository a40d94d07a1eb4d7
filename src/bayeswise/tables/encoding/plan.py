"""Where the columns of a schema are in a source, and whether they are stored as the schema expects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, MissingColumnError, listed
from bayeswise.tables.schema.columns import LABELLED, Column
from bayeswise.tables.schema.labels import LabelType, Vocabulary, label_type_of, spelled_booleans
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import RawColumn, Source, Storage

_UNREADABLE: tuple[Storage, ...] = ("nested", "binary")
# Storages whose cells can never be labels of a type; text of a text file is parsed and may be anything.
_NO_LABELS: dict[LabelType, tuple[str, ...]] = {
    "text": ("integer", "float", "boolean", "number"),
    "integer": ("text", "boolean", "temporal"),
    "number": ("text", "boolean", "temporal"),
    "boolean": ("temporal",),  # texts and numbers may stand for booleans: each cell is checked
    "mixed": (),
}


@dataclass(frozen=True)
class Plan:
    """The name in the source of each name in the schema that is to be read."""

    source_names: dict[str, str]
    invalid_names: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> str:
        return self.source_names[name]

    def __contains__(self, name: str) -> bool:
        return name in self.source_names

    def may_be_invalid(self, name: str) -> bool:
        """True if the column is stored as something whose cells may not be numbers."""
        return name in self.invalid_names

    def columns(self, source: Source) -> list[str]:
        """What to sweep; some column if none is needed, since rows are to be counted."""
        return list(self.source_names.values()) or [column.name for column in source.columns[:1]]


def plan_for(
    schema: Schema, source: Source, apart: Iterable[str] = (), known: Mapping[str, Vocabulary] | None = None
) -> Plan:
    """Find the used columns and those `apart` (target, weight) by name; columns beyond them are not read.

    `known` are the levels that are known: booleans are read where these spell them.
    """
    raw_columns = {column.name: column for column in source.columns}
    found = _by_position(schema, source) if _is_unnamed(schema, source) else {}
    for name in (*schema.used, *apart):
        if name not in found:
            found[name] = name if name in raw_columns else _found(name, raw_columns, schema, source)
    checked: set[tuple[Any, ...]] = set()
    for name in schema.used:
        raw = raw_columns[found[name]]
        stored = (schema.form_of[name], raw.storage, raw.declared)
        if stored not in checked:  # thousands of columns are of a few forms, stored in a few ways
            if raw.storage == "boolean" and spelled_booleans((known or {}).get(name) or Vocabulary()):
                continue
            check_storage(schema[name], raw, source)
            checked.add(stored)
    exact = ("integer", "float", "boolean", "null")
    return Plan(found, frozenset(name for name, raw in found.items() if raw_columns[raw].storage not in exact))


def _found(name: str, names: Iterable[str], schema: Schema, source: Source) -> str:
    if name in schema.used:
        needed, fix = ", which the model looks at", "add it, with empty cells where it is not known"
    else:
        what = "holds the weights" if name == schema.weight else "is the target of the model"
        needed, fix = f", which {what}", "add it: only rows that have it can be learned, forgotten or checked"
    return find_name(name, names, where=source.description, needed=needed, fix=fix)


def _is_unnamed(schema: Schema, source: Source) -> bool:
    """True for an array, whose columns are called x0, x1, ..., unless the model knows one of them by that name."""
    raw_names = [column.name for column in source.columns]
    return (
        raw_names[:1] == ["x0"]
        and raw_names == [f"x{k}" for k in range(len(raw_names))]
        and not set(raw_names) & set(schema.used)
    )


def _by_position(schema: Schema, source: Source) -> dict[str, str]:
    """All columns of the schema in their order, or only the used ones."""
    raw_names = [column.name for column in source.columns]
    every, used = tuple(column.name for column in schema.columns), set(schema.used)
    for names in (every, schema.used):
        if len(names) == len(raw_names):
            return {name: raw for name, raw in zip(names, raw_names, strict=True) if name in used}
    raise MissingColumnError(
        f"{source.description} has {len(raw_names)} columns, the model {len(every)} of which it uses "
        f"{len(schema.used)}: {listed(map(repr, schema.used))}",
        fix="give an array with these columns in this order, or a table with names",
    )


def check_storage(column: Column, raw: RawColumn, source: Source) -> None:
    """A column stored as another kind than the schema's is an error, never a column of missing values."""
    if column.kind in ("number", "count"):
        wrong: tuple[str, ...] = (*_UNREADABLE, "temporal")
    elif column.kind in LABELLED and column.labels is not None:
        wrong = (*_UNREADABLE, *_NO_LABELS[column.labels])
    else:
        wrong = _UNREADABLE
    stored = label_type_of(raw.declared) if raw.declared else raw.storage
    if stored in wrong and not (stored == "text" and source.textual):
        meant = f"{column.labels} labels" if column.kind in LABELLED else f"a {column.kind}"
        raise KindError(
            f"column {column.name!r} is {meant} in the model, but {source.description} stores it as {stored}",
            fix="convert the column, or fit again with the kind that it has here",
        )
