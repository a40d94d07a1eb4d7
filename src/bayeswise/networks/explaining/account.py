"""Why a node has its posterior: the weight of each finding, conflict among them, and what to observe next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.arguments import by_node, soft_by_node
from bayeswise.networks.inference.distribution import Distribution, Explanation
from bayeswise.networks.node import Evidence, Soft
from bayeswise.render.plain import json_number, json_value
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.networks.explaining.findings import FindingPath
    from bayeswise.networks.network import BeliefNetwork
    from bayeswise.networks.plots import FindingsDisplay


@dataclass(frozen=True)
class FindingWeight:
    """The weight of evidence of one finding for a state against all others: the change of the log-odds.

    `alone` compares with no evidence at all, `beside` with all other findings; None where the state is certain or
    impossible already. `relevant` is False if the finding is d-separated from the query given the others.
    """

    node: str
    value: Any  # a state, or likelihoods by state
    alone: float | None
    beside: float | None
    relevant: bool


@dataclass(frozen=True)
class NetworkAccount:
    """P(node = state) before and after the evidence, and the weight of each finding.

    >>> from bayeswise.networks import BeliefNetwork, Node
    >>> wet = Node("wet", ["yes", "no"], {"yes": 0.9, "no": 0.2}, parents=["rain"])
    >>> network = BeliefNetwork([Node("rain", ["yes", "no"], 0.5), wet])
    >>> account = network.explain("rain", {"wet": "yes"})
    >>> account
    NetworkAccount(rain = yes: 0.5 -> 0.8182; wet +1.504)
    """

    network: BeliefNetwork
    node: str
    state: Label
    prior: Distribution
    posterior: Distribution
    findings: tuple[FindingWeight, ...]
    conflict: float  # log of prod P(finding) / P(findings); above 0 they conflict
    most_probable: Explanation
    information: dict[str, float]  # mutual information of each unobserved node and the query, in bits

    @property
    def uncertainty(self) -> float:
        """The entropy of the posterior in bits."""
        return entropy(self.posterior.cells)

    @property
    def evidence(self) -> dict[str, Label]:
        """The hard evidence."""
        return {f.node: f.value for f in self.findings if not isinstance(f.value, Mapping)}

    @property
    def soft(self) -> dict[str, Mapping[Any, float]]:
        """The soft evidence."""
        return {f.node: f.value for f in self.findings if isinstance(f.value, Mapping)}

    def paths(self, most: int = 12) -> tuple[FindingPath, ...]:
        """The active paths from findings to the node, the strongest first."""
        from bayeswise.networks.explaining.findings import paths_of

        return paths_of(self.network, self.node, self.evidence, self.soft, most)

    # -- as text and pages --
    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; minus infinity is the text "-inf"."""
        return {
            "node": self.node,
            "state": json_value(self.state),
            "prior": {str(state): p for state, p in self.prior.items()},
            "posterior": {str(state): p for state, p in self.posterior.items()},
            "log_evidence": json_number(self.posterior.log_evidence),
            "findings": [
                {
                    "node": f.node,
                    "value": _plain(f.value),
                    "alone": None if f.alone is None else json_number(f.alone),
                    "beside": None if f.beside is None else json_number(f.beside),
                    "relevant": f.relevant,
                }
                for f in self.findings
            ],
            "conflict": json_number(self.conflict),
            "most_probable": {
                "states": {name: json_value(state) for name, state in self.most_probable.states.items()},
                "probability": self.most_probable.probability,
            },
            "uncertainty_bits": self.uncertainty,
            "information_bits": self.information,
        }

    def to_text(self, *, width: int = 80) -> str:
        """The account for a terminal of that width, without colour."""
        from bayeswise.networks.explaining.account_views import text

        return text(self, width)

    def to_html(self) -> str:
        """A self-contained page, without scripts."""
        from bayeswise.networks.explaining.account_views import page

        return page(self)

    def plot(self, ax: Any = None) -> FindingsDisplay:
        """Draw the weight of each finding."""
        from bayeswise.networks.plots import FindingsDisplay

        return FindingsDisplay(self).plot(ax)

    def _repr_html_(self) -> str:
        from bayeswise.networks.explaining.account_views import fragment

        return fragment(self)

    def __repr__(self) -> str:
        weights = [f"{f.node} {f.beside:+.4g}" for f in self.findings if f.beside is not None and f.relevant]
        change = f"{self.prior[self.state]:.4g} -> {self.posterior[self.state]:.4g}"
        return f"NetworkAccount({self.node} = {self.state}: {change}{'; ' if weights else ''}{', '.join(weights)})"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(state): float(likelihood) for state, likelihood in value.items()}
    return json_value(value)


def account_of(
    network: BeliefNetwork, node: str, evidence: Evidence, state: Any = None, soft: Soft | None = None
) -> NetworkAccount:
    """The account of a query; by default of the state that is most probable given the evidence."""
    hard = {name: network.states(name)[network.code(name, seen)] for name, seen in by_node(evidence).items()}
    likelihoods = dict(soft_by_node(soft))
    if set(hard) & set(likelihoods):
        twice = next(name for name in hard if name in likelihoods)
        raise ParameterError(f"node {twice!r} has hard and soft evidence", fix="give it one of them")
    if network.names[network.place(node)] in hard:
        raise ParameterError(f"node {node!r} is observed: there is nothing to explain", fix="choose another node")
    posterior = network.query(node, hard, soft=likelihoods)
    chosen = posterior.best if state is None else network.states(node)[network.code(node, state)]
    prior = network.query(node)
    findings = tuple(
        _weight(network, node, chosen, name, hard, likelihoods, prior, posterior) for name in [*hard, *likelihoods]
    )
    log_alone = [network.log_evidence({name: seen}) for name, seen in hard.items()]
    log_alone += [network.log_evidence({}, soft={name: seen}) for name, seen in likelihoods.items()]
    return NetworkAccount(
        network,
        node,
        chosen,
        prior,
        posterior,
        tuple(sorted(findings, key=_strength)),
        math.fsum([*log_alone, -posterior.log_evidence]) if log_alone else 0.0,
        network.most_probable(hard, soft=likelihoods),
        mutual_information(network, node, hard, likelihoods),
    )


def _strength(finding: FindingWeight) -> float:
    """Sort key: findings that make the state certain first, then by weight given the others."""
    return -math.inf if finding.beside is None and finding.relevant else -abs(finding.beside or 0.0)


def _weight(
    network: BeliefNetwork,
    node: str,
    state: Label,
    name: str,
    hard: Evidence,
    soft: Soft,
    prior: Distribution,
    posterior: Distribution,
) -> FindingWeight:
    others_hard = {each: seen for each, seen in hard.items() if each != name}
    others_soft = {each: seen for each, seen in soft.items() if each != name}
    value = hard[name] if name in hard else soft[name]
    only = network.query(node, {name: value}) if name in hard else network.query(node, soft={name: value})
    without = network.query(node, others_hard, soft=others_soft)
    relevant = name == node or not network.d_separated(node, name, others_hard, soft=others_soft)
    return FindingWeight(
        name,
        value,
        _change(log_odds(prior, state), log_odds(only, state)),
        _change(log_odds(without, state), log_odds(posterior, state)) if relevant else 0.0,
        relevant,
    )


def _change(before: float, after: float) -> float | None:
    """The weight; None where the state was certain or impossible before."""
    return None if math.isinf(before) else after - before


def log_odds(belief: Distribution, state: Label) -> float:
    """log P(state) / P(any other state), infinite where one of them is 0."""
    p = belief[state]
    rest = math.fsum(q for other, q in belief.items() if other != state)
    if rest == 0.0:
        return math.inf
    return math.log(p) - math.log(rest) if p > 0.0 else -math.inf


def entropy(probability: FloatArray) -> float:
    """The entropy of a distribution, -sum p log2 p bits.

    >>> entropy(np.array([0.5, 0.25, 0.25])), entropy(np.array([1.0, 0.0]))
    (1.5, 0.0)
    """
    p = probability[probability > 0.0]
    return abs(float(-(p * np.log2(p)).sum()))


def divergence(p: FloatArray, q: FloatArray) -> float:
    """The KL divergence, sum p log2 p/q bits; infinite where q is 0 and p is not.

    >>> divergence(np.array([0.5, 0.5]), np.array([0.25, 0.75])) == 0.5 + 0.5 * math.log2(2 / 3)
    True
    """
    kept = p > 0.0
    if (q[kept] == 0.0).any():
        return math.inf
    return max(0.0, float((p[kept] * np.log2(p[kept] / q[kept])).sum()))


def mutual_information(
    network: BeliefNetwork, node: str, evidence: Evidence | None = None, soft: Soft | None = None
) -> dict[str, float]:
    """I(node; other | evidence) = sum_s P(s | e) KL(P(other | s, e) || P(other | e)) for every other node that is not
    observed, the most informative first; exact, by one propagation for each state of the node.

    >>> from bayeswise.networks import BeliefNetwork, Node
    >>> rain, wet = Node("rain", [0, 1], 0.5), Node("wet", [0, 1], {0: 1.0, 1: 0.0}, ["rain"])
    >>> mutual_information(BeliefNetwork([rain, wet, Node("luck", [0, 1], 0.5)]), "rain")
    {'wet': 1.0, 'luck': 0.0}
    """
    seen = dict(by_node(evidence))
    if network.names[network.place(node)] in seen:
        raise ParameterError(
            f"node {node!r} is observed: no other node is informative about it", fix="choose another node"
        )
    before = network.marginals(seen, soft=soft)
    given, uncertain = ([network.place(name) for name in names] for names in (seen, soft or {}))
    connected = graph.reachable(network._parents, [network.place(node)], given, uncertain)
    others = [name for name in network if name != node and name not in seen]
    bits = dict.fromkeys(others, 0.0)
    for state, p in before[node].items():
        if p == 0.0:
            continue
        after = network.marginals({**seen, node: state}, soft=soft)
        for name in others:
            if network.place(name) in connected:
                bits[name] += p * divergence(after[name].cells, before[name].cells)
    return dict(sorted(bits.items(), key=lambda pair: -pair[1]))
