"""Naive Bayes as a textbook writes it: fractions of counts, one distribution for each class, w and w0.

Where the log-odds are linear in the columns, they are w . x + w0 with

shared variance    w_i = (mean+_i - mean-_i) / variance_i
                   w0 = logit p + sum (mean-_i^2 - mean+_i^2) / (2 variance_i)
categories         w = log p(level | +) - log p(level | -), for the level that the column has
words              w = log p(word | +) - log p(word | -), times the number of times it stands
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from bayeswise.explanations.class_densities import Levels
from bayeswise.explanations.steps import Ratio
from bayeswise.families.continuous.normal import Normal
from bayeswise.families.distributions import distribution, parameters_at
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError
from bayeswise.models.naive_bayes.categories import CategoryScores, CategoryTable, ColumnCells
from bayeswise.models.naive_bayes.factors import LinearTerm, Scores
from bayeswise.models.naive_bayes.normal_columns import NormalScores
from bayeswise.models.naive_bayes.others import FamilyScores
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label, find_state


# -- linear log-odds ------------------------------------------------------------------------------------------
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


# -- one column -----------------------------------------------------------------------------------------------


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


# -- the counts behind one row --------------------------------------------------------------------------------


def prior_counts(model: Any) -> list[Ratio] | None:
    """(rows of the class + pseudo-counts) / (all rows + all pseudo-counts); None where the prior was given."""
    if model.settings.class_prior is not None:
        return None
    each = [Fraction(float(weight)) + Fraction(model.settings.prior_smoothing) for weight in model.class_weight]
    return [Ratio(weight, sum(each, Fraction(0))) for weight in each]


def cell_counts(model: Any, batch: Batch) -> dict[str, list[Ratio]]:
    """The same for each category of the first row, by column; cells that say nothing are left out."""
    found = {}
    for factor, scores in zip(model.speaking, model.scores, strict=True):
        if type(scores) is not CategoryScores:
            continue
        codes = scores.own(batch.codes)[0].tolist()
        for c, name in enumerate(factor.columns):
            ratios = _of_cell(scores.column_cells(c), int(codes[c]))
            if ratios is not None:
                found[name] = ratios
    return found


def _of_cell(cells: ColumnCells, code: int) -> list[Ratio] | None:
    if code < 0:
        return None  # missing or unseen: the account says what happens to it
    own = Fraction(float(cells.pseudo_rows.by_cell(cells.n_cells)[code]))
    all_pseudo = Fraction(float(cells.pseudo_rows.below(cells.n_cells)))
    counts = cells.counted(np.array([code]))[0]  # (n_states,)
    return [
        Ratio(Fraction(float(count)) + own, Fraction(float(total)) + all_pseudo)
        for count, total in zip(counts, cells.total, strict=True)
    ]
