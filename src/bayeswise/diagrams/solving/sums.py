"""The sum of all utilities as a node, for what depends on the sum and not on its mean alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import TooLargeError
from bayeswise.networks import Node

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram
    from bayeswise.diagrams.nodes import Piece

_MOST_CELLS = 1 << 24
_SAME = 1e-12  # of the largest utilities: sums closer than this are one outcome


def sum_nodes(diagram: InfluenceDiagram, fix: str) -> tuple[list[Node], FloatArray]:
    """Chance nodes that add up the utilities, each given the sum before it and one utility's parents; the values of the
    last one are all sums that there are, ascending."""
    prefix = "\0" * (1 + max((len(name) for name in diagram.names), default=0))  # no node has this name
    nodes: list[Node] = []
    sums = np.zeros(1)  # the values that the sum so far can have
    for k, name in enumerate(diagram.utilities):
        every = (sums[:, None] + diagram.utility(name).ravel()).ravel()  # (n_sums * n_configurations,)
        sums, codes = _distinct(every, _SAME * diagram.largest_utility)
        if len(every) * len(sums) > _MOST_CELLS:
            raise TooLargeError(f"the utilities have {len(sums)} different sums, too many to follow", fix=fix)
        table = np.zeros((len(every), len(sums)))
        table[np.arange(len(every)), codes] = 1.0
        before = [nodes[-1].name] if nodes else []
        nodes.append(Node(f"{prefix}{k}", range(len(sums)), table, [*before, *diagram.parents(name)]))
    return nodes, sums


def with_utility_of_sum(diagram: InfluenceDiagram, utility: Callable[[Any], Any]) -> InfluenceDiagram:
    """The diagram with one utility, a function of the sum of all; its other nodes keep their positions."""
    from bayeswise.diagrams.diagram import InfluenceDiagram
    from bayeswise.diagrams.nodes import Utility

    kept = [piece for piece in diagram.pieces() if not isinstance(piece, Utility)]
    if len(diagram.utilities) == 1:
        [name] = diagram.utilities
        added: list[Piece] = [Utility(name, utility(diagram.utility(name)), diagram.parents(name))]
    else:
        nodes, sums = sum_nodes(diagram, "use an exponential utility, which needs no sums")
        added = [*nodes, Utility(f"{nodes[-1].name}\0", utility(sums), [nodes[-1].name])]
    made = InfluenceDiagram([*kept, *added])
    made._allowed = diagram._allowed
    return made


def _distinct(values: FloatArray, same: float) -> tuple[FloatArray, Any]:
    """The different values, ascending, and for each value its place among them."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    starts = np.concatenate([[True], np.diff(ascending) > same])
    codes = np.empty(len(values), dtype=np.int64)
    codes[order] = np.cumsum(starts) - 1
    return ascending[starts] + 0.0, codes
