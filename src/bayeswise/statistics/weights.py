"""The weight of the rows in each group: class counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.protocol import Additive, refuse_amounts, refuse_negative


@dataclass(frozen=True)
class Weights(Additive):
    """The sum of the weights of all rows, exactly.

    >>> Weights.of(4, groups=np.array([0, 1, 1, 1], dtype=np.int32), n_groups=2)
    Weights(1, 3)
    """

    weight: ExactArray  # (n_groups,)

    sums = ("weight",)

    def __post_init__(self) -> None:
        if len(self.weight.shape) != 1:
            raise SchemaError("there must be one count of rows for each group")

    def refuse_impossible(self) -> None:
        refuse_amounts([self.weight, self.weight.sum()], "a count of rows")

    @classmethod
    def of(
        cls, n_rows: int, groups: CodeArray | None = None, n_groups: int = 1, weights: FloatArray | None = None
    ) -> Weights:
        """Rows counted by group; a negative group is left out, a weight of k counts as k rows."""
        if weights is not None:
            return cls(ExactArray.from_limbs(*_kernels.moments(weights[:, None], groups, n_groups)[1])[:, 0])
        if groups is None:
            return cls(ExactArray.from_integers([n_rows]))
        return cls(ExactArray.from_integers(np.bincount(groups[groups >= 0], minlength=n_groups)))

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.weight

    def _refuse_unmerged(self) -> None:
        refuse_negative([self.weight], "a count of rows")

    def __repr__(self) -> str:
        return f"Weights({', '.join(f'{weight:g}' for weight in self.weight.to_floats())})"
