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

from bayeswise.statistics.column_counts import ColumnCounts, ColumnLevels
from bayeswise.statistics.counts import Counts
from bayeswise.statistics.extents import Extents
from bayeswise.statistics.incomplete_rows import RowsWithMissing
from bayeswise.statistics.joint import JointCounts
from bayeswise.statistics.moments import Moments
from bayeswise.statistics.pair_counts import PairCounts
from bayeswise.statistics.patterns import PatternScatter
from bayeswise.statistics.product import Grouped, Product
from bayeswise.statistics.protocol import SufficientStatistics, Weights, fingerprint
from bayeswise.statistics.regression import RegressionMoments
from bayeswise.statistics.sample import Sample
from bayeswise.statistics.scatter import Scatter
from bayeswise.statistics.words import WordCounts

__all__ = [
    "ColumnCounts",
    "ColumnLevels",
    "Counts",
    "Extents",
    "Grouped",
    "JointCounts",
    "Moments",
    "PairCounts",
    "PatternScatter",
    "Product",
    "RegressionMoments",
    "RowsWithMissing",
    "Sample",
    "Scatter",
    "SufficientStatistics",
    "Weights",
    "WordCounts",
    "fingerprint",
]
