"""From a table to the members of a mixture: every candidate tried on rows that it never saw, then weighed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, CostError, FitError, listed
from bayeswise.foundation.threads import algebra_on_one_thread
from bayeswise.models.auto.candidates import CANDIDATES, Candidate, Inputs, Member
from bayeswise.models.auto.durations import Clock, seconds_for
from bayeswise.models.auto.explaining import offered_numbers
from bayeswise.models.auto.extent import Extent
from bayeswise.models.auto.left_out import LeftOut, left_out, n_folds_for, with_word_weight
from bayeswise.models.auto.model import AutoModel, CandidateScore
from bayeswise.models.auto.stacking import NEGLIGIBLE, NEGLIGIBLE_OF_MANY, UNPROVEN
from bayeswise.models.auto.weighing import LeftOutRows
from bayeswise.models.from_table import check_declared, divided, encoded_rows, schema_for
from bayeswise.models.row_order import gathered
from bayeswise.models.settings.auto import AutoSettings, seconds_of
from bayeswise.posteriors.calibration import turns
from bayeswise.render.numbers import plural
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.notes import no_column
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema

MOST_CHOOSING = 10_000  # rows that candidates are tried on: more of them estimate, but no longer choose
_ROWS_OF_AN_ID = 20  # fewer may well have a class each
MANY, FEWER_CHOOSING = 200_000, 5_000  # of so many rows, which take their time to estimate, fewer choose
TOO_FAR = 1.1  # times the least log-loss so far: trees of more on rows that they never saw are not tried in folds
_COSTS = "bayeswise.decisions.costs.costs"  # an upper layer, loaded where costs are given
_ONE_CLASS = "there is only one class, which one model knows as well as all"
_FAILURES = (BayeswiseError, ArithmeticError, np.linalg.LinAlgError, MemoryError)

Announce = Callable[[str], None]


def learned(
    table: Any,
    target: str,
    *,
    schema: Schema | None = None,
    progress: Callable[[int], None] | None = None,
    within: Any = None,
    announce: Announce | None = None,
    **overrides: Any,
) -> tuple[AutoModel, Report]:
    """All models weighed by rows that they never saw, and the report of reading.

    within    a time such as "60s": the most expensive candidates that do not fit into it are left out
    announce  called with the name of each candidate before it is tried

    >>> rows = [{"wind": w, "sky": s, "play": p} for w, s, p in 9 * [("weak", "sun", "yes"), ("strong", "rain", "no"),
    ...         ("weak", "rain", "yes"), ("strong", "sun", "no")]]
    >>> model, _ = learned(rows, "play")
    >>> model.predict([{"wind": "weak", "sky": "sun"}]), round(float(model.weights.sum()), 12)
    (['yes'], 1.0)
    """
    about_columns, changes = divided(overrides)
    costs = changes.pop("costs", None)
    settings = settings_with(AutoSettings().changed(**changes), costs)
    seconds = seconds_of(within)
    source = open_like(table, schema)
    schema = schema_for(source, target, schema, about_columns)
    check_declared(settings.class_prior, schema)
    batches, report = encoded_rows(source, schema, progress)
    model = of_batches(batches, schema, settings, seconds=seconds, announce=announce, costs=costs)
    model.check_prior()
    return model, report


def of_batches(
    batches: Sequence[Batch],
    schema: Schema,
    settings: AutoSettings,
    *,
    seconds: float | None = None,
    announce: Announce | None = None,
    costs: Any = None,
) -> AutoModel:
    """The mixture of encoded rows; `costs` in any form that `Costs.of` takes."""
    if costs is not None and batches:
        settings = settings.changed(costs=constant_costs(costs, batches[-1].group_labels.labels))
    return tried(batches, schema, seconds=seconds, announce=announce).weighed(settings)


def tried(
    batches: Sequence[Batch], schema: Schema, *, seconds: float | None = None, announce: Announce | None = None
) -> Trials:
    """All candidates on rows that they never saw, not weighed yet."""
    if not schema.used:
        raise no_column(schema)
    n_rows = sum(batch.n_rows for batch in batches)
    chosen, rows = gathered(batches, schema, MOST_CHOOSING if n_rows <= MANY else FEWER_CHOOSING)
    _refuse_ids(schema, rows)
    trials = Trials(schema, chosen, rows, seconds, announce or (lambda name: None))
    with algebra_on_one_thread():
        trials.run()
    if not trials.done:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in trials.notes.items())
        raise FitError(f"no model could be learned from these rows: {reasons}", fix="choose a model by model='...'")
    return trials


def _refuse_ids(schema: Schema, rows: Batch) -> None:
    """A target whose classes have one row each, or nearly: left-out rows are of classes that no model has seen."""
    counts = np.bincount(np.asarray(rows.groups))
    n_classes = int((counts > 0).sum())
    if rows.n_rows >= _ROWS_OF_AN_ID and 2 * n_classes > rows.n_rows:
        raise FitError(
            f"the target {schema.target_name!r} has {n_classes:,} classes in {rows.n_rows:,} rows: most have a single "
            "row, which cannot be left out to weigh models",
            fix="choose another target (is this one an id?), or name a model, for example model='naive-bayes'",
        )


@dataclass
class _Trial:
    candidate: Candidate
    member: Member
    left_out: LeftOut


@dataclass
class Trials:
    """Candidates one by one, the cheapest first."""

    schema: Schema
    chosen: Batch
    rows: Batch
    seconds: float | None
    announce: Announce
    notes: dict[str, str] = field(default_factory=dict)
    done: list[_Trial] = field(default_factory=list)
    word_weight: float = 1.0  # in naive Bayes
    seen: dict[tuple[Any, ...], Inputs | None] = field(default_factory=dict)  # of rows without a fold, by candidates

    @property
    def classes(self) -> tuple[Label, ...]:
        return self.rows.group_labels.labels

    @property
    def truth(self) -> IntArray:
        return np.asarray(self.chosen.groups).astype(np.int64)

    def run(self) -> None:
        whole = Extent.of(self.schema, self.chosen, self.rows)
        n_folds = n_folds_for(self.chosen.n_rows)
        folds = turns(self.truth, n_folds)
        one_class = int((np.bincount(self.truth) > 0).sum()) == 1
        began, clock = time.monotonic(), Clock(self.seconds)
        larger = 1.0 + (self.rows.n_rows / self.chosen.n_rows - 1.0) / n_folds  # members are learned from all rows, too
        suited = [candidate.suited(whole) for candidate in CANDIDATES]
        for candidate in sorted(suited, key=lambda each: each.cost(each.extent_of(whole))):
            extent = candidate.extent_of(whole)
            reason = candidate.refusal(extent) or (_ONE_CLASS if self.done and one_class else "")
            estimate, spent = larger * seconds_for(candidate, extent, n_folds), time.monotonic() - began
            reason = reason or (clock.refusal(estimate, spent) if self.done else "")
            inputs = None if reason or candidate.sees == "trees" else candidate.inputs(self.chosen, self.schema)
            reason = reason or candidate.refusal_of_inputs(inputs, extent, n_folds)
            if reason:
                self.notes[candidate.name] = reason
                continue
            self.announce(candidate.name)
            of_candidate = candidate.folds(extent, folds)
            try:
                if candidate.sees == "trees":
                    trial = self._grown(candidate, of_candidate)
                else:
                    trial = self._tried(candidate, inputs, of_candidate)
            except _FAILURES as error:
                self.notes[candidate.name] = f"it failed: {error}"
                continue
            if trial is not None:
                clock.estimated += estimate
                self._keep(trial)
        order = {candidate.name: place for place, candidate in enumerate(CANDIDATES)}
        self.done.sort(key=lambda trial: order[trial.candidate.name])
        self.notes = {name: self.notes[name] for name in order if name in self.notes}

    def _keep(self, trial: _Trial) -> None:
        """Candidates that say the same of every row, to the bit, are one: the first of them."""
        for other in self.done:
            if trial.left_out.is_as(other.left_out):
                self.notes[trial.candidate.name] = f"it says of all left-out rows what {other.candidate.name} says"
                return
        self.done.append(trial)

    def _tried(self, candidate: Candidate, inputs: Inputs | None, folds: IntArray) -> _Trial:
        """The member of all rows, and what it says of rows that it never saw.

        How much words count is chosen by the plain naive Bayes, which comes first.
        """
        if candidate.kind == "naive-bayes" and self.word_weight < 1.0:
            candidate = replace(candidate, settings={**candidate.settings, "word_weight": self.word_weight})
        member = candidate.learned(self.chosen, self.schema, inputs)
        if candidate.name == "naive-bayes" and self.schema.texts:
            member, found = with_word_weight(member, self.chosen, folds)
            self.word_weight = member.model.settings.word_weight
        else:
            found = left_out(candidate, member, self.chosen, self.schema, folds, self.classes, self.seen)
        return _Trial(candidate, member, found)

    def _grown(self, candidate: Candidate, folds: IntArray) -> _Trial | None:
        """The same of trees; None where they are far behind the best so far on a fifth of the rows, a first look.

        Where classes are easily told apart, UNPROVEN nats of all those rows together do not count.
        """
        trees = candidate.trees_in_folds(self.chosen, self.schema, folds)
        if self.done:
            rows, loss = trees.first_look()
            best = min(self.done, key=lambda trial: _mean_loss(trial.left_out.log_own, self.chosen.row_weights))
            least = _mean_loss(best.left_out.log_own[rows], self.chosen.row_weights[rows])
            if loss > TOO_FAR * least + UNPROVEN / self.chosen.row_weights[rows].sum():
                self.notes[candidate.name] = (
                    f"a log-loss of {loss:.3g} on a fifth of the rows, which no tree has seen, and "
                    f"{best.candidate.name} has {least:.3g} there"
                )
                return None
        log_shares = trees.left_out()
        log_own = log_shares[np.arange(self.chosen.n_rows), self.truth]
        found = LeftOut(np.exp(log_shares), log_own, plural(int(folds.max()) + 1, "fold"))
        return _Trial(candidate, candidate.learned(self.chosen, self.schema, trees.of_all_rows()), found)

    # -- weights ----------------------------------------------------------------------------------------------
    def weighed(self, settings: AutoSettings) -> AutoModel:
        """The mixture of the candidates that were tried, or the best of them."""
        whole = self.chosen is self.rows
        left_out = LeftOutRows(
            np.stack([trial.left_out.posterior for trial in self.done]),
            np.stack([trial.left_out.log_own for trial in self.done]),
            self.truth,
            self.chosen.row_weights,
            np.array([not trial.member.learns_weights for trial in self.done]),
            NEGLIGIBLE if whole else NEGLIGIBLE_OF_MANY,
        )
        if settings.choose == "best":
            paid = None if settings.costs is None else self._costs(settings.costs)
            found, log_loss = left_out.best(paid, settings.calibrate)
        else:
            found, log_loss = left_out.mixture(settings.calibrate)
        weights = dict(zip(found.kept.tolist(), found.weights.tolist(), strict=True))
        scores = tuple(
            CandidateScore(
                trial.candidate.name, float(loss), self._error(trial), trial.left_out.how, weights.get(k, 0.0)
            )
            for k, (trial, loss) in enumerate(zip(self.done, left_out.losses, strict=True))
        )
        members = [self.done[k].member if whole else self._of_all_rows(self.done[k]) for k in found.kept]
        return AutoModel(
            self.schema,
            settings,
            self.rows.group_labels,
            self.rows.vocabularies,
            tuple(members),
            found.weights,
            found.calibration,
            scores,
            dict(self.notes),
            log_loss,
            found.gap,
            self.chosen.n_rows,
            float(self.rows.row_weights.sum()),
            offered=offered_numbers(self.schema, self.chosen),
            pool=found.pool,
        )

    def _of_all_rows(self, trial: _Trial) -> Member:
        self.announce(f"{trial.candidate.name}, all rows")
        return trial.member.estimated(self.rows)

    def _error(self, trial: _Trial) -> float:
        wrong = np.argmax(trial.left_out.posterior, axis=1) != self.truth
        return float((self.chosen.row_weights * wrong).sum() / self.chosen.row_weights.sum())

    def _costs(self, costs: Mapping[Label, Mapping[Label, float]]) -> FloatArray:
        """(n_candidates,) the mean cost of left-out rows where each candidate decides."""
        table = cost_table(costs, self.classes)  # (n_actions, n_states)
        found = []
        for trial in self.done:
            action = np.argmin(trial.left_out.posterior @ table.T, axis=1)
            found.append((self.chosen.row_weights * table[action, self.truth]).sum() / self.chosen.row_weights.sum())
        return np.array(found)


def _mean_loss(log_own: FloatArray, row_weights: FloatArray) -> float:
    """The mean of -log p of the true class; infinite where it was thought impossible."""
    return float((row_weights * -log_own).sum() / row_weights.sum())


def settings_with(settings: AutoSettings, costs: Any) -> AutoSettings:
    """The settings where costs are given, whose classes are not known before the rows are read."""
    return settings if costs is None else settings.changed(costs={})


def constant_costs(costs: Any, classes: tuple[Label, ...]) -> dict[Label, dict[Label, float]]:
    """{action: {class: cost}} of costs in any form; those that depend on columns are refused.

    >>> constant_costs({"treat": {"ill": 1, "well": 2}, "wait": 1.5}, ("ill", "well"))["wait"]
    {'ill': 1.5, 'well': 1.5}
    """
    found = import_module(_COSTS).Costs.of(costs, classes)
    if not found.constant:
        raise CostError(
            f"the costs depend on the columns {listed(map(repr, found.columns))}, and a model is chosen by costs that "
            "are the same for all rows",
            fix="give numbers instead of formulas, or leave out the costs: the model of least log-loss is chosen then",
        )
    chosen: dict[Label, dict[Label, float]] = found.to_dict()
    return chosen


def cost_table(costs: Mapping[Label, Mapping[Label, float]], classes: tuple[Label, ...]) -> FloatArray:
    """(n_actions, n_states) the costs of {action: {class: cost}}.

    >>> cost_table({"treat": {"ill": 1, "well": 2}, "wait": {"ill": 9, "well": 0}}, ("ill", "well")).tolist()
    [[1.0, 2.0], [9.0, 0.0]]
    """
    return np.array([[float(by_state[label]) for label in classes] for by_state in costs.values()])
