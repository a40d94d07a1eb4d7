"""The options of `fit` that are settings of models: taken from their declarations, grouped in the help, and read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from bayeswise.cli.options.pairs import ManyPairs
from bayeswise.cli.options.reading import Kinds, Reading
from bayeswise.cli.output.writing import say
from bayeswise.foundation.errors import ParameterError, UsageError
from bayeswise.models.registry import MODELS, ModelKind

if TYPE_CHECKING:
    from bayeswise.models.settings.declaration import Setting
    from bayeswise.models.settings.help_text import Having

Run = TypeVar("Run", bound=Callable[..., None])

# The groups of options that are not settings of models; an option of none of them is a common one.
_GROUPS: dict[str, tuple[str, ...]] = {
    "Columns": (*(each.name for each in fields(Kinds)), "null"),
    "Reading": tuple(each.name for each in fields(Reading)),
    "Engine": ("engine", "master", "scheduler"),
}


# -- from declarations to options -----------------------------------------------------------------------------


def with_settings(run: Run) -> Run:
    """Put an option for each setting into the signature of a command that takes what was typed by name."""
    from bayeswise.models.settings.help_text import settings_by_option

    own = [each for each in inspect.signature(run, eval_str=True).parameters.values() if each.name != "typed"]
    spelled = [_parameter(key, settings) for key, settings in settings_by_option().items()]
    run.__signature__ = inspect.Signature([*own, *spelled])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in (*own, *spelled)}
    return run


def _parameter(key: str, settings: dict[str, Having]) -> inspect.Parameter:
    from bayeswise.models.settings.help_text import default_text, meaning

    every = [each for having in settings.values() for each in having.values()]
    text = "; ".join(meaning(name, having) for name, having in settings.items())
    text = f"do not {text}" if any(each.default is True for each in every) else text
    is_name = text.split(" ", 1)[0].rstrip(",:") in (*(kind.name for kind in MODELS), "regressions", "networks")
    text = text if is_name else f"{text[0].upper()}{text[1:]}"
    default = default_text(next(iter(settings.values()))) if len(settings) == 1 else ""
    metavar = "|".join(dict.fromkeys(each.metavar for each in every if each.metavar)) or None
    if metavar is None and every[0].number is not None:
        metavar = "N" if every[0].number is int else "X"
    shown = typer.Option(option(key), metavar=metavar, help=f"{text}{f' [{default}]' if default else ''}.")
    kind = _typed_as(every)
    standard = False if kind is bool else None
    annotation: Any = Annotated[kind if kind is bool else kind | None, shown]
    return inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=standard, annotation=annotation)


def _typed_as(every: Sequence[Setting]) -> Any:
    """The type of an option: a flag, a number, one of some words, or text that is read when the columns are known."""
    if any(each.by_name for each in every):
        return list[str]
    numbers = {each.number for each in every}
    words = [word for each in every for word in each.choices if word is not None]
    if numbers == {None}:
        return bool if set(words) == {True, False} else Literal[tuple(dict.fromkeys(words))] if words else str
    is_text = words or any(each.is_text for each in every)
    return str if is_text else (numbers.pop() if len(numbers) == 1 else float)


def option(key: str) -> str:
    """How a setting is typed.

    >>> option("prior_smoothing")
    '--prior-smoothing'
    """
    return f"--{key.replace('_', '-')}"


# -- the help, and earlier names ------------------------------------------------------------------------------


class LearnCommand(ManyPairs):
    """A command that takes the earlier names of options with a line on stderr."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)  # what follows are files
        return super().parse_args(ctx, [*_named_today(args[:end], self.earlier(args[:end])), *args[end:]])

    def earlier(self, words: Sequence[str]) -> dict[str, str]:
        """The current option, by each earlier one, for what was typed."""
        return {"--strength": "--smoothing"}


class FitCommand(LearnCommand):
    """The same, with help in groups, and with the earlier names of all settings."""

    def earlier(self, words: Sequence[str]) -> dict[str, str]:
        return earlier_options(words)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                groups.setdefault("Arguments" if is_argument else group_of(str(parameter.name)), []).append(record)
        for title in ("Arguments", *titles()):
            if title in groups:
                with formatter.section(title):
                    formatter.write_dl(groups[title])


def _named_today(words: Sequence[str], earlier: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        if name not in earlier:
            found.append(word)
            continue
        say(f"{name} is now called {earlier[name]}; the old name will be removed.")
        *before, last = earlier[name].split()
        found += [*before, f"{last}{equals}{value}"]
    return found


def earlier_options(words: Sequence[str]) -> dict[str, str]:
    """The current option, by each earlier one, for what was typed.

    >>> earlier = earlier_options(["--model", "k-dependence"])
    >>> earlier["--freedom"], earlier["--parents"], earlier["--bdeu"]
    ('--df', '--k', '--prior bdeu --smoothing')
    """
    from bayeswise.models.settings.help_text import settings_by_kind

    if "--bdeu" in words and "--smoothing" in words:
        raise UsageError("--bdeu and --smoothing exclude each other", fix="write --prior bdeu --smoothing A")
    every = [each for having in settings_by_kind().values() for each in having.values()]
    return {
        **{option(each.earlier): option(each.name) for each in every if each.earlier and each.option is None},
        "--parents": "--k" if any("k-dependence" in word for word in words) else "--max-parents",
        "--bdeu": "--prior bdeu --smoothing",
    }


def titles() -> list[str]:
    """The titles of all groups of options, in the order of the help.

    >>> titles()[:5]
    ['Common', 'Columns', 'Reading', 'Engine', 'Several models']
    """
    from bayeswise.models.settings import help_text

    common, *others = help_text.titles()
    return list(dict.fromkeys([common, *_GROUPS, *others]))


def group_of(key: str) -> str:
    """The title of the group of an option.

    >>> group_of("target"), group_of("levels"), group_of("header"), group_of("shrinkage")
    ('Common', 'Columns', 'Reading', 'Gaussian classes (gaussian)')
    """
    from bayeswise.models.settings.help_text import settings_by_option, title_of

    settings = settings_by_option().get("smoothing" if key == "m_estimate" else key)
    if settings is not None:
        return title_of(next(iter(settings)))
    return next((title for title, names in _GROUPS.items() if key in names), "Common")


# -- from what was typed to settings --------------------------------------------------------------------------


def what_was_typed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are there.

    >>> what_was_typed({"smoothing": 0.0, "scale": None, "marginalize": False})
    {'smoothing': 0.0}
    """
    return {name: value for name, value in options.items() if value is not None and value is not False}


def settings_of(kind: ModelKind, typed: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a model from the options that were typed; those by column are still pieces of text.

    >>> from bayeswise.models.registry import kind_of_name
    >>> settings_of(kind_of_name("naive-bayes"), {"m_estimate": 2.0, "shared_variance": True})
    {'shared_variance': True, 'smoothing': MEstimate(m=2.0, p={})}
    >>> settings_of(kind_of_name("linear"), {"scale": "2", "no_intercept": True})
    {'scale': 2.0, 'fit_intercept': False}
    """
    from bayeswise.models.settings.help_text import settings_by_option

    given = dict(typed)
    shared = given.pop("m_estimate", None)
    found = {}
    for key, value in given.items():
        having = {name: having[kind] for name, having in settings_by_option()[key].items() if kind in having}
        if not having:
            raise _not_an_option(kind, key)
        for name, each in having.items():
            found[name] = _read(each, value, option(key))
    return found if shared is None else {**found, **_m_estimate(kind, shared, given)}


def _not_an_option(kind: ModelKind, key: str) -> UsageError:
    from bayeswise.models.settings.help_text import settings_by_option

    others = [other for other in MODELS if any(other in having for having in settings_by_option()[key].values())]
    choices = " or ".join(f"--model {other.name}" for other in others)
    return UsageError(
        f"{option(key)} is not an option of a {kind.name} model", fix=f"leave it out, or choose {choices}"
    )


def _read(each: Setting, value: Any, what: str) -> Any:
    if isinstance(each.default, bool):
        return not each.default
    if not isinstance(value, str) or each.number is None:
        return value
    try:
        return each.number(value)
    except ValueError:
        if value in each.choices or each.is_text:
            return value
        words = " or ".join(map(str, each.choices))
        raise UsageError(f"{what} is {value!r}", fix=f"give a number, or {words}") from None


def _m_estimate(kind: ModelKind, shared: float, given: Mapping[str, Any]) -> dict[str, Any]:
    """--m-estimate M: pseudo-counts that all levels of a column, or all cells of a row of a table, share."""
    if "smoothing" in given:
        raise ParameterError("--smoothing and --m-estimate exclude each other", fix="give one of them")
    if "smoothing" not in kind.declared():
        raise UsageError(
            f"--m-estimate is not an option of a {kind.name} model", fix="leave it out, or choose --model naive-bayes"
        )
    if kind.group == "network":
        return {"prior": "m-estimate", "smoothing": shared}
    from bayeswise.models.settings.naive_bayes import MEstimate

    return {"smoothing": MEstimate(shared)}
