"""What the routes share: the workspace, its limits and its jobs; a table and the overrides of its columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import field, replace
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.decisions.costs.warnings import CostWarning
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, KindError, SchemaError
from bayeswise.models.base.table_model import capabilities_of
from bayeswise.models.files import load
from bayeswise.tables.schema.overrides import SchemaOverrides
from bayeswise.tables.source import DEFAULT_NULL_WORDS, Source, open_source
from bayeswise.workbench.messages import Code, FileName, Message, Name, call
from bayeswise.workbench.pages.jobs import Jobs
from bayeswise.workbench.pages.label import Sessions
from bayeswise.workbench.safety import Limits
from bayeswise.workbench.workspace import Workspace

Names = Annotated[list[Name], Field(max_length=20_000)]
NullWord = Annotated[str, StringConstraints(max_length=1_000)]


@dataclass(frozen=True)
class Bench:
    """One folder that is being worked on."""

    workspace: Workspace
    limits: Limits = field(default_factory=Limits)

    def model(self, name: str) -> Any:
        """The model in a file, loaded once as long as the file stays as it is."""
        path = self.workspace.file(name)
        return self.workspace.remembered(path, "model", lambda: load(path))

    def model_of_classes(self, name: str) -> Any:
        """A model that answers with the probability of each class."""
        model = self.model(name)
        if not capabilities_of(model).classes:
            raise KindError(f"{name!r} does not answer with classes", fix="choose a model of classes")
        return model

    def decision(self, name: str, model: Any) -> DecisionFile:
        """A decision file about the target of a model, its costs in the order of the classes."""
        with warnings.catch_warnings(action="ignore", category=CostWarning):  # they are part of the view
            decision = DecisionFile.read(self.workspace.file(name), model.classes)
        target = model.schema.target.name
        if decision.target is not None and decision.target != target:
            raise FitError(
                f"{name!r} is about {decision.target!r}; the model is about {target!r}", fix="choose another"
            )
        return replace(decision, costs=decision.costs.aligned(model.classes))

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self.workspace)

    def close(self) -> None:
        """End what runs in other processes."""
        self.jobs.close()
        self.sessions.close()

    @cached_property
    def jobs(self) -> Jobs:
        return Jobs(self.workspace, self.limits)


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
