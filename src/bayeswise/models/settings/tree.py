"""Settings of trees: what a leaf costs, how deep it may be, how its shares are smoothed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.settings import common
from bayeswise.models.settings.declaration import Settings, setting
from bayeswise.render.labels import Label


@dataclass(frozen=True, kw_only=True)
class TreeSettings(Settings):
    """What a tree keeps.

    >>> TreeSettings(max_depth=3).convention
    'nml, at most 3 questions deep, laplace 1'
    """

    code: Literal["nml", "exceptions"] = setting(
        "nml", "code of the classes in a leaf: nml, or exceptions, a list of the rows that are wrong"
    )
    max_depth: int | Literal["unlimited"] = setting(
        "unlimited", "maximum number of questions before a leaf", metavar="N", at_least=0
    )
    smoothing: float = setting(
        1.0, "pseudo-counts per class in a leaf, distributed as the classes of all rows", at_least=0
    )
    class_prior: Mapping[Label, float] | None = common.class_prior()

    @property
    def convention(self) -> str:
        """The code and the smoothing in a few words."""
        depth = "" if self.max_depth == "unlimited" else f", at most {self.max_depth} questions deep"
        return f"{self.code}{depth}, laplace {self.smoothing:g}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TreeOptions(TreeSettings, common.ColumnOptions):
    """All that `fit` takes for a tree."""

    model: Literal["tree", "description-length-tree"]
    missing: str | Mapping[str, str] = setting("ignore", "ignore (answers no to every question), level or error")
