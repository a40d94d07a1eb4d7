"""The function of a verb as typer takes it: groups of options spelled out one by one, --threads beside them; --json."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

Threads: TypeAlias = Annotated[
    int | None, typer.Option("--threads", metavar="N", min=1, help="Maximum number of threads.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def as_command(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with --threads, which limits all that it does, and with an option for each field of a group.

    A group is a parameter whose type is a dataclass of options, such as `reading.Reading`.
    """
    own = inspect.signature(function, eval_str=True)
    groups: dict[str, Any] = {
        name: each.annotation for name, each in own.parameters.items() if is_dataclass(each.annotation)
    }

    @functools.wraps(function)
    def command(*words: Any, threads: int | None = None, **options: Any) -> Any:
        for name, group in groups.items():
            options[name] = group(**{each.name: options.pop(each.name) for each in fields(group)})
        if threads is None:
            return function(*words, **options)
        from bayeswise.foundation.threads import POLARS, limit_threads

        before = os.environ.get(POLARS)
        os.environ[POLARS] = str(threads)  # before polars is imported: nothing changes its pool later
        try:
            with limit_threads(threads):
                return function(*words, **options)
        finally:
            del os.environ[POLARS]
            if before is not None:
                os.environ[POLARS] = before

    spelled = [each for parameter in own.parameters.values() for each in _spelled_out(parameter)]
    spelled.append(inspect.Parameter("threads", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Threads))
    command.__signature__ = own.replace(parameters=spelled)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in spelled}
    return command


def _spelled_out(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The parameter itself, or one for each field of a group."""
    if not is_dataclass(parameter.annotation):
        yield parameter
        return
    types = get_type_hints(parameter.annotation, include_extras=True)
    for each in fields(parameter.annotation):
        yield inspect.Parameter(each.name, parameter.kind, default=each.default, annotation=types[each.name])
