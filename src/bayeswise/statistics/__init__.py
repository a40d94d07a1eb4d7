"""What is kept of rows: exact sums and counts, an abelian group under `merge`.

A statistic is what was seen; smoothing, priors and variance floors are not in it. All have a first axis of groups (the
classes; one group where there are none), and hold no names: `Grouped` gives the groups their labels, `Product` puts
several statistics of the same rows side by side.

protocol.py         the contract, the fingerprint of a statistic, and the weight of each group
product.py          several statistics side by side, groups with labels
counts.py           levels of a category column
column_counts.py    the same of many columns, as one table; by code while a sweep goes on
joint.py            combinations of levels
pair_counts.py      levels of all pairs of columns
words.py            words of texts
cells.py            numbers as the kernels take them
moments.py          sums and sums of squares of numbers
extents.py          where the values of number columns lie, as counts
scatter.py          all cross products of numbers; of pairs of columns while rows are few
patterns.py         the same for rows with missing values
intervals.py        intervals of means and of shares
regression.py       X'X, X'y and y'y
sample.py           all values, for families without a statistic of fixed size
incomplete_rows.py  rows with missing cells, for EM
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.statistics.column_counts import ColumnCounts as ColumnCounts
    from bayeswise.statistics.column_counts import ColumnLevels as ColumnLevels
    from bayeswise.statistics.counts import Counts as Counts
    from bayeswise.statistics.extents import Extents as Extents
    from bayeswise.statistics.incomplete_rows import RowsWithMissing as RowsWithMissing
    from bayeswise.statistics.joint import JointCounts as JointCounts
    from bayeswise.statistics.moments import Moments as Moments
    from bayeswise.statistics.pair_counts import PairCounts as PairCounts
    from bayeswise.statistics.patterns import PatternScatter as PatternScatter
    from bayeswise.statistics.product import Grouped as Grouped
    from bayeswise.statistics.product import Product as Product
    from bayeswise.statistics.protocol import SufficientStatistics as SufficientStatistics
    from bayeswise.statistics.protocol import Weights as Weights
    from bayeswise.statistics.protocol import fingerprint as fingerprint
    from bayeswise.statistics.regression import RegressionMoments as RegressionMoments
    from bayeswise.statistics.sample import Sample as Sample
    from bayeswise.statistics.scatter import Scatter as Scatter
    from bayeswise.statistics.words import WordCounts as WordCounts

_LATE = {
    "bayeswise.statistics.column_counts": "ColumnCounts ColumnLevels",
    "bayeswise.statistics.counts": "Counts",
    "bayeswise.statistics.extents": "Extents",
    "bayeswise.statistics.incomplete_rows": "RowsWithMissing",
    "bayeswise.statistics.joint": "JointCounts",
    "bayeswise.statistics.moments": "Moments",
    "bayeswise.statistics.pair_counts": "PairCounts",
    "bayeswise.statistics.patterns": "PatternScatter",
    "bayeswise.statistics.product": "Grouped Product",
    "bayeswise.statistics.protocol": "SufficientStatistics Weights fingerprint",
    "bayeswise.statistics.regression": "RegressionMoments",
    "bayeswise.statistics.sample": "Sample",
    "bayeswise.statistics.scatter": "Scatter",
    "bayeswise.statistics.words": "WordCounts",
}
__all__ = [*" ".join(_LATE.values()).split()]
__getattr__, __dir__ = late_names(__name__, _LATE)
