"""The fitted average: the statistics of a plain naive Bayes model, read with all structures at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeswise.engines import of_no_rows
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NotFittedError, ParameterError
from bayeswise.models.averaged_naive_bayes.categories import averaged_categories
from bayeswise.models.averaged_naive_bayes.category_pairs import CategoryPairs, PairedNumbers, with_pairs
from bayeswise.models.averaged_naive_bayes.mixing import (
    log_relevance,
    log_structure_prior,
    relevance_of,
    structure_scores,
)
from bayeswise.models.base.table_model import Capabilities, ModelFacts
from bayeswise.models.naive_bayes.categories import Categories
from bayeswise.models.naive_bayes.choices import factors_for
from bayeswise.models.naive_bayes.factors import Factor, Scores
from bayeswise.models.naive_bayes.learning import learned
from bayeswise.models.naive_bayes.model import NaiveBayesModel, request_of
from bayeswise.models.naive_bayes.normal_columns import Numbers
from bayeswise.models.naive_bayes.others import Others
from bayeswise.models.naive_bayes.words import Words
from bayeswise.models.settings.averaged import AveragedSettings, given_temper, settings_from
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.schema.schema import Schema, positions_in

if TYPE_CHECKING:
    from bayeswise.models.naive_bayes.closed_forms import LinearForm

_OF_PLAIN = ("smoothing", "class_prior", "prior_smoothing", "shared_variance")


@dataclass(frozen=True, repr=False, eq=False)
class AveragedNaiveBayesModel(NaiveBayesModel):
    """p(state | row) averaged over all 2^d structures of d columns, each with its posterior probability.

    Rows come and go as in every naive Bayes model, exactly.
    """

    settings: AveragedSettings
    capabilities: ClassVar[Capabilities] = replace(NaiveBayesModel.capabilities, relevance=True)

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """Each factor ready to score rows, mixed with its irrelevant twin."""
        if not self.classes:
            raise NotFittedError("the model has learned no rows", fix="fit it to a table with a target")
        every = self.averaged_scores
        return every if self.settings.n_relevant is None else structure_scores(every, self.settings.n_relevant)

    @cached_property
    def averaged_scores(self) -> tuple[Any, ...]:
        """Each factor by itself, every column relevant or not."""
        return tuple(self._scores_of(factor) for factor in self.speaking)

    def _scores_of(self, factor: Factor) -> Any:
        statistic = self.statistics.part[factor.name]
        if isinstance(factor, Categories):
            pairs = None if self.settings.temper is not None else self.statistics.part.parts.get(CategoryPairs.name)
            return averaged_categories(factor.columns, statistic, self.settings, self.schema, pairs)
        from bayeswise.models.averaged_naive_bayes.normal_columns import AveragedNormalScores
        from bayeswise.models.averaged_naive_bayes.others import AveragedFamilyScores
        from bayeswise.models.averaged_naive_bayes.words import AveragedWordScores

        refuse_unless_averageable(factor)
        odds, pseudo_rows = self.settings.log_prior_odds(factor.columns), self.settings.pseudo_rows
        if isinstance(factor, Words):
            place = self.schema.texts.index(factor.columns[0])
            return AveragedWordScores(factor.columns, place, statistic, pseudo_rows, odds)
        positions = positions_in(self.schema.numbers, factor.columns)
        temper, shared = self.settings.temper, self.settings.shared_variance
        if isinstance(factor, Others) and factor.family.name == "log-normal":
            return AveragedNormalScores(
                factor.columns, positions, statistic, pseudo_rows, odds, temper, of_logs=True, shared=shared
            )
        if isinstance(factor, Others):
            return AveragedFamilyScores(factor.columns, factor.family, positions, statistic, pseudo_rows, odds)
        return AveragedNormalScores(factor.columns, positions, statistic, pseudo_rows, odds, temper, shared=shared)

    @cached_property
    def log_relevance_odds(self) -> dict[str, float]:
        """log p(column relevant | rows) - log p(not relevant | rows), by column."""
        columns = [name for each in self.averaged_scores for name in each.columns]
        log_odds = np.concatenate([each.log_odds for each in self.averaged_scores])
        if self.settings.n_relevant is not None:
            log_factor = np.concatenate([each.log_factor for each in self.averaged_scores])
            prior = log_structure_prior(self.settings.n_relevant, len(columns))
            log_odds = np.subtract(*log_relevance(prior, log_factor))
        found = dict(zip(columns, log_odds.tolist(), strict=True))
        return {name: found[name] for name in self.schema.used}

    def facts(self) -> ModelFacts:
        found = super().facts()
        return replace(found, relevance=self.relevance, temper=self.temper) if self.classes else found

    @property
    def relevance(self) -> dict[str, float]:
        """p(column relevant | rows), by column: the share of all structures in which it depends on the class."""
        return {name: float(relevance_of(np.asarray(odds))) for name, odds in self.log_relevance_odds.items()}

    @property
    def plain(self) -> NaiveBayesModel:
        """Naive Bayes from the same statistics: every column relevant, each parameter at its estimate."""
        shared = {name: getattr(self.settings, name) for name in _OF_PLAIN}
        settings = NaiveBayesSettings(**shared)
        return NaiveBayesModel(self.schema, settings, self.statistics, self.factors, self.selected)

    def _asking(self, factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
        """With the sums of pairs, as far as the model was fitted with them."""
        paired = [each for each in self.factors if isinstance(each, PairedNumbers)]
        always = any(isinstance(each, CategoryPairs) for each in self.factors)
        always = always or any(each.most_rows is None for each in paired)
        if self.settings.temper is not None and not always and not paired:
            return factors
        return with_pairs(factors, "pairs" if always else "auto")

    @property
    def temper(self) -> float:
        """The exponent of what the columns say, the smallest of all kinds: below 1 where they say the same."""
        return min((each.temper for each in self.averaged_scores), default=1.0)

    def linear_form(self) -> LinearForm:
        """Refused: an average of linear forms is not linear."""
        raise ParameterError("an average over structures is not linear in the columns", fix="use a plain naive Bayes")


def refuse_unless_averageable(factor: Factor) -> None:
    """Of the models of words only the multinomial one has an evidence."""
    if isinstance(factor, Words) and factor.model == "multinomial":
        return
    if not isinstance(factor, Categories | Numbers | Others | CategoryPairs):
        raise ParameterError(
            f"this model of words cannot be averaged over structures: {', '.join(map(repr, factor.columns))}",
            fix='take a text column as "multinomial" and flags as "categorical", or use a plain naive Bayes',
        )


def averaged(
    model: NaiveBayesModel, relevance: Any = 0.5, *, n_relevant: Any = None, temper: float | None = None
) -> AveragedNaiveBayesModel:
    """The average over structures, from the statistics of a plain model: no second pass over rows.

    A plain model knows no pairs of columns, so that temper is 1 unless it is given.
    """
    for factor in model.factors:
        refuse_unless_averageable(factor)
    settings = settings_from(model.settings, relevance, n_relevant, temper)
    settings.check_columns(column.name for column in model.schema)
    return AveragedNaiveBayesModel(model.schema, settings, model.statistics, model.factors, model.selected)


def averaged_of_batches(
    batches: Sequence[Batch], schema: Schema, settings: AveragedSettings
) -> AveragedNaiveBayesModel:
    """The average over structures of encoded rows."""
    factors = with_pairs(factors_for(schema, "auto"), "auto" if settings.temper is None else settings.temper)
    nothing = of_no_rows(schema, request_of(factors, schema))
    return AveragedNaiveBayesModel(schema, settings, nothing, factors).relearned(batches)


def learned_averaged(
    table: Any,
    target: str,
    *,
    relevance: Any = 0.5,
    n_relevant: Any = None,
    temper: Any = "auto",
    **overrides: Any,
) -> tuple[AveragedNaiveBayesModel, Report]:
    """What `fit_averaged` learns, and its report: invalid values, rows without a target."""
    plain, report = learned(table, target, asking=partial(with_pairs, temper=temper), **overrides)
    return averaged(plain, relevance, n_relevant=n_relevant, temper=given_temper(temper)), report
