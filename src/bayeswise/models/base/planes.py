"""A model of classes over two of its number columns: evaluated on a grid, with rows on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.explanations.class_plane import ClassPlane, Points, axes_of, gaussian_limits, together
from bayeswise.foundation.errors import FitError, NoSuchAnswerError, ParameterError
from bayeswise.models.base.probability_model import ProbabilityModel
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.null_words import open_like

_DRAWN = 2000  # rows that a model draws to find out where its classes lie


def plane_of(model: Any, columns: Sequence[str] | None, rows: Any, at: Mapping[str, Any], points: int) -> ClassPlane:
    """The model on a grid around the rows; without rows, around Gaussian classes or rows that it draws itself."""
    listed = tuple(model.schema.numbers if columns is None else columns)
    if len(listed) != 2:
        raise ParameterError(f"a plane has two columns; found {len(listed)}", fix="name two columns")
    first, second = (find_name(name, model.schema.numbers, where="the number columns of the model") for name in listed)
    names = (first, second)
    others = [name for name in model.schema.used if name not in names]
    for name in at:
        find_name(name, others, where="the other columns of the model")
    seen = None if rows is None else points_of(model, rows, names)
    gaussians = None if at else model.gaussians_on(names)
    if gaussians is None:
        return _on_grid(model, names, others, seen, at, points)
    limits = gaussian_limits(gaussians.mean, gaussians.covariance)
    x, y = axes_of(together(limits, None if seen is None else seen.limits()), points)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    log_joint = gaussians.log_relative(grid).reshape(points, points, -1)
    return ClassPlane(names, model.classes, x, y, log_joint, gaussians.mean, gaussians.covariance, rows=seen)


def _on_grid(
    model: ProbabilityModel,
    names: tuple[str, str],
    others: Sequence[str],
    rows: Points | None,
    at: Mapping[str, Any],
    points: int,
) -> ClassPlane:
    """Any other model; one that does not say how probable rows are needs rows, and a value in every column."""
    whole = model.capabilities.row_probability
    if not whole and (rows is None or set(others) - set(at)):
        raise NoSuchAnswerError(
            f"{type(model).__name__} does not say how probable rows are", fix="give rows=, and at= for other columns"
        )
    seen = points_of(model, model.sample(_DRAWN, 0), names) if rows is None else rows
    x, y = axes_of(seen.limits(), points)
    across, up = np.meshgrid(x, y)
    table: dict[str, Any] = {names[0]: across.ravel(), names[1]: up.ravel()}
    table |= {name: [at.get(name)] * across.size for name in others}
    shape = (points, points, len(model.classes))
    log_joint = (model.log_joint(table) if whole else model.predict_log_proba(table)).reshape(shape)
    log_prior = model.log_prior if whole else None
    log_density = None if log_prior is None else log_joint - np.where(np.isfinite(log_prior), log_prior, 0.0)
    return ClassPlane(names, model.classes, x, y, log_joint, log_density=log_density, rows=rows)


def points_of(model: ProbabilityModel, table: Any, names: tuple[str, str]) -> Points:
    """Rows on two columns, without those that lack one of them, and their classes where the table has them."""
    source = open_like(table, model.schema)
    target = model.schema.target.name if model.schema.target is not None else ""
    has_target = any(column.name == target for column in source.columns)
    known = {label: k for k, label in enumerate(model.classes)}
    values, states = [np.zeros((0, 2))], [np.zeros(0, dtype=np.int64)]
    for chunk in source.chunks([*names, *([target] if has_target else [])]):
        values.append(np.stack([chunk.numbers(name)[0] for name in names], axis=1))
        cells = chunk.cells(target) if has_target else [None] * chunk.n_rows
        states.append(np.array([-1 if cell is None else known.get(cell, -1) for cell in cells], dtype=np.int64))
    both = np.concatenate(values)
    there = np.isfinite(both).all(axis=1)
    if not there.any():
        raise FitError(f"no row has both {names[0]!r} and {names[1]!r}", fix="give rows with numbers in both")
    return Points(both[there], np.concatenate(states)[there])
