"""Several naive Bayes models of one table side by side: bits, and how well each predicts rows left out.

All of them are made of the statistics of one sweep. On the way rows are kept to be left out, each in closed form: all
of a table of up to 8,192, a sample of a larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import FitError
from bayeswise.foundation.logspace import log
from bayeswise.models.description_length.bits import Part
from bayeswise.models.description_length.lengths import description_length
from bayeswise.models.description_length.sharing import KeptRows, candidates_of
from bayeswise.models.naive_bayes.left_out import left_out
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.relearning import posteriors_of_folds
from bayeswise.posteriors.calibration import turns
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.source import open_source

_FOLDS = 10

CostsOf = Callable[[tuple[Any, ...]], FloatArray]


@dataclass(frozen=True)
class Compared:
    """One model's line."""

    name: str
    bits: float  # -log2 p(all rows), parameters integrated out
    log_loss: float  # the mean of -log p(own class) over rows left out, in nats
    error: float  # the share of rows left out whose most probable class is wrong
    cost: float | None  # the mean cost of the cheapest action for rows left out
    n_rows: int = 0  # how many rows were left out, each in turn
    parts: tuple[Part, ...] = ()  # the bits of the target, and of each column


def candidates(table: Any, target: str, **overrides: Any) -> dict[str, NaiveBayesModel]:
    """Four readings of one table; the last one only where some column is a number of another family than its kind's."""
    return candidates_of(open_source(table), target, KeptRows(0), overrides)


def compare_table(table: Any, target: str, costs_of: CostsOf | None = None, **overrides: Any) -> tuple[Compared, ...]:
    """The candidates of a table, in one pass over it; `costs_of` gives costs (n_actions, n_states) for the classes.

    >>> rows = 8 * [{"wind": w, "play": p} for w, p in (("weak", "yes"), ("strong", "no"))]
    >>> [(line.name, round(line.bits), line.error) for line in compare_table(rows, "play")]
    [('naive Bayes', 24, 0.0), ('averaged', 25, 0.0), ('baseline (prior only)', 35, 1.0)]
    """
    kept = KeptRows()
    models = candidates_of(open_source(table), target, kept, overrides)
    first = next(iter(models.values()))
    return _compared(models, kept.batches(first.schema, first.vocabularies), costs_of)


def compare(models: Mapping[str, NaiveBayesModel], table: Any, costs_of: CostsOf | None = None) -> tuple[Compared, ...]:
    """Models that have learned a table, in the order of their bits; every row is left out in turn."""
    first = next(iter(models.values()))
    encoder = Encoder(first.schema, learning=True, vocabularies=dict(first.vocabularies), check_invalid=False)
    return _compared(models, encoder.batches(open_like(table, first.schema)), costs_of)


def _compared(
    models: Mapping[str, NaiveBayesModel], batches: Iterable[Batch], costs_of: CostsOf | None
) -> tuple[Compared, ...]:
    rows = [batch for batch in batches if batch.n_rows]
    if not rows:
        raise FitError("there is no row to leave out", fix="give the rows that the models have learned")
    weights = np.concatenate([np.ones(each.n_rows) if each.weights is None else each.weights for each in rows])
    totals: dict[str, FloatArray] = {}
    for name, model in models.items():
        own = np.concatenate([each.group_labels.positions_in(model.statistics.labels)[each.groups] for each in rows])
        costs = None if costs_of is None else costs_of(model.classes)
        totals[name] = _sums(_posterior(model, rows, own, weights), own, weights, costs)
    lines = [_line(name, model, totals[name], costs_of is not None) for name, model in models.items()]
    return tuple(sorted(lines, key=lambda line: line.bits))


def _posterior(model: NaiveBayesModel, rows: list[Batch], own: IntArray, weights: FloatArray) -> FloatArray:
    """(n_rows, n_states) of rows left out: in closed form, or in folds where the rows have chosen the families.

    Of a table so large that only some of its rows are at hand the families stay: no single row decides about them.
    """
    is_whole = bool(np.isclose(weights.sum(), model.class_weight.sum(), rtol=1e-12))
    if not (model.selected_by_rows and is_whole and len(own) > 1):
        return np.concatenate([left_out(model, batch) for batch in rows])
    n_folds = min(_FOLDS, len(own))
    posterior = np.zeros((len(own), len(model.classes)))
    for places, found in posteriors_of_folds(model, rows, turns(own, n_folds), n_folds):
        posterior[places] = found
    return posterior


def _sums(posterior: FloatArray, own: Any, weights: FloatArray, costs: FloatArray | None) -> FloatArray:
    """Weight, weighted log-loss, errors and cost, and number of some rows."""
    rows = np.arange(len(own))
    loss = -log(posterior[rows, own])
    wrong = np.argmax(posterior, axis=1) != own
    paid = np.zeros(len(own)) if costs is None else costs[np.argmin(posterior @ costs.T, axis=1), own]
    return np.array([weights.sum(), weights @ loss, weights @ wrong, weights @ paid, len(own)])


def _line(name: str, model: NaiveBayesModel, sums: FloatArray, with_cost: bool) -> Compared:
    weight, loss, wrong, paid, n_rows = sums.tolist()
    length, cost = description_length(model), paid / weight if with_cost else None
    return Compared(name, length.bits, loss / weight, wrong / weight, cost, int(n_rows), length.parts)
