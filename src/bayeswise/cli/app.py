"""The verbs, and an application that imports only the one that was typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core

from bayeswise import __version__
from bayeswise.cli.options import completion
from bayeswise.cli.options.command import as_command
from bayeswise.cli.options.pairs import ManyPairs, ManyValues, Verb, Verbs
from bayeswise.cli.options.settings import FitCommand

# In the order in which a user meets them; the line is what `bayeswise --help` says.
VERBS: dict[str, str] = {
    "look": "Show the inferred kind of each column, and the reason.",
    "fit": "Fit a model to a table and save it.",
    "predict": "Append predictions to a table.",
    "init-decision": "Write a decision.toml to fill in.",
    "decide": "Append the best action to a table.",
    "check": "Measure decision cost on labelled rows.",
    "report": "Write an HTML report on decision cost and calibration.",
    "thresholds": "Show which action is best at which probability.",
    "next-test": "Show which missing value of a row is most worth its price.",
    "densities": "Show class densities along one column, and the Bayes error.",
    "explain": "Explain the prediction or decision for one row.",
    "inspect": "Show the contents of a model file.",
    "export": "Write a model as a SQL query or an ONNX graph.",
    "merge": "Merge models of several tables, exactly.",
    "forget": "Remove rows from a model, exactly.",
    "bayes": "Apply Bayes' rule step by step.",
    "likelihood": "Show the log-likelihood of a sample and its maximum.",
    "beliefs": "Show the posterior of a parameter after each observation.",
    "concept": "Find the conjunctions of levels that define a class.",
    "network": "Query, show, explain, convert or learn a belief network.",
    "diagram": "Solve and analyse an influence diagram.",
    "label": "Label the most informative rows, one key per row.",
    "compare": "Compare kinds of models by cross-validated log-loss or cost.",
    "serve": "Open the workbench, and serve predictions.",
}

# The room of a verb below commands/, by what the verb is about; the others are in commands/ itself.
ROOMS: dict[str, tuple[str, ...]] = {
    "models": ("look", "fit", "predict", "explain", "inspect", "export", "merge", "forget", "compare"),
    "decisions": ("init-decision", "decide", "check", "report", "thresholds", "next-test"),
    "teaching": ("bayes", "likelihood", "beliefs", "concept", "densities"),
}

# The verbs whose options take several values at once: all of them, or those of NAME=VALUE.
MANY_VALUES: dict[str, type[typer.core.TyperCommand]] = {
    **dict.fromkeys(("bayes", "likelihood", "beliefs"), ManyValues),
    "fit": FitCommand,
    **dict.fromkeys(("densities", "explain", "decide", "check", "report", "thresholds", "next-test"), ManyPairs),
}

# The verbs that have verbs of their own: their file says which, by an `application` like this one.
GROUPS = ("network", "diagram")


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
    for verb, line in VERBS.items():
        if verb == named and verb in GROUPS:
            group = import_module(f"bayeswise.cli.commands.{file_of(verb)}").application(words)
            app.add_typer(group, name=verb, short_help=line)
            continue
        app.command(verb, short_help=line, cls=MANY_VALUES.get(verb, Verb))(load(verb) if verb == named else unloaded)
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
    room = next((f"{room}." for room, verbs in ROOMS.items() if verb in verbs), "")
    return room + verb.replace("-", "_")


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
