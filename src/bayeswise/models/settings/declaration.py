"""How a setting is declared: once, as a field of a frozen dataclass, with its default, its meaning and its bounds.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True, kw_only=True)
... class CoinSettings(Settings):
...     smoothing: float = setting(1.0, "pseudo-counts of each side", at_least=0, earlier="alpha")
>>> CoinSettings(smoothing=2.0).changed(smoothing=-1)
Traceback (most recent call last):
bayeswise.foundation.errors.ParameterError: smoothing is -1. Fix: give a number from 0 on.
>>> [(each.name, each.default, each.help) for each in declared(CoinSettings).values()]
[('smoothing', 1.0, 'pseudo-counts of each side')]

A dataclass of settings is what a model keeps; its options are all that `fit` takes for it: the settings, columns, and
what matters only while the model is learned. Options, and parts that settings have in common, are read as declarations
and never made, so nothing has to compare or print them (`eq=False, repr=False`): a third of what they take to define.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Self, Union, get_args, get_origin

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import renamed_keywords, warn_of_earlier
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.labels import guess, refuse_unknown
from bayeswise.store.fields import field_hint, fits, stored_field

_KEY = "bayeswise: setting"


@dataclass(frozen=True)
class Declaration:
    """What is declared of a setting besides its name, type and default.

    help      what it means, a phrase without a full stop
    option    how it is typed on the command line, where not by its name; "" where it cannot be typed
    metavar   the placeholder of its value in the help
    form      what a value of it looks like, where its type does not say so
    earlier   its name in earlier versions, which model files keep
    """

    help: str
    option: str | None = None
    metavar: str | None = None
    form: str | None = None
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    earlier: str | None = None


def setting(default: Any, help: str, *, earlier: str | None = None, later: bool = False, **more: Any) -> Any:
    """A field that is a setting; `later` says that older model files do not have it."""
    metadata = {_KEY: Declaration(help, earlier=earlier, **more)}
    return field(default=default, metadata=stored_field(metadata, earlier, later))


@dataclass(frozen=True)
class Setting(Declaration):
    """A setting as it is declared in a dataclass."""

    name: str = ""
    default: Any = None
    owner: Any = None
    type_text: str = ""

    @property
    def hint(self) -> Any:
        """Its type."""
        return field_hint(self.owner, self.name)

    @property
    def text(self) -> str:
        """What it means, and what a value looks like."""
        return f"{self.help}, as {self.form}" if self.form else self.help

    @property
    def choices(self) -> tuple[Any, ...]:
        """The words that it may be, and None where that is one.

        >>> from bayeswise.models.settings.gaussian import GaussianBayesSettings
        >>> declared(GaussianBayesSettings)["shrinkage"].choices
        ('auto',)
        """
        return tuple(choice for part in _parts(self.hint) for choice in _choices(part))

    @property
    def number(self) -> type[int] | type[float] | None:
        """The type of number that it may be."""
        return next((part for part in _parts(self.hint) if part in (int, float)), None)

    @property
    def is_text(self) -> bool:
        """Whether it may be any text."""
        return str in _parts(self.hint)

    @property
    def by_name(self) -> bool:
        """Whether it may have a value for each column, class or level."""
        return any(get_origin(part) in (Mapping, Sequence) for part in _parts(self.hint))

    def takes(self, value: Any) -> bool:
        """Whether it may have this value."""
        if type(value) in (int, float):
            return fits(value, self.hint) and math.isfinite(value) and self._is_within(value)
        return any(_fits(value, part) for part in _parts(self.hint))

    def check(self, value: Any) -> None:
        """Refuse a value that it cannot have, and say which it can."""
        if not self.takes(value):
            raise self.refused(value)

    def refused(self, value: Any) -> ParameterError:
        """The error for a value that it cannot have."""
        return ParameterError(f"{self.name} is {value!r}", fix=self._fix(value))

    def _is_within(self, value: float) -> bool:
        return (
            (self.at_least is None or value >= self.at_least)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
            and (self.below is None or value < self.below)
        )

    def _fix(self, value: Any) -> str:
        if self.form is None and self.number is None and len(self.choices) > 2:
            return guess(value, self.choices)
        words = [repr(choice) for choice in self.choices]
        number = [f"a {'whole ' * (self.number is int)}number{self._bounds}"] if self.number else []
        forms = [self.form] if self.form else []
        return f"give {', or '.join([*number, *forms, *words])}"

    @property
    def _bounds(self) -> str:
        low = f" from {self.at_least:g}" if self.at_least is not None else ""
        low = f" above {self.above:g}" if self.above is not None else low
        if self.at_most is not None:
            return f"{low} to {self.at_most:g}" if self.above is None else f"{low} and up to {self.at_most:g}"
        if self.below is not None:
            return f"{low} and below {self.below:g}"
        return f"{low} on" if self.at_least is not None else low


def declared(kind: Any) -> dict[str, Setting]:
    """The settings that a dataclass declares, by name, in the order of its fields."""
    return _declared(kind)


@cache
def _declared(kind: Any) -> dict[str, Setting]:
    return {
        each.name: Setting(
            **vars(each.metadata[_KEY]), name=each.name, default=each.default, owner=kind, type_text=str(each.type)
        )
        for each in fields(kind)
        if _KEY in each.metadata
    }


def plain_fields(settings: Any) -> None:
    """Turn the NumPy scalars among the fields into plain numbers; there are none where NumPy is not loaded."""
    if "numpy" in sys.modules:
        from bayeswise.foundation.arrays import make_plain

        make_plain(settings)


class Settings:
    """What a model keeps of how it was learned: a frozen dataclass that checks itself against its declarations."""

    def __post_init__(self) -> None:
        plain_fields(self)
        for name, each in declared(type(self)).items():
            each.check(getattr(self, name))
        prior = vars(self).get("class_prior")
        if prior is not None:
            from bayeswise.posteriors.prior import check_shares

            check_shares(prior)

    @property
    def convention(self) -> str:
        """The settings in a few words."""
        return repr(self)

    def __str__(self) -> str:
        return self.convention

    def changed(self, **changes: Any) -> Self:
        """The same settings but for these; the names of earlier versions are taken with a warning."""
        changes = current_names(changes, declared(type(self)).values(), stacklevel=4)
        known = [each.name for each in fields(self)]  # type: ignore[arg-type]
        for name in changes:
            refuse_unknown(name, known, "there is no setting")
        return replace(self, **changes)  # type: ignore[type-var]

    if not TYPE_CHECKING:  # the earlier names are for those who read settings of a model, not for us

        def __getattr__(self, name: str) -> Any:
            current = earlier_names(declared(type(self)).values()).get(name)
            if current is None:
                raise AttributeError(f"{type(self).__name__} has no setting {name!r}")
            warn_of_earlier(name, current, stacklevel=3)
            return getattr(self, current)

    def _differing(self, standard: Any) -> str:
        """The settings that differ from the standard ones, as they would be typed."""
        names = [each.name for each in fields(self)]  # type: ignore[arg-type]
        return ", ".join(f"{n}={getattr(self, n)!r}" for n in names if not _same(self, standard, n))


def _same(one: Any, other: Any, name: str) -> bool:
    """Whether both have the same plain value; one that is made of arrays is the same as itself."""
    mine, theirs = getattr(one, name), getattr(other, name)
    return mine is theirs or (type(mine).__eq__ is type(theirs).__eq__ and bool(mine == theirs))


# -- names of earlier versions --------------------------------------------------------------------------------


def earlier_names(settings: Iterable[Setting]) -> dict[str, str]:
    """The current name, by each earlier one."""
    return {each.earlier: each.name for each in settings if each.earlier is not None}


def current_names(given: Mapping[str, Any], settings: Iterable[Setting], *, stacklevel: int = 3) -> dict[str, Any]:
    """Settings under their current names, with a warning for each earlier one; other names pass."""
    return renamed_keywords(given, earlier_names(settings), stacklevel=stacklevel + 1)


# -- types ----------------------------------------------------------------------------------------------------


def _parts(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _choices(part: Any) -> tuple[Any, ...]:
    if part is bool:
        return (True, False)
    if part in (None, NoneType):
        return (None,)
    return get_args(part) if get_origin(part) is Literal else ()


def _fits(value: Any, part: Any) -> bool:
    """A mapping is checked by those who know its columns or classes."""
    return isinstance(value, Mapping) if get_origin(part) is Mapping else fits(value, part)
