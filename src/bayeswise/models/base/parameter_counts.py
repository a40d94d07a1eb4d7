"""How many parameters a model has, in the readings that textbooks use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bayeswise.render.plain import Tabular
from bayeswise.render.terminal import aligned


@dataclass(frozen=True)
class ParameterCounts(Tabular):
    """One number for each reading.

    free        those that can be chosen: probabilities that sum to 1 have one fewer, a given prior has none
    written     every number that is written down, such as the prior of each class and p(value | class) of each value
    tables      |values| x |classes| of each column, without the prior
    full_joint  |classes| x the product of |values|: all combinations of a table without any assumption; None where
                a column is a number
    """

    free: int
    written: int
    tables: dict[str, int]
    n_classes: int
    full_joint: int | None

    @property
    def full_joint_free(self) -> int | None:
        """One fewer, since the probabilities sum to 1."""
        return None if self.full_joint is None else self.full_joint - 1

    def to_columns(self) -> dict[str, list[Any]]:
        """reading and parameters."""
        found: dict[str, int | None] = {"free": self.free, "written": self.written}
        found |= {f"table of {name}": count for name, count in self.tables.items()}
        found |= {"full joint": self.full_joint, "full joint, free": self.full_joint_free}
        return {"reading": list(found), "parameters": list(found.values())}

    def __str__(self) -> str:
        columns = self.to_columns()
        rows = zip(columns["reading"], columns["parameters"], strict=True)
        return "\n".join(aligned([[name, "-" if count is None else f"{count:,}"] for name, count in rows]))


def parameter_counts(model: Any, per_class: dict[str, int], levels: dict[str, int]) -> ParameterCounts:
    """Of a model that has so many numbers in each column and class, and so many levels in its categories."""
    n = len(model.classes)
    tables = {name: count * n for name, count in per_class.items()}
    whole = n * math.prod(levels.values()) if set(levels) == set(per_class) else None
    return ParameterCounts(model.n_free_parameters(), n + sum(tables.values()), tables, n, whole)
