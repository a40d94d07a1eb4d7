"""A fix as it is typed on the command line: errors are raised by functions, and name their arguments."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

_VALUE = r"""'[^']*'|"[^"]*"|\{[^{}]*\}|\[[^\[\]]*\]|True\b|False\b|None\b|[0-9][0-9.e+-]*[0-9]|[0-9]"""
_WORD = r"""[a-z-]+ (?:'[^']*'|[^\s,;.)]+)"""
_TYPED = rf"\s*\((?P<typed>--[^()]*)\)|\s+or\s+(?P<or>--{_WORD})"  # what the fix itself says of the command line
# Not within a distribution as it is typed, such as gamma:shape=2,scale=1.
_SETTING = re.compile(rf"(?<![:,])\b(?P<name>[a-z]\w*)=(?P<value>{_VALUE})(?:{_TYPED})?")


def typed_fix(fix: str, options: Collection[str], of_fit: Callable[[], Collection[str]] = tuple) -> str:
    """Arguments as options: of the verb itself, or of `bayeswise fit` if they belong to the model.

    >>> typed_fix("use missing='drop' (--missing drop), or ignore=['id', 'a b']", ["--missing", "--ignore"])
    "use --missing drop, or --ignore id --ignore 'a b'"
    >>> typed_fix("choose unseen='smooth' for 'size'", ["-o"], lambda: ["--unseen"])
    "choose `bayeswise fit --unseen smooth` for 'size'"
    >>> typed_fix("give kinds={'zip': 'category'} or --category zip", ["--category"])
    'give --category zip'
    >>> typed_fix("keep one with kinds={...: 'category'}", ["--category"])
    'keep one with --category COL'
    """
    return _SETTING.sub(partial(_option, options=options, of_fit=of_fit), fix)


def _option(found: re.Match[str], options: Collection[str], of_fit: Callable[[], Collection[str]]) -> str:
    words = _words(found["name"], found["value"])
    if words and words[0] in options:
        return shlex.join(words)
    if found["typed"] or found["or"]:
        return found["typed"] or found["or"]
    if words and words[0] in of_fit():
        return f"`bayeswise fit {shlex.join(words)}`"
    return found[0]


def _words(name: str, value: str) -> list[str]:
    """The option that sets an argument to a value; none if there is no way to type it."""
    option = f"--{name.replace('_', '-')}"
    try:
        meant = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        meant = None
    if name == "kinds":
        return _kinds(meant)
    if name == "levels":
        column = next(iter(meant), "COL") if isinstance(meant, dict) else "COL"
        return [option, f"{column}=A,B,C"]
    if isinstance(meant, bool):
        return [option] if meant else [f"--no-{name.replace('_', '-')}"]
    if isinstance(meant, list) and all(isinstance(each, str | int | float) for each in meant):
        return [word for each in meant for word in (option, str(each))]
    return [option, str(meant)] if isinstance(meant, str | int | float) else []


def _kinds(meant: Any) -> list[str]:
    if isinstance(meant, dict) and meant:
        column, kind = next(iter(meant.items()))
        return [f"--{'ignore' if kind == 'ignored' else kind}", "COL" if column is ... else str(column)]
    return []


def options_of(words: Sequence[str]) -> set[str]:
    """Every option that the verb among the words has."""
    import typer.main

    from bayeswise.cli.app import application

    command: Any = typer.main.get_command(application(words))
    names = [word for word in words if not word.startswith("-")]
    while names and hasattr(command, "commands") and names[0] in command.commands:
        command = command.commands[names.pop(0)]
    return {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
