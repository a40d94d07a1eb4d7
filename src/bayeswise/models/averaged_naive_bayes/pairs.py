"""The factor of normal columns that asks for the sums of their pairs too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayeswise.engines import Request
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.models.averaged_naive_bayes.category_pairs import pairs_for
from bayeswise.models.naive_bayes.categories import Categories
from bayeswise.models.naive_bayes.factors import Factor
from bayeswise.models.naive_bayes.numbers import NormalScores, Numbers
from bayeswise.models.settings.averaged import given_temper
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.statistics.scatter import PairSums, most_rows_for
from bayeswise.tables.schema.schema import Schema


@dataclass(frozen=True)
class PairedNumbers(Numbers):
    """Normal columns with the sums of their pairs, up to so many rows (None: of any number)."""

    most_rows: int | None = None

    def request(self, schema: Schema) -> Request:
        return Request.numbers(self.name, self.columns, self._summed)

    def _summed(
        self, values: FloatArray, groups: CodeArray | None, n_groups: int, weights: FloatArray | None
    ) -> PairSums:
        return PairSums.of(values, groups, n_groups, weights, self.most_rows)

    def scores(self, statistic: Any, settings: NaiveBayesSettings, schema: Schema) -> NormalScores:
        return super().scores(statistic.moments, settings, schema)


def with_pairs(factors: tuple[Factor, ...], temper: Any = "auto") -> tuple[Factor, ...]:
    """The factors that a temper asks for: pairs while they are cheap ("auto"), always ("pairs"), or never."""
    given_temper(temper)
    if not isinstance(temper, str):
        return factors
    always = temper == "pairs"
    paired = [_paired(factor, always) if type(factor) is Numbers else factor for factor in factors]
    counted = [pairs_for(factor.columns) for factor in factors if always and isinstance(factor, Categories)]
    return (*paired, *(factor for factor in counted if factor is not None))


def _paired(factor: Numbers, always: bool) -> Factor:
    most = None if always else most_rows_for(len(factor.columns))
    return factor if most == 0 or len(factor.columns) < 2 else PairedNumbers(factor.columns, most)
