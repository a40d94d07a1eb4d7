"""Answers about rows that are spread over machines: a lazy frame of the same library, with the columns added.

The model travels as the bytes of its file; each worker reads it once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, plain
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.files import bytes_of, load_contents
from bayeswise.render.labels import probability_names
from bayeswise.tables.encoding.plan import plan_for
from bayeswise.tables.partitions import RowAnswer, SpreadSource
from bayeswise.tables.schema.labels import Label, label_type_of
from bayeswise.tables.schema.names import free_name, normal_name
from bayeswise.tables.source import Source, Storage
from bayeswise.tables.sources.opening import spread

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class ModelAnswer(RowAnswer):
    """What a function of a model and some rows says of each row, under names that the table does not have."""

    model: bytes
    answer: Callable[[Any, Source], Columns]
    names: tuple[str, ...]  # as the table has them
    storages: tuple[tuple[str, Storage], ...]  # as the function names its columns

    @property
    def fields(self) -> dict[str, Storage]:
        taken = {normal_name(name) for name in self.names}
        return {free_name([name], taken): storage for name, storage in self.storages}

    def of(self, source: Source) -> Columns:
        found = self.answer(_loaded(self.model), source)
        stored = zip(self.fields, self.storages, strict=True)
        return {name: _stored(found[known], storage) for name, (known, storage) in stored}


def _stored(cells: Sequence[Any], storage: Storage) -> Sequence[Any]:
    """Labels of several types are text."""
    return [None if cell is None else str(cell) for cell in cells] if storage == "text" else cells


@cache
def _loaded(model: bytes) -> Any:
    return load_contents("the model", model)


def answered(
    model: Any, source: SpreadSource, answer: Callable[[Any, Source], Columns], storages: Mapping[str, Storage]
) -> Any:
    """A lazy frame of the same library as the source, with what a function says of each of its rows."""
    return source.extended(_answer_for(model, source, answer, storages))


def _answer_for(
    model: Any, source: SpreadSource, answer: Callable[[Any, Source], Columns], storages: Mapping[str, Storage]
) -> ModelAnswer:
    # refuses a table without the columns of the model before any row is read
    plan_for(model.schema, source, known=model.vocabularies)
    names = tuple(column.name for column in source.columns)
    return ModelAnswer(bytes_of(model), answer, names, tuple(storages.items()))


def columns_of_answer(
    model: Any, source: SpreadSource, answer: Callable[[Any, Source], Columns], storages: Mapping[str, Storage]
) -> dict[str, FloatArray]:
    """What a function says of each row, as numbers on this machine; the columns of the rows stay where they are."""
    work = _answer_for(model, source, answer, storages)
    scored: Any = spread(source.extended(work))
    scored.n_rows = source.n_rows
    parts: dict[str, list[FloatArray]] = {name: [] for name in storages}
    for chunk in scored.chunks(list(work.fields)):
        for known, name in zip(storages, work.fields, strict=True):
            parts[known].append(np.array(chunk.numbers(name)[0]))
    source.n_rows = scored.n_rows
    source.passes.append("answers brought here")
    return {name: np.concatenate(found) if found else np.empty(0) for name, found in parts.items()}


def storage_of_labels(labels: Sequence[Label]) -> Storage:
    """How a column of labels is stored.

    >>> storage_of_labels(["no", "yes"]), storage_of_labels([0, 1]), storage_of_labels([1, "one"])
    ('text', 'integer', 'text')
    """
    kinds: dict[str, Storage] = {"integer": "integer", "number": "float", "boolean": "boolean"}
    return kinds.get(label_type_of(labels), "text")


def frame_with(model: Any, method: str, source: SpreadSource) -> Any:
    """A lazy frame with the answers of `predict`, `predict_proba`, `predict_log_proba` or `explain`."""
    return answered(model, source, _FUNCTIONS[method], _storages(model, method))


def _storages(model: Any, method: str) -> dict[str, Storage]:
    if method == "explain":
        return _storages_of_weights(model)
    if method != "predict":
        prefix = "" if method == "predict_proba" else "log_"
        return {prefix + name: "float" for name in probability_names(model.classes)}
    return {"predicted": storage_of_labels(model.classes) if model.capabilities.classes else "float"}


def _predicted(model: Any, source: Source) -> Columns:
    return {"predicted": plain(model.predict(source))}


def _probabilities(model: Any, source: Source, *, prefix: str = "") -> Columns:
    answers = model.predict_log_proba(source) if prefix else model.predict_proba(source)
    return dict(zip([prefix + name for name in probability_names(model.classes)], answers.T, strict=True))


def _storages_of_weights(model: Any) -> dict[str, Storage]:
    nothing = _weights_of_row(model, dict.fromkeys(model.schema.used))  # a row without a cell has all terms
    columns: dict[str, Storage] = {name: "float" for name in nothing if name.startswith("weight_")}
    if not model.capabilities.classes:
        return {"predicted": "float", "at_means": "float", **columns}
    label = storage_of_labels(model.classes)
    odds: dict[str, Storage] = {"log_odds": "float", "log_prior_odds": "float"}
    return {"predicted": label, "against": "text", **odds, **columns}


def _weights(model: Any, source: Source) -> Columns:
    """What each column adds to the log-odds of the most probable state, or to the score of a number."""
    found: dict[str, list[Any]] = {name: [] for name in _storages_of_weights(model)}
    for batch in model.batches(source):
        for row in range(batch.n_rows):
            for name, value in _weights_of_row(model, batch.rows(slice(row, row + 1))).items():
                found[name].append(value)
    return found


def _weights_of_row(model: Any, row: Any) -> dict[str, Any]:
    why = model.explain(row)
    if not model.capabilities.classes:
        return {
            "predicted": why.mean,
            "at_means": why.at_means,
            **{f"weight_{term.column}": term.amount for term in why.terms},
        }
    found = why.weigh()
    terms: dict[str, list[float]] = {}
    for weight in found.weights:  # of a text there is one for each word
        terms.setdefault(f"weight_{weight.column}", []).append(weight.log_ratio)
    return {
        "predicted": found.state,
        "against": found.rival,
        "log_odds": found.log_odds,
        "log_prior_odds": found.log_prior_odds,
        **{name: math.fsum(ratios) for name, ratios in terms.items()},
    }


_FUNCTIONS: dict[str, Callable[[Any, Source], Columns]] = {
    "predict": _predicted,
    "predict_proba": _probabilities,
    "predict_log_proba": partial(_probabilities, prefix="log_"),
    "explain": _weights,
}
