"""Where the log-odds are linear in the columns: w and w0, in closed form.

shared variance    w_i = (mean+_i - mean-_i) / variance_i
                   w0 = logit p + sum (mean-_i^2 - mean+_i^2) / (2 variance_i)
categories         w = log p(level | +) - log p(level | -), for the level that the column has
words              w = log p(word | +) - log p(word | -), times the number of times it stands
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.naive_bayes.factors import LinearTerm, Scores
from bayeswise.tables.schema.labels import Label, find_state


@dataclass(frozen=True)
class Discriminant:
    """log p(state | row) - log p(against | row) = w0 + sum of w over the features that the row has."""

    features: tuple[tuple[str, Label | None], ...]  # (column, level); level None: the column's number
    w: FloatArray  # (n_features,)
    w0: float
    centres: FloatArray  # (n_features,)
    at_centre: float  # w0 for numbers counted from their centres: no digits lost at large offsets

    def of_numbers(self, values: Any) -> FloatArray:
        """(n_rows,) log-odds of rows of numbers, in the order of the features."""
        return np.asarray((np.asarray(values, dtype=np.float64) - self.centres) @ self.w + self.at_centre)


@dataclass(frozen=True)
class LinearForm:
    """One linear function for each state; their differences are log-odds."""

    states: tuple[Label, ...]
    log_prior: FloatArray  # (n_states,)
    terms: tuple[LinearTerm, ...]

    def between(self, state: Any, against: Any) -> Discriminant:
        """w and w0 of one state against another."""
        one, other = (find_state(label, self.states) for label in (state, against))
        w = np.array([term.weight[one] - term.weight[other] for term in self.terms])
        centres = np.array([term.centre for term in self.terms])
        constants = [term.constant[one] - term.constant[other] for term in self.terms]
        at_centre = math.fsum([self.log_prior[one] - self.log_prior[other], *constants])
        w0 = math.fsum([at_centre, *(-w * centres)])
        features = tuple((term.column, term.level) for term in self.terms)
        return Discriminant(features, w, w0, centres, at_centre)


def linear_form(states: tuple[Label, ...], log_prior: FloatArray, scores: Sequence[Scores]) -> LinearForm:
    """The linear form of a model whose factors all have one."""
    terms: list[LinearTerm] = []
    for each in scores:
        found = each.linear_terms()
        if found is None:
            raise FitError(
                "the log-odds of this model are not linear: its numbers have a variance for each class",
                fix="fit with shared_variance=True",
            )
        terms.extend(found)
    return LinearForm(states, log_prior, tuple(terms))
