"""Evidence that is a distribution: the belief in a node becomes what it says, and all else follows (Jeffrey's rule).

For one node P'(x) = sum_s q(s) P(x | s). For several, each is fitted in turn until all hold at once (iterative
proportional fitting); the result is the distribution with these marginals that is nearest to the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError, ImpossibleEvidenceError
from bayeswise.networks.node import Evidence, Soft
from bayeswise.posteriors.prior import prior_by_state

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

_CLOSE = 1e-13
_MOST_ROUNDS = 10_000


def likelihoods_for(
    network: BeliefNetwork, distributions: Soft, evidence: Evidence | None = None, given: Soft | None = None
) -> dict[str, Mapping[Any, float]]:
    """The soft evidence, beside what is given of it, under which each node has the distribution that is wanted.

    >>> from bayeswise.networks import BeliefNetwork, Node
    >>> network = BeliefNetwork([Node("a", ["x", "y"], 0.2), Node("b", ["x", "y"], [0.9, 0.4], ["a"])])
    >>> soft = likelihoods_for(network, {"a": {"x": 0.5, "y": 0.5}})
    >>> network.query("b", soft=soft)
    Distribution(b: x 0.65, y 0.35)
    """
    wanted = {
        name: np.asarray(prior_by_state(q, network.states(name)), dtype=np.float64) for name, q in distributions.items()
    }
    fitted = {name: dict.fromkeys(network.states(name), 1.0) for name in wanted}
    others = dict(given or {})
    for _ in range(_MOST_ROUNDS):
        off = 0.0
        for name, target in wanted.items():
            now = network.query(name, evidence, soft={**others, **fitted}).cells
            off = max(off, float(np.abs(now - target).max()))
            fitted[name] = _fitted(name, network.states(name), fitted[name], now, target)
        if off <= _CLOSE:
            return {**others, **fitted}
    raise FitError(
        f"no distribution was found in which {' and '.join(wanted)} are all as wanted",
        fix="ask for distributions that go together",
    )


def _fitted(
    name: str, states: tuple[Any, ...], likelihood: dict[Any, float], now: FloatArray, target: FloatArray
) -> dict[Any, float]:
    """Likelihoods times wanted / present; what is impossible now cannot become possible."""
    for state, p, q in zip(states, now, target, strict=True):
        if p == 0.0 and q > 0.0:
            raise ImpossibleEvidenceError(
                f"{name} = {state} is wanted with probability {q:g}, and has probability 0",
                fix="want 0 for it, or change the tables",
            )
    ratio = np.divide(target, now, out=np.zeros_like(target), where=now > 0.0)
    fitted = np.array([likelihood[state] for state in states]) * ratio
    return dict(zip(states, (fitted / fitted.max()).tolist(), strict=True))
