"""Scores of a node with its parents: log-likelihood minus a penalty, or the evidence under a Dirichlet prior."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.special import gammaln
from bayeswise.models.description_length.bits import log_regrets
from bayeswise.networks.learning.coded_rows import CodedRows, in_units
from bayeswise.render.labels import refuse_unknown

SCORES = ("bic", "aic", "mdl", "bdeu", "k2")
MOST_CELLS = 1 << 20
"""A family with more cells is never chosen."""
_COPIES = 8  # up to this many copies of a row, as bitmaps, are counted sooner than one with a weight
_MOST_COPIED = 1 << 28  # cells


class FamilyScoring(Protocol):
    """The interface of a search: the score of a node with its parents, larger being better."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""

    def family(self, node: int, parents: Iterable[int]) -> float:
        """The score of a node given its parents; minus infinity if it cannot be computed."""

    def additions(self, node: int, parents: Iterable[int], candidates: Sequence[int]) -> FloatArray:
        """The score of a node given its parents and one more, for each candidate: (n_candidates,)."""

    def total(self, parents: Iterable[Iterable[int]]) -> float:
        """The score of a graph: the sum over its families."""


class Scores:
    """Scores of families, each counted once; larger is better. A row of weight k counts as k rows, to the last bit.

    >>> rows = CodedRows.of({"a": [0, 1, 0, 1], "b": [0, 1, 0, 1]})
    >>> scores = Scores(rows, "bic")
    >>> scores.family(1, [0]) > scores.family(1, [])
    True
    """

    def __init__(self, rows: CodedRows, score: str = "bic", *, smoothing: float = 1.0) -> None:
        refuse_unknown(score, SCORES, "there is no score")
        if score == "bdeu" and not (math.isfinite(smoothing) and smoothing > 0.0):
            raise ParameterError(f"BDeu with {smoothing!r} pseudo-counts", fix="give a smoothing above 0")
        self.score, self.smoothing = score, smoothing
        self.names, self.sizes = rows.names, rows.sizes
        self.columns = np.ascontiguousarray(rows.complete().codes.astype(rows.code_type).T)  # (n_columns, n_rows)
        self.n_rows: float = len(rows.codes) if rows.weights is None else math.fsum(rows.weights)
        self.units: IntArray | None = None  # the weight of each row in units, and the unit
        self.unit = 1.0
        if rows.weights is not None:
            self.units, self.unit = in_units(rows.weights)
            total = int(self.units.sum())
            if self.unit == 1.0 and total <= _COPIES * len(self.units) and total * len(self.sizes) <= _MOST_COPIED:
                self.columns, self.units = np.repeat(self.columns, self.units, axis=1), None
        self._alone: dict[int, float] = {}
        self._added: dict[tuple[int, tuple[int, ...]], array[float]] = {}
        self._kernel: _kernels.FamilyScores | None = None

    def family(self, node: int, parents: Iterable[int]) -> float:
        """The score of a node given its parents; minus infinity if the table would be too large."""
        above = tuple(sorted(parents))
        if above:
            return self._with_one_more(node, above[:-1], above[-1:])[above[-1]]
        if node not in self._alone:
            self._alone[node] = self._scored(node, ())
        return self._alone[node]

    def additions(self, node: int, parents: Iterable[int], candidates: Sequence[int]) -> FloatArray:
        """The score of a node given its parents and one more, for each candidate: (n_candidates,)."""
        known = self._with_one_more(node, tuple(sorted(parents)), candidates)
        return np.array([known[other] for other in candidates], dtype=np.float64)

    def _with_one_more(self, node: int, above: tuple[int, ...], candidates: Sequence[int]) -> array[float]:
        """(n_columns,) the scores with each column as one more parent: those of the candidates, NaN if not counted."""
        known = self._added.get((node, above))
        if known is None:
            known = self._added[node, above] = array("d", [math.nan]) * len(self.names)
        lost = [other for other in candidates if math.isnan(known[other])]
        if lost:
            too_large = math.prod(self.sizes[parent] for parent in above) > MOST_CELLS
            counted = [-math.inf] * len(lost) if too_large else self._counted(node, above, lost)
            for other, score in zip(lost, counted, strict=True):
                known[other] = score
        return known

    def _counted(self, node: int, above: tuple[int, ...], others: Sequence[int]) -> list[float]:
        """(n_others,) scores that are not known yet: with one more parent each."""
        return self.kernel.additions(node, above, others)

    def total(self, parents: Iterable[Iterable[int]]) -> float:
        """The score of a graph: the sum over its families."""
        return math.fsum(self.family(node, above) for node, above in enumerate(parents))

    @property
    def penalty(self) -> float:
        """The penalty for each free parameter; 0 for scores that integrate the tables out."""
        if self.score in ("bdeu", "k2"):
            return 0.0
        return 1.0 if self.score == "aic" else 0.5 * math.log(max(self.n_rows, 1))

    @property
    def kernel(self) -> _kernels.FamilyScores:
        """The rows as bitmaps, made once."""
        if self._kernel is None:
            dirichlet, pseudo_counts = self.score in ("bdeu", "k2"), -1.0 if self.score == "k2" else self.smoothing
            settings = dirichlet, self.penalty, pseudo_counts
            self._kernel = _kernels.FamilyScores(self.columns, self.sizes, *settings, self.units, self.unit)
        return self._kernel

    def counts(self, node: int, parents: tuple[int, ...]) -> FloatArray:
        """(n_configurations, n_states) how often each combination occurs."""
        scope = [*parents, node]
        sizes = [self.sizes[k] for k in scope]
        counts = np.zeros(math.prod(sizes), dtype=np.int64)
        _kernels.count_family(self.columns, scope, sizes, counts, self.units)
        return counts.reshape(-1, sizes[-1]).astype(np.float64) * self.unit

    def _scored(self, node: int, parents: tuple[int, ...]) -> float:
        n_configurations = math.prod(self.sizes[parent] for parent in parents)
        if n_configurations * self.sizes[node] > MOST_CELLS:
            return -math.inf
        counts = self.counts(node, parents)
        if self.score in ("bdeu", "k2"):
            return _log_evidence(counts, 1.0 if self.score == "k2" else self.smoothing / counts.size)
        return _log_likelihood(counts) - self.penalty * n_configurations * (self.sizes[node] - 1)


class NmlScores(Scores):
    """Factorised normalised maximum likelihood: log-likelihood minus the regret log C(n, k) of each row of a table."""

    def __init__(self, rows: CodedRows) -> None:
        super().__init__(rows, "bic")
        self.score = "nml"

    def _counted(self, node: int, above: tuple[int, ...], others: Sequence[int]) -> list[float]:
        return [self._scored(node, tuple(sorted((*above, other)))) for other in others]

    def _scored(self, node: int, parents: tuple[int, ...]) -> float:
        if math.prod(self.sizes[k] for k in (*parents, node)) > MOST_CELLS:
            return -math.inf
        counts = self.counts(node, parents)
        return _log_likelihood(counts) - float(log_regrets(counts.sum(axis=1), self.sizes[node]).sum())


def _log_likelihood(counts: FloatArray) -> float:
    """sum n_jk log(n_jk / n_j), with 0 log 0 = 0."""
    seen = counts[counts > 0.0]
    totals = counts.sum(axis=1)
    totals = totals[totals > 0.0]
    return float(seen @ np.log(seen) - totals @ np.log(totals))


def _log_evidence(counts: FloatArray, pseudo_counts: float) -> float:
    """log of the probability of the rows, the table integrated out under Dirichlet(pseudo_counts, ...)."""
    rows = counts[counts.any(axis=1)]
    width = pseudo_counts * counts.shape[1]
    cells = gammaln(rows + pseudo_counts).sum() - rows.size * gammaln(pseudo_counts)
    return float(cells - gammaln(rows.sum(axis=1) + width).sum() + len(rows) * gammaln(width))
