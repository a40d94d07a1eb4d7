"""The help of `fit` in groups: what every model has, columns, reading, then the settings of each kind of model."""

from __future__ import annotations

from typing import Any

from bayeswise.cli.options.many_values import ManyPairs

_COLUMNS = ("category", "number", "count", "binary", "text", "ignore", "levels", "weight", "null", "missing", "unseen")
_READING = ("delimiter", "decimal", "encoding", "table")
_EARLIER = {"--freedom": "--df", "--moderated": "--marginalize", "--divisor": "--variance-divisor"}


class FitCommand(ManyPairs):
    """A command whose help is grouped, and which takes the earlier names of options with a line on stderr."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)  # what follows are files
        return super().parse_args(ctx, [*map(_named_today, args[:end]), *args[end:]])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in titles()}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                groups["Arguments" if is_argument else group_of(str(parameter.name))].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _named_today(word: str) -> str:
    name, equals, value = word.partition("=")
    if name not in _EARLIER:
        return word
    from bayeswise.cli.output.writing import say

    say(f"{name} is now called {_EARLIER[name]}; the earlier name will go.")
    return f"{_EARLIER[name]}{equals}{value}"


def titles() -> list[str]:
    """The titles of all groups, in the order of the help.

    >>> titles()[-2:]
    ['Regressions (logistic, linear)', 'Networks (tan, aode, k-dependence, markov-blanket)']
    """
    return ["Arguments", "Common", "Columns", "Reading", "Several models", *_by_group().values()]


def group_of(name: str) -> str:
    """The title under which an option stands: that of the only group of models that has it.

    >>> group_of("target"), group_of("levels"), group_of("smoothing"), group_of("shrinkage")
    ('Common', 'Columns', 'Several models', 'Gaussian classes (gaussian)')
    """
    from bayeswise.cli.options.settings import has_option
    from bayeswise.models.registry import MODELS

    if name in _COLUMNS:
        return "Columns"
    if name in _READING:
        return "Reading"
    found = {kind.group for kind in MODELS if has_option(kind, name)}
    if len(found) == 1:
        return _by_group()[found.pop()]
    return "Several models" if found else "Common"


def _by_group() -> dict[Any, str]:
    from bayeswise.models.registry import Group, names_in

    shown: dict[Group, str] = {
        "naive-bayes": "Naive Bayes",
        "gaussian": "Gaussian classes",
        "regression": "Regressions",
        "network": "Networks",
    }
    return {group: f"{title} ({', '.join(names_in(group))})" for group, title in shown.items()}
