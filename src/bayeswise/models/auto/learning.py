"""From a table to the members of a mixture: every candidate tried on rows that it never saw, then weighed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import BayeswiseError, FitError, ParameterError
from bayeswise.foundation.logspace import log, log_sum_exp
from bayeswise.foundation.threads import algebra_on_one_thread
from bayeswise.models.auto.candidates import CANDIDATES, TOO_FAR, Candidate, Extent, Inputs, Member
from bayeswise.models.auto.durations import Clock, seconds_for
from bayeswise.models.auto.explaining import offered_numbers
from bayeswise.models.auto.left_out import LeftOut, left_out, n_folds_for, with_word_weight
from bayeswise.models.auto.model import AutoModel, CandidateScore
from bayeswise.models.auto.stacking import (
    NEGLIGIBLE,
    NEGLIGIBLE_OF_MANY,
    UNPROVEN,
    Stacked,
    hopeful,
    risks,
    stacked,
)
from bayeswise.models.auto.whole_table import gathered
from bayeswise.models.from_table import check_declared, divided, schema_for
from bayeswise.models.settings.auto import AutoSettings, seconds_of
from bayeswise.posteriors.calibration import fit_calibration, turns
from bayeswise.posteriors.calibration_maps import AsItIs, Calibration
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.notes import no_column
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema

MOST_CHOOSING = 10_000  # rows that candidates are tried on: more of them estimate, but no longer choose
MANY, FEWER_CHOOSING = 200_000, 5_000  # of so many rows, which take their time to estimate, fewer choose
_SCORE_FOLDS = 5
_FAILURES = (BayeswiseError, ArithmeticError, np.linalg.LinAlgError, MemoryError)

Tell = Callable[[str], None]


def learned(
    table: Any,
    target: str,
    *,
    schema: Schema | None = None,
    progress: Callable[[int], None] | None = None,
    within: Any = None,
    tell: Tell | None = None,
    **overrides: Any,
) -> tuple[AutoModel, Report]:
    """All models weighed by rows that they never saw, and what was met on the way.

    within  a time such as "60s": the dearest candidates that do not fit into it are left out
    tell    called with the name of each candidate before it is tried

    >>> rows = [{"wind": w, "sky": s, "play": p} for w, s, p in 9 * [("weak", "sun", "yes"), ("strong", "rain", "no"),
    ...         ("weak", "rain", "yes"), ("strong", "sun", "no")]]
    >>> model, _ = learned(rows, "play")
    >>> model.predict([{"wind": "weak", "sky": "sun"}]), round(float(model.weights.sum()), 12)
    (['yes'], 1.0)
    """
    about_columns, beliefs = divided(overrides)
    settings = AutoSettings().changed(**beliefs)
    seconds = seconds_of(within)
    source = open_like(table, schema)
    schema = schema_for(source, target, schema, about_columns)
    check_declared(settings.class_prior, schema)
    encoder = Encoder(schema, learning=True)
    batches = []
    for batch in encoder.batches(source):
        batches.append(batch)
        if progress is not None:
            progress(batch.n_rows)
    model = of_batches(batches, schema, settings, seconds=seconds, tell=tell)
    model.check_prior()
    return model, encoder.report


def of_batches(
    batches: Sequence[Batch],
    schema: Schema,
    settings: AutoSettings,
    *,
    seconds: float | None = None,
    tell: Tell | None = None,
) -> AutoModel:
    """The mixture of encoded rows."""
    return tried(batches, schema, seconds=seconds, tell=tell).weighed(settings)


def tried(
    batches: Sequence[Batch], schema: Schema, *, seconds: float | None = None, tell: Tell | None = None
) -> Trials:
    """All candidates on rows that they never saw, not weighed yet."""
    if not schema.used:
        raise no_column(schema)
    n_rows = sum(batch.n_rows for batch in batches)
    chosen, rows = gathered(batches, schema, MOST_CHOOSING if n_rows <= MANY else FEWER_CHOOSING)
    trials = Trials(schema, chosen, rows, seconds, tell or (lambda name: None))
    with algebra_on_one_thread():
        trials.run()
    if not trials.done:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in trials.notes.items())
        raise FitError(f"no model could be learned from these rows: {reasons}", fix="choose a model by model='...'")
    return trials


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
    tell: Tell
    notes: dict[str, str] = field(default_factory=dict)
    done: list[_Trial] = field(default_factory=list)
    word_weight: float = 1.0  # in naive Bayes

    @property
    def classes(self) -> tuple[Label, ...]:
        return self.rows.group_labels.labels

    @property
    def truth(self) -> IntArray:
        return np.asarray(self.chosen.groups).astype(np.int64)

    @property
    def row_weights(self) -> FloatArray:
        return np.ones(self.chosen.n_rows) if self.chosen.weights is None else self.chosen.weights

    def run(self) -> None:
        whole = Extent.of(self.schema, self.chosen)
        n_folds = n_folds_for(self.chosen.n_rows)
        folds = turns(self.truth, n_folds)
        began, clock = time.monotonic(), Clock(self.seconds)
        larger = 1.0 + (self.rows.n_rows / self.chosen.n_rows - 1.0) / n_folds  # members are learned from all rows, too
        suited = [candidate.suited(whole) for candidate in CANDIDATES]
        for candidate in sorted(suited, key=lambda each: each.cost(whole.seen_by(each))):
            extent = whole.seen_by(candidate)
            reason = candidate.refusal(extent) or candidate.refusal_of_many(extent, self.rows.n_rows)
            estimate, spent = larger * seconds_for(candidate, extent, n_folds), time.monotonic() - began
            reason = reason or (clock.refusal(estimate, spent) if self.done else "")
            inputs = None if reason or candidate.sees == "trees" else candidate.inputs(self.chosen, self.schema)
            reason = reason or candidate.refusal_of_inputs(inputs, extent, n_folds)
            if reason:
                self.notes[candidate.name] = reason
                continue
            self.tell(candidate.name)
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
                self.done.append(trial)
        order = {candidate.name: place for place, candidate in enumerate(CANDIDATES)}
        self.done.sort(key=lambda trial: order[trial.candidate.name])
        self.notes = {name: self.notes[name] for name in order if name in self.notes}

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
            found = left_out(candidate, member, self.chosen, self.schema, folds, self.classes)
        return _Trial(candidate, member, found)

    def _grown(self, candidate: Candidate, folds: IntArray) -> _Trial | None:
        """The same of trees; None where they are far behind the best so far on a fifth of the rows, a first look.

        Where classes are easily told apart, UNPROVEN nats of all those rows together do not count.
        """
        trees = candidate.trees_in_folds(self.chosen, self.schema, folds)
        if self.done:
            rows, loss = trees.first_look()
            best = min(self.done, key=lambda trial: _mean_loss(trial.left_out.log_own, self.row_weights))
            least = _mean_loss(best.left_out.log_own[rows], self.row_weights[rows])
            if loss > TOO_FAR * least + UNPROVEN / self.row_weights[rows].sum():
                self.notes[candidate.name] = (
                    f"a log-loss of {loss:.3g} on a fifth of the rows, which no tree has seen, and "
                    f"{best.candidate.name} has {least:.3g} there"
                )
                return None
        log_shares = trees.left_out()
        log_own = log_shares[np.arange(self.chosen.n_rows), self.truth]
        found = LeftOut(np.exp(log_shares), log_own, f"{int(folds.max()) + 1} folds")
        return _Trial(candidate, candidate.learned(self.chosen, self.schema, trees.of_all_rows()), found)

    # -- weights ----------------------------------------------------------------------------------------------
    def weighed(self, settings: AutoSettings) -> AutoModel:
        """The mixture of the candidates that were tried, or the best of them."""
        share = np.stack([self._of_truth(trial.left_out.posterior) for trial in self.done])  # (n_members, n_rows)
        log_share = np.stack([trial.left_out.log_own for trial in self.done])
        losses = np.array([_mean_loss(each, self.row_weights) for each in log_share])
        if settings.choose == "best":
            at_risk = risks(share, self.row_weights)
            paid = at_risk if settings.costs is None else self._costs(settings.costs)
            first = int(np.lexsort([at_risk, paid])[0])  # of equal costs, the one of least risk
            kept, found = np.array([first]), Stacked(np.ones(1), 0.0)
            calibration = self._calibration(settings.calibrate, self._mixed(kept, found.weights))
        else:
            kept, found, calibration = self._mixture(share, settings.calibrate)
        weights = dict(zip(kept.tolist(), found.weights.tolist(), strict=True))
        scores = tuple(
            CandidateScore(
                trial.candidate.name, float(losses[k]), self._error(trial), trial.left_out.how, weights.get(k, 0.0)
            )
            for k, trial in enumerate(self.done)
        )
        whole = self.chosen is self.rows
        members = [self.done[k].member if whole else self._of_all_rows(self.done[k]) for k in kept]
        return AutoModel(
            self.schema,
            settings,
            self.rows.group_labels,
            self.rows.vocabularies,
            tuple(members),
            found.weights,
            calibration,
            scores,
            dict(self.notes),
            self._score_of_mixture(share, log_share, settings),
            found.gap,
            self.chosen.n_rows,
            float(self.rows.n_rows if self.rows.weights is None else self.rows.weights.sum()),
            offered=offered_numbers(self.schema, self.chosen),
        )

    def _mixture(self, share: FloatArray, calibrate: str) -> tuple[IntArray, Stacked, Calibration]:
        """The members that matter, their weights and the calibration: of all, or of those that keep statistics alone.

        Regressions and trees are fitted by the log-loss, other members are not: where these gain so much by a
        calibration that they are ahead without the former, the former would only hide it.
        """
        whole = self._calibrated(np.arange(len(share)), share, calibrate)
        exact = np.array([not trial.member.learns_weights for trial in self.done])
        if exact.any() and not exact.all():
            part = self._calibrated(np.flatnonzero(exact), share, calibrate)
            gain = self._nats(whole) - self._nats(part)
            if not isinstance(part[2], AsItIs) and gain > self._price_of_calibration:
                return part
        return whole

    def _calibrated(self, among: IntArray, share: FloatArray, calibrate: str) -> tuple[IntArray, Stacked, Calibration]:
        """The same of some candidates."""
        least = NEGLIGIBLE if self.chosen is self.rows else NEGLIGIBLE_OF_MANY
        kept, found = _without_negligible(share[among], self.row_weights, least)
        return among[kept], found, self._calibration(calibrate, self._mixed(among[kept], found.weights))

    def _nats(self, mixture: tuple[IntArray, Stacked, Calibration]) -> float:
        """The log-loss of all left-out rows under a mixture that is calibrated."""
        kept, found, calibration = mixture
        posterior = self._mixed(kept, found.weights)
        after = posterior if isinstance(calibration, AsItIs) else calibration.apply(posterior)
        return float((self.row_weights * -log(self._of_truth(after))).sum())

    @property
    def _price_of_calibration(self) -> float:
        """Nats: log(n) / 2 for each number of the map, as in BIC."""
        return 0.5 * (len(self.classes) ** 2 - 1) * float(np.log(self.row_weights.sum()))

    def _calibration(self, method: str, posterior: FloatArray) -> Calibration:
        """The map that left-out rows call for: "auto" one that gains more nats than its numbers cost (as in BIC).

        Left-out rows without a mistake would always ask for more confidence; each number costs log(n) / 2.
        """
        n_states = len(self.classes)
        if n_states < 2:
            return AsItIs()
        rows = posterior, self.truth, self.row_weights
        if method != "auto":
            return fit_calibration(method, *rows)
        before = _mean_loss(log(self._of_truth(posterior)), self.row_weights)
        total = float(self.row_weights.sum())
        price = self._price_of_calibration
        if before * total <= price:  # no map gains more than all the nats that there are
            return AsItIs()
        found = fit_calibration(method, *rows, among=("dirichlet",))
        after = _mean_loss(log(self._of_truth(found.apply(posterior))), self.row_weights)
        return found if (before - after) * total > price else AsItIs()

    def _of_all_rows(self, trial: _Trial) -> Member:
        self.tell(f"{trial.candidate.name}, all rows")
        return trial.member.estimated(self.rows)

    def _of_truth(self, posterior: FloatArray) -> FloatArray:
        return np.asarray(posterior[np.arange(len(posterior)), self.truth])

    def _error(self, trial: _Trial) -> float:
        wrong = np.argmax(trial.left_out.posterior, axis=1) != self.truth
        return float((self.row_weights * wrong).sum() / self.row_weights.sum())

    def _mixed(self, kept: IntArray, weights: FloatArray) -> FloatArray:
        mixed = np.zeros((self.chosen.n_rows, len(self.classes)))
        for k, weight in zip(kept.tolist(), weights.tolist(), strict=True):
            mixed += weight * self.done[k].left_out.posterior
        return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))

    def _score_of_mixture(self, share: FloatArray, log_share: FloatArray, settings: AutoSettings) -> float:
        """The log-loss of rows under weights, or a choice, that did not see them either."""
        folds = turns(self.truth, min(_SCORE_FOLDS, self.chosen.n_rows))
        log_mixed = np.zeros(self.chosen.n_rows)
        for fold in range(int(folds.max()) + 1):
            inside, outside = folds == fold, folds != fold
            if not outside.any():
                log_mixed[inside] = log_sum_exp(log_share[:, inside].T) - np.log(len(share))
            elif settings.choose == "best":
                at_risk = risks(share[:, outside], self.row_weights[outside])
                log_mixed[inside] = log_share[int(np.argmin(at_risk)), inside]
            else:
                kept, found = _without_negligible(share[:, outside], self.row_weights[outside], NEGLIGIBLE)
                log_mixed[inside] = log_sum_exp(log_share[kept][:, inside].T + np.log(found.weights))
        return _mean_loss(log_mixed, self.row_weights)

    def _costs(self, costs: Mapping[str, Mapping[Label, float]]) -> FloatArray:
        """(n_candidates,) the mean cost of left-out rows where each candidate decides."""
        table = cost_table(costs, self.classes)  # (n_actions, n_states)
        found = []
        for trial in self.done:
            action = np.argmin(trial.left_out.posterior @ table.T, axis=1)
            found.append((self.row_weights * table[action, self.truth]).sum() / self.row_weights.sum())
        return np.array(found)


def _without_negligible(share: FloatArray, row_weights: FloatArray, least: float) -> tuple[IntArray, Stacked]:
    """The members that matter, and their weights among themselves."""
    kept = hopeful(share, row_weights)
    while True:
        found = stacked(share[kept], row_weights)
        heavy = found.weights >= least
        if heavy.all() or len(kept) == 1:
            return kept, found
        kept = kept[heavy]


def _mean_loss(log_own: FloatArray, row_weights: FloatArray) -> float:
    """The mean of -log p of the true class; infinite where it was thought impossible."""
    return float((row_weights * -log_own).sum() / row_weights.sum())


def cost_table(costs: Mapping[str, Mapping[Label, float]], classes: tuple[Label, ...]) -> FloatArray:
    """(n_actions, n_states) the costs of {action: {class: cost}}; every class must have one.

    >>> cost_table({"treat": {"ill": 1, "well": 2}, "wait": {"ill": 9, "well": 0}}, ("ill", "well")).tolist()
    [[1.0, 2.0], [9.0, 0.0]]
    """
    for action, by_state in costs.items():
        for label in classes:
            if label not in by_state:
                raise ParameterError(
                    f"the costs of {action!r} have no entry for class {label!r}", fix=f"add a cost of {label!r}"
                )
    return np.array([[float(by_state[label]) for label in classes] for by_state in costs.values()])
