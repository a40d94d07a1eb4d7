"""K2: the best parents of each node among those before it in a given order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.constraints import Constraints
from bayeswise.networks.learning.scores import Scores
from bayeswise.networks.learning.watching import Parents

_GAIN = 1e-9  # a parent must be worth more than rounding


def k2(
    scores: Scores, order: Sequence[str], constraints: Constraints | None = None, *, max_parents: int | None = None
) -> Parents:
    """Cooper and Herskovits: along an order, each node takes the earlier node that helps most, until none does."""
    rules = constraints or Constraints(max_parents=max_parents)
    places = {name: place for place, name in enumerate(scores.names)}
    if sorted(order) != sorted(places):
        raise ParameterError("the order does not name every column once", fix=f"order all of {', '.join(places)}")
    may, required, most = rules.allowed(scores.names), rules.start(scores.names), rules.most(len(places))
    parents: Parents = [()] * len(places)
    for rank, name in enumerate(order):
        node, earlier = places[name], [places[each] for each in order[:rank]]
        above = set(required[node])
        if not above <= set(earlier):
            late = next(scores.names[k] for k in sorted(above) if k not in earlier)
            raise ParameterError(
                f"the edge {late} -> {name} is required, but {late} comes later", fix="change the order"
            )
        best = scores.family(node, above)
        while len(above) < most:
            left = [k for k in sorted(earlier) if k not in above and may[k, node]]
            trials = scores.additions(node, above, left)
            if not left or float(trials.max()) <= best + _GAIN:
                break
            best = float(trials.max())
            above.add(left[int(np.argmax(trials))])
        parents[node] = tuple(sorted(above))
    return parents
