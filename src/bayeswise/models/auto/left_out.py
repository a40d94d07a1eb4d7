"""What each candidate says of rows that it never saw.

Where statistics say everything about a model, each row is left out in closed form. Where rows choose something (cuts,
graphs, families, means that stand for missing cells), everything is learned again without the rows of each fold: a
left-out posterior that saw its row would be too good.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.logspace import log
from bayeswise.models.auto.candidates import Candidate, Inputs, Member
from bayeswise.models.auto.text_words import best_word_weight
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.render.numbers import plural
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.schema import Schema

FEW_ROWS = 2_000
FOLDS, FOLDS_OF_FEW = 5, 10


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The posteriors of all rows under a candidate that never saw them."""

    posterior: FloatArray  # (n_rows, n_states)
    log_own: FloatArray  # (n_rows,) log p(own state), also where p is too small for a number
    how: str  # "leave-one-out" or "10 folds"

    def is_as(self, other: LeftOut) -> bool:
        """Whether both are equal bit for bit."""
        return np.array_equal(self.posterior, other.posterior) and np.array_equal(self.log_own, other.log_own)


def n_folds_for(n_rows: int) -> int:
    """Few rows are worth more folds, each with more of them to learn from."""
    return min(FOLDS_OF_FEW if n_rows <= FEW_ROWS else FOLDS, max(n_rows, 2))


def left_out(
    candidate: Candidate,
    member: Member,
    batch: Batch,
    schema: Schema,
    folds: IntArray,
    classes: tuple[Label, ...],
    seen: dict[tuple[Any, ...], Inputs | None],
) -> LeftOut:
    """The posteriors of the rows of a batch that the member has learned, each without that row or without its fold.

    `seen` keeps what candidates see of the rows outside of each fold: those that see alike share it.
    """
    rows, own = np.arange(batch.n_rows), np.asarray(batch.groups)
    if leaves_one_out(member):
        found: FloatArray = member.model.leave_one_out([member.seen(batch)])
        log_own = log(found[rows, own])
        if np.isneginf(log_own).any():
            log_own = member.model.leave_one_out_log_proba([member.seen(batch)])[rows, own]
        return LeftOut(found, log_own, "leave-one-out")
    log_shares = np.full((batch.n_rows, len(classes)), -np.log(len(classes)))
    n_folds = int(folds.max()) + 1
    for fold in range(n_folds):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if len(inside) and len(outside):
            others, key = batch.take(outside), (candidate.sees, n_folds, fold)
            if key not in seen:
                seen[key] = candidate.inputs(others, schema)
            without = candidate.learned(others, schema, seen[key])
            log_shares[inside] = without.log_posterior(batch.take(inside), classes)
    return LeftOut(np.exp(log_shares), log_shares[rows, own], plural(n_folds, "fold"))


def with_word_weight(member: Member, batch: Batch, folds: IntArray) -> tuple[Member, LeftOut]:
    """Naive Bayes whose words count as much as left-out rows say; for each row, those of the other folds."""
    rows, truth = member.seen(batch), np.asarray(batch.groups).astype(np.int64)
    weights = batch.row_weights
    log_whole, log_half = (
        _counting_words(member, weight).model.leave_one_out_log_proba([rows]) for weight in (1.0, 0.5)
    )
    possible = np.isfinite(log_whole)
    log_words = 2.0 * (np.where(possible, log_whole, 0.0) - np.where(possible, log_half, 0.0))
    log_rest = log_whole - log_words
    log_shares = np.empty_like(log_whole)
    for fold in range(int(folds.max()) + 1):
        inside, outside = folds == fold, folds != fold
        others = log_rest[outside], log_words[outside], truth[outside], weights[outside]
        log_shares[inside] = log_posterior(log_rest[inside] + best_word_weight(*others) * log_words[inside])
    found = LeftOut(np.exp(log_shares), log_shares[np.arange(batch.n_rows), truth], "leave-one-out")
    return _counting_words(member, best_word_weight(log_rest, log_words, truth, weights)), found


def _counting_words(member: Member, weight: float) -> Member:
    return replace(member, model=replace(member.model, settings=member.model.settings.changed(word_weight=weight)))


def leaves_one_out(member: Member) -> bool:
    """Whether rows leave the member in closed form: nothing is chosen by them, and no row needs a fit of its own."""
    model: Any = member.model
    if member.learns_weights or model.selected_by_rows or member.fills_by_rows:
        return False
    if model.capabilities.distances:  # Gaussian classes: EM, and a covariance without an inverse, are made again
        return model.completion is None and not model.singular
    return True
