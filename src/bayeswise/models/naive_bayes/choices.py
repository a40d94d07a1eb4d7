"""Which family stands for which column: by kind, by name, or as an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeAlias

from bayeswise import families
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.naive_bayes.categories import Categories
from bayeswise.models.naive_bayes.counted_columns import CountedColumns
from bayeswise.models.naive_bayes.factors import Factor
from bayeswise.models.naive_bayes.numbers import Numbers
from bayeswise.models.naive_bayes.others import Others
from bayeswise.models.naive_bayes.selection import Selection
from bayeswise.models.naive_bayes.words import TextModel, Words
from bayeswise.statistics.sample import not_streamable
from bayeswise.tables.names import find_name
from bayeswise.tables.notes import no_column
from bayeswise.tables.schema import Schema

Families: TypeAlias = str | Any | Mapping[str, Any]

_NUMBER_SUPPORTS = ("real", "positive", "unit interval", "count", "binary")
TEXT_MODELS: tuple[TextModel, ...] = ("multinomial", "bernoulli", "complement")


def number_families() -> dict[str, Any]:
    """The families of number columns that need no setting of their own, by name."""
    kinds = [getattr(families, name) for name in families.__all__]
    ready = [kind for kind in kinds if hasattr(kind, "log_density") and _needs_nothing(kind)]
    return {kind.name: kind() for kind in ready if kind.support in _NUMBER_SUPPORTS}


def _needs_nothing(kind: Any) -> bool:
    return is_dataclass(kind) and all(each.default is not MISSING for each in fields(kind) if each.init)


def factors_for(schema: Schema, wanted: Families = "auto", *, streaming: bool = False) -> tuple[Factor, ...]:
    """The factors of a schema: normal for numbers, Poisson for counts, counting for categories, words for text.

    `wanted` is "auto", one family for all number columns (a name or an object), or a mapping by column. Text columns
    take "multinomial", "bernoulli" or "complement"; number columns that take one of them count words and are one group.
    A family without a statistic of fixed size keeps its values, and is refused where rows are streamed from files.
    """
    by_column = _by_column(schema, wanted)
    for family in _distinct(by_column.values()):
        if streaming and not getattr(family, "streams", True):
            raise not_streamable(family.name)
    factors: list[Factor] = []
    for family, columns in _by_family(schema.numbers, by_column):
        if family == families.Normal():
            factors.append(Numbers(columns))
        else:
            factors.append(CountedColumns(columns, family) if family in TEXT_MODELS else Others(columns, family))
    if schema.categories:
        factors.append(Categories(schema.categories))
    factors.extend(Words((name,), by_column[name]) for name in schema.texts)
    if not factors:
        raise no_column(schema)
    return tuple(factors)


def _by_column(schema: Schema, wanted: Families) -> dict[str, Any]:
    chosen: dict[str, Any] = dict.fromkeys(schema.used)
    standard = {"number": families.Normal(), "count": families.Poisson(), "text": "multinomial"}
    for kind in {form.kind for form in schema.forms} & standard.keys():
        chosen.update(dict.fromkeys(schema.of_kind(kind), standard[kind]))
    wanted = wanted.families if isinstance(wanted, Selection) else wanted
    if isinstance(wanted, Mapping):
        for name, family in wanted.items():
            column = find_name(name, chosen, where="the columns")
            chosen[column] = _family(schema, column, family)
    elif not isinstance(wanted, str) and not hasattr(wanted, "log_density"):
        raise ParameterError(f"families is {wanted!r}", fix="write a name, a family, or {column: family, ...}")
    elif wanted != "auto":
        names = schema.texts if wanted in TEXT_MODELS and not schema.numbers else schema.numbers
        if names:
            chosen.update(dict.fromkeys(names, _family(schema, names[0], wanted)))
    return chosen


def _family(schema: Schema, column: str, family: Any) -> Any:
    kind = schema[column].kind
    if kind == "text":
        return _one_of(family, TEXT_MODELS, column)
    if kind in ("category", "binary"):
        return _one_of(family, ("categorical",), column)
    known = number_families()
    if isinstance(family, str) and family in TEXT_MODELS:
        return family
    found = known[_one_of(family, tuple(known), column)] if isinstance(family, str) else family
    if not hasattr(found, "log_density"):
        raise ParameterError(f"column {column!r} has the family {family!r}", fix=f"choose one of {', '.join(known)}")
    return found


def _one_of(family: Any, allowed: tuple[str, ...], column: str) -> Any:
    if family not in allowed:
        raise ParameterError(
            f"column {column!r} cannot have the family {family!r}", fix=f"choose one of {', '.join(allowed)}"
        )
    return family


def _by_family(names: tuple[str, ...], by_column: Mapping[str, Any]) -> list[tuple[Any, tuple[str, ...]]]:
    """The columns of each family, families in the order in which columns have them."""
    found = _distinct(by_column[name] for name in names)
    if len(found) == 1:
        return [(found[0], names)]
    return [(family, tuple(name for name in names if by_column[name] == family)) for family in found]


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Values that differ; a family may be the object of any user, so it need not be hashable."""
    seen: list[Any] = []
    for value in {id(value): value for value in values}.values():
        if value not in seen:
            seen.append(value)
    return seen
