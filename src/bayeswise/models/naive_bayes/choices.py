"""Which family stands for which column: by kind, by name, or as an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from bayeswise import families
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.naive_bayes.categories import Categories
from bayeswise.models.naive_bayes.counted_columns import CountedColumns
from bayeswise.models.naive_bayes.factors import Factor
from bayeswise.models.naive_bayes.numbers import Numbers
from bayeswise.models.naive_bayes.others import Others
from bayeswise.models.naive_bayes.selection import Selection
from bayeswise.models.naive_bayes.words import TextModel, Words
from bayeswise.models.settings.naive_bayes import Families
from bayeswise.statistics import Product
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.notes import no_column
from bayeswise.tables.schema.schema import Kind, Schema

_NUMBER_SUPPORTS = ("real", "positive", "unit interval", "count", "binary")
TEXT_MODELS: tuple[TextModel, ...] = ("multinomial", "bernoulli", "complement")


def number_families() -> dict[str, Any]:
    """The families of number columns that need no setting of their own, by name."""
    kinds = [getattr(families, name) for name in families.__all__]
    ready = [kind for kind in kinds if hasattr(kind, "log_density") and _needs_nothing(kind)]
    return {kind.name: kind() for kind in ready if kind.support in _NUMBER_SUPPORTS}


def _needs_nothing(kind: Any) -> bool:
    return is_dataclass(kind) and all(each.default is not MISSING for each in fields(kind) if each.init)


def factors_for(schema: Schema, wanted: Families = "auto") -> tuple[Factor, ...]:
    """The factors of a schema: normal for numbers, Poisson for counts, counting for categories, words for text.

    `wanted` is "auto", one family for all number columns (a name or an object), or a mapping by column. Text columns
    take "multinomial", "bernoulli" or "complement"; number columns that take one of them count words and are one group.
    A column of two values that takes "bernoulli" is counted as a category.
    """
    chosen = _chosen(schema, wanted)
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


def _chosen(schema: Schema, wanted: Families) -> list[tuple[Any, tuple[str, ...]]]:
    """The columns of each family, numbers before texts; no work is done for each column unless columns are named."""
    wanted = wanted.families if isinstance(wanted, Selection) else wanted
    if isinstance(wanted, Mapping):
        return _by_name(schema, wanted)
    if not isinstance(wanted, str) and not hasattr(wanted, "log_density"):
        raise ParameterError(f"families is {wanted!r}", fix="write a name, a family, or {column: family, ...}")
    kinds = dict.fromkeys(form.kind for form in schema.forms)
    by_kind = [(family, schema.of_kind(kind)) for kind, family in _standard(kinds)]
    if wanted == "auto":
        return by_kind
    names = schema.texts if wanted in TEXT_MODELS and not schema.numbers else schema.numbers
    asked = [(_family(schema, names[0], wanted), names)] if names else []
    return [*asked, *(each for each in by_kind if each[1] == schema.texts != names)]


def _standard(kinds: Iterable[Kind]) -> list[tuple[Kind, Any]]:
    """The family of each kind that has one, numbers before texts."""
    numbers: dict[Kind, Any] = {"number": families.Normal(), "count": families.Poisson()}
    found = [(kind, numbers[kind]) for kind in kinds if kind in numbers]
    texts: list[tuple[Kind, Any]] = [(kind, "multinomial") for kind in kinds if kind == "text"]
    return [*found, *texts]


def _by_name(schema: Schema, wanted: Mapping[str, Any]) -> list[tuple[Any, tuple[str, ...]]]:
    standard = dict(_standard({form.kind for form in schema.forms}))
    family_of: dict[str, Any] = {name: standard.get(schema[name].kind) for name in schema.used}
    for name, family in wanted.items():
        column = find_name(name, [each.name for each in schema], where="the table")
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
        return _one_of(getattr(family, "name", family), ("categorical", "bernoulli"), column)
    known = number_families()
    if isinstance(family, str) and family in TEXT_MODELS:
        return family
    found = known[_one_of(family, tuple(known), column)] if isinstance(family, str) else family
    if not hasattr(found, "log_density"):
        raise ParameterError(f"column {column!r} has the family {family!r}", fix=f"choose one of {', '.join(known)}")
    return found


def check_flags(schema: Schema, wanted: Families, statistics: Product) -> None:
    """A category that was asked to be a Bernoulli variable has at most two levels, declared or seen."""
    if not isinstance(wanted, Mapping):
        return
    counted = statistics.parts.get("categories")
    for name, family in wanted.items():
        column = find_name(name, [each.name for each in schema], where="the table")
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
