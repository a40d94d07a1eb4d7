"""A schema as plain JSON, and back: everything that comes from a file is checked, and capped, before it is believed.

>>> from bayeswise.tables.schema import Column, Schema
>>> schema_from_json(schema_to_json(Schema((Column("age", "number"),))))
Schema(age: number)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayeswise.foundation.errors import BayeswiseError, StoreError
from bayeswise.tables.labels import Label, Vocabulary
from bayeswise.tables.schema import Column, Schema, Target

MOST_COLUMNS = 1_000_000
MOST_LEVELS = 1 << 20
LONGEST_TEXT = 1 << 24

_COLUMN_FIELDS = {"name", "kind", "labels", "levels", "missing", "unseen", "reason"}
_TARGET_FIELDS = {"name", "labels", "classes"}
_SCHEMA_FIELDS = {"columns", "target", "weight"}


def schema_to_json(schema: Schema) -> dict[str, Any]:
    """Only dicts, lists, text, numbers and flags; equal schemas give equal JSON."""
    return {
        "columns": [_column_to_json(column) for column in schema.columns],
        "target": _target_to_json(schema.target) if schema.target else None,
        "weight": schema.weight,
    }


def _column_to_json(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind,
        "labels": column.labels,
        "levels": None if column.levels is None else list(column.levels),
        "missing": column.missing,
        "unseen": column.unseen,
        "reason": column.reason,
    }


def _target_to_json(target: Target) -> dict[str, Any]:
    classes = None if target.classes is None else list(target.classes)
    return {"name": target.name, "labels": target.labels, "classes": classes}


def schema_from_json(data: object) -> Schema:
    """The schema, or a `StoreError` that says which part of the JSON is no part of a schema."""
    fields = _fields(data, _SCHEMA_FIELDS, "schema")
    columns = _list(fields["columns"], MOST_COLUMNS, "schema.columns")
    target, weight = fields["target"], fields["weight"]
    try:
        return Schema(
            tuple(_column_from_json(column, f"schema.columns[{k}]") for k, column in enumerate(columns)),
            None if target is None else _target_from_json(target),
            None if weight is None else _text(weight, "schema.weight"),
        )
    except StoreError:
        raise
    except BayeswiseError as error:
        raise StoreError(f"the schema is damaged: {error.what}") from error


def _column_from_json(data: object, where: str) -> Column:
    fields = _fields(data, _COLUMN_FIELDS, where)
    levels = fields.pop("levels")
    labels = fields.pop("labels")
    texts: dict[str, Any] = {name: _text(value, f"{where}.{name}") for name, value in fields.items()}
    kind_of_labels: Any = None if labels is None else _text(labels, f"{where}.labels")
    return Column(**texts, labels=kind_of_labels, levels=_labels(levels, f"{where}.levels"))


def _target_from_json(data: object) -> Target:
    fields = _fields(data, _TARGET_FIELDS, "schema.target")
    labels: Any = _text(fields["labels"], "schema.target.labels")
    name = _text(fields["name"], "schema.target.name")
    return Target(name, labels, _labels(fields["classes"], "schema.target.classes"))


def _fields(data: object, names: set[str], where: str) -> dict[str, Any]:
    if not isinstance(data, Mapping) or set(data) != names:
        found = sorted(map(str, data)) if isinstance(data, Mapping) else type(data).__name__
        raise StoreError(f"{where} must have the fields {sorted(names)}; found {found}")
    return dict(data)


def _list(data: object, most: int, where: str) -> Sequence[Any]:
    if not isinstance(data, list) or len(data) > most:
        found = f"{len(data)} entries" if isinstance(data, list) else type(data).__name__
        raise StoreError(f"{where} must be a list of at most {most} entries; found {found}")
    return data


def _text(data: object, where: str) -> str:
    if not isinstance(data, str) or len(data) > LONGEST_TEXT:
        found = "a longer one" if isinstance(data, str) else repr(data)[:80]
        raise StoreError(f"{where} must be a text of at most {LONGEST_TEXT} characters; found {found}")
    return data


def _labels(data: object, where: str) -> Vocabulary | None:
    if data is None:
        return None
    labels: list[Label] = []
    for label in _list(data, MOST_LEVELS, where):
        if type(label) not in (str, int, float, bool):
            raise StoreError(f"{where} holds {label!r:.80}, which is no label")
        labels.append(_text(label, where) if isinstance(label, str) else label)
    return Vocabulary(labels)
