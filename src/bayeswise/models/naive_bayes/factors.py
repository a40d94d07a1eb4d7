"""A factor: the columns of one family, and what they say about the state of a row.

A factor is (columns, family) and knows no rows. It asks for a statistic (`request`), and with that statistic and the
settings becomes scores: log-likelihoods of cells under every state, which the model adds up. Pseudo-counts of the whole
column are the conjugate prior of its family.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from bayeswise.engines import Request
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.explanations.account import Contribution
    from bayeswise.statistics.numbers.extents import Span


Cells = TypeVar("Cells", CodeArray, FloatArray)


class Factor(Protocol):
    """The columns of one family; a frozen value that a model file keeps. One without columns is only counted."""

    @property
    def name(self) -> str:
        """The name of its statistic."""
        ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    def request(self, schema: Schema) -> Request:
        """What it needs of rows."""
        ...


class SpeakingFactor(Factor, Protocol):
    """A factor whose columns say something about the state of a row."""

    def scores(self, statistic: Any, settings: NaiveBayesSettings, schema: Schema) -> Scores:
        """The statistic (its first axis is the classes) and the settings, ready to score rows."""
        ...


class Scores(Protocol):
    """Log-likelihoods of the cells of one factor."""

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        """log_joint (n_rows, n_states) += the factor's log-likelihoods; missing cells add nothing."""
        ...

    def by_column(self, batch: Batch) -> FloatArray:
        """(n_rows, n_columns, n_states): the same, column by column."""
        ...

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        """(n_rows, n_states): what `add_to` would add if the row itself had never been learned."""
        ...

    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        """One cell for each of the given states, by column."""
        ...

    def alternatives(self, column: str, span: Span | None = None) -> tuple[Contribution, ...]:
        """Other values of the column, each with what it says of the states; of numbers, those between its values."""
        ...

    def linear_terms(self) -> Iterator[LinearTerm] | None:
        """The log-likelihood as a sum of terms weight * feature + constant; None if it is not linear."""
        ...

    def n_free_parameters(self) -> int: ...


class OfColumns:
    """Scores of some columns of a matrix of cells."""

    positions: IntArray  # of these columns

    @cached_property
    def takes_all(self) -> bool:
        return bool(np.array_equal(self.positions, np.arange(len(self.positions))))

    def own(self, cells: Cells) -> Cells:
        """(n_rows, n_columns) the columns out of a matrix: the matrix itself where they are all of it, in order."""
        return cells if self.takes_all and cells.shape[1] == len(self.positions) else cells[:, self.positions]


@dataclass(frozen=True, eq=False)
class LinearTerm:
    """weight * (x - centre) + constant for a number column, or weight where the column has the level."""

    column: str
    level: Label | None  # None: the column's own number
    weight: FloatArray  # (n_states,)
    constant: FloatArray  # (n_states,) at the centre
    centre: float = 0.0


@dataclass(frozen=True, eq=False)
class Leaving:
    """Which class each row of a batch is taken out of, and with which weight."""

    groups: CodeArray  # (n_rows,)
    weights: FloatArray  # (n_rows,)

    @classmethod
    def of(cls, groups: CodeArray, weights: FloatArray | None) -> Leaving:
        return cls(groups, np.ones(len(groups)) if weights is None else weights)


def pseudo_rows_of(family: Any, whole: Any, n_pseudo: float) -> Any:
    """`n_pseudo` pseudo-counts distributed as the whole column; None where the family has no prior of that kind.

    `whole` is the statistic of the whole column, (n_groups, n_columns).
    """
    return family.pseudo_rows(whole, n_pseudo) if n_pseudo > 0 and hasattr(family, "pseudo_rows") else None
