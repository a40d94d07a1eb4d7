"""Whole columns out of a source, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeswise.tables.schema.labels import Label
from bayeswise.tables.source import InvalidValue, Source, open_source


def opened(table: Any, **options: Any) -> Source:
    return table if hasattr(table, "chunks") else open_source(table, **options)


def numbers_of(table: Any, column: str, **options: Any) -> list[float]:
    source = opened(table, **options)
    return np.concatenate([[], *(chunk.numbers(column)[0] for chunk in source.chunks([column]))]).tolist()


def invalid_values_of(table: Any, column: str, **options: Any) -> list[InvalidValue]:
    source = opened(table, **options)
    return [invalid for chunk in source.chunks([column]) for invalid in chunk.numbers(column)[1]]


def labels_of(table: Any, column: str, **options: Any) -> list[Label | None]:
    """Each row's label, None for missing."""
    labels: list[Label | None] = []
    for chunk in opened(table, **options).chunks([column]):
        codes, levels = chunk.labels(column)
        labels += [None if code < 0 else levels[code] for code in codes]
    return labels


def typed(labels: list[Label | None]) -> list[tuple[str, Any]]:
    """Labels with their types: 1, 1.0 and True are different."""
    return [(type(label).__name__, label) for label in labels]
