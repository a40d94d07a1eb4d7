"""One column of naive Bayes by itself: the distribution that each class has there."""

from __future__ import annotations

from typing import Any

from bayeswise.explanations.class_densities import Levels
from bayeswise.families.distributions import distribution, parameters_at
from bayeswise.families.normal import Normal
from bayeswise.foundation.errors import FitError
from bayeswise.models.naive_bayes.categories import CategoryScores, CategoryTable
from bayeswise.models.naive_bayes.numbers import NormalScores
from bayeswise.models.naive_bayes.others import FamilyScores


def distributions_of(scores: Any, column: str) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """One distribution for each class, and the levels of a category; None for texts and for averages of models."""
    if type(scores) is NormalScores:
        at = scores.columns.index(column)
        known = bool(scores.varies[at])
        return _of_family(Normal(), scores.parameters, at, column, known, len(scores.parameters.mean))
    if type(scores) is FamilyScores:
        at = scores.columns.index(column)
        parameters, usable = scores.parameters
        return _of_family(scores.family, parameters, at, column, bool(usable[:, at].all()), len(usable))
    if type(scores) is CategoryScores:
        return _of_levels(next(table for table in scores.tables if table.column.name == column))
    return None


def _of_family(
    family: Any, parameters: Any, at: int, column: str, known: bool, n_states: int
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    if not known:
        raise FitError(f"column {column!r} has one value in a class, and so no density", fix="draw another column")
    made = (distribution(family.name, **parameters_at(family, parameters, k, at)) for k in range(n_states))
    return tuple(made), ()


def _of_levels(table: CategoryTable) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    log_p = table.log_probability()  # (n_cells, n_states)
    names = [*table.counts.levels, *(["(missing)"] * (len(log_p) - len(table.counts.levels)))]
    return tuple(Levels(each) for each in log_p.T), tuple(names)
