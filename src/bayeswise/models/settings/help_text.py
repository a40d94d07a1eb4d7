"""All settings of all models in groups, in words: for the help of `bw.fit`, of `bayeswise fit` and of estimators.

>>> titles()[:3], title_of("shrinkage"), title_of("levels")
(['Common', 'Columns', 'Several models'], 'Gaussian classes (gaussian)', 'Columns')
>>> having = settings_by_kind()
>>> meaning("relevance", having["relevance"]).partition(",")[0], default_text(having["scale"])
('averaged: prior probability that a column is relevant', 'logistic: 1; linear: auto')
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from bayeswise.models.registry import DEFAULT, MODELS, Group, ModelKind, names_in
from bayeswise.models.settings.common import ColumnOptions, CommonOptions
from bayeswise.models.settings.declaration import Setting

Function = TypeVar("Function", bound=Callable[..., Any])

_TITLES: dict[Group, str] = {
    "naive-bayes": "Naive Bayes",
    "gaussian": "Gaussian classes",
    "regression": "Regressions",
    "network": "Networks",
    "tree": "Trees",
    "auto": "All models",
}
_WIDTH = 116
Having = dict[ModelKind, Setting]  # the kinds of models that have a setting, and how each declares it


class _ModelsOwn:
    """What is shown as the default of a setting that differs from model to model."""

    def __repr__(self) -> str:
        return "<the model's own>"


MODELS_OWN = _ModelsOwn()


@cache
def settings_by_kind() -> Mapping[str, Mapping[ModelKind, Setting]]:
    """Every setting by its name, as each kind of model that has it declares it."""
    found: dict[str, dict[ModelKind, Setting]] = {}
    for kind in MODELS:
        for name, each in kind.declared().items():
            found.setdefault(name, {})[kind] = each
    several = [name for name, having in found.items() if _title_among(name, having) == "Several models"]
    order = [*_names(ColumnOptions), *several, *found]
    return {name: found[name] for name in dict.fromkeys(order) if name in found}


@cache
def settings_by_option() -> dict[str, dict[str, Having]]:
    """The settings that each option gives, by name; `--prior` gives that of classes, of weights or of tables.

    >>> list(settings_by_option()["prior"]), list(settings_by_option()["no_intercept"])
    (['class_prior', 'prior'], ['fit_intercept'])
    """
    found: dict[str, dict[str, Having]] = {}
    for name, having in settings_by_kind().items():
        for kind, each in having.items():
            if each.option != "":
                key = each.option or (f"no_{name}" if each.default is True else name)
                found.setdefault(key.replace("-", "_"), {}).setdefault(name, {})[kind] = each
    return found


def titles() -> list[str]:
    """The titles of all groups, in the order of a help."""
    return ["Common", "Columns", "Several models", *map(_title, _TITLES)]


def title_of(name: str) -> str:
    """The group of a setting: common, columns, or the only group of models that has it."""
    return _title_among(name, settings_by_kind().get(name, ()))


def _title_among(name: str, having: Iterable[ModelKind]) -> str:
    if name in _names(ColumnOptions):
        return "Common" if name in _names(CommonOptions) else "Columns"
    groups = {kind.group for kind in having}
    return _title(groups.pop()) if len(groups) == 1 else "Several models"


def _title(group: Group) -> str:
    return f"{_TITLES[group]} ({', '.join(names_in(group))})"


@cache
def _names(options: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(options) if each.name not in ("table", "target"))


# -- what a setting means -------------------------------------------------------------------------------------


def meaning(name: str, having: Mapping[ModelKind, Setting], form: bool = False) -> str:
    """What a setting means, to which models where that differs; with `form`, what a value looks like."""
    texts = {kind: each.text if form else each.help for kind, each in having.items()}
    return _by_kind(texts, whole=title_of(name))


def default_text(having: Mapping[ModelKind, Setting]) -> str:
    """The default of a setting, for which models where that differs; "" where it is None or a flag."""
    return _by_kind({kind: _shown(each.default) for kind, each in having.items()}, whole="Several models")


def _shown(default: Any) -> str:
    if default is None or isinstance(default, bool):
        return ""
    return f"{default:g}" if isinstance(default, (int, float)) else str(default)


def _by_kind(texts: dict[ModelKind, str], whole: str) -> str:
    """One text if all kinds agree, else each behind the kinds that it is about; the most common one stands bare."""
    by_text: dict[str, list[ModelKind]] = {}
    for kind, text in texts.items():
        by_text.setdefault(text, []).append(kind)
    if len(by_text) == 1:
        (text,) = by_text
        is_shared = whole in ("Common", "Columns", "Several models", *(_title(kind.group) for kind in _all_of(texts)))
        return text if is_shared else f"{_kinds(texts)}: {text}"
    bare = next(iter(by_text)) if whole == "Columns" else None
    return "; ".join(text if text == bare else f"{_kinds(kinds)}: {text}" for text, kinds in by_text.items() if text)


def _all_of(kinds: Collection[ModelKind]) -> list[ModelKind]:
    """Those kinds whose whole group is among them."""
    names = [kind.name for kind in kinds]
    return [kind for kind in kinds if set(names_in(kind.group)) <= set(names)]


def _kinds(kinds: Collection[ModelKind]) -> str:
    """The names of kinds; all regressions, or all networks, by one word."""
    words: dict[Group, str] = {"regression": "regressions", "network": "networks"}
    whole = _all_of(kinds)
    return ", ".join(dict.fromkeys(words.get(kind.group, kind.name) if kind in whole else kind.name for kind in kinds))


def described(texts: Mapping[str, str]) -> list[str]:
    """Lines of help: a name, and beside it what the setting means."""
    margin = max(map(len, texts), default=0) + 2
    return [
        line
        for name, text in texts.items()
        for line in textwrap.wrap(
            f"{name:{margin}}{text}", _WIDTH - 8, subsequent_indent=" " * margin, break_on_hyphens=False
        )
    ]


# -- the signature of a function that takes all settings ------------------------------------------------------


def spelled_out(function: Function) -> Function:
    """Put all settings into the signature of a function that takes them by name, and into its docstring."""
    having = settings_by_kind()
    found = list(inspect.signature(function).parameters.values())
    kept = [each for each in found if each.kind is not inspect.Parameter.VAR_KEYWORD]
    spelled = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_default(each), annotation=_annotation(each))
        for name, each in having.items()
    ]
    function.__signature__ = inspect.signature(function).replace(parameters=[*kept, *spelled])  # type: ignore[attr-defined]
    groups: dict[str, dict[str, str]] = {title: {} for title in titles()}
    groups["Common"]["model"] = f"kind of model: {', '.join(kind.name for kind in MODELS)}; {DEFAULT} if left out"
    for name, each in having.items():
        groups[title_of(name)][name] = meaning(name, each, form=True)
    lines = [line for title, texts in groups.items() for line in (title, *_indented(described(texts)))]
    function.__doc__ = with_list(function.__doc__, "Settings", lines)
    return function


def with_list(text: str | None, of: str, lines: Iterable[str]) -> str | None:
    """A docstring with a list in place of the sentence that says where it is: editors do not run code.

    >>> with_list("Fit.\\n\\n    Settings are listed by help(fit).\\n", "Settings", ["a  this", "b  that"])
    'Fit.\\n\\n    a  this\\n    b  that\\n'
    """
    found = None if text is None else re.search(rf"^    {of} are listed by .*\n", text, re.MULTILINE)
    if text is None or found is None:  # under python -OO there is no docstring
        return text
    return text[: found.start()] + "".join(f"{line}\n" for line in _indented(lines)) + text[found.end() :]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _default(having: Mapping[ModelKind, Setting]) -> Any:
    first, *others = [each.default for each in having.values()]
    return first if all(other == first for other in others) else MODELS_OWN


def _annotation(having: Mapping[ModelKind, Setting]) -> str:
    parts = dict.fromkeys(part for each in having.values() for part in each.type_text.split(" | "))
    return " | ".join(sorted(parts, key=lambda part: part == "None"))
