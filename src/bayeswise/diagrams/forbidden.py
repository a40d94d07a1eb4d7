"""Options that are not allowed in some cases of what is known, as masks over these cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayeswise.diagrams.nested import state_code
from bayeswise.diagrams.nodes import Decision
from bayeswise.foundation.arrays import BoolArray
from bayeswise.foundation.errors import NetworkError
from bayeswise.networks.node import LARGEST_TABLE
from bayeswise.render.labels import guess
from bayeswise.tables.schema.labels import Vocabulary


class Allowed(NamedTuple):
    """Which options there are, by the states of some known nodes."""

    knows: tuple[str, ...]
    mask: BoolArray  # (states of each known node ..., n_options)

    def preferring(self, option: int) -> Allowed:
        """Only this option wherever it is allowed, the others where it is not."""
        only = np.arange(self.mask.shape[-1]) == option
        return Allowed(self.knows, np.where(self.mask[..., [option]], only, self.mask))


def allowed_options(decision: Decision, known: Sequence[str], states: Callable[[str], Vocabulary]) -> Allowed | None:
    """The mask of a decision; none if nothing is forbidden. Each case must leave an option.

    >>> drill = Decision("drill", ["yes", "no"], ["report"], forbidden=[{"drill": "yes", "report": "not done"}])
    >>> allowed_options(drill, ["report"], lambda node: Vocabulary(["open", "not done"])).mask.tolist()
    [[True, True], [False, True]]
    """
    if not decision.forbidden:
        return None
    for case in decision.forbidden:
        for node in case:
            if node != decision.name and node not in known:
                raise NetworkError(
                    f"what {decision.name!r} forbids depends on {node!r}, which is not known then",
                    fix=guess(node, known) if known else f"name options of {decision.name!r} alone",
                )
    named = {node for case in decision.forbidden for node in case}
    scope = tuple(node for node in known if node in named)
    levels = [states(node) for node in scope]
    shape = [*map(len, levels), len(decision.options)]
    if math.prod(shape) > LARGEST_TABLE:
        raise NetworkError(
            f"what {decision.name!r} forbids depends on {len(scope)} nodes with {math.prod(shape):.3g} cases",
            fix="name fewer nodes",
        )
    mask = np.ones(shape, dtype=bool)
    for case in decision.forbidden:
        places = [_codes(decision, case, node, states(node)) for node in scope]
        mask[np.ix_(*places, _codes(decision, case, decision.name, decision.options))] = False
    empty = np.argwhere(~mask.any(axis=-1))
    if len(empty):
        shown = ", ".join(f"{node} = {level[code]}" for node, level, code in zip(scope, levels, empty[0], strict=True))
        raise NetworkError(
            f"every option of {decision.name!r} is forbidden{f' if {shown}' if shown else ''}",
            fix="leave one option in each case, also in those that cannot come about",
        )
    mask.flags.writeable = False
    return Allowed(scope, mask)


def _codes(decision: Decision, case: Mapping[str, Any], node: str, levels: Vocabulary) -> list[int]:
    """The states that a case names: one, a list of them, or all where it says nothing."""
    if node not in case:
        return list(range(len(levels)))
    given = case[node]
    labels = list(given) if isinstance(given, list | tuple) else [given]
    if not labels:
        raise NetworkError(f"what {decision.name!r} forbids has no state of {node!r}", fix="name one, or leave it out")
    word = "option" if node == decision.name else "state"
    return [state_code(label, levels, f"what {decision.name!r} forbids: {node!r} has no {word}") for label in labels]
