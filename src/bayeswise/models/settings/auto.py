"""Settings of `model="auto"`: a mixture or the best member, by which loss, and for how long to look."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal, Protocol

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.settings import common
from bayeswise.models.settings.declaration import Settings, setting
from bayeswise.render.labels import Label

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_COSTS = "best is the model whose decisions cost least on left-out rows, not that of least log-loss"
_FORM = "{action: {class: cost, ...}, ...}, bw.Costs, a frame or the path of a decision file"


class CostTable(Protocol):
    """`bw.Costs`, or a frame of costs."""

    @property
    def columns(self) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class AutoSettings(Settings):
    """What a mixture of models keeps.

    >>> AutoSettings(choose="best").convention
    'the best member'
    """

    choose: Literal["stack", "best"] = setting(
        "stack", "combine all models that apply, weighted by left-out rows (stack), or keep the best one (best)"
    )
    costs: Mapping[Label, Mapping[Label, float]] | None = setting(None, _COSTS, option="", form=_FORM)
    class_prior: Mapping[Label, float] | None = common.class_prior()
    calibrate: Literal["auto", "sigmoid", "platt", "isotonic", "dirichlet", "temperature", "none"] = setting(
        "auto", common.CALIBRATE, metavar="HOW"
    )

    def __post_init__(self) -> None:
        from bayeswise.posteriors.calibration import checked_method

        super().__post_init__()
        object.__setattr__(self, "calibrate", checked_method(self.calibrate))
        if self.costs is not None and self.choose != "best":
            raise ParameterError("costs choose one member, and choose is 'stack'", fix="add choose='best'")

    @property
    def convention(self) -> str:
        """The settings in a few words."""
        return "the best member" if self.choose == "best" else "members weighed by left-out rows"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AutoOptions(AutoSettings, common.ColumnOptions):
    """All that `fit` takes for a mixture of models."""

    model: Literal["auto"] = "auto"
    costs: Mapping[Label, Any] | CostTable | str | PathLike[str] | None = setting(  # type: ignore[assignment]
        None, _COSTS, option="", form=_FORM
    )
    within: str | float | None = setting(
        None,
        "time limit: leave out the most expensive candidates, so that fitting ends in this time",
        metavar="60s|2m|1h",
    )


def seconds_of(within: Any) -> float | None:
    """A limit of time in seconds: a number, or text such as "60s", "2m" or "1h".

    >>> seconds_of("2m"), seconds_of(30), seconds_of(None)
    (120.0, 30.0, None)
    """
    if within is None:
        return None
    found: float = math.nan
    if isinstance(within, (int, float)) and not isinstance(within, bool):
        found = float(within)
    elif isinstance(within, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(s|m|min|h|)\s*", within)
        found = float(match[1]) * _UNITS[match[2]] if match else math.nan
    if not 0.0 < found < math.inf:
        raise ParameterError(f"within is {within!r}", fix='write a time such as "60s", "2m" or "1h"')
    return found
