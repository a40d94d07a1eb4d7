"""The fitted mixture: members, their weights, one calibration, and how each candidate did on left-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, FitError, KindError, NotFittedError, SchemaError, TooLargeError
from bayeswise.foundation.logspace import log
from bayeswise.models.auto.candidates import Member
from bayeswise.models.auto.explaining import account_of
from bayeswise.models.auto.pooling import LogLinear
from bayeswise.models.base.classifier import with_targets
from bayeswise.models.base.table_model import Capabilities, ModelFacts, where_rows_are
from bayeswise.models.forgetting import (
    forgotten_by,
    history_with,
    refuse_other_parts,
    refuse_other_settings,
    with_ledger,
)
from bayeswise.models.from_table import encoded_rows
from bayeswise.models.relearning import RelearnedModel
from bayeswise.models.settings.auto import AutoSettings
from bayeswise.posteriors.calibration_maps import MAPS, AsItIs, Calibration
from bayeswise.posteriors.normalise import log_posterior, normalise
from bayeswise.render.numbers import count
from bayeswise.statistics import Grouped, Product, fingerprint
from bayeswise.store.fields import added_later
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account, Contribution
    from bayeswise.explanations.nomogram import Nomogram


@dataclass(frozen=True)
class CandidateScore:
    """How a candidate did on rows that were left out, and its weight in the mixture."""

    name: str
    log_loss: float
    error: float
    how: str  # "leave-one-out", "10 folds"
    weight: float


@dataclass(frozen=True, eq=False)
class AutoModel(RelearnedModel):
    """Posteriors of members, pooled and calibrated, with weights that maximise the score of left-out rows.

    p(state | row) = calibration(sum_k w_k p_k(state | row)), or the weighted mean of their logarithms, with a `pool`.

    Members that are functions of exact statistics merge, learn and forget exactly; the weights stay as they were found,
    and `learned_since` and `forgotten_since` say how old they are.
    """

    schema: Schema
    settings: AutoSettings
    labels: Vocabulary
    levels: tuple[Vocabulary, ...]  # of the categories
    members: tuple[Member, ...]
    weights: FloatArray  # (n_members,)
    calibration: Calibration
    scores: tuple[CandidateScore, ...]  # of all candidates that were tried
    notes: Mapping[str, str]  # why others were not, by name
    log_loss: float  # of left-out rows under weights that did not see them
    certificate: float  # no other weights are better by more than this, in nats for each row
    n_weighed: int  # rows that the weights were found by
    weight_weighed: float  # of all rows at that time
    learned_since: float = 0.0
    forgotten_since: float = 0.0
    offered: Mapping[str, tuple[float, ...]] | None = added_later(None)  # by column, numbers that a change may lead to
    pool: LogLinear | None = added_later(None)  # None: the mean of posteriors
    capabilities: ClassVar[Capabilities] = Capabilities(
        classes=True, forgets=True, relearns=True, members=True, changes=True
    )

    def refuse_impossible(self) -> None:
        good = self.weights.shape == (len(self.members),) and len(self.members) > 0
        if not good or not (self.weights > 0.0).all() or abs(float(self.weights.sum()) - 1.0) > 1e-9:
            raise SchemaError("the weights of the members do not sum to 1")
        if not isinstance(self.calibration, MAPS):
            raise SchemaError("the calibration is not a map of posteriors")
        if self.schema.target is None or not self.labels:
            raise SchemaError("a mixture has a target and classes")
        if len(self.levels) != len(self.schema.categories):
            raise SchemaError("the levels are not those of the categories")
        for member in self.members:
            if any(label not in self.labels for label in member.model.classes):
                raise SchemaError(f"{member.name} has a class that the mixture does not have")
            if member.inputs is not None and member.inputs.schema.used != member.model.schema.used:
                raise SchemaError(f"{member.name} has other columns than those that it is given")

    # -- what it is -------------------------------------------------------------------------------------------
    @property
    def exact_members(self) -> tuple[Member, ...]:
        """Those that keep statistics: rows can come and go."""
        return tuple(member for member in self.members if not member.learns_weights)

    @cached_property
    def class_weight(self) -> FloatArray:
        """(n_states,) the weight of the rows of each class."""
        member = next(iter(self.exact_members), self.members[0])
        weight = np.zeros(len(self.classes))
        weight[Vocabulary(member.model.classes).positions_in(self.labels)] = member.model.class_weight
        return weight

    @property
    def log_prior(self) -> FloatArray:
        """(n_states,) the shares of the rows, or as given by `class_prior`."""
        given = self.log_class_prior
        return self.log_counted if given is None else given

    @cached_property
    def log_counted(self) -> FloatArray:
        """(n_states,) the logarithms of the shares of the rows."""
        total = self.class_weight.sum()
        if total <= 0.0:
            raise NotFittedError("the model has learned no rows", fix="fit it to a table with a target")
        return np.asarray(log(self.class_weight) - log(total))

    @property
    def weight_of_member(self) -> dict[str, float]:
        """The weights by name."""
        return {member.name: float(w) for member, w in zip(self.members, self.weights.tolist(), strict=True)}

    @property
    def age(self) -> str:
        """Since when the weights and the calibration stand, in words; empty where nothing has changed."""
        changes = [f"{count(self.learned_since)} learned"] * (self.learned_since > 0)
        changes += [f"{count(self.forgotten_since)} forgotten"] * (self.forgotten_since > 0)
        return f"those of {count(self.weight_weighed)} rows; since then {' and '.join(changes)}" if changes else ""

    def facts(self) -> ModelFacts:
        shown = "1 model" if len(self.members) == 1 else f"{len(self.members)} models"
        return ModelFacts(dict.fromkeys(self.schema.used, shown))

    def n_free_parameters(self) -> int:
        """Those of all members, one fewer than members for their weights, and the power of a pool."""
        own = sum(int(member.model.n_free_parameters()) for member in self.members)
        return own + len(self.members) - (self.pool is None)

    def changed(self, **settings: Any) -> Self:
        """The same rows under another `class_prior`; other settings need the rows."""
        others = [name for name in settings if name != "class_prior"]
        if others:
            raise FitError(f"{others[0]} is fixed when members are weighed", fix=f"fit again with {others[0]}=...")
        found = with_ledger(replace(self, settings=self.settings.changed(**settings)), forgotten_by(self))
        found.check_prior()
        return found

    def __repr__(self) -> str:
        shown = "; ".join(f"{name} {weight:.2g}" for name, weight in self.weight_of_member.items())
        return f"AutoModel({self.schema.target_name}: {self.rows_learned:g} rows, {shown})"

    @cached_property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The levels and words that members know, by column."""
        known = dict(zip(self.schema.categories, self.levels, strict=True))
        for member in self.exact_members:
            if member.keeps_categories:
                known.update(member.model.vocabularies)
        for name in self.schema.texts:
            indicators = [member.word_indicators[name] for member in self.members if name in member.word_indicators]
            if name not in known and indicators:
                known[name] = Vocabulary.of(word for words in indicators for word in words)
        return known

    # -- what it says about rows ------------------------------------------------------------------------------
    def log_mixture(self, batch: Batch) -> FloatArray:
        """(n_rows, n_states) the log posterior of all members together, before the calibration.

        A member that thinks a row impossible answers with its prior; where all members do, the row stays impossible.
        """
        parts, impossible = zip(*(member.answered(batch, self.classes) for member in self.members), strict=True)
        mixed = self.log_pooled(np.stack(parts))
        nowhere = np.logical_and.reduce(impossible)
        return np.where(nowhere[:, None], -np.inf, mixed) if nowhere.any() else mixed

    def log_pooled(self, log_members: FloatArray) -> FloatArray:
        """(n_rows, n_states) of (n_members, n_rows, n_states) log posteriors."""
        if self.pool is not None:
            return self.pool.log_pool(log_members, self.weights, self.log_counted)
        mixed = np.full(log_members.shape[1:], -np.inf)
        for part, log_weight in zip(log_members, np.log(self.weights).tolist(), strict=True):
            mixed = np.logaddexp(mixed, part + log_weight)
        return mixed

    def log_relative(self, batch: Batch) -> FloatArray:
        log_mixed = self.log_mixture(batch)
        if not isinstance(self.calibration, AsItIs):
            log_mixed = self.calibration.apply_log(log_posterior(log_mixed))
        if self.settings.class_prior is None:
            return log_mixed
        return np.asarray(log_mixed + self.log_prior_shift)

    @property
    def log_prior_shift(self) -> FloatArray:
        """(n_states,) what `class_prior` adds to the scores of the classes."""
        with np.errstate(invalid="ignore"):  # -inf - -inf: a class without rows
            return np.where(self.class_weight > 0.0, self.log_prior - self.log_counted, -np.inf)

    def probability(self, batch: Batch) -> FloatArray:
        return normalise(self.log_relative(batch)).probability

    @where_rows_are
    def explain(self, row: Any) -> Account:
        """Why: the prior and what each column adds, integrated over all members, for one row."""
        return account_of(self, self.row_of(row))

    def alternatives(self, column: str) -> tuple[Contribution, ...]:
        """Refused: what another value of a column would add depends on all other columns of the row."""
        raise KindError(
            f"what another value of {column!r} adds depends on the other columns: a mixture is not a sum over them",
            fix='ask one additive model: model="naive-bayes" or "logistic"',
        )

    def nomogram(self, row: Any, state: Any = None, against: Any = None) -> Nomogram:
        """Refused: points of columns do not add up to the log-odds of a mixture."""
        raise KindError(
            "a nomogram adds up points of columns, and the log-odds of a mixture are not a sum over columns",
            fix='draw that of one additive model: model="naive-bayes" or "logistic"',
        )

    # -- rows come and go -------------------------------------------------------------------------------------
    @property
    def statistics(self) -> Grouped[Product]:
        """Those of the first member that keeps any."""
        if not self.exact_members:
            raise FitError(
                f"{self.members[0].name} keeps weights, not the rows' statistics", fix="fit the remaining rows again"
            )
        found: Grouped[Product] = self.exact_members[0].model.statistics
        return found

    def learn(self, table: Any, *, targets: Any = None, weights: Any = None) -> Self:
        """The members with these rows too; the weights stay."""
        batches = list(with_targets(table, self.schema, targets, weights))
        return self._with(lambda member, rows: member.model.learn(rows), batches, more=1)

    def forget(self, table: Any, *, targets: Any = None, weights: Any = None, again: bool = False) -> Self:
        """The members that have never seen these rows, to the last byte; the weights stay.

        Members that keep weights and not statistics cannot forget: they leave the mixture, with a warning.
        """
        batches = list(with_targets(table, self.schema, targets, weights))
        gone = self._gone(batches)
        history = forgotten_by(self) if again else history_with(self, gone)
        after = self._with(lambda member, rows: member.model.forget(rows, again=True), batches, more=-1)
        return with_ledger(after, history)

    def merge(self, other: Self) -> Self:
        """The members with the rows of both; those of the other must have the same cuts, graphs and families.

        Members that keep weights and not statistics leave the mixture, with a warning. Where the weights were found by
        different rows, those that more rows have found stay, and the rows of the other model count as learned since.
        """
        refuse_other_settings(self, other, ("schema",))
        theirs = {member.name: member for member in other.exact_members}
        mine = {member.name for member in self.exact_members}
        if not mine:
            raise self._without_statistics
        if mine != theirs.keys():
            raise KindError(
                "the models cannot be merged: they are mixtures of different members",
                fix="fit one like the other: bayeswise fit ROWS --like MODEL",
            )
        members = []
        for member in self.exact_members:
            try:
                members.append(replace(member, model=member.model.merge(theirs[member.name].model)))
            except KindError as error:
                raise KindError(
                    f"{member.name}: {error.what}", fix="fit one like the other: bayeswise fit ROWS --like MODEL"
                ) from None
        _warn_of_leaving([*self.members, *other.members], self.weight_of_member | other.weight_of_member)
        both = (*forgotten_by(self), *forgotten_by(other))
        own, others = (each._of_members(each.exact_members) for each in (self, other))
        return with_ledger(own._joined(others, members), both)

    def _joined(self, other: Self, members: Sequence[Member]) -> Self:
        """The mixture of members with the rows of both, whichever comes first; both have exact members only.

        A calibration stays where one of the two has it for all classes of both.
        """
        first, second = (self, other) if _weighing_of(self) >= _weighing_of(other) else (other, self)
        alike = [first, second] if _weighing_of(first) == _weighing_of(second) else [first]
        found = first._of_members(members)
        maps = (each.calibration for each in alike if each.labels == found.labels)
        calibration = next((each for each in maps if not isinstance(each, AsItIs)), AsItIs())
        forgotten, times = sum(each.forgotten_since for each in alike), sum(each._times_weighed for each in alike)
        return replace(found, calibration=calibration)._aged(forgotten, times)

    def learned_like(self, table: Any) -> tuple[Self, Report]:
        """The table under the same cuts, graphs, families and weights, so that both can be merged; and its report."""
        batches, report = encoded_rows(open_like(table, self.schema), self.schema)
        members = [
            replace(member, model=member.of_no_rows().learn(list(map(member.rows, batches))))
            for member in self._exact_or_refused()
        ]
        found = replace(self._of_members(members), forgotten_since=0.0)
        return replace(found, learned_since=found.rows_learned), report

    def _with(self, change: Any, batches: Sequence[Batch], *, more: int) -> Self:
        members = self._exact_or_refused()
        after = self._of_members([replace(each, model=change(each, list(map(each.rows, batches)))) for each in members])
        if more > 0:
            return after._aged(self.forgotten_since, self._times_weighed)
        return replace(after, forgotten_since=self.forgotten_since + abs(after.rows_learned - self.rows_learned))

    @property
    def _times_weighed(self) -> int:
        """How many times the rows that the weights were found by are among those learned: none where `like` another."""
        before = self.rows_learned + self.forgotten_since - self.learned_since
        return round(before / self.weight_weighed) if self.weight_weighed > 0.0 else 0

    def _aged(self, forgotten: float, times_weighed: int) -> Self:
        """What was learned since follows from all rows, whose sum is exact in any order."""
        learned = self.rows_learned + forgotten - times_weighed * self.weight_weighed
        least = 1e-9 * (self.rows_learned + forgotten)  # rounding of fractional weights
        return replace(self, learned_since=learned if learned > least else 0.0, forgotten_since=forgotten)

    @property
    def _without_statistics(self) -> FitError:
        names = tuple(self.weight_of_member)
        return FitError(
            f"{'; '.join(names)} {'keeps' if len(names) == 1 else 'keep'} weights, not the rows' statistics: no row "
            "can come or go",
            fix="fit all rows that are to count (forget --rows REMAINING), or a model of counts: model='naive-bayes'",
        )

    def _exact_or_refused(self) -> tuple[Member, ...]:
        if not self.exact_members:
            raise self._without_statistics
        _warn_of_leaving(self.members, self.weight_of_member)
        return self.exact_members

    def _of_members(self, members: Sequence[Member]) -> Self:
        """The mixture of exact members that have changed: weights among themselves as before."""
        kept = np.array([not member.learns_weights for member in self.members])
        weights = self.weights if kept.all() else self.weights[kept] / self.weights[kept].sum()
        declared = self.schema.declared_classes
        labels = Vocabulary.in_order((label for each in members for label in each.model.classes), declared)
        known = {
            name: levels
            for each in members
            if each.model.classes and each.keeps_categories
            for name, levels in each.model.vocabularies.items()
        }
        levels = tuple(known.get(name, mine) for name, mine in zip(self.schema.categories, self.levels, strict=True))
        calibration = self.calibration if kept.all() and labels == self.labels else AsItIs()
        return replace(
            self, labels=labels, levels=levels, members=tuple(members), weights=weights, calibration=calibration
        )

    def _gone(self, batches: Sequence[Batch]) -> Grouped[Product]:
        """The statistics of rows, as the first exact member keeps them."""
        if not self.exact_members:
            raise self._without_statistics
        member = self.exact_members[0]
        found: Grouped[Product] = member.of_no_rows().learn(list(map(member.rows, batches))).statistics
        return found

    def has_learned_exactly(self, table: Any) -> bool:
        """Whether these are the rows that the members have learned, all of them and no others, in any order."""
        try:
            return fingerprint(self._gone(list(with_targets(table, self.schema)))) == fingerprint(self.statistics)
        except BayeswiseError:
            return False

    def refuse_other_parts(self, gone: Any, remaining: Any, *, again: bool = False) -> None:
        """Refuse two tables that are not together the rows that the model has learned, by statistics if it has any."""
        if self.exact_members:
            refuse_other_parts(self, gone, remaining, again=again)
        else:
            super().refuse_other_parts(gone, remaining)

    # -- rows left out ----------------------------------------------------------------------------------------
    @property
    def selected_by_rows(self) -> tuple[str, ...]:
        """What learning chose by looking at rows: the members, their weights and the calibration."""
        return ("members", "weights")

    @property
    def cells_per_row(self) -> int:
        """How many cells a fit reads of each row, for the estimate of what it takes."""
        return 100 * max(1, len(self.schema.used)) ** 2

    def relearned(self, batches: Sequence[Batch]) -> Self:
        """The mixture of these rows alone: everything chosen again."""
        from bayeswise.models.auto.learning import of_batches

        return of_batches(batches, self.schema, self.settings)  # type: ignore[return-value]

    def leave_one_out(self, table: Any, *, targets: Any = None, weights: Any = None) -> FloatArray:
        """Refused: all members would have to be chosen and weighed again without each row."""
        raise TooLargeError(
            "members and weights are chosen by all rows, and to choose them again without each row takes too long",
            fix="use folds, such as cv=10 (--cv 10)",
        )


def _weighing_of(model: AutoModel) -> tuple[int, str]:
    """By how many rows the weights were found, and all else that was found with them."""
    parts = (model.settings, model.weights, model.pool, model.scores, model.notes, model.log_loss, model.certificate)
    return model.n_weighed, fingerprint((*parts, model.weight_weighed, model.offered))


def _warn_of_leaving(members: Sequence[Member], weights: Mapping[str, float]) -> None:
    """Say which members keep weights, not statistics, and so have no part in a mixture whose rows change."""
    gone = list(dict.fromkeys(member.name for member in members if member.learns_weights))
    if gone:
        warnings.warn(
            f"{'; '.join(gone)} (weight {sum(weights[name] for name in gone):.2g}) cannot take rows in or out and "
            f"{'leaves' if len(gone) == 1 else 'leave'} the mixture, with the calibration; fit all rows again to have "
            f"{'it' if len(gone) == 1 else 'them'} back",
            UserWarning,
            stacklevel=5,
        )
