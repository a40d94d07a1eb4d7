"""The counts behind one row of naive Bayes: the share of each class, and of each of its cells in each class."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bayeswise.explanations.steps import Ratio
from bayeswise.models.naive_bayes.categories import CategoryScores, CategoryTable
from bayeswise.tables.batch import Batch


def prior_counts(model: Any) -> list[Ratio] | None:
    """(rows of the class + pseudo-counts) / (all rows + all pseudo-counts); None where the prior was given."""
    if model.settings.class_prior is not None:
        return None
    each = [Fraction(float(weight)) + Fraction(model.settings.prior_smoothing) for weight in model.class_weight]
    return [Ratio(weight, sum(each, Fraction(0))) for weight in each]


def cell_counts(model: Any, batch: Batch) -> dict[str, list[Ratio]]:
    """The same for each category of the first row, by column; cells that say nothing are left out."""
    found = {}
    for factor, scores in zip(model.factors, model.scores, strict=True):
        if type(scores) is not CategoryScores:
            continue
        codes = scores._codes(batch)[0].tolist()
        for c, name in enumerate(factor.columns):
            ratios = _of_cell(scores.tables[c], int(codes[c]))
            if ratios is not None:
                found[name] = ratios
    return found


def _of_cell(table: CategoryTable, code: int) -> list[Ratio] | None:
    if code < 0:
        return None  # missing or unseen: the account says what happens to it
    n_cells = table.count.shape[1]
    own = Fraction(float(table.pseudo_rows.by_cell(n_cells)[code]))
    all_pseudo = Fraction(float(table.pseudo_rows.below(n_cells)))
    counts = np.asarray(table.count)
    return [
        Ratio(Fraction(float(counts[k, code])) + own, Fraction(float(table.total[k])) + all_pseudo)
        for k in range(len(counts))
    ]
