"""What `fit` takes for every model: the table and its target, how to learn, and what the columns mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.settings.declaration import setting
from bayeswise.render.labels import Label

if TYPE_CHECKING:
    from bayeswise.tables.schema.schema import Schema

# what `calibrate` means; its default is that of the kind of model
CALIBRATE = (
    "calibrate posteriors on left-out rows, saved with the model: auto (the simplest method that these rows support), "
    "sigmoid, isotonic, dirichlet, temperature or none"
)


@dataclass(frozen=True, eq=False, repr=False)
class TableOptions:
    """A table with its target inside."""

    table: Any
    target: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CommonOptions(TableOptions):
    """How to learn."""

    threads: int | None = setting(None, "maximum number of threads", option="", at_least=1)
    progress: Callable[[int], None] | None = setting(None, "called with the number of rows of each batch", option="")
    calibrate: Literal["auto", "sigmoid", "platt", "isotonic", "dirichlet", "temperature", "none"] | None = setting(
        None, CALIBRATE, metavar="HOW"
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ColumnOptions(CommonOptions):
    """What the columns mean."""

    schema: Schema | None = setting(None, "meaning of all columns, instead of the next six", option="")
    kinds: Mapping[str, str] | None = setting(
        None,
        "kinds of columns: number, count, category, binary, text or ignored",
        option="",
        form='{"zip": "category"}',
    )
    levels: Mapping[str, Sequence[Label]] | None = setting(
        None, "all levels of a column, in order", metavar="COL=A,B,C", form='{"size": ["S", "M", "L"]}'
    )
    ignore: Sequence[str] | None = setting(None, "columns to leave out", option="")
    weight: str | None = setting(None, "column with the weight of each row", metavar="COL")
    missing: str | Mapping[str, str] = setting(
        "ignore",
        "missing values: ignore, level (of their own) or error, for all columns or by column",
        metavar="[COL=]ignore|level|error|em|indicator|mean",
    )
    unseen: str | Mapping[str, str] = setting(
        "smooth",
        "unseen levels: smooth, ignore or error, for all columns or by column",
        metavar="[COL=]smooth|ignore|error",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnyModelOptions(ColumnOptions):
    """What `fit` takes where the name of the model is known only when the program runs."""

    model: str


# -- settings that several models have ------------------------------------------------------------------------

class_prior = partial(
    setting,
    None,
    "class prior, instead of the class frequencies",
    option="prior",
    metavar="CLASS=P ...",
    form="{class: probability, ...}",
)
variance_divisor = partial(
    setting, "n", "divisor of variances: n (maximum likelihood), n-1 or, gaussian only, n-K with K classes"
)
