"""What the empty columns of a row could still say, for a naive Bayes model: the tests that could be made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bayeswise.decisions.information import Densities, Outcomes
from bayeswise.explanations.account import Account
from bayeswise.foundation.errors import FitError
from bayeswise.models.naive_bayes.numbers import NormalScores


def empty_columns(account: Account) -> list[str]:
    """The columns that the row has no value for."""
    return [part.column for part in account.contributions if part.value is None]


def outcomes_of(model: Any, columns: Iterable[str]) -> dict[str, Outcomes | Densities]:
    """How likely each value of each column is in each state; texts and unlisted columns are left out.

    Levels are exact, normal columns are known by their densities; other families by values across their range.
    """
    if not hasattr(model, "alternatives"):
        raise FitError(
            f"{type(model).__name__} does not tell what an empty column could say", fix="use a naive Bayes model"
        )
    found: dict[str, Outcomes | Densities] = {}
    for column in columns:
        normal = _normal(model, column)
        if normal is not None:
            found[column] = normal
            continue
        values = model.alternatives(column)
        if values:
            log_likelihood = np.stack([each.log_likelihood for each in values])  # (n_values, n_states)
            names = [each.value for each in values]
            found[column] = (
                Outcomes.of_levels(names, log_likelihood)
                if column in model.schema.categories
                else _of_densities(names, log_likelihood)
            )
    return found


def _normal(model: Any, column: str) -> Outcomes | Densities | None:
    for scores in model.scores:
        if isinstance(scores, NormalScores) and column in scores.columns:
            from scipy.stats import norm

            at = scores.columns.index(column)
            mean, stddev = scores.parameters.mean[:, at], scores.parameters.stddev[:, at]
            if not (stddev > 0).all():
                return Outcomes(("constant",), np.ones((1, len(mean))))
            return Densities(tuple(norm(m, s) for m, s in zip(mean, stddev, strict=True)))
    return None


def _of_densities(values: list[Any], log_density: Any) -> Outcomes:
    """Points of a density, each with the width of its neighbourhood, so that every state sums to 1."""
    places = np.asarray(values, dtype=np.float64)
    width = np.gradient(places) if len(places) > 1 else np.ones(1)
    mass = np.exp(log_density - log_density.max()) * width[:, None]
    return Outcomes(tuple(values), mass / mass.sum(axis=0))
