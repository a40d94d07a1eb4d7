"""What a model needs of rows: named statistics over named columns, united by `|`.

A family passes the function that summarises its block of columns; an engine calls it on ranges of rows and merges the
answers, and neither knows the other.

>>> from bayeswise.statistics import Moments
>>> both = Request.numbers("size", ["height", "width"], Moments.of) | Request.numbers("age", ["age"], Moments.of)
>>> list(both.statistics), both.statistics["size"].columns
(['size', 'age'], ('height', 'width'))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.statistics import JointCounts
from bayeswise.statistics.counts.column_counts import CodedCounts
from bayeswise.tables.schema.labels import Vocabulary

Block = Literal["numbers", "categories", "text"]


@dataclass(frozen=True)
class ColumnStatistic:
    """One statistic of some columns of one kind.

    Numbers:    summarise(values, groups, n_groups, weights)
    Categories: summarise(codes, vocabularies, groups, n_groups, weights)
    Text:       summarise(word_counts, vocabulary, groups, n_groups, weights), one column
    """

    block: Block
    columns: tuple[str, ...]
    summarise: Callable[..., Any]
    in_pairs: bool = False  # whether the statistic has an entry for each pair of columns
    sparse: bool = False  # whether zeros take no room


@dataclass(frozen=True)
class Request:
    """Statistics by name; two requests unite by `|`."""

    statistics: Mapping[str, ColumnStatistic]

    @classmethod
    def numbers(
        cls, name: str, columns: Sequence[str], summarise: Callable[..., Any], *, in_pairs: bool = False
    ) -> Request:
        """A statistic of number columns, e.g. `Moments.of` or a family's `statistic`; or of all their pairs."""
        return cls({name: ColumnStatistic("numbers", tuple(columns), summarise, in_pairs)})

    @classmethod
    def counts(cls, name: str, columns: Sequence[str], declared: Sequence[Vocabulary | None] = ()) -> Request:
        """The counts of each category column, in one sweep; declared levels stay though no row shows them."""
        names = tuple(columns)
        fixed = list(declared) or [None] * len(names)

        def count(codes: Any, vocabularies: Any, groups: Any, n_groups: int, weights: Any) -> CodedCounts:
            return CodedCounts.of(names, codes, vocabularies, groups, n_groups, weights, fixed)

        return cls({name: ColumnStatistic("categories", names, count, sparse=True)})

    @classmethod
    def joint_counts(cls, name: str, columns: Sequence[str]) -> Request:
        """The joint counts of several category columns."""

        def count(codes: Any, vocabularies: Any, groups: Any, n_groups: int, weights: Any) -> JointCounts:
            return JointCounts.of(codes, list(vocabularies), groups, n_groups, weights)

        return cls({name: ColumnStatistic("categories", tuple(columns), count)})

    @classmethod
    def words(cls, name: str, column: str, summarise: Callable[..., Any]) -> Request:
        """A statistic of the word counts of a text column."""
        return cls({name: ColumnStatistic("text", (column,), summarise)})

    def __or__(self, other: Request) -> Request:
        twice = self.statistics.keys() & other.statistics.keys()
        if twice:
            raise ParameterError(f"two statistics are named {sorted(twice)[0]!r}", fix="give each its own name")
        return Request({**self.statistics, **other.statistics})
