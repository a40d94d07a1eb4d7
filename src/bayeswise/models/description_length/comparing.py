"""Several naive Bayes models of one table side by side: bits, and how well each foretells rows left out.

All of them are made of the statistics of one sweep; a second sweep leaves each row out in turn, in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.logspace import log
from bayeswise.models.averaged_naive_bayes.model import averaged
from bayeswise.models.description_length.lengths import description_length
from bayeswise.models.naive_bayes.learning import fit, select
from bayeswise.models.naive_bayes.left_out import left_out
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.tables.encoder import Encoder
from bayeswise.tables.inference import infer_schema
from bayeswise.tables.source import open_source


@dataclass(frozen=True)
class Compared:
    """One model's line."""

    name: str
    bits: float  # -log2 p(all rows), parameters integrated out
    log_loss: float  # the mean of -log p(own class) over rows left out, in nats
    error: float  # the share of rows left out whose most probable class is wrong
    cost: float | None  # the mean cost of the cheapest action for rows left out


def candidates(table: Any, target: str, **wishes: Any) -> dict[str, NaiveBayesModel]:
    """Four readings of one table; the last one only where some column is a number."""
    source = open_source(table)
    schema = infer_schema(source, target, **wishes)
    plain = fit(source, target, schema=schema)
    models = {
        "no column": averaged(plain, relevance=0.0),
        "naive Bayes": plain,
        "averaged": averaged(plain, relevance=0.5),
    }
    if schema.numbers:
        chosen = fit(source, target, schema=schema, families=select(source, schema).families)
        if chosen.factors != plain.factors:
            models["averaged, families by evidence"] = averaged(chosen, relevance=0.5)
    return models


def compare(
    models: Mapping[str, NaiveBayesModel],
    table: Any,
    costs_of: Callable[[tuple[Any, ...]], FloatArray] | None = None,
) -> tuple[Compared, ...]:
    """The models in the order of their bits; `costs_of` gives costs (n_actions, n_states) for the classes.

    >>> rows = 8 * [{"wind": w, "play": p} for w, p in (("weak", "yes"), ("strong", "no"))]
    >>> [(line.name, round(line.bits), line.error) for line in compare(candidates(rows, "play"), rows)]
    [('naive Bayes', 24, 0.0), ('averaged', 25, 0.0), ('no column', 35, 1.0)]
    """
    totals = {name: np.zeros(4) for name in models}
    first = next(iter(models.values()))
    known = dict(first.vocabularies)
    encoder = Encoder(first.schema, learning=True, vocabularies=known, check_strays=False)
    table_of = {name: None if costs_of is None else costs_of(model.classes) for name, model in models.items()}
    for batch in encoder.batches(open_source(table)):
        weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
        for name, model in models.items():
            own = batch.group_labels.positions_in(model.statistics.labels)[batch.groups]
            totals[name] += _sums(left_out(model, batch), own, weights, table_of[name])
    lines = [_line(name, model, totals[name], costs_of is not None) for name, model in models.items()]
    return tuple(sorted(lines, key=lambda line: line.bits))


def _sums(posterior: FloatArray, own: Any, weights: FloatArray, costs: FloatArray | None) -> FloatArray:
    """Weight, and weighted log-loss, errors and cost of some rows."""
    rows = np.arange(len(own))
    loss = -log(posterior[rows, own])
    wrong = np.argmax(posterior, axis=1) != own
    paid = np.zeros(len(own)) if costs is None else costs[np.argmin(posterior @ costs.T, axis=1), own]
    return np.array([weights.sum(), weights @ loss, weights @ wrong, weights @ paid])


def _line(name: str, model: NaiveBayesModel, sums: FloatArray, with_cost: bool) -> Compared:
    weight, loss, wrong, paid = sums.tolist()
    bits = description_length(model).bits
    return Compared(name, bits, loss / weight, wrong / weight, paid / weight if with_cost else None)
