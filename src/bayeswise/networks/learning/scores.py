"""What a node with its parents is worth: log-likelihood minus a penalty, or the evidence under a Dirichlet prior."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from scipy.special import gammaln

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.rows import CodedRows
from bayeswise.posteriors.states import guess

SCORES = ("bic", "aic", "mdl", "bdeu", "k2")
_MOST_CELLS = 1 << 20


class Scores:
    """Scores of families, each counted once; larger is better.

    >>> rows = CodedRows.of({"a": [0, 1, 0, 1], "b": [0, 1, 0, 1]})
    >>> scores = Scores(rows, "bic")
    >>> scores.family(1, [0]) > scores.family(1, [])
    True
    """

    def __init__(self, rows: CodedRows, score: str = "bic", *, strength: float = 1.0) -> None:
        if score not in SCORES:
            raise ParameterError(f"there is no score {score!r}", fix=guess(score, SCORES))
        self.score, self.strength = score, strength
        self.names, self.sizes = rows.names, rows.sizes
        self.columns = np.ascontiguousarray(rows.complete().codes.T.astype(np.uint8))  # (n_columns, n_rows)
        self.n_rows = len(rows.codes)
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    def family(self, node: int, parents: Iterable[int]) -> float:
        """The score of a node given its parents; minus infinity if the table would be absurdly large."""
        key = (node, tuple(sorted(parents)))
        if key not in self._known:
            self._known[key] = self._scored(*key)
        return self._known[key]

    def total(self, parents: Iterable[Iterable[int]]) -> float:
        """The score of a graph: the sum over its families."""
        return math.fsum(self.family(node, above) for node, above in enumerate(parents))

    def counts(self, node: int, parents: tuple[int, ...]) -> FloatArray:
        """(n_configurations, n_states) how often each combination was seen."""
        scope = [*parents, node]
        sizes = [self.sizes[k] for k in scope]
        found = np.zeros(math.prod(sizes), dtype=np.int64)
        _kernels.count_family(self.columns, scope, sizes, found)
        return found.reshape(-1, sizes[-1]).astype(np.float64)

    def _scored(self, node: int, parents: tuple[int, ...]) -> float:
        n_configurations = math.prod(self.sizes[parent] for parent in parents)
        if n_configurations * self.sizes[node] > _MOST_CELLS:
            return -math.inf
        counts = self.counts(node, parents)
        if self.score in ("bdeu", "k2"):
            imagined = 1.0 if self.score == "k2" else self.strength / counts.size
            return _log_evidence(counts, imagined)
        n_parameters = n_configurations * (self.sizes[node] - 1)
        per_parameter = 1.0 if self.score == "aic" else 0.5 * math.log(max(self.n_rows, 1))
        return _log_likelihood(counts) - per_parameter * n_parameters


def _log_likelihood(counts: FloatArray) -> float:
    """sum n_jk log(n_jk / n_j), with 0 log 0 = 0."""
    seen = counts[counts > 0.0]
    totals = counts.sum(axis=1)
    totals = totals[totals > 0.0]
    return float(seen @ np.log(seen) - totals @ np.log(totals))


def _log_evidence(counts: FloatArray, imagined: float) -> float:
    """log of the probability of the rows, the table integrated out under Dirichlet(imagined, ...)."""
    rows = counts[counts.any(axis=1)]
    width = imagined * counts.shape[1]
    cells = gammaln(rows + imagined).sum() - rows.size * gammaln(imagined)
    return float(cells - gammaln(rows.sum(axis=1) + width).sum() + len(rows) * gammaln(width))
