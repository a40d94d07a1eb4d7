"""Learned rows under the model of the others, one by one or in folds.

Cuts of numbers, graphs with tables of several columns and families chosen by evidence are found by looking at rows, and
so are the weights of a regression, the units of its columns and the scale of its prior. A posterior of a row whose
model kept what that row helped to select is not a left-out posterior, so all of it is selected again without the row: a
fit for each different row. Tables that are too large for that are refused before any work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.errors import FitError, NotMergedError, TooLargeError
from bayeswise.models.base.classifier import Classifier, are_batches
from bayeswise.models.base.probability_model import ProbabilityModel
from bayeswise.models.base.table_model import capabilities_of
from bayeswise.models.forgetting import refusing_unlearned
from bayeswise.posteriors.normalise import log_posterior, normalise
from bayeswise.tables.batch import UNSEEN, Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.source import open_source

Scores: TypeAlias = Callable[[Any, Batch], FloatArray]  # of a model and encoded rows, (n_rows, n_states)

MOST_CELLS = 100_000_000  # that may be read by all fits together: some ten seconds


class RelearnedModel(ProbabilityModel):
    """A classifier that keeps no statistics to take rows out of: the others are learned again from the start."""

    labels: Vocabulary

    @property
    def classes(self) -> tuple[Label, ...]:
        return self.labels.labels

    def refuse_other_parts(self, gone: Any, remaining: Any, *, again: bool = False) -> None:
        """Refuse two tables that are not together the rows that the model has learned, by the weight of each class."""
        batches = [*encoded(self, gone), *encoded(self, remaining)]
        _refuse_other_classes(self, batches, "give the rows to be forgotten, and all others that it has learned")

    if TYPE_CHECKING:  # a field of some models, computed by others

        @property
        def class_weight(self) -> FloatArray:
            """(n_classes,) the weight of the rows of each class."""

    @property
    def rows_learned(self) -> float:
        return float(self.class_weight.sum())

    def leave_one_out(self, table: Any) -> FloatArray:
        """(n_rows, n_states) the posterior of each row under the model of all others, by a fit for each.

        The table must hold the rows that were learned; one that is too large for a fit per row raises TooLargeError.
        """
        batches = table if are_batches(table) else encoded(self, table)
        scores = scores_relearned(self, batches, lambda other, batch: log_posterior(other.log_relative(batch)))
        return normalise(scores, undefined="uniform").probability if len(scores) else scores


def encoded(model: Any, table: Any, targets: Any = None) -> list[Batch]:
    """Rows with their states, in the codes of a model."""
    target = model.schema.target.name
    known = {**model.vocabularies, target: Vocabulary(model.classes)}
    encoder = Encoder(model.schema, learning=False, vocabularies=known, with_target=True, check_invalid=False)
    named = None if targets is None else open_source({target: list(targets)})
    return list(encoder.batches(open_like(table, model.schema), targets=named))


def log_joint_relearned(model: Classifier, batches: Sequence[Batch]) -> FloatArray:
    """(n_rows, n_states) log p(state, row) under the model of all other rows; -inf for a state that they lack."""
    return scores_relearned(model, batches, lambda each, batch: each.log_joint(batch))


def scores_relearned(model: Any, batches: Sequence[Batch], scores_of: Scores) -> FloatArray:
    """(n_rows, n_states) the scores of each row under the model of all other rows; -inf for a state that they lack.

    Rows without a target or without weight are not in the answer.
    """
    batches = [batch.with_target() for batch in batches]
    batches = [batch for batch in batches if batch.n_rows]
    if not batches:
        return np.zeros((0, len(model.classes)))
    refuse_other_rows(model, batches)
    first, which = _different_rows(batches)
    _check_work(model, len(first), sum(batch.n_rows for batch in batches))
    starts = np.cumsum([0, *(batch.n_rows for batch in batches)])
    joint = np.full((len(first), len(model.classes)), -np.inf)
    for k, row in enumerate(first.tolist()):
        place = int(np.searchsorted(starts, row, side="right")) - 1
        joint[k] = _without_row(model, batches, place, row - int(starts[place]), scores_of)
    return joint[which]


def posteriors_of_folds(
    model: Any, batches: Sequence[Batch], folds: IntArray, some: Iterable[int], *, logarithms: bool = False
) -> Iterator[tuple[IntArray, FloatArray]]:
    """The rows of some folds, and (n_rows of the fold, n_states) their posteriors under the model of the other folds.

    By subtraction where the statistics say everything about the model, else learned again. With `logarithms` those of
    posteriors that are too small for a number, too.
    """
    for fold in some:
        inside = _where(folds == fold, batches)
        if not inside:
            continue
        without = _model_without(model, inside, _where(folds != fold, batches))
        columns = [model.classes.index(label) for label in without.classes]
        rows = np.flatnonzero(folds == fold)
        posterior = np.full((len(rows), len(model.classes)), -np.inf if logarithms else 0.0)
        answer = without.predict_log_proba if logarithms else without.predict_proba
        parts = [answer(without.recoded(part)) for part in inside]
        posterior[:, columns] = np.concatenate(parts)
        yield rows, posterior


def _where(chosen: BoolArray, batches: Sequence[Batch]) -> list[Batch]:
    """The chosen rows of all batches, without the batches that have none."""
    starts = np.cumsum([0, *(batch.n_rows for batch in batches)])
    rows = [np.flatnonzero(chosen[s : s + b.n_rows]) for b, s in zip(batches, starts[:-1], strict=True)]
    return [batch.take(some) for batch, some in zip(batches, rows, strict=True) if len(some)]


def _model_without(model: Any, inside: list[Batch], outside: list[Batch]) -> Any:
    """The model that never saw the rows inside."""
    if model.selected_by_rows:
        return model.relearned(outside)
    for part in inside:
        model = model.forget(part, again=True)  # parts with the same counts are other rows all the same
    return model


def _without_row(model: Any, batches: Sequence[Batch], place: int, row: int, scores_of: Scores) -> FloatArray:
    batch = batches[place]
    rest = batch.take(np.delete(np.arange(batch.n_rows), row))
    others = [*batches[:place], *([rest] if rest.n_rows else []), *batches[place + 1 :]]
    joint = np.full(len(model.classes), -np.inf)
    if others:
        without = model.relearned(others)
        columns = Vocabulary(without.classes).positions_in(Vocabulary(model.classes))
        joint[columns] = scores_of(without, without.recoded(batch.take(np.array([row]))))[0]
    return joint


def refuse_other_rows(model: Any, batches: Sequence[Batch]) -> None:
    """What was selected is a function of all rows, so that all of them must be at hand, and no others.

    Weights do not say which rows they were learned from: how many there were of each class must be the same.
    """
    if not capabilities_of(model).leave_one_out:
        fix = "give the whole table that was learned; for rows that are new to the model nothing is left out (no cv)"
        _refuse_other_classes(model, batches, fix)
        return
    selected = " and ".join(model.selected_by_rows)
    fix = "give the whole table that was learned, or use cv=10 (--cv 10)"
    left = model
    with refusing_unlearned(fix):
        for batch in batches:
            left = left.forget(batch, again=True)
    if left.statistics.weight_of_rows.to_floats().any():
        raise FitError(
            f"more rows than these selected the {selected} of the model, and each is left out by a fit of all others",
            fix=fix,
        )


def _refuse_other_classes(model: Any, batches: Sequence[Batch], fix: str) -> None:
    found, complete = np.zeros((2, len(model.classes)))
    unseen = 0.0
    for batch in batches:
        if batch.groups is None:
            continue
        mass = batch.row_weights
        codes = batch.groups_in(Vocabulary(model.classes))
        known = codes >= 0
        unseen += float(mass[codes == UNSEEN].sum())
        whole = known & (batch.codes >= 0).all(axis=1) & ~np.isnan(batch.values).any(axis=1)
        found += np.bincount(codes[known], mass[known], minlength=len(found))
        complete += np.bincount(codes[whole], mass[whole], minlength=len(found))
    counts = (found, complete)
    if unseen > 0.0 or not any(np.allclose(each, model.class_weight, rtol=1e-9, atol=0.0) for each in counts):
        others = f", and {unseen:,.10g} of other classes" if unseen > 0.0 else ""
        raise NotMergedError(
            f"these rows are not those that the model has learned: the weight of its classes is "
            f"{_numbers(model.class_weight)}, and here it is {_numbers(found)}{others}",
            fix=fix,
        )


def _numbers(weights: FloatArray) -> str:
    return " / ".join(f"{each:,.10g}" for each in weights[:6].tolist()) + " / ..." * (len(weights) > 6)


def _check_work(model: Any, n_fits: int, n_rows: int) -> None:
    cells = n_fits * n_rows * model.cells_per_row
    if cells > MOST_CELLS:
        selected = " and ".join(model.selected_by_rows)
        raise TooLargeError(
            f"{n_fits:,} rows cannot be left out one by one: rows select the {selected} of the model, so that "
            f"each needs a fit of its own ({cells:.2g} cells, and {MOST_CELLS:.2g} are allowed)",
            fix="use folds, such as cv=10 (--cv 10)",
        )


def _different_rows(batches: Sequence[Batch]) -> tuple[IntArray, IntArray]:
    """The first of all equal rows, and for each row which of those it is like; rows with texts are all different."""
    n_rows = sum(batch.n_rows for batch in batches)
    same = all(batch.vocabularies == batches[0].vocabularies for batch in batches)
    same = same and all(batch.group_labels == batches[0].group_labels for batch in batches)
    if not same or any(batch.texts for batch in batches):
        return np.arange(n_rows), np.arange(n_rows)
    keys = np.concatenate([_keys(batch) for batch in batches])
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first, which.ravel()


def _keys(batch: Batch) -> Any:
    parts: list[Any] = [batch.values + 0.0, batch.codes, batch.groups, batch.row_weights]
    return np.column_stack([np.asarray(each, dtype=np.float64) for each in parts])
