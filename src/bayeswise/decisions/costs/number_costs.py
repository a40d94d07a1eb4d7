"""What choosing one number costs when another one comes true, as a decision file gives it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bayeswise.decisions.costs.cost_cells import plain_number
from bayeswise.decisions.costs.tables import read_toml
from bayeswise.decisions.number_actions import Expectation, absolute_action, one_number, pinball_action, squared_action
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError
from bayeswise.render.labels import refuse_unknown, shown

_SHAPES = "write under = 9 and over = 1, or loss = 'squared' or 'absolute'"
_KEYS = ("under", "over", "loss")
_SCALED = ("gaussian", "student-t", "laplace")  # y = location + scale times a standard number


@dataclass(frozen=True)
class NumberCosts:
    """under max(y - a, 0) + over max(a - y, 0), |y - a| or (y - a)^2, of a predictive distribution for each row.

    >>> NumberCosts.of({"under": 9, "over": 1})
    NumberCosts(loss='pinball', under=9.0, over=1.0)
    """

    loss: Literal["pinball", "absolute", "squared"]
    under: float = 1.0
    over: float = 1.0

    @classmethod
    def of(cls, entries: Mapping[str, Any], where: str = "the costs") -> NumberCosts:
        """From the table [number] of a decision file."""
        for key in entries:
            refuse_unknown(key, _KEYS, f"{where}: number has the unknown entry", CostError)
        loss = entries.get("loss", "pinball")
        if loss in ("absolute", "squared") and len(entries) == 1:
            return cls(loss)
        if loss != "pinball" or not {"under", "over"} <= set(entries):
            raise CostError(f"{where}: number does not define what too little and too much cost", fix=_SHAPES)
        return cls("pinball", _cost(entries, "under", where), _cost(entries, "over", where))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> NumberCosts:
        """The [number] of a TOML file."""
        return cls.of_document(read_toml(Path(path)) if Path(path).suffix.lower() == ".toml" else {}, str(path))

    @classmethod
    def of_document(cls, document: Mapping[str, Any], where: str) -> NumberCosts:
        """The same of a document that is read."""
        if not isinstance(document.get("number"), dict):
            raise CostError(f"{where} does not define what a chosen number costs", fix=f"add [number]; {_SHAPES}")
        return cls.of(document["number"], where)

    def actions(self, predictive: Any) -> FloatArray:
        """(n_rows,) the action of least expected cost: the mean, the median, or the quantile under / (under + over)."""
        if self.loss == "squared":
            return np.asarray(squared_action(predictive))
        if self.loss == "absolute":
            return np.asarray(absolute_action(predictive))
        return np.asarray(pinball_action(predictive, under=self.under, over=self.over))

    def expected(self, predictive: Any) -> FloatArray:
        """(n_rows,) what these actions cost on average; infinite where the distribution is too wide for it."""
        if self.loss == "squared":
            return np.asarray(predictive.stddev**2)
        if getattr(predictive, "kind", None) in _SCALED:
            return np.asarray(predictive.scale * self._of_standard(predictive))
        rows = [type(predictive)(predictive.kind, *_row(predictive, k)) for k in range(len(predictive.location))]
        return np.array([self._by_quadrature(row) for row in rows])

    def _of_standard(self, predictive: Any) -> FloatArray:
        """The cost where location is 0 and scale 1, for each number of degrees of freedom once."""
        shape = np.shape(predictive.location)
        df = np.broadcast_to(predictive.df, shape)
        found = np.empty(shape)
        for each in np.unique(df):
            standard = type(predictive)(predictive.kind, np.zeros(1), np.ones(1), float(each))
            found[df == each] = self._by_quadrature(standard) if each > 1 else np.inf
        return found

    def _by_quadrature(self, predictive: Any) -> float:
        action = one_number(self.actions(predictive))

        def cost(y: FloatArray) -> FloatArray:
            return np.where(y > action, self.under * (y - action), self.over * (action - y))

        return Expectation(predictive).of(cost, kink=action)


def _row(predictive: Any, k: int) -> tuple[FloatArray, FloatArray, float]:
    df = np.broadcast_to(predictive.df, predictive.location.shape)
    return predictive.location[k : k + 1], predictive.scale[k : k + 1], float(df[k])


def _cost(entries: Mapping[str, Any], name: str, where: str) -> float:
    number = plain_number(entries[name])
    if number is None or not 0.0 < number < np.inf:
        found = shown(entries[name], 40)
        raise CostError(f"{where}: number.{name} must be a number above 0; found {found}", fix="write its unit cost")
    return number
