"""Words of the form NAME=VALUE, where a name may itself contain '='; options that take several values at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
import typer.core

from bayeswise.cli.options import completion
from bayeswise.foundation.errors import ParameterError, UsageError, legible
from bayeswise.render.labels import guess
from bayeswise.render.numbers import exact


def by_number(pieces: Iterable[str], option: str, example: str) -> dict[str, str]:
    """NAME=VALUE cut at the last '=', for values that have none.

    >>> by_number(["yes=.6", "no=2/5"], "--prior", "yes=.6")
    {'yes': '.6', 'no': '2/5'}
    """
    return _mapping((piece.rpartition("=") for piece in pieces), option, example)


def numbers_by_name(pieces: Iterable[str], option: str, example: str) -> dict[str, float]:
    """NAME=NUMBER, the number written as in `bayeswise bayes`.

    >>> numbers_by_name(["lab=1/2"], "--price", "lab=5")
    {'lab': 0.5}
    """
    return {name: float(exact(text, f"{option} {name}")) for name, text in by_number(pieces, option, example).items()}


def by_name(pieces: Iterable[str], known: Iterable[str], option: str, example: str) -> dict[str, str]:
    """NAME=VALUE cut after the longest name that is known, else at the first '='.

    >>> by_name(["a=b=c", "wind=weak"], ["a=b", "wind"], "--row", "wind=weak")
    {'a=b': 'c', 'wind': 'weak'}
    """
    names = sorted(known, key=len, reverse=True)
    return _mapping((_cut(piece, names) for piece in pieces), option, example)


def _cut(piece: str, names: list[str]) -> tuple[str, str, str]:
    name = next((name for name in names if piece.startswith(f"{name}=")), None)
    return piece.partition("=") if name is None else (name, "=", piece[len(name) + 1 :])


def _mapping(pieces: Iterable[tuple[str, str, str]], option: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, equals, value in pieces:
        if not equals or not name:
            raise ParameterError(
                f"{option} takes NAME=VALUE; found {''.join((name, equals, value))!r}",
                fix=f"write it as {option} {example}",
            )
        if name in found:
            raise ParameterError(f"{option} names {name!r} twice: {found[name]!r} and {value!r}", fix="give it once")
        found[name] = value
    return found


def _as_typed(parameter: Any, ctx: Any, value: Any, convert: Callable[..., Any]) -> Any:
    """Options that are not there, and texts, as they are; numbers and words of a choice that are written plainly.

    Others are converted, or refused, by typer, which imports pydantic for it.
    """
    several = parameter.multiple or parameter.nargs == -1
    annotation = parameter.type_descriptor.annotation
    if value is None and not parameter.required:
        value = () if several else None
    elif value and annotation == (list[str] if several else str):
        value = list(value) if several else value
    elif isinstance(value, str) and _is_plain(value, annotation, parameter.type_descriptor.parameter_info):
        value = annotation(value) if annotation in _PLAIN else value
    else:
        try:
            return convert(ctx, value)
        except typer.BadParameter as error:
            if value is None or value == ():  # it is missing, and typer says so
                raise
            raise _wrong_value(parameter, value, error) from None
    return value if parameter.callback is None else parameter.callback(ctx, parameter, value)


_PLAIN = {int: re.compile(r"[0-9]{1,15}"), float: re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?|\.[0-9]{1,15}")}


def _is_plain(text: str, annotation: Any, info: Any) -> bool:
    """Whether a text is one word of a choice, or digits of a number within its bounds.

    >>> _is_plain("12", int, typer.Option(min=1)), _is_plain("0", int, typer.Option(min=1))
    (True, False)
    """
    if get_origin(annotation) is Literal:
        return text in get_args(annotation)
    if annotation not in _PLAIN or not _PLAIN[annotation].fullmatch(text):
        return False
    low, high = (-math.inf if info.min is None else info.min), (math.inf if info.max is None else info.max)
    return bool(low <= annotation(text) <= high)


def _wrong_value(parameter: Any, value: Any, error: typer.BadParameter) -> UsageError:
    """What typer refused to convert: an option of some words, or a number within bounds."""
    option = parameter.opts[-1] if parameter.opts[-1].startswith("-") else str(parameter.name).upper()
    types = set(_inner_types(parameter.type_descriptor.annotation))
    words = [word for each in types for word in get_args(each)]
    if words:
        unknown = next((item for item in [value, *value] if isinstance(item, str) and item not in words), value)
        return UsageError(f"{option} is {unknown!r}", fix=guess(unknown, words))
    if types & {int, float}:
        what = "a number" if float in types else "a whole number"
        info = parameter.type_descriptor.parameter_info
        low, high = getattr(info, "min", None), getattr(info, "max", None)
        bounds = ("" if low is None else f" from {low}") + (" on" if high is None and low is not None else "")
        return UsageError(f"{option} is {value!r}", fix=f"give {what}{bounds}{'' if high is None else f' to {high}'}")
    return UsageError(f"{option} is {value!r}: {error.message.removeprefix('Value error, ')}")


def _inner_types(annotation: Any) -> Iterator[Any]:
    """The types that a parameter takes, without None, lists and metadata; a Literal is one of them."""
    inner = get_args(annotation)
    if get_origin(annotation) is Literal or not inner:
        yield annotation
    else:
        for each in inner[:1] if get_origin(annotation) is Annotated else inner:
            yield from _inner_types(each)


def _offered(parameter: Any, otherwise: Callable[..., Any], ctx: Any, incomplete: str) -> Any:
    """The completions of a parameter, for a shell; those of typer where there are none."""
    words = completion.words_for(parameter, incomplete)
    if words is not None:
        parameter._custom_shell_complete = lambda *_: words
    return otherwise(ctx, incomplete)


class _Option(typer.core.TyperOption):
    def process_value(self, ctx: Any, value: Any) -> Any:
        return _as_typed(self, ctx, value, super().process_value)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        return _offered(self, super().shell_complete, ctx, incomplete)


class _Argument(typer.core.TyperArgument):
    def process_value(self, ctx: Any, value: Any) -> Any:
        return _as_typed(self, ctx, value, super().process_value)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        option = completion.open_option(ctx.command.params, incomplete)
        return super().shell_complete(ctx, incomplete) if option is None else option.shell_complete(ctx, incomplete)


_KINDS: dict[type, type] = {typer.core.TyperOption: _Option, typer.core.TyperArgument: _Argument}


def _taking_text(parameters: list[Any]) -> list[Any]:
    """The parameters of a command; those of a typer that converts by itself, and quickly, stay as they are."""
    for parameter in parameters:
        if hasattr(parameter, "type_descriptor"):
            parameter.__class__ = _KINDS.get(type(parameter), type(parameter))
    return parameters


class Verb(typer.core.TyperCommand):
    """A command that takes text as it was typed: pydantic would be 0.1 s of each start."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _taking_text(super().get_params(ctx))

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        option = None if incomplete.startswith("-") else completion.open_option(self.params, incomplete)
        return super().shell_complete(ctx, incomplete) if option is None else option.shell_complete(ctx, incomplete)


class Verbs(typer.core.TyperGroup):
    """A group of commands that takes its own options in the same way."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _taking_text(super().get_params(ctx))

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        with _legible_complaints():
            return super().make_context(*arguments, **named)

    def invoke(self, ctx: Any) -> Any:
        with _legible_complaints():
            return super().invoke(ctx)


@contextmanager
def _legible_complaints() -> Iterator[None]:
    """What typer says of words that it does not know, without repeating a long one in full."""
    try:
        yield
    except Exception as error:
        said = getattr(error, "message", None)
        if hasattr(error, "format_message") and isinstance(said, str):  # an error of click, wherever typer keeps it
            vars(error)["message"] = legible(said)
        raise


def group_of_verbs(run: Callable[[], None]) -> typer.Typer:
    """A verb that has verbs of its own; `run` holds its help."""
    group = typer.Typer(
        cls=Verbs,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group.callback()(run)
    return group


class ManyValues(Verb):
    """A command in which every option that may be repeated may instead have several values after it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        repeatable = {name for option in self.params if getattr(option, "multiple", False) for name in option.opts}
        return super().parse_args(ctx, list(repeated(args, repeatable)))


class ManyPairs(Verb):
    """A command in which options of NAME=VALUE may have several of them after it, and all else are arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        repeatable = {name for option in self.params if _takes_pairs(option) for name in option.opts}
        return super().parse_args(ctx, list(repeated(args, repeatable, pairs=True)))


def _takes_pairs(option: Any) -> bool:
    return getattr(option, "multiple", False) and "=" in (option.metavar or "")


def repeated(words: Iterable[str], repeatable: Collection[str], *, pairs: bool = False) -> Iterator[str]:
    """Put the option before each of its values; with `pairs`, a word without '=' is not a value of it.

    >>> list(repeated(["--observe", "sunny", "cool", "--json"], {"--observe"}))
    ['--observe', 'sunny', '--observe', 'cool', '--json']
    >>> list(repeated(["--prior", "yes=.6", "no=.4", "golf.csv"], {"--prior"}, pairs=True))
    ['--prior', 'yes=.6', '--prior', 'no=.4', 'golf.csv']
    >>> list(repeated(["--data", "1", "-2.5", "--json"], {"--data"}))
    ['--data', '1', '--data', '-2.5', '--json']
    """
    option, waiting = "", False  # the option that values now belong to; whether it still has none
    words = list(words)
    for position, word in enumerate(words):
        if word == "--":
            yield from words[position:]
            return
        negative = bool(option) and word[1:2] in tuple("0123456789.")
        if word.startswith("-") and not negative:
            name, _, value = word.partition("=")
            option, waiting = (name, not value) if name in repeatable else ("", False)
            yield word
        else:
            if option and not waiting and (not pairs or "=" in word):
                yield option
            yield word
            waiting = False
