"""What an examination found, as plain data: what `look` prints as JSON and the workbench shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayeswise.foundation.errors import BayeswiseError
from bayeswise.render.labels import keyed
from bayeswise.tables.schema.inference import Examination
from bayeswise.tables.schema.notes import Advice
from bayeswise.tables.schema.profile import ColumnProfile


def report(examination: Examination, names: list[str], advice: tuple[Advice, ...]) -> dict[str, Any]:
    """Everything that was found, as plain data."""
    target = examination.target
    order = {name: position for position, name in enumerate(names)}
    return {
        "source": examination.description,
        "rows": examination.rows,
        "columns": sorted(_columns(examination), key=lambda column: order[column["name"]]),
        "target": None if target is None else target.target.name,
        "classes": {} if target is None else keyed(target.classes),
        "rows_without_target": 0 if target is None else target.without,
        "warnings": list(_warnings(examination, advice)),
    }


def _columns(examination: Examination) -> Iterator[dict[str, Any]]:
    if examination.target is not None:
        yield _column("target", examination.target.profile)
    if examination.weight is not None:
        yield _column("weight", examination.weight.profile)
    for finding in examination.findings:
        yield _column(finding.column.kind, finding.profile, finding.note, finding.hint)


def _column(kind: str, profile: ColumnProfile, note: str = "", hint: str = "") -> dict[str, Any]:
    return {
        "name": profile.name,
        "kind": kind,
        "missing": profile.rows - profile.present,
        "distinct": profile.distinct,
        "distinct_exact": profile.distinct_exact,
        "note": "; ".join(part for part in (note, hint) if part),
    }


def _warnings(examination: Examination, advice: tuple[Advice, ...]) -> Iterator[dict[str, Any]]:
    """What stops a model first; each with its remedy."""
    for name, problem in stops(examination):
        yield {"column": name, "what": problem.what, "fix": problem.fix, "stops": True}
    for hint in advice:
        yield {"column": hint.column, "what": hint.what, "fix": hint.fix, "stops": False}


def stops(examination: Examination) -> list[tuple[str | None, BayeswiseError]]:
    """What keeps a model from learning, by column; or that there is no column to learn from."""
    nothing = examination.nothing_to_learn
    return [*examination.problems.items()] or ([] if nothing is None else [(None, nothing)])
