"""The posterior of each learned row under the model that never saw it, in closed form for all rows at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray
from bayeswise.foundation.errors import FitError, NotMergedError
from bayeswise.foundation.logspace import log_sum_exp
from bayeswise.posteriors.normalise import normalise
from bayeswise.tables.batch import Batch

if TYPE_CHECKING:
    from bayeswise.models.naive_bayes.model import NaiveBayesModel


def left_out(model: NaiveBayesModel, batch: Batch) -> FloatArray:
    """(n_rows, n_states); a row that takes its class with it, or lies beyond the range of floats, is a real refit."""
    joint, again = _log_joint(model, batch)
    posterior = normalise(joint, undefined="uniform").probability
    for row in np.flatnonzero(again).tolist():
        posterior[row] = _refitted_without(model, batch.rows(slice(row, row + 1)))
    return posterior


def log_evidence_left_out(model: NaiveBayesModel, batch: Batch) -> FloatArray:
    """(n_rows,) log p(row) under the model that never saw it; minus infinity where no other row is left."""
    joint, again = _log_joint(model, batch)
    log_evidence = log_sum_exp(joint)
    for row in np.flatnonzero(again).tolist():
        part = batch.rows(slice(row, row + 1))
        others = model.forget(part, again=True)
        known = bool(others.classes)
        log_evidence[row] = others.posterior(_recoded(part, model, others)).log_evidence[0] if known else -np.inf
    return log_evidence


def _log_joint(model: NaiveBayesModel, batch: Batch) -> tuple[FloatArray, BoolArray]:
    """(n_rows, n_states) in closed form, and the rows that need a refit."""
    groups = _own_classes(model, batch)
    weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
    class_weight = np.broadcast_to(model.class_weight, (batch.n_rows, len(model.classes))).copy()
    class_weight[np.arange(batch.n_rows), groups] -= weights
    with np.errstate(invalid="ignore"):  # the only row leaves no prior behind: 0 / 0
        joint = model.log_prior_of(class_weight) + 0.0
    for each in model.scores:
        joint += each.left_out(batch, groups, batch.weights)
    again = _takes_its_class(model, class_weight) | (np.max(joint, axis=1, initial=-np.inf) == -np.inf)
    joint[again] = -np.inf
    return joint, again


def _own_classes(model: NaiveBayesModel, batch: Batch) -> CodeArray:
    if batch.groups is None:
        raise FitError("the rows have no target", fix="give a table with the target column")
    groups = batch.group_labels.positions_in(model.statistics.labels).astype(np.int32)[batch.groups]
    if (groups < 0).any():
        raise NotMergedError("a row has a class that the model never learned", fix="leave out learned rows only")
    for c, name in enumerate(model.schema.categories):
        if (batch.codes[:, c] >= len(model.vocabularies[name])).any():
            raise NotMergedError(
                f"a row has a level of column {name!r} that the model never learned", fix="leave out learned rows only"
            )
    return groups


def _takes_its_class(model: NaiveBayesModel, class_weight: FloatArray) -> BoolArray:
    """(n_rows,) whether an undeclared class has no row left."""
    declared = np.array([label in model.statistics.declared for label in model.classes], dtype=bool)
    return np.asarray(((class_weight <= 0) & ~declared).any(axis=1))


def _refitted_without(model: NaiveBayesModel, row: Batch) -> FloatArray:
    """(n_states,) by forgetting the row; equal shares if it was the only one."""
    others = model.forget(row, again=True)
    if not others.classes:
        return np.full(len(model.classes), 1.0 / len(model.classes))
    posterior = np.zeros(len(model.classes))
    places = others.statistics.labels.positions_in(model.statistics.labels)
    posterior[places] = others.posterior(_recoded(row, model, others)).probability[0]
    return posterior


def _recoded(row: Batch, before: NaiveBayesModel, after: NaiveBayesModel) -> Batch:
    """The row with its levels in the order of the other model; those it does not know are unseen."""
    names = before.schema.categories
    known = replace(row, vocabularies=tuple(before.vocabularies[name] for name in names))
    return known.recode([after.vocabularies[name] for name in names])
