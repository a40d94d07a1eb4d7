"""What the routes share: the workspace, its limits and its jobs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.decisions.costs.warnings import CostWarning
from bayeswise.foundation.errors import FitError, KindError
from bayeswise.models.base.table_model import capabilities_of
from bayeswise.models.files import load
from bayeswise.workbench.pages.jobs import Jobs
from bayeswise.workbench.pages.label import Sessions
from bayeswise.workbench.safety import Limits
from bayeswise.workbench.workspace import Workspace


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
        """A decision file, its states and target checked against a model."""
        with warnings.catch_warnings(action="ignore", category=CostWarning):  # they are part of the view
            decision = DecisionFile.read(self.workspace.file(name), model.classes)
        target = model.schema.target.name
        if decision.target is not None and decision.target != target:
            raise FitError(
                f"{name!r} is about {decision.target!r}; the model is about {target!r}", fix="choose another"
            )
        decision.costs.aligned(model.classes)
        return decision

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
