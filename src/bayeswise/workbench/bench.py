"""What the routes share: the workspace and its limits."""

from __future__ import annotations

from dataclasses import dataclass, field

from bayeswise.workbench.safety import Limits
from bayeswise.workbench.workspace import Workspace


@dataclass(frozen=True)
class Bench:
    """One folder that is being worked on."""

    workspace: Workspace
    limits: Limits = field(default_factory=Limits)
