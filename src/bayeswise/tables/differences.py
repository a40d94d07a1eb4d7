"""Where two schemas differ, in one sentence."""

from __future__ import annotations

from dataclasses import fields

from bayeswise.tables.null_words import told
from bayeswise.tables.schema import Column, Schema, Target


def difference(one: Schema, other: Schema) -> str:
    """The first difference, "" if there is none.

    >>> mine = Schema((Column("age", "number"), Column("size", "category", "text")))
    >>> difference(mine, Schema((Column("age", "count"), Column("size", "category", "text"))))
    "column 'age' is a number in one and a count in the other"
    >>> difference(mine, Schema((Column("age", "number"),)))
    "column 'size' is in one of them only"
    """
    if one == other:
        return ""
    names, others = ([column.name for column in schema] for schema in (one, other))
    apart = [name for name in (*names, *others) if name not in names or name not in others]
    if apart:
        return f"column {apart[0]!r} is in one of them only"
    if names != others:
        return f"their columns are in another order: {', '.join(names[:4])} and {', '.join(others[:4])}"
    changed = [(column, other[column.name]) for column in one if column != other[column.name]]
    if changed:
        return _of_columns(*changed[0])
    if one.weight != other.weight:
        return f"one is weighted by {one.weight!r}, the other by {other.weight!r}"
    if one.null_words != other.null_words:
        return f"one takes {told(one.null_words)} for missing, the other {told(other.null_words)}"
    return _of_targets(one.target, other.target)


def _of_columns(one: Column, other: Column) -> str:
    if one.kind != other.kind:
        kinds = [f"a {each.kind}" if each.kind != "ignored" else "ignored" for each in (one, other)]
        return f"column {one.name!r} is {kinds[0]} in one and {kinds[1]} in the other"
    name = next(each.name for each in fields(one) if getattr(one, each.name) != getattr(other, each.name))
    return f"column {one.name!r} has {name} {getattr(one, name)!r} in one and {getattr(other, name)!r} in the other"


def _of_targets(one: Target | None, other: Target | None) -> str:
    if one is None or other is None or one.name != other.name:
        names = [None if each is None else each.name for each in (one, other)]
        return f"one predicts {names[0]!r}, the other {names[1]!r}"
    if one.labels != other.labels:
        return f"the target {one.name!r} has {one.labels} labels in one and {other.labels} labels in the other"
    return f"the target {one.name!r} has the declared classes {one.classes!r} and {other.classes!r}"
