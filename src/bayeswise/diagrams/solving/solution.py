"""A solution: policies, their expected utility, and all beliefs and outcomes under them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.diagrams.attributes import AttributeOutcomes
from bayeswise.diagrams.solving.limited import EXACT, Proof
from bayeswise.diagrams.solving.policy import Policy
from bayeswise.diagrams.solving.solver import Choice, Outcome
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks import BeliefNetwork, Distribution, Node
from bayeswise.render.labels import refuse_unknown, shown
from bayeswise.render.numbers import number
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.diagrams.analysis.risk import RiskProfile, Scenarios
    from bayeswise.diagrams.diagram import InfluenceDiagram
    from bayeswise.render.graph.picture import Picture
    from bayeswise.render.graph.plot import GraphDisplay

_ROUNDING = 1e-13  # of two sums whose difference is then 0


@dataclass(frozen=True, eq=False)
class Solution:
    """Policies by decision, their expected utility, and the evidence."""

    diagram: InfluenceDiagram
    evidence: dict[str, Label]
    outcome: Outcome
    given: Mapping[str, Policy]  # those that were given and not optimised
    proof: Proof = EXACT  # whether the policies are optimal

    @property
    def utility(self) -> float:
        """The expected utility; with an attitude to risk, the certainty equivalent."""
        return self.outcome.utility

    @property
    def certainty_equivalent(self) -> float:
        """The sure amount with the same utility; without an attitude to risk it is the mean."""
        return self.utility

    @cached_property
    def expected_value(self) -> float:
        """The mean of the sum of utilities, whatever the attitude to risk."""
        return self.utility if self.diagram.attitude is None else math.fsum(self.parts.values())

    @property
    def risk_premium(self) -> float:
        """The expected value minus the certainty equivalent."""
        premium = self.expected_value - self.utility
        return 0.0 if abs(premium) <= _ROUNDING * max(abs(self.expected_value), abs(self.utility)) else premium

    @property
    def bounds(self) -> tuple[float, float | None]:
        """The utility, and an upper bound: the same where it is proven optimal, None where it is not known."""
        return self.utility, self.utility if self.proof.is_optimal else self.proof.bound

    @property
    def optimality_gap(self) -> float | None:
        """The upper bound minus the utility; None where it is not known."""
        lower, upper = self.bounds
        return None if upper is None else max(0.0, upper - lower)

    @property
    def log_evidence(self) -> float:
        """log P(evidence)."""
        return self.outcome.log_evidence

    @cached_property
    def policies(self) -> dict[str, Policy]:
        """The policies by name, from the first decision to the last."""
        found = policies_of(self.diagram, self.outcome, self.given)
        return {name: self._with_possible(policy) for name, policy in found.items()}

    def _with_possible(self, policy: Policy) -> Policy:
        """The policy with the cases that are possible under any earlier decisions."""
        if policy.possible is None or not policy.knows:
            return policy
        if len(policy.knows) == 1:
            cells = self._open_marginals[policy.knows[0]].probability
        else:
            cells = self._open_network.query(policy.knows, self._findings).probability
        return replace(policy, possible=cells.ravel() > 0.0)

    @cached_property
    def _open_network(self) -> BeliefNetwork:
        """The network in which decisions are uniform, except for those that are made or follow a given policy."""
        made = [name for name in self.diagram.decisions if name in self.evidence]
        if not made and not self.given:
            return self.diagram.network
        return network_under(self.diagram, self.given, self.evidence)

    @cached_property
    def _open_marginals(self) -> Mapping[str, Distribution]:
        return self._open_network.marginals(self._findings)

    @property
    def expected_cost(self) -> float:
        """Minus the utility."""
        return 0.0 - self.utility

    @cached_property
    def network(self) -> BeliefNetwork:
        """The belief network in which every decision follows its policy."""
        return network_under(self.diagram, self.policies, self.evidence)

    @property
    def _findings(self) -> dict[str, Label]:
        """The evidence about chance nodes; that about decisions is in the network."""
        return {name: state for name, state in self.evidence.items() if name in self.diagram.chances}

    def query(self, nodes: str | Iterable[str], evidence: Mapping[str, Any] | None = None) -> Distribution:
        """P(nodes | evidence) under the policies; decisions may be queried and observed too."""
        return self.network.query(nodes, {**self._findings, **(evidence or {})})

    @cached_property
    def parts(self) -> dict[str, float]:
        """The expectation of each utility node; they add up to the expected value."""
        return {
            name: float((self._joint(self.diagram.parents(name)) * self.diagram.utility(name)).sum())
            for name in self.diagram.utilities
        }

    @cached_property
    def attributes(self) -> AttributeOutcomes:
        """The expected outcome in each attribute, in its own unit, and its contribution to the expected value."""
        weighing = self.diagram._weighing
        outcome, contribution = [], []
        for name in weighing.attributes:
            gains = weighing.utilities(name)
            means = [(self._joint(self.diagram.parents(n)) * self.diagram.outcome(n)).sum() for n in gains]
            outcome.append(math.fsum(means))
            contribution.append(math.fsum(self.parts[n] for n in gains))
        return AttributeOutcomes(tuple(weighing.attributes.values()), np.array(outcome), np.array(contribution))

    @cached_property
    def mean_size(self) -> float:
        """sum E|utility|, to which rounding errors of the expected utility are proportional."""
        sizes = (np.abs(self.diagram.utility(name)) for name in self.diagram.utilities)
        joints = (self._joint(self.diagram.parents(name)) for name in self.diagram.utilities)
        return sum(float((joint * size).sum()) for joint, size in zip(joints, sizes, strict=True))

    def _joint(self, names: Sequence[str]) -> FloatArray:
        if len(names) == 1:
            return self._marginals[names[0]].probability
        return self.query(names).probability if names else np.ones(())

    @cached_property
    def _marginals(self) -> Mapping[str, Distribution]:
        """All marginals at once, so that long sequences of decisions need no query for each."""
        return self.network.marginals(self._findings)

    def policy(self, decision: str) -> Policy:
        """The policy of a decision, with the probability of each case."""
        refuse_unknown(decision, self.policies, "there is no policy of")
        policy = self.policies[decision]
        return replace(policy, reached=self._joint(policy.knows).ravel() if policy.knows else np.ones(1))

    def softmax(self, temperature: float) -> dict[str, Policy]:
        """Soft-max policies: P(option) proportional to exp(utility of the option / temperature)."""
        chosen = {name: policy for name, policy in self.policies.items() if policy.expected is not None}
        return {name: policy.softmax(temperature) for name, policy in chosen.items()}

    def options(self, decision: str) -> dict[Label, float]:
        """The expected utility of taking each option wherever it is allowed, all other decisions being optimal."""
        self.diagram.decision_place(decision)
        if decision in self.evidence:
            raise ParameterError(f"the decision {decision!r} is made already", fix="leave it out of the evidence")
        given = {name: each for name, each in self.policies.items() if each.expected is None and name != decision}
        return {
            option: self.diagram.preferring(decision, option).solve(self.evidence, policies=given, exact=True).utility
            if self.diagram.allowed(decision)
            else self.diagram.solve(self.evidence, policies={**given, decision: option}, exact=True).utility
            for option in self.diagram.states(decision)
        }

    def scenarios(self, nodes: Iterable[str] | None = None) -> Scenarios:
        """Every possible path, with its probability and utility; they add up to the expected utility."""
        from bayeswise.diagrams.analysis.risk import scenarios

        return scenarios(self, nodes)

    def risk(self) -> RiskProfile:
        """The risk profile: the distribution of the utility, with the probability of a loss."""
        from bayeswise.diagrams.analysis.risk import risk_profile

        return risk_profile(self)

    def picture(self, *, title: str = "") -> Picture:
        """The diagram with beliefs, options and utilities under the policies."""
        return self.diagram.picture(self, title=title)

    def plot(self, ax: Any = None, *, title: str = "") -> GraphDisplay:
        """Draw the picture with matplotlib."""
        return self.picture(title=title).plot(ax)

    def _repr_html_(self) -> str:
        from bayeswise.diagrams.plots import notebook_html

        return notebook_html(self.diagram, self)

    def in_words(self) -> list[str]:
        """One line for each decision that is still to be made, first to last."""
        return [f"{shown(name)}: {self.policy(name).in_words()}" for name in self.policies]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        from bayeswise.render.plain import json_value

        def plain(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
            return {name: [json_value(cell) for cell in column] for name, column in columns.items()}

        attitude = self.diagram.attitude
        of_risk = {
            "attitude": attitude.fields() if attitude else None,
            "certainty_equivalent": self.utility,
            "expected_value": self.expected_value,
            "risk_premium": self.risk_premium,
        }
        return {
            "expected_utility": float(attitude.utility(self.utility)) if attitude else self.utility,
            "expected_cost": self.expected_cost,
            **(of_risk if attitude else {}),
            "evidence": {name: json_value(state) for name, state in self.evidence.items()},
            "policies": {
                name: {
                    "rule": self.policy(name).in_words(),
                    "knows": list(policy.knows),
                    "cases": plain(self.policy(name).to_columns()),
                }
                for name, policy in self.policies.items()
            },
            "utilities": self.parts,
            **({"attributes": self.attributes.to_columns()} if self.diagram.attributes else {}),
            "proof": {
                "is_optimal": self.proof.is_optimal,
                "reason": self.proof.reason,
                "bound": self.proof.bound,
                "optimality_gap": self.optimality_gap,
                "recall": self.proof.recall,
                "n_starts": self.proof.n_starts,
                "n_reached": self.proof.n_reached,
            },
        }

    def __str__(self) -> str:
        proof = [] if self.proof is EXACT else [str(self.proof)]
        about = [str(self.attributes)] if self.diagram.attributes else []
        return "\n".join([self._headline(), *self.in_words(), *about, *proof])

    def _headline(self) -> str:
        if self.diagram.attitude is None:
            return f"expected utility {number(self.utility, 6)}"
        mean, premium = number(self.expected_value, 6), number(self.risk_premium, 6)
        return (
            f"certainty equivalent {number(self.utility, 6)} ({self.diagram.attitude}): "
            f"expected value {mean}, risk premium {premium}"
        )

    def __repr__(self) -> str:
        return f"Solution(utility {number(self.utility, 6)}; {'; '.join(self.in_words())})"


def policies_of(diagram: InfluenceDiagram, outcome: Outcome, given: Mapping[str, Policy]) -> dict[str, Policy]:
    """The policies by name, from the first decision to the last."""
    policies: dict[str, Policy] = {}
    for name in diagram.decisions:
        place = diagram.place(name)
        if name in given:
            policies[name] = given[name]
        elif place in outcome.choices:
            policies[name] = _policy_of(diagram, name, outcome.choices[place])
    return policies


def _policy_of(diagram: InfluenceDiagram, name: str, choice: Choice) -> Policy:
    """The policy of a choice, its arguments in the order of observation."""
    order = sorted(range(len(choice.knows)), key=lambda k: diagram.ranks[choice.knows[k]])
    knows, with_option = [choice.knows[k] for k in order], [*order, len(order)]
    options = diagram.states(name)
    table = np.zeros((choice.option.size, len(options)))
    table[np.arange(len(table)), choice.option.transpose(order).ravel()] = 1.0
    return Policy(
        name,
        options,
        tuple([diagram.names[v] for v in knows]),
        tuple([diagram._states[v] for v in knows]),
        table,
        choice.expected.transpose(with_option).reshape(-1, len(options)),
        choice.possible.transpose(order).ravel(),
        choice.best.transpose(with_option).reshape(-1, len(options)),
        allowed=None if choice.allowed is None else choice.allowed.transpose(with_option).reshape(-1, len(options)),
    )


def network_under(
    diagram: InfluenceDiagram, policies: Mapping[str, Policy], evidence: Mapping[str, Label]
) -> BeliefNetwork:
    """The network with policies as tables of decisions; a decision in the evidence is certain, others are uniform."""
    nodes = []
    for name in diagram.names:
        if name in policies:
            policy = policies[name]
            nodes.append(Node(name, policy.options, policy.table, policy.knows))
        elif name in diagram.decisions and name in evidence:
            made = np.eye(len(diagram.states(name)))[diagram.code(name, evidence[name])]
            nodes.append(Node(name, diagram.states(name), made))
        else:
            nodes.append(diagram.network.node(name))
    return BeliefNetwork(nodes, name=diagram.name)


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """The outcome of given policies beside that of the best ones."""

    given: Solution
    best: Solution

    @property
    def utility(self) -> float:
        """The utility of the given policies."""
        return self.given.utility

    @property
    def regret(self) -> float:
        """How much less that is than the utility of the best policies."""
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
