"""The columns of a table: what each of them means, and thousands of them as names and the few forms that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, Literal, TypeAlias, get_args, overload

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.render.labels import refuse_unknown
from bayeswise.tables.schema.labels import LABEL_TYPES, Label, LabelType, Vocabulary, as_levels
from bayeswise.tables.schema.names import are_plain, check_name, check_names, normal_name, refuse_twin

Kind: TypeAlias = Literal["number", "count", "category", "binary", "text", "ignored"]
MissingPolicy: TypeAlias = Literal["ignore", "level", "error"]
UnseenPolicy: TypeAlias = Literal["smooth", "ignore", "error"]

KINDS: tuple[Kind, ...] = get_args(Kind)
MISSING_POLICIES: tuple[MissingPolicy, ...] = get_args(MissingPolicy)
UNSEEN_POLICIES: tuple[UnseenPolicy, ...] = get_args(UnseenPolicy)
LABELLED: tuple[Kind, ...] = ("category", "binary")


@dataclass(frozen=True)
class Column:
    """What one column means.

    `labels` is the type of the labels of a category or binary column; `levels` are the declared ones, in their order,
    None if the levels are those that rows show. A missing cell is left out of the product ("ignore"), a level of its
    own ("level") or an error; a level that the model never saw gets smoothed mass ("smooth"), is left out ("ignore")
    or is an error.
    """

    name: str
    kind: Kind
    labels: LabelType | None = None
    levels: Vocabulary | None = None
    missing: MissingPolicy = "ignore"
    unseen: UnseenPolicy = "smooth"
    reason: str = ""

    def __post_init__(self) -> None:
        check_name(self.name)
        check_choice("kind", self.kind, KINDS, self.name)
        check_choice("missing", self.missing, MISSING_POLICIES, self.name)
        check_choice("unseen", self.unseen, UNSEEN_POLICIES, self.name)
        object.__setattr__(self, "labels", self._checked_labels())
        object.__setattr__(self, "levels", checked_levels(self.name, self.levels, self.labels))
        if self.kind == "binary" and self.levels is not None and len(self.levels) != 2:
            raise SchemaError(
                f"binary column {self.name!r} has {len(self.levels)} levels: {self.levels!r}",
                fix=f"kinds={{{self.name!r}: 'category'}}",
            )

    def _checked_labels(self) -> LabelType | None:
        if self.kind not in LABELLED:
            return None
        check_choice("labels", self.labels, LABEL_TYPES, self.name)
        return self.labels

    @property
    def form(self) -> tuple[Any, ...]:
        """All but the name."""
        return self.kind, self.labels, self.levels, self.missing, self.unseen, self.reason

    def named(self, name: str) -> Column:
        """The same column under another name, which was checked before."""
        column = object.__new__(Column)
        column.__dict__.update(self.__dict__, name=name)
        return column

    def __repr__(self) -> str:
        levels = f" of {list(self.levels)}" if self.levels is not None else ""
        return f"{self.name}: {self.kind}{levels}{f' ({self.reason})' if self.reason else ''}"


class Columns(Sequence[Column]):
    """The columns of a table in their order, as names and the few forms that they have.

    A form is all that a `Column` says but its name. Tables of 20,000 columns have one or two, so work is done for each
    form, and a `Column` is made on access.

    >>> wide = Columns.alike(("x0", "x1", "x2"), "number")
    >>> wide[1], wide.of_kind("number"), wide == (Column("x0", "number"), wide[1], wide[2])
    (x1: number, ('x0', 'x1', 'x2'), True)
    """

    names: tuple[str, ...]
    forms: tuple[Column, ...]  # the first column of each form, in the order of the table
    form_of: tuple[int, ...]  # (n_columns,) which form each column has

    def __init__(self, columns: Iterable[Column] = ()) -> None:
        made = tuple(columns)
        known: dict[tuple[Any, ...], int] = {}
        self.form_of = tuple(known.setdefault(column.form, len(known)) for column in made)
        first = dict(zip(reversed(self.form_of), reversed(made), strict=True))
        self.names = tuple(column.name for column in made)
        self.forms = tuple(first[form] for form in range(len(known)))
        self._made = dict(enumerate(made))

    @classmethod
    def alike(
        cls,
        names: tuple[str, ...],
        kind: Kind,
        labels: LabelType | None = None,
        *,
        missing: MissingPolicy = "ignore",
        unseen: UnseenPolicy = "smooth",
    ) -> Columns:
        """Columns that differ by name only."""
        check_names(names)
        form = (Column(names[0], kind, labels, missing=missing, unseen=unseen),) if names else ()
        return cls._of(names, form, (0,) * len(names))

    @classmethod
    def like(cls, names: tuple[str, ...], examples: Sequence[Column]) -> Columns:
        """Columns that are as the examples are, but for their names; one example may stand for thousands.

        >>> Columns.like(("x0", "x1"), [Column("x", "number")] * 2)
        (x0: number, x1: number)
        """
        check_names(names)
        known: dict[tuple[Any, ...], int] = {}
        different = dict(zip(map(id, examples), examples, strict=True))
        form_of_id = {key: known.setdefault(each.form, len(known)) for key, each in different.items()}
        form_of = tuple(map(form_of_id.__getitem__, map(id, examples)))
        first = [form_of.index(form) for form in range(len(known))]
        return cls._of(names, tuple(examples[k].named(names[k]) for k in first), form_of)

    @classmethod
    def _of(cls, names: tuple[str, ...], forms: tuple[Column, ...], form_of: tuple[int, ...]) -> Columns:
        columns = cls.__new__(cls)
        columns.names, columns.forms, columns.form_of, columns._made = names, forms, form_of, {}
        return columns

    def with_forms(self, change: Callable[[Column], Column]) -> Columns:
        """The columns after a change of each form, which does not depend on their names."""
        changed = [change(form) for form in self.forms]
        known: dict[tuple[Any, ...], int] = {}
        place = [known.setdefault(column.form, len(known)) for column in changed]
        forms = tuple(changed[place.index(form)] for form in range(len(known)))
        return self._of(self.names, forms, tuple(map(place.__getitem__, self.form_of)))

    def of_kind(self, *kinds: Kind) -> tuple[str, ...]:
        """The names of the columns of some kinds."""
        chosen = [form.kind in kinds for form in self.forms]
        if all(chosen):
            return self.names
        return tuple(compress(self.names, (chosen[form] for form in self.form_of))) if any(chosen) else ()

    @cached_property
    def by_normal_name(self) -> dict[str, str]:
        """The names by what they are compared by; two that read the same are an error."""
        if are_plain(self.names):
            return dict(zip(self.names, self.names, strict=True))
        seen: dict[str, str] = {}
        for name in self.names:
            refuse_twin(name, seen)
            seen[normal_name(name)] = name
        return seen

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> Column: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Column, ...]: ...
    def __getitem__(self, index: int | slice) -> Column | tuple[Column, ...]:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        position = range(len(self.names))[index]
        if position not in self._made:
            self._made[position] = self.forms[self.form_of[position]].named(self.names[position])
        return self._made[position]

    def __iter__(self) -> Iterator[Column]:
        return (self[k] for k in range(len(self.names)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Columns):
            mine, theirs = (self.names, self.form_of), (other.names, other.form_of)
            return self is other or (mine == theirs and self.forms == other.forms)
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.names, self.forms))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def to_plain(self) -> tuple[Any, ...]:
        """Names, forms and the form of each column: what a document keeps."""
        return self.names, self.forms, self.form_of

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> Columns:
        """The inverse of `to_plain`, checked."""
        names, forms, form_of = plain
        kinds = [set(map(type, part)) for part in (plain, forms, form_of)]
        if kinds[0] != {tuple} or kinds[1] - {Column} or kinds[2] - {int}:
            raise SchemaError("the forms of the columns are not forms")
        first = [form_of.index(form) for form in range(len(forms))]
        fits = len(names) == len(form_of) and first == sorted(first) and set(form_of) == set(range(len(forms)))
        if not fits or [names[k] for k in first] != [form.name for form in forms]:
            raise SchemaError("names and forms of columns do not match")
        if len({form.form for form in forms}) != len(forms):
            raise SchemaError("two forms of columns are the same")
        check_names(names)
        return cls._of(names, forms, form_of)


def check_choice(setting: str, value: Any, choices: tuple[str, ...], column: str) -> None:
    refuse_unknown(value, choices, f"{setting} of column {column!r} is")


def checked_levels(name: str, levels: Iterable[Label] | None, labels: LabelType | None) -> Vocabulary | None:
    if levels is None or labels is None:
        return None
    declared = Vocabulary(as_levels(levels, labels, name))
    if not declared:
        raise SchemaError(f"column {name!r} declares no level at all", fix="name its levels, or leave them out")
    return declared
