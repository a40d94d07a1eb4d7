"""The fitted average: the statistics of a plain naive Bayes model, read with all structures at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeswise.foundation.errors import NotFittedError, ParameterError
from bayeswise.models.averaged_naive_bayes.categories import AveragedTable, averaged_categories
from bayeswise.models.averaged_naive_bayes.mixing import relevance_of
from bayeswise.models.averaged_naive_bayes.numbers import AveragedNormalScores
from bayeswise.models.averaged_naive_bayes.others import AveragedFamilyScores
from bayeswise.models.averaged_naive_bayes.settings import AveragedSettings, settings_from
from bayeswise.models.naive_bayes.categories import Categories, CategoryScores
from bayeswise.models.naive_bayes.factors import Factor, Scores
from bayeswise.models.naive_bayes.learning import fit
from bayeswise.models.naive_bayes.linear import LinearForm
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.naive_bayes.numbers import Numbers
from bayeswise.models.naive_bayes.others import Others


@dataclass(frozen=True, repr=False)
class AveragedNaiveBayesModel(NaiveBayesModel):
    """p(state | row) averaged over all 2^d structures of d columns, each with its posterior probability.

    Rows come and go as in every naive Bayes model, exactly.
    """

    settings: AveragedSettings

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """Each factor ready to score rows, mixed with its irrelevant twin."""
        if not self.classes:
            raise NotFittedError("the model has learned no rows", fix="fit it to a table with a target")
        return tuple(self._scores_of(factor) for factor in self.factors)

    def _scores_of(self, factor: Factor) -> Scores:
        statistic = self.statistics.part[factor.name]
        if isinstance(factor, Categories):
            return averaged_categories(factor.columns, statistic, self.settings, self.schema)
        refuse_unless_averageable(factor)
        positions = np.array([self.schema.numbers.index(name) for name in factor.columns], dtype=np.int64)
        odds, imagined = self.settings.log_prior_odds(factor.columns), self.settings.pseudo_rows
        if isinstance(factor, Others):
            return AveragedFamilyScores(factor.columns, factor.family, positions, statistic, imagined, odds)
        return AveragedNormalScores(factor.columns, positions, statistic, imagined, odds)

    @cached_property
    def log_relevance_odds(self) -> dict[str, float]:
        """log p(column relevant | rows) - log p(not relevant | rows), by column."""
        found: dict[str, float] = {}
        for factor, each in zip(self.factors, self.scores, strict=True):
            if isinstance(each, CategoryScores):
                tables = [table for table in each.tables if isinstance(table, AveragedTable)]
                found.update({table.column.name: table.log_odds for table in tables})
            elif isinstance(each, AveragedNormalScores | AveragedFamilyScores):
                found.update(dict(zip(factor.columns, each.log_odds.tolist(), strict=True)))
        return {name: found[name] for name in self.schema.used}

    @property
    def relevance(self) -> dict[str, float]:
        """p(column relevant | rows), by column: the share of all structures in which it depends on the class."""
        return {name: float(relevance_of(np.asarray(odds))) for name, odds in self.log_relevance_odds.items()}

    def linear_form(self) -> LinearForm:
        """An average of linear forms is none."""
        raise ParameterError("an average over structures is not linear in the columns", fix="use a plain naive Bayes")


def refuse_unless_averageable(factor: Factor) -> None:
    """Words have no evidence of one column here."""
    if not isinstance(factor, Categories | Numbers | Others):
        raise ParameterError(
            f"text cannot be averaged over structures: {', '.join(map(repr, factor.columns))}",
            fix="leave the text out, or use a plain naive Bayes",
        )


def averaged(model: NaiveBayesModel, relevance: Any = 0.5) -> AveragedNaiveBayesModel:
    """The average over structures, from the statistics of a plain model: no second pass over rows."""
    for factor in model.factors:
        refuse_unless_averageable(factor)
    settings = settings_from(model.settings, relevance)
    return AveragedNaiveBayesModel(model.schema, settings, model.statistics, model.factors)


def fit_averaged(table: Any, target: str, *, relevance: Any = 0.5, **wishes: Any) -> AveragedNaiveBayesModel:
    """Learn the average over structures from any table; the wishes are those of `bw.fit`.

    >>> rows = [{"wind": w, "coin": c, "play": p} for w, c, p in 5 * [("weak", "h", "yes"), ("strong", "h", "no"),
    ...         ("weak", "t", "yes"), ("strong", "t", "no")]]
    >>> {name: round(p, 3) for name, p in fit_averaged(rows, target="play").relevance.items()}
    {'wind': 1.0, 'coin': 0.336}
    """
    return averaged(fit(table, target, **wishes), relevance)
