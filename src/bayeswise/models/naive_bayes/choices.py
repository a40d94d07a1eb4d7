"""The family of each column: by kind, by name, as an object, or by the evidence of the rows.

By evidence it is the family under which the rows, parameters integrated out, are most probable. Every candidate starts
from one pseudo-row of the whole column, so that none is favoured by a sharper prior; the log evidence
log p(column | classes, family) then weighs fit against flexibility by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise import families
from bayeswise.engines import ColumnStatistic, Request, summarise
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.naive_bayes.categories import Categories
from bayeswise.models.naive_bayes.counted_columns import CountedColumns
from bayeswise.models.naive_bayes.factors import Factor
from bayeswise.models.naive_bayes.normal_columns import Numbers
from bayeswise.models.naive_bayes.others import Others
from bayeswise.models.naive_bayes.words import TextModel, Words
from bayeswise.models.settings.naive_bayes import Families
from bayeswise.statistics import Product
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.columns import Kind
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.notes import no_column
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.families.protocol import Extent

_OF_LABELS = ("categorical", "bernoulli")
TEXT_MODELS: tuple[TextModel, ...] = ("multinomial", "bernoulli", "complement")


@cache
def number_families() -> dict[str, Any]:
    """The families of number columns that need no setting of their own, by name."""
    from bayeswise.families.distributions import kinds_of_one_number

    return {
        name: kind()
        for name, kind in kinds_of_one_number().items()
        if all(each.default is not MISSING for each in fields(kind))  # type: ignore[arg-type]
    }


def factors_for(schema: Schema, given: Families = "auto") -> tuple[Factor, ...]:
    """The factors of a schema: normal for numbers, Poisson for counts, counting for categories, words for text.

    `given` is "auto", one family for all number columns (a name or an object), or a mapping by column. Text columns
    take "multinomial", "bernoulli" or "complement"; number columns that take one of them count words and are one group.
    A column of two values that takes "bernoulli" is counted as a category.
    """
    chosen = _chosen(schema, given)
    factors: list[Factor] = []
    for family, columns in chosen:
        if columns[0] in schema.texts:
            factors.extend(Words((name,), family) for name in columns)
        elif family == families.Normal():
            factors.append(Numbers(columns))
        else:
            factors.append(CountedColumns(columns, family) if family in TEXT_MODELS else Others(columns, family))
    if schema.categories:
        before = next((k for k, factor in enumerate(factors) if isinstance(factor, Words)), len(factors))
        factors.insert(before, Categories(schema.categories))
    if not factors:
        raise no_column(schema)
    return tuple(factors)


def _chosen(schema: Schema, given: Families) -> list[tuple[Any, tuple[str, ...]]]:
    """The columns of each family, numbers before texts; no work is done for each column unless columns are named."""
    given = given.families if isinstance(given, Selection) else given
    if isinstance(given, Mapping):
        return _by_name(schema, given)
    if not isinstance(given, str) and not hasattr(given, "log_density"):
        raise ParameterError(f"families is {given!r}", fix="write a name, a family, or {column: family, ...}")
    kinds = dict.fromkeys(form.kind for form in schema.forms)
    by_kind = [(family, schema.of_kind(kind)) for kind, family in _standard(kinds)]
    if given == "auto":
        return by_kind
    names = schema.texts if given in TEXT_MODELS and not schema.numbers else schema.numbers
    known = ("auto", "select", *number_families(), *TEXT_MODELS, *_OF_LABELS)
    if not names and isinstance(given, str) and given not in known:
        raise ParameterError(f"there is no family {given!r}", fix=f"choose one of {', '.join(dict.fromkeys(known))}")
    selected = [(_family(schema, names[0], given), names)] if names else []
    return [*selected, *(each for each in by_kind if each[1] == schema.texts != names)]


def flags_as_numbers(given: Families) -> bool | list[str]:
    """The columns that stay numbers though they hold 0 and 1 only, as their family is one of numbers; True for all.

    >>> flags_as_numbers("auto"), flags_as_numbers("normal"), flags_as_numbers({"a": "poisson", "b": "bernoulli"})
    (False, True, ['a'])
    """
    if isinstance(given, Mapping):
        return [name for name, family in given.items() if getattr(family, "name", family) not in _OF_LABELS]
    return not isinstance(given, Selection) and not (isinstance(given, str) and given in ("auto", "select"))


def _standard(kinds: Iterable[Kind]) -> list[tuple[Kind, Any]]:
    """The family of each kind that has one, numbers before texts."""
    numbers: dict[Kind, str] = {"number": "Normal", "count": "Poisson"}
    found = [(kind, getattr(families, numbers[kind])()) for kind in kinds if kind in numbers]
    texts: list[tuple[Kind, Any]] = [(kind, "multinomial") for kind in kinds if kind == "text"]
    return [*found, *texts]


def _by_name(schema: Schema, given: Mapping[str, Any]) -> list[tuple[Any, tuple[str, ...]]]:
    standard = dict(_standard({form.kind for form in schema.forms}))
    family_of: dict[str, Any] = {name: standard.get(schema[name].kind) for name in schema.used}
    names = dict.fromkeys(each.name for each in schema)
    for name, family in given.items():
        column = name if name in names else find_name(name, names, where="the table")
        if column not in family_of:
            raise ParameterError(
                f"column {column!r} has no family, as it is ignored: {schema[column].reason}",
                fix=f"kinds={{{column!r}: 'number'}} or --number {column}, or another kind",
            )
        family_of[column] = _family(schema, column, family)
    found: list[tuple[Any, tuple[str, ...]]] = []
    for family in _distinct(family_of[name] for name in schema.numbers):
        found.append((family, tuple(name for name in schema.numbers if family_of[name] == family)))
    return [*found, *((family_of[name], (name,)) for name in schema.texts)]


def _family(schema: Schema, column: str, family: Any) -> Any:
    kind = schema[column].kind
    if kind == "text":
        return _one_of(family, TEXT_MODELS, column)
    if kind in ("category", "binary"):
        return _one_of(getattr(family, "name", family), _OF_LABELS, column)
    known = number_families()
    if isinstance(family, str) and family in TEXT_MODELS:
        return family
    found = known[_one_of(family, tuple(known), column)] if isinstance(family, str) else family
    if not hasattr(found, "log_density"):
        raise ParameterError(f"column {column!r} has the family {family!r}", fix=f"choose one of {', '.join(known)}")
    return found


def check_flags(schema: Schema, given: Families, statistics: Product) -> None:
    """Check that a category with the family "bernoulli" has at most two levels, declared or seen."""
    if not isinstance(given, Mapping):
        return
    counted = statistics.parts.get("categories")
    names = dict.fromkeys(each.name for each in schema)
    for name, family in given.items():
        column = name if name in names else find_name(name, names, where="the table")
        if counted is None or column not in schema.categories or getattr(family, "name", family) != "bernoulli":
            continue
        levels = counted[column].levels
        if len(levels) > 2:
            raise ParameterError(
                f"column {column!r} has {len(levels)} levels, and a bernoulli column has two",
                fix=f"families={{{column!r}: 'categorical'}} (--family {column}=categorical)",
            )


def _one_of(family: Any, allowed: tuple[str, ...], column: str) -> Any:
    if family not in allowed:
        raise ParameterError(
            f"column {column!r} cannot have the family {family!r}", fix=f"choose one of {', '.join(allowed)}"
        )
    return family


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Values that differ; a family may be the object of any user, so it need not be hashable."""
    seen: list[Any] = []
    for value in {id(value): value for value in values}.values():
        if value not in seen:
            seen.append(value)
    return seen


def extent_of(values: FloatArray) -> Extent:
    """The extent of a column of numbers; missing ones are left out.

    >>> extent_of(np.array([2.0, np.nan, 5.0]))
    Extent(minimum=2.0, whole=True, maximum=5.0)
    """
    from bayeswise.families.protocol import Extent

    present = values[~np.isnan(values)]
    whole = bool((present == np.floor(present)).all())
    return Extent(float(present.min(initial=np.inf)), whole, float(present.max(initial=-np.inf)))


@dataclass(frozen=True)
class Choice:
    """The log evidence of each family that a column allows, best first."""

    column: str
    log_evidence: Mapping[str, float]
    family: Any

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        ranked = list(self.log_evidence.items())
        if len(ranked) == 1:
            return f"{ranked[0][0]}: no other family allows these values"
        (best, top), (second, next_top) = ranked[:2]
        return f"{best}: the rows are e^{top - next_top:.1f} times as probable as under {second}"


@dataclass(frozen=True)
class Selection:
    """One choice for each number column; `families` is what `fit(families=...)` takes."""

    choices: tuple[Choice, ...]

    @property
    def families(self) -> dict[str, Any]:
        return {choice.column: choice.family for choice in self.choices}

    def __repr__(self) -> str:
        return "\n".join(f"{choice.column}: {choice.reason}" for choice in self.choices) or "no number columns"


_BY_SUPPORT = ("real", "positive", "count", "binary")


def candidates(extent: Extent) -> tuple[Any, ...]:
    """The families with a closed-form evidence that allow such values, those of fewer values last."""
    able = [each for each in number_families().values() if hasattr(each, "is_candidate") and each.is_candidate(extent)]
    return tuple(sorted(able, key=lambda family: _BY_SUPPORT.index(family.support)))


def select_families(batches: Iterable[Batch], schema: Schema, extents: Mapping[str, Extent]) -> Selection:
    """Choose in one sweep; columns that allow the same families are weighed together."""
    alike: dict[tuple[Any, ...], list[str]] = {}
    for name in schema.numbers:
        alike.setdefault(candidates(extents[name]), []).append(name)
    asks = {
        f"{names[0]} and alike as {family.name}": ColumnStatistic("numbers", tuple(names), family.statistic)
        for allowed, names in alike.items()
        for family in allowed
    }
    found = summarise(batches, schema, Request(asks)).statistics.part
    chosen = {
        choice.column: choice
        for allowed, names in alike.items()
        for choice in choices(names, {family: found[f"{names[0]} and alike as {family.name}"] for family in allowed})
    }
    return Selection(tuple(chosen[name] for name in schema.numbers))


def choices(names: Sequence[str], statistics: Mapping[Any, Any]) -> list[Choice]:
    """The best of some families for each column, by each family's statistic of all these columns."""
    known = list(statistics)
    log_evidence = np.stack([family.log_evidence(statistics[family]) for family in known])
    best_first = np.argsort(-log_evidence, axis=0, kind="stable")
    return [
        Choice(name, {known[k].name: float(log_evidence[k, column]) for k in order}, known[order[0]])
        for column, (name, order) in enumerate(zip(names, best_first.T.tolist(), strict=True))
    ]


def choice(name: str, statistics: Mapping[Any, Any]) -> Choice:
    """The best of some families for one column, each with its own statistic of it."""
    return choices([name], statistics)[0]
