"""Answers about rows that are spread over machines: a lazy frame of the same library, with the columns added.

The model travels as the bytes of its file; each worker reads it once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bayeswise.foundation.arrays import plain
from bayeswise.models.files import bytes_of, load_contents
from bayeswise.render.labels import probability_names
from bayeswise.tables.partitions import RowAnswer, SpreadSource
from bayeswise.tables.schema.labels import Label, label_type_of
from bayeswise.tables.schema.names import free_name, normal_name
from bayeswise.tables.source import Source, Storage

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
    names = tuple(column.name for column in source.columns)
    return source.extended(ModelAnswer(bytes_of(model), answer, names, tuple(storages.items())))


def storage_of_labels(labels: Sequence[Label]) -> Storage:
    """How a column of labels is stored.

    >>> storage_of_labels(["no", "yes"]), storage_of_labels([0, 1]), storage_of_labels([1, "one"])
    ('text', 'integer', 'text')
    """
    kinds: dict[str, Storage] = {"integer": "integer", "number": "float", "boolean": "boolean"}
    return kinds.get(label_type_of(labels), "text")


def frame_with(model: Any, method: str, source: SpreadSource) -> Any:
    """A lazy frame with the answers of `predict`, `predict_proba` or `predict_log_proba`."""
    return answered(model, source, _FUNCTIONS[method], _storages(model, method))


def _storages(model: Any, method: str) -> dict[str, Storage]:
    if method != "predict":
        prefix = "" if method == "predict_proba" else "log_"
        return {prefix + name: "float" for name in probability_names(model.classes)}
    return {"predicted": storage_of_labels(model.classes) if model.capabilities.classes else "float"}


def _predicted(model: Any, source: Source) -> Columns:
    return {"predicted": plain(model.predict(source))}


def _probabilities(model: Any, source: Source) -> Columns:
    return dict(zip(probability_names(model.classes), model.predict_proba(source).T, strict=True))


def _log_probabilities(model: Any, source: Source) -> Columns:
    names = ["log_" + name for name in probability_names(model.classes)]
    return dict(zip(names, model.predict_log_proba(source).T, strict=True))


_FUNCTIONS: dict[str, Callable[[Any, Source], Columns]] = {
    "predict": _predicted,
    "predict_proba": _probabilities,
    "predict_log_proba": _log_probabilities,
}
