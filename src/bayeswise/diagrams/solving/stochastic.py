"""Policies that choose by chance: soft-max of what options lead to, mixtures, and what a policy loses to the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeswise.diagrams.solving.policy import Policy, lined_up
from bayeswise.diagrams.solving.solution import Solution
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.normalise import normalise
from bayeswise.render.numbers import number
from bayeswise.render.plain import Tabular


def softmax(policy: Policy, temperature: float) -> Policy:
    """P(option | case) proportional to exp(utility of the option / temperature), over the options that are allowed.

    Near 0 it is the best option, of equal ones each alike; far above the differences of utilities every option is as
    probable. Errors are rare where they are costly.
    """
    plain = isinstance(temperature, int | float) and not isinstance(temperature, bool)
    if not plain or not (math.isfinite(temperature) and temperature > 0.0):
        raise ParameterError(
            f"the temperature is {temperature!r}", fix="give a number above 0, in the unit of utilities"
        )
    if policy.expected is None:
        raise ParameterError(
            f"the policy of {policy.decision!r} was given, so that the utility of its options is not known",
            fix="take the policy of a solution in which it was chosen: diagram.solve().policy(...)",
        )
    scores = policy.expected - policy.expected.max(axis=1, keepdims=True)  # (n_cases, n_options)
    with np.errstate(over="ignore"):
        log_weights = scores / temperature
    if policy.allowed is not None:
        log_weights = np.where(policy.allowed, log_weights, -np.inf)
        log_weights -= log_weights.max(axis=1, keepdims=True)
    table = normalise(log_weights).probability
    return replace(policy, table=table, expected=None, best=None)


def mixed(policies: Sequence[Policy], weights: Sequence[float]) -> Policy:
    """A policy of one decision that follows each of these with its probability, drawn anew in each case."""
    shares = np.asarray(weights, dtype=np.float64)
    if len(policies) == 0 or shares.shape != (len(policies),):
        raise ParameterError(f"there are {len(policies)} policies and {shares.size} weights", fix="give one for each")
    if not (np.isfinite(shares).all() and (shares >= 0.0).all() and abs(shares.sum() - 1.0) <= 1e-9):
        raise ParameterError(f"the weights are {shares.tolist()!r:.80}", fix="give probabilities that add up to 1")
    first = policies[0]
    for each in policies:
        if each.decision != first.decision or each.options != first.options:
            raise ParameterError(
                f"{each.decision!r} and {first.decision!r} are two decisions", fix="mix policies of one"
            )
    states = {node: levels for each in policies for node, levels in zip(each.knows, each.states, strict=True)}
    knows = tuple(states)
    sizes = [len(states[node]) for node in knows]
    total = np.zeros([*sizes, len(first.options)])
    for share, each in zip(shares / shares.sum(), policies, strict=True):
        table = each.table.reshape([*(len(levels) for levels in each.states), len(first.options)])
        total += share * lined_up(table, each.knows, knows)
    return Policy(first.decision, first.options, knows, tuple(states.values()), total.reshape(-1, len(first.options)))


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """What given policies lead to beside the best ones."""

    given: Solution
    best: Solution

    @property
    def utility(self) -> float:
        """What the given policies lead to."""
        return self.given.utility

    @property
    def regret(self) -> float:
        """How much less that is than what the best policies lead to."""
        return max(0.0, self.best.utility - self.given.utility)

    def to_columns(self) -> dict[str, list[Any]]:
        """For the given policies and the best ones: utility, regret, and each decision as text."""
        both = (self.given, self.best)
        rules = {
            name: [each.policy(name).in_words() if name in each.policies else "" for each in both]
            for name in self.best.policies
        }
        return {
            "policies": ["given", "best"],
            "utility": [each.utility for each in both],
            "regret": [self.regret, 0.0],
            **rules,
        }

    def __str__(self) -> str:
        word = "utility" if self.given.diagram.attitude is None else "certainty equivalent"
        values = f"{number(self.given.utility, 6)}; the best policies reach {number(self.best.utility, 6)}"
        lines = [f"{word} {values}, {number(self.regret, 6)} more"]
        if not self.best.proof.is_optimal:
            lines.append(f"the best that were found are a {self.best.proof}")
        return "\n".join(lines)
