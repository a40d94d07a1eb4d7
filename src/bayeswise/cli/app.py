"""The verbs, and an application that imports only the one that was typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
import typer.core

from bayeswise import __version__
from bayeswise.cli.options import completion
from bayeswise.cli.options.command import as_command
from bayeswise.cli.options.pairs import ManyPairs, ManyValues, Verb, Verbs
from bayeswise.cli.options.settings import FitCommand


class Entry(NamedTuple):
    """What there is to know of a verb before its file is imported."""

    line: str  # what `bayeswise --help` says
    room: str = ""  # below commands/, by what the verb is about; none: its file is in commands/ itself
    kind: type[typer.core.TyperCommand] = Verb  # which of its options take several values at once
    has_verbs: bool = False  # verbs of its own: its file says which, by an `application` like the one here


# In the order in which a user meets them.
VERBS: dict[str, Entry] = {
    "look": Entry("Show the inferred kind of each column, and the reason.", "models"),
    "fit": Entry("Fit a model to a table and save it.", "models", FitCommand),
    "predict": Entry("Append predictions to a table.", "models"),
    "init-decision": Entry("Write a decision.toml to fill in.", "decisions"),
    "decide": Entry("Append the best action to a table.", "decisions", ManyPairs),
    "check": Entry("Measure decision cost on labelled rows.", "decisions", ManyPairs),
    "report": Entry("Write an HTML report on decision cost and calibration.", "decisions", ManyPairs),
    "thresholds": Entry("Show which action is best at which probability.", "decisions", ManyPairs),
    "next-test": Entry("Show which missing value of a row is most worth its price.", "decisions", ManyPairs),
    "densities": Entry("Show class densities along one column, and the Bayes error.", "teaching", ManyPairs),
    "explain": Entry("Explain the prediction or decision for one row.", "models", ManyPairs),
    "inspect": Entry("Show the contents of a model file.", "models"),
    "export": Entry("Write a model as a SQL query or an ONNX graph.", "models"),
    "merge": Entry("Merge models of several tables, exactly.", "models"),
    "forget": Entry("Remove rows from a model, exactly.", "models"),
    "bayes": Entry("Apply Bayes' rule step by step.", "teaching", ManyValues),
    "likelihood": Entry("Show the log-likelihood of a sample and its maximum.", "teaching", ManyValues),
    "beliefs": Entry("Show the posterior of a parameter after each observation.", "teaching", ManyValues),
    "concept": Entry("Find the conjunctions of levels that define a class.", "teaching"),
    "network": Entry("Query, show, explain, convert or learn a belief network.", has_verbs=True),
    "diagram": Entry("Solve and analyse an influence diagram.", has_verbs=True),
    "label": Entry("Label the most informative rows, one key per row."),
    "compare": Entry("Compare kinds of models by cross-validated log-loss or cost.", "models"),
    "serve": Entry("Open the workbench, and serve predictions."),
}


def application(words: Sequence[str], verbose: bool = False) -> typer.Typer:
    """Build the application in which the verb among `words` is real and the others are only lines of help."""
    app = typer.Typer(
        cls=Verbs,
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "obj": verbose},
    )
    app.callback()(root)
    words = completion.line() or words
    named = next((word for word in words if not word.startswith("-")), None)
    for verb, entry in VERBS.items():
        if verb == named and entry.has_verbs:
            group = import_module(f"bayeswise.cli.commands.{file_of(verb)}").application(words)
            app.add_typer(group, name=verb, short_help=entry.line)
            continue
        app.command(verb, short_help=entry.line, cls=entry.kind)(load(verb) if verb == named else unloaded)
    return app


def load(verb: str) -> Callable[..., Any]:
    """Import the verb's own file."""
    command: Callable[..., Any] = import_module(f"bayeswise.cli.commands.{file_of(verb)}").run
    return as_command(command)


def file_of(verb: str) -> str:
    """The file of a verb below commands/: a module's name has no hyphen.

    >>> file_of("next-test"), file_of("serve")
    ('decisions.next_test', 'serve')
    """
    return f"{VERBS[verb].room}.{verb.replace('-', '_')}".removeprefix(".")


def unloaded() -> None:
    """Stand in for a verb that is not run."""


def print_version(context: typer.Context, version: bool) -> None:
    """Answer --version before typer misses a verb; with -v, say what the kernels run on."""
    if version:
        print(f"bayeswise {__version__}")
        if context.obj:
            from bayeswise import _kernels

            print(f"kernels: {_kernels.isa()} (available here: {', '.join(_kernels.available_isas())})")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=print_version)
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v",
            "--verbose",
            help="Show the traceback of an error, or with --version the instruction set; may stand anywhere.",
        ),
    ] = False,
) -> None:
    """From a table to the best decision."""
