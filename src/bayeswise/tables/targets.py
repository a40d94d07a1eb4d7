"""The target, judged from its profile: any labels will do, a measurement will not."""

from __future__ import annotations

from dataclasses import dataclass

from bayeswise.foundation.errors import BayeswiseError, NonFiniteError, SchemaError
from bayeswise.tables import evidence
from bayeswise.tables.label_types import LabelType, as_label, label_type_of
from bayeswise.tables.labels import Label, label_key
from bayeswise.tables.notes import Advice, keep, shown
from bayeswise.tables.profile import ColumnProfile
from bayeswise.tables.schema import Target
from bayeswise.tables.wishes import Wish


@dataclass(frozen=True)
class TargetFinding:
    """The target with the rows of each class; `without` rows have none and are left out."""

    target: Target
    profile: ColumnProfile
    classes: tuple[tuple[Label, int], ...]
    without: int
    advice: tuple[Advice, ...] = ()
    problem: BayeswiseError | None = None


def judge_target(profile: ColumnProfile, textual: bool, wish: Wish) -> TargetFinding:
    """The target, its classes in canonical order (or as declared), and what is wrong with it."""
    declared = wish.levels or profile.declared
    labels = evidence.label_type(profile, textual)
    if wish.levels and textual:
        labels = label_type_of(wish.levels)
    problem = _problem(profile, labels, wish)
    try:
        target = Target(profile.name, labels, declared)  # type: ignore[arg-type]
    except SchemaError as error:
        target, problem = Target(profile.name, labels), error
    classes = _classes(profile, target, textual)
    without = profile.rows - profile.present
    return TargetFinding(target, profile, classes, without, tuple(_advice(profile, classes, without)), problem)


def _classes(profile: ColumnProfile, target: Target, textual: bool) -> tuple[tuple[Label, int], ...]:
    counts: dict[tuple[int, Label], int] = {label_key(label): 0 for label in target.classes or ()}
    order = list(counts)
    for level, count in profile.levels:
        label = as_label(level, target.labels, textual=textual)
        if label is not None:
            counts[label_key(label)] = counts.get(label_key(label), 0) + count
    late = sorted(key for key in counts if key not in order)
    return tuple((key[1], counts[key]) for key in [*order, *late])


def _problem(profile: ColumnProfile, labels: LabelType, wish: Wish) -> BayeswiseError | None:
    name = profile.name
    if profile.rows == 0:
        return SchemaError("the table has columns but no rows", fix="give a table with rows to learn from")
    if profile.present == 0:
        return SchemaError(f"the target {name!r} is missing in all {profile.rows} rows", fix="fill it in")
    if profile.storage in ("nested", "binary", "temporal"):
        return SchemaError(f"the target {name!r} holds {profile.storage} cells", fix="turn it into text first")
    if profile.infinite and labels != "text":
        return NonFiniteError(f"the target {name!r} has {profile.infinite} infinite cells", fix="leave them empty")
    measured = labels == "number" and profile.distinct > evidence.FEW_VALUES and not evidence.all_whole(profile)
    if measured and wish.kind is None and wish.levels is None:
        return SchemaError(
            f"the target {name!r} is a measurement with {profile.distinct} different values, not a class",
            fix="predict it by regression, model='linear' (--model linear), cut it into classes, or insist with "
            f"{keep(name, 'category')}",
        )
    return None


def _advice(profile: ColumnProfile, classes: tuple[tuple[Label, int], ...], without: int) -> list[Advice]:
    name = profile.name
    found = []
    if without:
        what = f"{without} of {profile.rows} rows have no target and are left out"
        found.append(Advice(name, what, "fill it in, or leave it: these rows can be predicted later"))
    seen = [(label, count) for label, count in classes if count]
    if len(seen) == 1:
        found.append(Advice(name, f"there is only the class {shown(seen[0][0])}", "add rows of another class"))
    single = [shown(label) for label, count in seen if count == 1]
    if single and profile.present > len(seen):
        words = ", ".join(single[:3]) + (", ..." if len(single) > 3 else "")
        found.append(Advice(name, f"a single row has the class {words}", "collect more rows, or merge rare classes"))
    if evidence.all_different(profile):
        found.append(Advice(name, "every row has a class of its own: an id?", "choose another target with -t"))
    return found
