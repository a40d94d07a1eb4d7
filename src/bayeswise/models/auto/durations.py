"""How long candidates take to be tried, for a time within which all must be done.

An estimate is a fixed part for each fit and a part for each cell, as measured on one core. How much slower this machine
is shows in the candidates that are done: the time they took against what was estimated for them.
"""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.auto.candidates import Candidate
from bayeswise.models.auto.extent import Extent

_KNOWN = 0.5  # seconds as if already tried, so that what is loaded on first use does not count for a slow machine
_OF_CANDIDATE = {  # seconds for each fold, and for each row and column (its square, its cube) of a fold
    "naive-bayes": (0.002, 1e-7, 1),
    "naive-bayes, families": (0.006, 4e-7, 1),
    "naive-bayes, cut": (0.003, 5e-7, 1),
    "averaged": (0.002, 2e-7, 1),
    "averaged, shared": (0.002, 2e-7, 1),
    "tan": (0.003, 1.2e-8, 2),
    "aode": (0.003, 1.2e-8, 2),
    "a2de": (0.005, 8e-8, 3),
    "k-dependence": (0.006, 4e-8, 2),
    "markov-blanket": (0.015, 7e-8, 2),
}
_OF_REGRESSION = {"filled": 2e-7, "cut": 4e-7, "crossed": 2e-6, "words": 2e-7}  # for each row, weight and fold
_OF_FIT = 0.003  # seconds of a fit of a regression or of Gaussian classes, whatever its rows
_OF_COMPLETION = 1.5e-7  # for each pattern of missing cells, cube of the columns, class and fold: all steps of EM
_OF_CONTRASTS = 3.5e-8  # for each number of each pair of classes, without each row
_OF_TREES = 1.5e-6  # for each row, number or indicator, class and fold


def seconds_for(candidate: Candidate, extent: Extent, n_folds: int) -> float:
    """How long it takes to learn a candidate, and again without each fold.

    >>> extent = Extent(1_000, 20, 0, 0, 0, 2, 1)
    >>> naive, trees = Candidate("naive-bayes", "naive-bayes", "all"), Candidate("trees", "logistic", "trees")
    >>> round(seconds_for(naive, extent, 10), 2), round(seconds_for(trees, extent, 10), 2)
    (0.05, 0.36)
    """
    rows, n_fits = extent.n_rows, n_folds + 1
    if candidate.sees == "trees":
        return (_n_folds_of(candidate, extent, n_folds) + 1) * (
            _OF_FIT + _OF_TREES * rows * extent.n_features * extent.n_vectors
        )
    if candidate.kind == "logistic":
        return n_fits * (_OF_FIT + _OF_REGRESSION[candidate.sees] * rows * (extent.n_features + 1) * extent.n_vectors)
    if candidate.kind == "gaussian":
        square, n_fits = float(extent.n_features + 1) ** 2, _n_folds_of(candidate, extent, n_folds) + 1
        completed = extent.n_patterns * square * extent.n_features * extent.n_classes if extent.n_patterns > 1 else 0.0
        return n_fits * (_OF_FIT + 5e-9 * rows * square + _OF_COMPLETION * completed)
    contrasts = _OF_CONTRASTS * extent.n_contrasted if candidate.kind == "averaged" else 0.0
    fixed, of_cell, power = _OF_CANDIDATE.get(candidate.name, _OF_CANDIDATE["markov-blanket"])
    return contrasts + n_fits * (
        fixed + of_cell * rows * float(extent.n_columns + extent.n_texts + 1) ** power * extent.n_classes / 2
    )


def _n_folds_of(candidate: Candidate, extent: Extent, n_folds: int) -> int:
    """Those that a candidate is tried in: fewer where each takes long."""
    return int(candidate.folds(extent, np.arange(n_folds)).max()) + 1


@dataclass
class Clock:
    """What is left of a time, by candidates that are done.

    >>> Clock(60.0, estimated=9.5).refusal(40.0, spent=9.5)
    ''
    >>> Clock(60.0, estimated=9.5).refusal(40.0, spent=19.5)  # twice as slow as estimated
    'it would take some 80 s, and 40 s are left'
    """

    seconds: float | None
    estimated: float = 0.0  # for the candidates that are done

    def refusal(self, estimate: float, spent: float) -> str:
        """Why a candidate would not be done in time; empty where it would, or where there is no time limit."""
        if self.seconds is None:
            return ""
        slower = (spent + _KNOWN) / (self.estimated + _KNOWN)
        left, ahead = max(self.seconds - spent, 0.0), estimate * slower
        return f"it would take some {ahead:.2g} s, and {left:.2g} s are left" if ahead > left else ""
