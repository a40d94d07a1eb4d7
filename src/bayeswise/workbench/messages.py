"""Request and answer models that pages share: a problem, a file name, and the same call in the shell and in Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

from bayeswise.foundation.errors import BayeswiseError, ConflictError, NotFoundError, TooManyThreadsError, UsageError

FileName = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=10_000)]


FLAG = "--"  # stands for the value of an option that has none


class Message(BaseModel):
    """A request or an answer; unknown fields are refused, and dataclasses are read by attribute."""

    model_config = ConfigDict(extra="forbid", frozen=True, from_attributes=True, ser_json_inf_nan="null")


class Problem(Message):
    """Why a request failed: the kind of error, what is wrong, and how to fix it."""

    error: str
    what: str
    fix: str | None = None

    @classmethod
    def of(cls, error: BayeswiseError) -> Problem:
        return cls(error=type(error).__name__, what=error.what, fix=error.fix)


class SameAs(Message):
    """The same on the command line and in Python, ready to copy."""

    shell: str
    python: str


def status_of(error: BayeswiseError) -> int:
    """The HTTP status of an error.

    >>> status_of(NotFoundError("there is no such model")), status_of(UsageError("costs are negative"))
    (404, 400)
    """
    if isinstance(error, NotFoundError):
        return 404
    if isinstance(error, TooManyThreadsError):
        return 503
    if isinstance(error, ConflictError):
        return 409
    return 400 if isinstance(error, UsageError) else 422


def shell(*words: str, options: Mapping[str, Iterable[str] | str | None] | None = None) -> str:
    """A line for the shell; a file whose name looks like an option is written with ./ before it.

    >>> shell("look", "my golf.csv", options={"--target": "play", "--category": ["a", "b"], "--weight": None})
    "bayeswise look 'my golf.csv' --target play --category a --category b"
    """
    return shlex.join(["bayeswise", *arguments(*words, options=options)])


def arguments(*words: str, options: Mapping[str, Iterable[str] | str | None] | None = None) -> list[str]:
    """The arguments of a command: the verb, its files, and the options that are set."""
    typed = [f"./{word}" if word.startswith("-") and place else word for place, word in enumerate(words)]
    for option, value in (options or {}).items():
        for each in [value] if isinstance(value, str) else list(value or ()):
            typed += [option] if each is FLAG else [f"{option}={each}"] if each.startswith("-") else [option, each]
    return typed


def python(*lines: str) -> str:
    """Lines of Python, with the import that they need; other imports that come first stand beside it."""
    imports = next((place for place, line in enumerate(lines) if not line.startswith("from ")), len(lines))
    return "\n".join(["import bayeswise as bw", *lines[:imports], "", *lines[imports:]])


class Code(str):
    """Python code that is inserted into a call verbatim.

    >>> call("bw.fit", Code("table"), target="play")
    "bw.fit(table, target='play')"
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def call(function: str, *arguments: Any, **keywords: Any) -> str:
    """A call in Python; keywords that are None or empty are left out.

    >>> call("bw.fit", "golf.csv", target="play", ignore=[])
    "bw.fit('golf.csv', target='play')"
    """
    given = [f"{name}={value!r}" for name, value in keywords.items() if value not in (None, [], {}, ())]
    return f"{function}({', '.join([*map(repr, arguments), *given])})"


_PROBLEM = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
# FastAPI builds a schema again for each code of each route that names a type, so only the first code does.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"description": "the request is invalid", "model": Problem},
    401: {"description": "no token", "content": _PROBLEM},
    403: {"description": "another origin", "content": _PROBLEM},
    404: {"description": "no such file", "content": _PROBLEM},
    409: {"description": "changed meanwhile", "content": _PROBLEM},
    413: {"description": "too large", "content": _PROBLEM},
    422: {"description": "the data cannot be read, or do not fit the model", "content": _PROBLEM},
}
"""Answers of every route that can go wrong, for OpenAPI."""
