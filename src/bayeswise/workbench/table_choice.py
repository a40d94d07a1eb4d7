"""A table of the workspace, and the overrides of its columns: the options that `look` and `fit` share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from bayeswise.foundation.errors import SchemaError
from bayeswise.tables.schema.overrides import SchemaOverrides
from bayeswise.tables.source import DEFAULT_NULL_WORDS, Source, open_source
from bayeswise.workbench.messages import Code, FileName, Message, Name, call
from bayeswise.workbench.safety import Limits
from bayeswise.workbench.workspace import Workspace

Names = Annotated[list[Name], Field(max_length=20_000)]
NullWord = Annotated[str, StringConstraints(max_length=1_000)]


class TableChoice(Message):
    """A table, its target, and kinds of columns that override the inferred ones."""

    table: FileName
    target: Name | None = None
    category: Names = Field(default_factory=list)
    number: Names = Field(default_factory=list)
    count: Names = Field(default_factory=list)
    binary: Names = Field(default_factory=list)
    text: Names = Field(default_factory=list)
    ignore: Names = Field(default_factory=list)
    null: Annotated[list[NullWord], Field(max_length=1_000)] | None = None

    def opened(self, workspace: Workspace, limits: Limits) -> Source:
        """The rows; a table that is wider than allowed is refused."""
        words = DEFAULT_NULL_WORDS if self.null is None else tuple(self.null)
        source = open_source(workspace.file(self.table), null_words=words)
        if len(source.columns) > limits.columns:
            raise SchemaError(
                f"{self.table!r} has {len(source.columns):,} columns; the workbench shows up to {limits.columns:,}",
                fix="use the command line, or a table with fewer columns",
            )
        return source

    @property
    def kinds(self) -> dict[str, Any]:
        """The kind of each column whose kind is overridden."""
        chosen = {"category": self.category, "number": self.number, "count": self.count}
        chosen |= {"binary": self.binary, "text": self.text}
        return {name: kind for kind, names in chosen.items() for name in names}

    @property
    def overrides(self) -> SchemaOverrides:
        """The overrides as `examine` takes them."""
        return {"kinds": self.kinds, "ignore": list(self.ignore)}

    @property
    def options(self) -> dict[str, Iterable[str] | str | None]:
        """The options of the command line."""
        return {
            "--target": self.target,
            "--category": self.category,
            "--number": self.number,
            "--count": self.count,
            "--binary": self.binary,
            "--text": self.text,
            "--ignore": self.ignore,
            "--null": self.null,
        }

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of `bw.fit`."""
        return {"target": self.target, "kinds": self.kinds, "ignore": list(self.ignore)}

    @property
    def in_python(self) -> tuple[list[str], Code]:
        """Lines that open the rows, and what stands for them then: the name of the file, unless it has null words."""
        if self.null is None:
            return [], Code(repr(self.table))
        opened = call("open_source", self.table, null_words=list(self.null))
        return ["from bayeswise.tables.source import open_source", f"table = {opened}"], Code("table")
