"""Several naive Bayes models of one table side by side: bits, and how well each predicts rows left out.

All of them are made of the statistics of one sweep. On the way rows are kept to be left out, each in closed form: all
of a table of up to 8,192, a sample of a larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.description_length.bits import Part
from bayeswise.models.description_length.lengths import description_length
from bayeswise.models.description_length.sharing import KeptRows, candidates_of
from bayeswise.models.naive_bayes.left_out import log_posterior_left_out
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.relearning import log_posteriors_of_folds
from bayeswise.posteriors.calibration import turns
from bayeswise.statistics.intervals import MOST_FOLDS, Bounds, Estimate, mean_with_interval, variance_inflation
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.source import open_source

LEVEL = 0.95  # of the intervals

CostsOf = Callable[[tuple[Any, ...]], FloatArray]


@dataclass(frozen=True)
class Compared:
    """One model's line."""

    name: str
    bits: float  # -log2 p(all rows), parameters integrated out
    log_loss: float  # the mean of -log p(own class) over rows left out, in nats
    error: float  # the share of rows left out whose most probable class is wrong
    cost: float | None  # the mean cost of the cheapest action for rows left out
    log_loss_interval: tuple[float, float] = (-np.inf, np.inf)  # of 95 %, corrected for shared training rows
    error_interval: tuple[float, float] = (0.0, 1.0)
    cost_interval: tuple[float, float] | None = None
    n_rows: int = 0  # how many rows were left out, each in turn
    families: str = "given"  # whose: "given", "of each fold", or "of all rows" where only some are at hand
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
    lines = []
    for name, model in models.items():
        own = np.concatenate([each.group_labels.positions_in(model.statistics.labels)[each.groups] for each in rows])
        costs = None if costs_of is None else costs_of(model.classes)
        relearns = bool(model.selected_by_rows) and _are_all_rows(model, weights) and len(own) > 1
        figures = _figures(_log_posteriors(model, rows, own, relearns), own, weights, costs)
        families = "of each fold" if relearns else "of all rows" if model.selected_by_rows else "given"
        length = description_length(model)
        lines.append(Compared(name, length.bits, **figures, n_rows=len(own), families=families, parts=length.parts))
    return tuple(sorted(lines, key=lambda line: line.bits))


def _log_posteriors(
    model: NaiveBayesModel, rows: list[Batch], own: IntArray, relearns: bool
) -> tuple[FloatArray, FloatArray]:
    """(n_rows, n_states) log p(state) of rows left out, and in folds; both in folds where these choose families."""
    few = min(MOST_FOLDS, len(own) if relearns else len(own) // 2)
    if few < 2:
        alone = np.concatenate([log_posterior_left_out(model, batch) for batch in rows])
        return alone, alone
    in_folds = np.full((len(own), len(model.classes)), -np.inf)
    kept = model if relearns else replace(model, selected=False)
    for places, found in log_posteriors_of_folds(kept, rows, turns(own, few), range(few)):
        in_folds[places] = found
    if relearns:
        return in_folds, in_folds
    return np.concatenate([log_posterior_left_out(model, batch) for batch in rows]), in_folds


def _are_all_rows(model: NaiveBayesModel, weights: FloatArray) -> bool:
    """Whether rows of these weights are all that the model has learned."""
    return bool(np.isclose(weights.sum(), model.class_weight.sum(), rtol=1e-12))


def _figures(
    log_posteriors: tuple[FloatArray, FloatArray], own: IntArray, weights: FloatArray, costs: FloatArray | None
) -> dict[str, Any]:
    """The means over rows left out, with intervals that hold those in folds."""
    alone, in_folds = (_values(each, own, costs) for each in log_posteriors)
    bounds = {"error": (0.0, 1.0), "cost": None if costs is None else (float(costs.min()), float(costs.max()))}
    figures: dict[str, Any] = {"cost": None}
    for name, values in alone.items():
        both = [_with_interval(each, weights, bounds.get(name)) for each in (values, in_folds[name])]
        found = both[0].around(both[1])
        figures[name], figures[f"{name}_interval"] = found.mean, (found.low, found.high)
    return figures


def _values(log_posterior: FloatArray, own: IntArray, costs: FloatArray | None) -> dict[str, FloatArray]:
    """(n_rows,) log-loss, error and cost of each row."""
    rows = np.arange(len(own))
    wrong = np.argmax(log_posterior, axis=1) != own
    values = {"log_loss": -log_posterior[rows, own], "error": wrong.astype(float)}
    if costs is not None:
        values["cost"] = costs[np.argmin(np.exp(log_posterior) @ costs.T, axis=1), own]
    return values


def _with_interval(values: FloatArray, weights: FloatArray, bounds: Bounds | None) -> Estimate:
    if not np.isfinite(values).all():
        return Estimate(np.inf, float(np.average(np.where(np.isfinite(values), values, 0.0), weights=weights)), np.inf)
    return mean_with_interval(values, weights, LEVEL, bounds, variance_inflation(MOST_FOLDS))
