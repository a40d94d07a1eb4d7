"""What is kept of rows: exact sums and counts, an abelian group under `merge`.

A statistic is what was seen; smoothing, priors and variance floors are not in it. All have a first axis of groups (the
classes; one group where there are none), and hold no names: `Grouped` gives the groups their labels, `Product` puts
several statistics of the same rows side by side.

protocol.py   the contract, the fingerprint of a statistic, and the weight of each group
product.py    several statistics side by side, groups with labels
counts/       how often levels, combinations of levels and words were seen
numbers/      exact sums, products and extents of numbers; all values where no fewer will do
intervals.py  intervals of means and of shares
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.statistics.counts.column_counts import ColumnCounts as ColumnCounts
    from bayeswise.statistics.counts.column_levels import ColumnLevels as ColumnLevels
    from bayeswise.statistics.counts.joint_counts import JointCounts as JointCounts
    from bayeswise.statistics.counts.level_counts import Counts as Counts
    from bayeswise.statistics.counts.pair_counts import PairCounts as PairCounts
    from bayeswise.statistics.counts.word_counts import WordCounts as WordCounts
    from bayeswise.statistics.numbers.extents import Extents as Extents
    from bayeswise.statistics.numbers.incomplete_rows import RowsWithMissing as RowsWithMissing
    from bayeswise.statistics.numbers.moments import Moments as Moments
    from bayeswise.statistics.numbers.pattern_scatter import PatternScatter as PatternScatter
    from bayeswise.statistics.numbers.regression_moments import RegressionMoments as RegressionMoments
    from bayeswise.statistics.numbers.sample import Sample as Sample
    from bayeswise.statistics.numbers.scatter import Scatter as Scatter
    from bayeswise.statistics.product import Grouped as Grouped
    from bayeswise.statistics.product import Product as Product
    from bayeswise.statistics.protocol import SufficientStatistics as SufficientStatistics
    from bayeswise.statistics.protocol import Weights as Weights
    from bayeswise.statistics.protocol import fingerprint as fingerprint

__all__, __getattr__, __dir__ = late_names()
