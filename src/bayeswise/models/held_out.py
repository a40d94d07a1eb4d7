"""Posteriors of rows whose state is known: as they are, with each row left out, or fold by fold.

A fold is a subtraction where the statistics say everything about the model. What learning selects by looking at rows
(cuts of numbers, graphs, families chosen by evidence) is selected again without the fold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, ParameterError, TooLargeError, row_number
from bayeswise.models.base.classifier import Classifier, are_batches
from bayeswise.models.base.spread_rows import columns_of_answer
from bayeswise.models.base.table_model import TableModel, capabilities_of, leaves_rows_out
from bayeswise.models.from_table import Progress, reported
from bayeswise.models.relearning import encoded, posteriors_of_folds, refuse_other_rows
from bayeswise.posteriors.calibration import turns
from bayeswise.posteriors.normalise import log_own
from bayeswise.posteriors.prior import shifted
from bayeswise.statistics.intervals import MOST_FOLDS
from bayeswise.tables.batch import MISSING, UNSEEN, Batch
from bayeswise.tables.partitions import SpreadSource
from bayeswise.tables.schema.labels import Label, Vocabulary, label_of
from bayeswise.tables.source import Source, Storage
from bayeswise.tables.sources.opening import spread

Folds: TypeAlias = int | str | None
Answer: TypeAlias = Callable[[Folds], FloatArray]  # (n_rows, n_states)
LogAnswer: TypeAlias = Callable[[Folds, IntArray], FloatArray]  # of some rows

AS_IT_IS = "as it is"  # how rows are predicted without cross-validation, as JSON has it
_MOST_SMALL = 500  # rows whose posterior is too small for a number that are computed again


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What is needed to compute costs: the posterior, the true state, and which rows of the table these are."""

    states: tuple[Label, ...]
    posterior: FloatArray  # (n_rows, n_states)
    truth: IntArray  # (n_rows,) the position of the true state
    weights: FloatArray  # (n_rows,)
    kept: BoolArray  # (n_rows of the table,) rows with a target and a weight above 0
    how: str  # AS_IT_IS, "leave-one-out", "5 folds"
    n_folds: int = 0  # as many as rows where each is left out
    log_own: FloatArray | None = None  # (n_rows,) log p(true state), where some p is too small for a number
    in_folds: HeldOut | None = None  # the same rows in few folds, which the intervals of many folds hold too

    def under(self, before: FloatArray, after: FloatArray) -> HeldOut:
        """The same rows under another prior."""
        in_folds = None if self.in_folds is None else self.in_folds.under(before, after)
        return replace(self, posterior=shifted(self.posterior, before, after, self.states), in_folds=in_folds)


def held_out(
    model: Any,
    table: Any,
    *,
    targets: Any = None,
    cv: Folds = None,
    progress: Progress | None = None,
    most_folds: int = 0,
) -> HeldOut:
    """The posteriors of a model for rows with their state.

    `cv` None takes the model as it is (for rows it has not seen); "loo" leaves each row out of a model that has
    learned exactly these rows; a number is that of folds. Folds of our models are subtractions, not refits, but for
    models that select something by the rows: these learn the other folds from the start. With more than
    `most_folds`, or rows left out one by one, those of `most_folds` folds are added, for the intervals.
    """
    _check_folds(cv)
    if cv is None and targets is None and isinstance(model, TableModel):
        source = spread(table)
        if source is not None:
            return _of_frame(model, source)
    of = _of_model if isinstance(model, TableModel) else _of_estimator  # an estimator is one of any library
    known, posterior_of, log_posterior_of = of(model, table, targets, cv, progress)

    def answered(known: HeldOut, cv: Folds) -> HeldOut:
        found = replace(known, posterior=posterior_of(cv))
        small = np.flatnonzero(found.posterior[np.arange(len(found.truth)), found.truth] == 0.0)
        one_by_one = cv == "loo" and not capabilities_of(model).leave_one_out
        if not len(small) or (one_by_one and len(small) > _MOST_SMALL):
            return found
        return replace(found, log_own=log_own(found.posterior, found.truth, partial(log_posterior_of, cv)))

    found = answered(known, cv)
    few = min(most_folds, len(known.truth) // 2)
    if few < 2 or not (cv == "loo" or known.n_folds > most_folds):
        return found
    return replace(found, in_folds=answered(replace(known, how=_how(few), n_folds=few), few))


def _how(cv: Folds) -> str:
    return AS_IT_IS if cv is None else "leave-one-out" if cv == "loo" else f"{cv} folds"


def left_out_or_folded(model: Any, table: Any, *, progress: Progress | None = None) -> HeldOut:
    """Each learned row left out; folds where the rows have selected something and are too many for a fit of each."""
    try:
        return held_out(model, table, cv="loo", progress=progress)
    except TooLargeError:
        if not model.selected_by_rows:
            raise
        return held_out(model, table, cv=MOST_FOLDS, progress=progress)


def _check_folds(cv: Folds) -> None:
    number = isinstance(cv, int) and not isinstance(cv, bool) and cv >= 2
    if not (cv is None or cv == "loo" or number):
        raise ParameterError(f"cv is {cv!r}", fix='choose None, "loo" or a number of folds from 2 on')


class FoldsError(ParameterError):
    """Rows that cannot be put into so many folds, whatever the model."""

    n_rows: int = 0


def _check_number(cv: Folds, truth: IntArray) -> None:
    """Refuse more folds than rows, and rows of which none has another of its class: all are in the first fold."""
    if not isinstance(cv, int):
        return
    n_rows = len(truth)
    if np.bincount(truth).max() < 2:
        what = f"each of {n_rows:,} rows has a class of its own" if n_rows > 1 else "there is one row"
        raise FoldsError(f"{what}: no fold has a class that the others have learned", fix="give more rows of a class")
    if cv > n_rows:
        error = FoldsError(f"{cv} folds of {n_rows} rows", fix='choose fewer, or cv="loo"')
        error.n_rows = n_rows
        raise error


def prior_of_model(model: Any, cv: Folds) -> FloatArray:
    """(n_states,) the class prior of a model."""
    if not capabilities_of(model).classes:
        raise FitError(
            f"{type(model).__name__} does not know its class prior", fix="shift its posteriors by shift_prior"
        )
    if cv is not None:
        raise ParameterError("rows that were learned have the prior of the model", fix="leave out cv, or the prior")
    return np.asarray(np.exp(model.log_prior))


# -- our models -----------------------------------------------------------------------------------------------


def _of_frame(model: Any, source: SpreadSource) -> HeldOut:
    """Rows in partitions, scored there: only their states, weights and posteriors come to this machine."""
    target = model.schema.target.name
    storages: dict[str, Storage] = {"state": "integer", "weight": "float", "log_own": "float"}
    storages |= {f"p{k}": "float" for k in range(len(model.classes))}
    brought = columns_of_answer(model, source, _scored_states, storages)
    groups, mass = brought["state"].astype(np.int64), brought["weight"]
    _refuse_unknown(groups, target)
    kept = (groups != MISSING) & (mass > 0)
    if not kept.any():
        raise FitError(f"no row has a value in {target!r}", fix="give rows whose state is known")
    posterior = np.column_stack([brought[f"p{k}"] for k in range(len(model.classes))])[kept]
    found = replace(_rows(model.classes, groups[kept], mass[kept], kept, None), posterior=posterior)
    return replace(found, log_own=brought["log_own"][kept])


def _scored_states(model: Any, source: Source) -> dict[str, Any]:
    """The position of the state of each row, its weight, log p(state) and the posterior."""
    found: dict[str, list[Any]] = {"state": [], "weight": [], "log_own": []}
    found |= {f"p{k}": [] for k in range(len(model.classes))}
    for batch in encoded(model, source):
        assert batch.groups is not None
        posterior = model.predict_proba(batch)
        logs = log_own(posterior, np.maximum(batch.groups, 0), partial(_log_posterior_at, model, batch))
        found["state"] += batch.groups.tolist()
        found["weight"] += batch.row_weights.tolist()
        found["log_own"] += logs.tolist()
        for k, column in enumerate(posterior.T):
            found[f"p{k}"] += column.tolist()
    return found


def _log_posterior_at(model: Any, batch: Batch, rows: IntArray) -> FloatArray:
    return np.asarray(model.predict_log_proba(batch)[rows])


def _of_model(
    model: Any, table: Any, targets: Any, cv: Folds, progress: Progress | None
) -> tuple[HeldOut, Answer, LogAnswer]:
    """The rows without a posterior, how to find one, and its logarithm for some rows."""
    if cv is not None and not leaves_rows_out(model):
        raise FitError(
            f"{type(model).__name__} cannot leave learned rows out, and does not learn the others again",
            fix="check it on rows that it has not learned, without cv",
        )
    target = model.schema.target.name
    every = [_of_classes(each, model) for each in table] if are_batches(table) else encoded(model, table, targets)
    groups = np.concatenate([each.groups for each in every]) if every else np.zeros(0, dtype=np.int32)
    _refuse_unknown(groups, target)
    mass = np.concatenate([b.row_weights for b in every] or [np.zeros(0)])
    kept = (groups != MISSING) & (mass > 0)
    if not kept.any():
        raise FitError(f"no row has a value in {target!r}", fix="give rows whose state is known")
    ends = np.cumsum([each.n_rows for each in every])
    batches = [b.take(np.flatnonzero(kept[end - b.n_rows : end])) for b, end in zip(every, ends, strict=True)]
    truth = groups[kept].astype(np.int64)
    _check_number(cv, truth)

    def posterior_of(cv: Folds) -> FloatArray:
        if cv is None:
            return np.concatenate([reported(model.predict_proba(batch), progress) for batch in batches])
        if cv == "loo":
            _refuse_unlearned(model, batches)
            return _left_out(model, batches, progress, model.leave_one_out)
        return _folded(model, batches, turns(truth, int(cv)), int(cv), progress)

    def log_posterior_of(cv: Folds, rows: IntArray) -> FloatArray:
        if cv is None:
            every = np.concatenate([model.predict_log_proba(batch) for batch in batches])
            return np.asarray(every[rows])
        if cv == "loo" and capabilities_of(model).leave_one_out:
            return _left_out(model, batches, None, model.leave_one_out_log_proba)[rows]
        folds = np.arange(len(truth)) if cv == "loo" else turns(truth, int(cv))
        found = np.full((len(truth), len(model.classes)), -np.inf)
        some = np.unique(folds[rows]).tolist()
        for inside, logs in posteriors_of_folds(model, batches, folds, some, logarithms=True):
            found[inside] = logs
        return found[rows]

    return _rows(model.classes, truth, mass[kept], kept, cv), posterior_of, log_posterior_of


def _rows(states: tuple[Label, ...], truth: IntArray, weights: FloatArray, kept: BoolArray, cv: Folds) -> HeldOut:
    n_folds = 0 if cv is None else len(truth) if cv == "loo" else int(cv)
    return HeldOut(states, np.zeros((0, len(states))), truth, weights, kept, _how(cv), n_folds)


def _of_classes(batch: Batch, model: Any) -> Batch:
    """An encoded batch in the codes of a model: its levels and its classes."""
    known = Vocabulary(model.classes)
    recoded: Batch = model.recoded(batch)
    return replace(recoded, groups=batch.groups_in(known), group_labels=known)


def _refuse_unlearned(model: Any, batches: list[Batch]) -> None:
    """A row that was never learned cannot be left out: forgetting all of them says so."""
    if not capabilities_of(model).leave_one_out:
        refuse_other_rows(model, batches)
        return
    for batch in batches:
        model = model.forget(batch, again=True)


def _refuse_unknown(groups: Any, target: str) -> None:
    if (groups == UNSEEN).any():
        row = int(np.argmax(groups == UNSEEN))
        raise FitError(
            f"row {row_number(row)} has a state in {target!r} that the model never learned",
            fix="leave such rows out, or fit again",
        )


def _left_out(
    model: Any, batches: list[Batch], progress: Progress | None, answer: Callable[[Any], FloatArray]
) -> FloatArray:
    """What a method of the model that leaves rows out answers."""
    if model.selected_by_rows:  # all rows together select it
        return reported(answer(batches), progress)
    size = model.rows_left_out_at_once if isinstance(model, Classifier) else None
    parts = [part for batch in batches for part in _in_parts(batch, size)]
    return np.concatenate([reported(answer(part), progress) for part in parts])


def _in_parts(batch: Batch, size: int | None) -> list[Batch]:
    if size is None or batch.n_rows <= size:
        return [batch]
    return [batch.rows(slice(k, min(k + size, batch.n_rows))) for k in range(0, batch.n_rows, size)]


def _folded(model: Any, batches: list[Batch], folds: IntArray, n_folds: int, progress: Progress | None) -> FloatArray:
    if model.selected_by_rows:
        _refuse_unlearned(model, batches)
    posterior = np.zeros((len(folds), len(model.classes)))
    for rows, found in posteriors_of_folds(model, batches, folds, range(n_folds)):
        posterior[rows] = reported(found, progress)
    return posterior


# -- estimators -----------------------------------------------------------------------------------------------


def _of_estimator(
    model: Any, table: Any, targets: Any, cv: Folds, progress: Progress | None
) -> tuple[HeldOut, Answer, LogAnswer]:
    if targets is None:
        raise ParameterError("an estimator does not know the target's column", fix="give targets=y")
    if not hasattr(model, "predict_proba"):
        raise FitError(f"{type(model).__name__} has no predict_proba", fix="choose a model that gives probabilities")
    if cv is not None and isinstance(getattr(model, "estimator", None), TableModel):
        raise FitError(
            "the model inside is fitted, and stays when its wrapper is fitted to other folds: no row is left out",
            fix="evaluate the model itself with cv and costs, or give the wrapper an estimator that is not fitted",
        )
    y = np.asarray(targets)
    states = tuple(label_of(label) for label in _classes_of(model, y, cv))
    truth = Vocabulary(states).encode(y.tolist()).astype(np.int64)
    _refuse_unknown(np.where(truth < 0, UNSEEN, truth), "y")
    _check_number(cv, truth)

    def posterior_of(cv: Folds) -> FloatArray:
        if cv is None:
            found = reported(np.asarray(model.predict_proba(table)), progress)
        elif cv == "loo" and hasattr(model, "leave_one_out"):
            found = reported(np.asarray(model.leave_one_out(table, y)), progress)
        else:
            n_folds = len(y) if cv == "loo" else int(cv)
            folds = np.arange(len(y)) if cv == "loo" else turns(truth, n_folds)
            found = _refitted(model, table, y, states, folds, n_folds, progress)
        if len(found) != len(y):
            raise ParameterError(f"{len(found)} rows and {len(y)} targets", fix="give one target for each row")
        return found

    def no_logarithms(cv: Folds, rows: IntArray) -> FloatArray:  # of an estimator a share of 0 is one
        return np.full((len(rows), len(states)), -np.inf)

    return _rows(states, truth, np.ones(len(y)), np.ones(len(y), dtype=bool), cv), posterior_of, no_logarithms


def _classes_of(model: Any, y: Any, cv: Folds) -> Any:
    """Those that it has learned; folds are fitted again, and know them from the targets too."""
    if hasattr(model, "classes_"):
        return model.classes_
    if cv is None:
        raise FitError(f"{type(model).__name__} is not fitted", fix="fit it, or give cv=5")
    return Vocabulary.of(y.tolist())


def _refitted(
    model: Any, X: Any, y: Any, states: tuple[Label, ...], folds: IntArray, n_folds: int, progress: Progress | None
) -> FloatArray:
    posterior = np.zeros((len(y), len(states)))
    for fold in range(n_folds):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if not len(inside):
            continue
        again = copy_of(model).fit(rows_at(X, outside), y[outside])
        columns = np.array([states.index(label_of(label)) for label in again.classes_])
        posterior[np.ix_(inside, columns)] = reported(np.asarray(again.predict_proba(rows_at(X, inside))), progress)
    return posterior


def copy_of(estimator: Any) -> Any:
    """An estimator with the same settings that has learned nothing."""
    import copy

    parameters = {name: copy.deepcopy(value) for name, value in estimator.get_params(deep=False).items()}
    return type(estimator)(**parameters)


def rows_at(X: Any, rows: IntArray) -> Any:
    """Some rows of a matrix, a frame or a list."""
    if isinstance(X, list | tuple):
        return [X[row] for row in rows.tolist()]
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
