"""What other nodes would say about a node if they were observed too: mutual information, in bits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork


def entropy(probability: FloatArray) -> float:
    """How uncertain a distribution is: -sum p log2 p bits.

    >>> entropy(np.array([0.5, 0.25, 0.25])), entropy(np.array([1.0, 0.0]))
    (1.5, 0.0)
    """
    p = probability[probability > 0.0]
    return abs(float(-(p * np.log2(p)).sum()))


def divergence(p: FloatArray, q: FloatArray) -> float:
    """sum p log2 p/q bits, at least 0; infinite where q excludes what p allows.

    >>> divergence(np.array([0.5, 0.5]), np.array([0.25, 0.75])) == 0.5 + 0.5 * math.log2(2 / 3)
    True
    """
    kept = p > 0.0
    if (q[kept] == 0.0).any():
        return math.inf
    return max(0.0, float((p[kept] * np.log2(p[kept] / q[kept])).sum()))


def mutual_information(
    network: BeliefNetwork,
    node: str,
    evidence: Mapping[str, Any] | None = None,
    soft: Mapping[str, Mapping[Any, float]] | None = None,
) -> dict[str, float]:
    """I(node; other | evidence) = sum_s P(s | e) KL(P(other | s, e) || P(other | e)) for every other node that is not
    observed, the most telling first; exact, by one sweep over the network for each state of the node.

    >>> from bayeswise.networks import BeliefNetwork, Node
    >>> rain, wet = Node("rain", [0, 1], 0.5), Node("wet", [0, 1], {0: 1.0, 1: 0.0}, ["rain"])
    >>> mutual_information(BeliefNetwork([rain, wet, Node("luck", [0, 1], 0.5)]), "rain")
    {'wet': 1.0, 'luck': 0.0}
    """
    seen = dict(evidence or {})
    if node in seen:
        raise ParameterError(f"node {node!r} is observed: nothing can say more about it", fix="ask for another node")
    before = network.marginals(seen, soft=soft)
    touched = graph.reachable(network._parents, [network.place(node)], [network.place(name) for name in seen])
    others = [name for name in network if name != node and name not in seen]
    bits = dict.fromkeys(others, 0.0)
    for state, p in before[node].items():
        if p == 0.0:
            continue
        after = network.marginals({**seen, node: state}, soft=soft)
        for name in others:
            if network.place(name) in touched:
                bits[name] += p * divergence(after[name].cells, before[name].cells)
    return dict(sorted(bits.items(), key=lambda pair: -pair[1]))
