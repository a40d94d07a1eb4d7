"""The reference of Python names: `{public} Costs` is the entry of a public name, from its signature and docstring."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from site_tools.docstrings import Docstring, markdown
from site_tools.inventory import Entry, Parameter, entry_of, fitted, listed, members

_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
_FENCE = "::::::"


class Public(SphinxDirective):
    """Entries of public names, one for each line: `{public}` with `Costs` or `decisions.*` in it."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        given = [line.strip() for line in self.content if line.strip()]
        lines = [line for entry, methods in self.entries(given) for line in shown(entry, methods)]
        section = nodes.container()
        section.document = self.state.document
        self.state.nested_parse(StringList(lines, source=f"reference of {self.env.docname}"), 0, section)
        return section.children

    def entries(self, lines: list[str]) -> Iterator[tuple[Entry, list[Entry]]]:
        """What is shown, with its methods."""
        for name in listed(lines):
            yield entry_of(name), list(members(entry_of(name)))


class Fitted(Public):
    """Kinds of models that `bw.fit` gives back: those of their methods that users need, and not their fields."""

    def entries(self, lines: list[str]) -> Iterator[tuple[Entry, list[Entry]]]:
        for line in lines:
            entry, methods = fitted(line)
            yield replace(entry, parameters=(), shown=None), methods


def shown(entry: Entry, methods: list[Entry]) -> Iterator[str]:
    """An entry as Markdown: the signature, the docstring, the parameters, then the methods."""
    module, _, name = f"bayeswise.{entry.name}".rpartition(".")
    kind = "data" if entry.kind == "data" else entry.kind
    yield f"{_FENCE}{{py:{kind}}} {name}{signature(entry)}"
    yield f":module: {module}"
    yield ""
    yield from described(entry)
    for member in methods:
        if not member.docstring.parts:  # of parts below the surface; public names at the top have docstrings throughout
            continue
        last = member.name.rpartition(".")[2]
        yield f"{_FENCE[1:]}{{py:{member.kind}}} {last}{signature(member)}"
        yield ""
        yield from described(member)
        yield _FENCE[1:]
        yield ""
    yield _FENCE
    yield ""


def signature(entry: Entry) -> str:
    """Names and defaults; what the types are stands beside the meaning."""
    if entry.kind in ("property", "data", "exception") or entry.shown is None:
        return ""
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty, default=_default(parameter))
        for parameter in entry.shown.parameters.values()
    ]
    return str(inspect.Signature(bare))


class _Text(str):
    """A default that is shown without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _default(parameter: inspect.Parameter) -> Any:
    if parameter.default is parameter.empty:
        return parameter.default
    text = repr(parameter.default)
    return _Text("..." if text.startswith("<") or len(text) > 40 else text)


def described(entry: Entry) -> Iterator[str]:
    """The docstring and the parameters."""
    yield from prose(entry.docstring)
    for parameter in entry.parameters:
        yield f":param {_STARS.get(parameter.kind, '')}{parameter.name}: {meaning(parameter)}"
    yield ""


def meaning(parameter: Parameter) -> str:
    """The type, where it says something in few words, and what the parameter means."""
    text = markdown(parameter.meaning or "")
    return f"(`{parameter.type}`) {text}" if parameter.type and len(parameter.type) <= 60 else text


def prose(docstring: Docstring) -> Iterator[str]:
    """A docstring as Markdown."""
    for kind, text in docstring.parts:
        if kind == "text":
            yield from (markdown(line.strip()) for line in text.splitlines())
        else:
            yield from (f"```{'pycon' if kind == 'code' else 'text'}", *text.splitlines(), "```")
        yield ""


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("public", Public)
    app.add_directive("fitted", Fitted)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
