"""Rows of numbers and states, and the exact scatter of their numbers by configuration of states."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, MissingCellError, ParameterError
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.statistics.numbers.scatter import Scatter
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.source import open_source

DETERMINED = 1e-10
"""Of a variance: parents that leave less than this determine the node."""


@dataclass(frozen=True)
class MixedRows:
    """Complete rows: numbers as a matrix, states as codes; `names` are all columns in the order of the table."""

    names: tuple[str, ...]
    numbers: tuple[str, ...]
    values: FloatArray  # (n_rows, n_numbers)
    coded: CodedRows  # of the columns with states

    @property
    def n_rows(self) -> float:
        weights = self.coded.weights
        return float(len(self.values)) if weights is None else math.fsum(weights)

    def impossible(self) -> Iterable[tuple[str, str]]:
        """The edges from numbers to states."""
        return [(number, name) for number in self.numbers for name in self.coded.names]

    def groups(self, given: Sequence[int]) -> tuple[IntArray, int]:
        """The configuration of some columns with states in each row, and how many there are."""
        which = np.zeros(len(self.values), dtype=np.int64)
        sizes = self.coded.sizes
        for column in given:
            which = which * sizes[column] + self.coded.codes[:, column]
        return which, math.prod(sizes[column] for column in given)


def read_rows(
    table: Any, ignore: Collection[str], kinds: Mapping[str, str] | None, weight: str | None, missing: str
) -> tuple[MixedRows, list[str]]:
    source = open_source(table)
    overrides: dict[str, Any] = {"kinds": kinds, "weight": weight, "ignore": list(ignore)}
    schema = infer_schema(source, None, **{name: value for name, value in overrides.items() if value})
    texts = [column.name for column in schema if column.kind == "text"]
    if texts:
        raise ParameterError(f"column {texts[0]!r} is text", fix=f"leave it out: ignore={texts!r} (--ignore COL)")
    notes = [f"{column.name} is left out: {column.reason}" for column in schema if column.kind == "ignored"]
    encoder = Encoder(schema, learning=True)
    batches = list(encoder.batches(source))
    vocabularies = [
        encoder.vocabularies[name] if schema[name].levels else Vocabulary.of(encoder.vocabularies[name])
        for name in schema.categories
    ]
    whole = Batch.concat([batch.recode(vocabularies) for batch in batches]) if batches else None
    if whole is None or not whole.n_rows or not schema.used:
        raise FitError(f"{source.description} has no row to learn from", fix="give rows, with a column that varies")
    used = [name for name in schema.used if name in {*schema.numbers, *schema.categories}]
    coded = CodedRows(schema.categories, tuple(vocabularies), whole.codes, whole.weights)
    rows = MixedRows(tuple(used), schema.numbers, whole.values, coded)
    return _whole(rows, missing, notes), notes


def _whole(rows: MixedRows, missing: str, notes: list[str]) -> MixedRows:
    """The complete rows that have a weight; missing cells are refused unless their rows may be dropped."""
    complete = np.asarray(np.isfinite(rows.values).all(axis=1) & (rows.coded.codes >= 0).all(axis=1))
    lost = int(np.count_nonzero(~complete))
    if lost and missing == "error":
        raise MissingCellError(
            f"{lost:,} of {len(complete):,} rows have a missing cell, the first in row {int(np.argmin(complete)) + 1}",
            fix="use missing='drop' (--missing drop) to leave these rows out",
        )
    if lost == len(complete):
        raise FitError(f"none of the {lost} rows has every cell", fix="ignore the columns with most missing cells")
    notes += [f"{lost:,} of {len(complete):,} rows have a missing cell and are left out"] * bool(lost)
    if rows.coded.weights is not None:
        complete &= rows.coded.weights > 0.0
    return replace(rows, values=rows.values[complete], coded=rows.coded.of_rows(complete))


class ScatterByStates:
    """The exact scatter of all numbers for each configuration of some columns with states, summed once for each set."""

    def __init__(self, rows: MixedRows) -> None:
        self._rows = rows
        self._found: dict[tuple[int, ...], tuple[FloatArray, FloatArray, FloatArray]] = {}

    def __call__(self, given: Iterable[int]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(n_configurations,) weights, then means and covariances; 0 in a configuration without rows."""
        key = tuple(given)
        if key not in self._found:
            which, n_groups = self._rows.groups(key)
            shown, codes = np.unique(which, return_inverse=True)
            groups: CodeArray = codes.ravel().astype(np.int32)
            scatter = Scatter.of(self._rows.values, groups, len(shown), self._rows.coded.weights)
            d = scatter.n_columns
            weights, means, covariances = np.zeros(n_groups), np.zeros((n_groups, d)), np.zeros((n_groups, d, d))
            weights[shown] = scatter.weight.to_floats()
            means[shown], covariances[shown] = scatter.mean(), scatter.covariance()
            self._found[key] = weights, means, covariances
        return self._found[key]


def residual_variances(covariance: FloatArray, numbers: Sequence[int], own: int, others: Sequence[int]) -> FloatArray:
    """(1 + n_others,) the residual variance of a number given `numbers`, then given one of `others` in addition."""
    unit = np.sqrt(np.diagonal(covariance))
    unit = np.where(unit > 0.0, unit, 1.0)
    kept = [own, *others]
    correlation = covariance / unit[:, None] / unit
    cross = correlation[np.ix_(numbers, kept)]
    within = correlation[np.ix_(numbers, numbers)]
    known = np.linalg.lstsq(within, cross, rcond=DETERMINED)[0] if numbers else np.zeros((0, len(kept)))
    partial = correlation[np.ix_([own], kept)][0] - known[:, 0] @ cross
    spread = np.diagonal(correlation)[kept] - (known * cross).sum(axis=0)
    adds = spread[1:] > DETERMINED
    gain = np.divide(partial[1:] ** 2, spread[1:], out=np.zeros(len(others)), where=adds)
    return np.asarray(np.concatenate([spread[:1], spread[0] - gain]) * unit[own] ** 2)
