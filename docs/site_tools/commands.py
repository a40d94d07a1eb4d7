"""The reference of the command line, from the program: `{command} fit` shows what `bayeswise fit --help` knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from site_tools.docstrings import markdown, taken_apart


def verbs() -> dict[str, Any]:
    """Every verb with its command, those of groups as `network query`."""
    from bayeswise.cli.app import VERBS, application

    found: dict[str, Any] = {}
    for verb, entry in VERBS.items():
        command: Any = typer.main.get_command(application([verb])).commands[verb]
        if not entry.has_verbs:
            found[verb] = command
            continue
        for name in command.commands:
            group: Any = typer.main.get_command(application([verb, name])).commands[verb]
            found[f"{verb} {name}"] = group.commands[name]
    return found


def shown(verb: str, command: Any) -> Iterator[str]:
    """A verb as Markdown: usage, what it does, arguments, and options by group."""
    context = command.make_context(f"bayeswise {verb}", [], resilient_parsing=True)
    yield from ("```text", " ".join(command.get_usage(context).removeprefix("Usage: ").split()), "```", "")
    for kind, text in taken_apart(command.help or command.short_help, []).parts:
        if kind == "text":
            yield from (markdown(line.strip()) for line in text.replace("\b", "").splitlines())
        else:
            yield from ("```console", *text.splitlines(), "```")
        yield ""
    panels: dict[str, list[Any]] = {}
    for parameter in command.params:
        if not getattr(parameter, "hidden", False) and parameter.name != "help":
            panels.setdefault(panel(parameter), []).append(parameter)
    for title, parameters in panels.items():
        yield from (f"**{title}**", "")
        for parameter in parameters:
            yield from definition(parameter, context)


def panel(parameter: Any) -> str:
    """The heading below which a parameter stands in the help."""
    default = "Arguments" if parameter.param_type_name == "argument" else "Options"
    return getattr(parameter, "rich_help_panel", None) or default


def definition(parameter: Any, context: Any) -> Iterator[str]:
    """A parameter as a definition: how it is typed, and what it means."""
    typed, meaning = parameter.get_help_record(context) or ("", "")
    if parameter.param_type_name == "argument":
        typed = parameter.metavar or parameter.name.upper()
    yield from (f"`{typed.strip()}`", f": {markdown(' '.join(meaning.split()))}", "")


class Command(SphinxDirective):
    """The entries of all verbs, each under its own heading."""

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for verb, command in verbs().items():
            section = nodes.section(ids=[f"bayeswise-{verb.replace(' ', '-')}"], names=[f"bayeswise {verb}"])
            section.document = self.state.document
            section += nodes.title("", "", nodes.literal("", f"bayeswise {verb}"))
            self.state.nested_parse(StringList(list(shown(verb, command)), source=f"bayeswise {verb}"), 0, section)
            self.state.document.note_explicit_target(section)
            found.append(section)
        return found


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("commands", Command)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
