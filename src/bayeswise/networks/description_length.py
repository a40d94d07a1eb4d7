"""Description length of a belief network and of rows under it in bits, node by node: L(h) + L(D | h).

The structure of each node costs log2 n bits for the number of its parents and log2 binomial(n - 1, k) for which nodes
they are, n being the number of nodes; the cost of its table depends on the code: 0 where it is integrated out under
Dirichlet(1) ("evidence"), half log2 N for each free parameter ("two-part"), or the regret ("nml").
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.description_length.bits import Code, DescriptionLength, Part, counted_bits
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.network import BeliefNetwork

MOST_CELLS = 1 << 22


@dataclass(frozen=True)
class CodedNetwork:
    """A network and the rows that it encodes; only its structure is used, the tables are those of the rows."""

    network: BeliefNetwork
    rows: CodedRows

    def description_length(self, code: Code = "evidence") -> DescriptionLength:
        """The bits of each node given its parents; rows with a missing value in a family are left out of it."""
        return DescriptionLength(code, tuple(self._part(name, code) for name in self.network.names))

    def _part(self, name: str, code: Code) -> Part:
        counts = self._counts(name)
        if code != "two-part":  # configurations of parents that never occur cost nothing there
            counts = counts[counts.any(axis=1)]
        model_bits, data_bits = counted_bits(counts, code)
        return Part(name, model_bits + self._structure_bits(name), data_bits)

    def _structure_bits(self, name: str) -> float:
        n, k = len(self.network.names), len(self.network.parents(name))
        return math.log2(n) + math.log2(math.comb(n - 1, k))

    def _counts(self, name: str) -> FloatArray:
        """(n_configurations, n_states)."""
        family = [*self.network.parents(name), name]
        places = [self.rows.names.index(each) for each in family]
        sizes = [len(self.rows.states[place]) for place in places]
        if math.prod(sizes) > MOST_CELLS:
            raise ParameterError(f"the table of {name!r} has {math.prod(sizes):,} cells", fix="remove parents")
        codes = self.rows.codes[:, places]
        whole = (codes >= 0).all(axis=1)
        cells = np.ravel_multi_index(tuple(codes[whole].astype(np.int64).T), sizes)
        weights = None if self.rows.weights is None else self.rows.weights[whole]
        return np.bincount(cells, weights, math.prod(sizes)).reshape(-1, sizes[-1]).astype(np.float64)


def coded(network: BeliefNetwork, table: Any) -> CodedNetwork:
    """A network with the rows of a table, for `description_length` and `select`.

    >>> from bayeswise.models.description_length import select
    >>> from bayeswise.networks.learning.family_counts import FamilyCounts
    >>> table = {"rain": ["y", "y", "n", "n"] * 9, "wet": ["y", "y", "n", "n"] * 9}
    >>> drawn = {"an arc": {"wet": ["rain"]}, "no arc": {}}
    >>> select({name: coded(FamilyCounts.of(table, arcs).network(), table) for name, arcs in drawn.items()})
    an arc: 48.8 bits (rain 1.0 + 38.3, wet 1.0 + 8.5)
    no arc: 78.6 bits (rain 1.0 + 38.3, wet 1.0 + 38.3)
    """
    states = {name: list(network.states(name)) for name in network.names}
    return CodedNetwork(network, CodedRows.of(table, columns=network.names, states=states, in_order=True))
