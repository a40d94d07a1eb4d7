"""A belief network: P(all nodes) = prod P(node | parents), a frozen value, and its queries."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.late import LateFunction
from bayeswise.networks.arguments import by_node, soft_by_node
from bayeswise.networks.canonical import NoisyMax
from bayeswise.networks.node import Evidence, Node, Soft
from bayeswise.networks.structure import NetworkStructure
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.networks.causes import CausalEffect
    from bayeswise.networks.editing import NetworkEdits
    from bayeswise.networks.explaining.account import NetworkAccount
    from bayeswise.networks.explaining.findings import Conflict
    from bayeswise.networks.explaining.sensitivity import Sensitivity
    from bayeswise.networks.inference.distribution import Distribution, Explanation
    from bayeswise.networks.inference.engine import Engine
    from bayeswise.networks.inference.estimate import Estimate
    from bayeswise.networks.learning.learned_network import learn as _learn
    from bayeswise.networks.learning.strengths import EdgeStrengths
    from bayeswise.render.graph.picture import Picture
    from bayeswise.render.graph.plot import GraphDisplay


class BeliefNetwork(NetworkStructure):
    """Nodes with named states, each with a table given its parents; built by hand, from rows or from a file.

    >>> network = BeliefNetwork([
    ...     Node("Storm", ["yes", "no"], [0.2, 0.8]),
    ...     Node("Lightning", ["yes", "no"], {"yes": 0.7, "no": 0.01}, parents=["Storm"]),
    ... ])
    >>> network
    BeliefNetwork(2 nodes, 1 edge: Storm, Lightning)
    >>> round(network.query("Storm", {"Lightning": "yes"})["yes"], 4)
    0.9459
    """

    # -- queries ----------------------------------------------------------------------------------------------
    @cached_property
    def engine(self) -> Engine:
        """The compiled junction trees of this network; made once, used by every query."""
        from bayeswise.networks.inference.engine import Engine

        return Engine(self)

    def query(
        self,
        nodes: str | Iterable[str],
        evidence: Evidence | None = None,
        *,
        soft: Soft | None = None,
        distributions: Soft | None = None,
        do: Evidence | None = None,
    ) -> Distribution:
        """P(nodes | evidence), joint if there are several; soft evidence is {node: {state: likelihood}}.

        `distributions` {node: {state: p}} are target posteriors of nodes, set by Jeffrey's rule. `do` {node: state}
        intervenes on nodes before anything is observed: P(nodes | do(...), evidence).
        """
        if do is not None:
            return self.do(do).query(nodes, evidence, soft=soft, distributions=distributions)
        return self.engine.query(nodes, evidence, self._soft(evidence, soft, distributions))

    def marginals(
        self, evidence: Evidence | None = None, *, soft: Soft | None = None, distributions: Soft | None = None
    ) -> dict[str, Distribution]:
        """P(node | evidence) of every node."""
        return self.engine.marginals(evidence, self._soft(evidence, soft, distributions))

    def _soft(self, evidence: Evidence | None, soft: Soft | None, distributions: Soft | None) -> Soft | None:
        """Soft evidence, with the likelihoods that give the target `distributions`."""
        if distributions is None:
            return soft
        targets = soft_by_node(distributions, "distribution", "probability")
        from bayeswise.networks.soft_evidence import likelihoods_for

        if set(targets) & {*soft_by_node(soft), *by_node(evidence)}:
            raise ParameterError("a node has both evidence and a distribution", fix="give it one of them")
        return likelihoods_for(self, targets, evidence, soft)

    def log_evidence(self, evidence: Evidence, *, soft: Soft | None = None) -> float:
        """log P(evidence); minus infinity if it is impossible."""
        return self.engine.log_evidence(evidence, soft)

    def evidence_probability(self, evidence: Evidence, *, soft: Soft | None = None) -> float:
        """P(evidence); `log_evidence` does not underflow where this is 0."""
        return float(np.exp(self.log_evidence(evidence, soft=soft)))

    def most_probable(
        self, evidence: Evidence | None = None, *, nodes: Iterable[str] | None = None, soft: Soft | None = None
    ) -> Explanation:
        """The most probable states of all nodes given the evidence, or of some, the others summed out."""
        return self.engine.most_probable(evidence, nodes, soft)

    def most_probable_of(
        self, n_explanations: int, evidence: Evidence | None = None, *, soft: Soft | None = None
    ) -> list[Explanation]:
        """The `n_explanations` most probable states of all nodes, best first; fewer if no more are possible."""
        from bayeswise.networks.inference.distribution import several_most_probable

        return several_most_probable(self, n_explanations, evidence, soft)

    def mutual_information(
        self, node: str, evidence: Evidence | None = None, *, soft: Soft | None = None
    ) -> dict[str, float]:
        """I(node; other | evidence) in bits for every node that is not observed, most informative first."""
        from bayeswise.networks.explaining.account import mutual_information

        return mutual_information(self, node, evidence, soft)

    def sensitivity(
        self,
        node: str,
        evidence: Evidence | None = None,
        *,
        soft: Soft | None = None,
        tables: Iterable[str] | None = None,
    ) -> list[Sensitivity]:
        """P(node | evidence) as a function (a t + b) / (c t + d) of each table entry t, the largest impact first."""
        from bayeswise.networks.explaining.sensitivity import sensitivities

        return sensitivities(self, node, evidence, soft, tables)

    def explain(self, node: str, evidence: Evidence, *, state: Any = None, soft: Soft | None = None) -> NetworkAccount:
        """Why a state has its posterior: the weight of evidence of each finding, alone and given the others."""
        from bayeswise.networks.explaining.account import account_of

        return account_of(self, node, evidence, state, soft)

    def predict_proba(self, node: str, rows: Any) -> FloatArray:
        """(n_rows, n_states) the posterior of a node for each row of a table; cells may be missing."""
        from bayeswise.networks.inference.row_posteriors import predict_proba

        return predict_proba(self, node, rows)

    def sample(self, n_rows: int, seed: int | np.random.Generator = 0) -> dict[str, list[Label]]:
        """Rows drawn from the network, as columns."""
        from bayeswise.networks.inference.sampling import sample

        return sample(self, n_rows, seed)

    def estimate(
        self,
        node: str,
        evidence: Evidence | None = None,
        *,
        soft: Soft | None = None,
        method: str = "importance",
        n_rows: int = 100_000,
        seed: int = 0,
    ) -> Estimate:
        """P(node | evidence) with standard errors, for networks too large for `query`.

        `method` is "importance" (adaptive importance sampling), "likelihood-weighting", "gibbs", "loopy"
        (belief propagation, no error bar), "exact", or "auto": exact if memory allows, else importance sampling.
        """
        from bayeswise.networks.inference.estimate import answer

        return answer(self, node, evidence, soft, method=method, n_rows=n_rows, seed=seed)

    # -- causes and findings ----------------------------------------------------------------------------------
    def causal_effect(self, cause: str, effect: str, *, observed: Iterable[str] | None = None) -> CausalEffect:
        """P(effect | do(cause)) beside P(effect | cause), and an adjustment set that identifies the first.

        `observed` are the nodes that can be measured; all by default.
        """
        from bayeswise.networks.causes import causal_effect

        return causal_effect(self, cause, effect, observed)

    def adjustment_sets(
        self, cause: str, effect: str, *, observed: Iterable[str] | None = None, front: bool = False
    ) -> list[tuple[str, ...]]:
        """The smallest sets that satisfy the back-door criterion, or the front-door one (`front`); [] if none does."""
        from bayeswise.networks.causes import adjustment_sets

        return adjustment_sets(self, cause, effect, observed, front=front)

    def conflict(self, evidence: Evidence) -> Conflict:
        """The conflict measure of the findings: log2 prod P(finding) / P(all findings); above 0 they disagree."""
        from bayeswise.networks.explaining.findings import conflict_of

        return conflict_of(self, evidence)

    def influences(self) -> dict[tuple[str, str], float]:
        """The strength of influence of each edge on its child, from 0 to 1, averaged over the other parents."""
        from bayeswise.networks.explaining.findings import influences

        return influences(self)

    # -- other networks from it -------------------------------------------------------------------------------
    def do(self, actions: Evidence) -> BeliefNetwork:
        """The network after an intervention: nodes are set and cut from their parents.

        >>> rain = [Node("rain", ["y", "n"], 0.2), Node("wet", ["y", "n"], {"y": 0.9, "n": 0.1}, ["rain"])]
        >>> BeliefNetwork(rain).do({"wet": "y"}).query("rain")["y"]
        0.2
        """
        from bayeswise.networks.causes import intervened

        return intervened(self, actions)

    def changed(self, tables: Mapping[str, Any]) -> BeliefNetwork:
        """The same graph with other tables for some nodes."""
        given = by_node(tables, "tables", of_each="table")
        for name in given:
            self.place(name)
        kept = {name: self.table(name) for name in self.names}
        nodes = [Node(n, self.states(n), {**kept, **given}[n], self.parents(n)) for n in self.names]
        return BeliefNetwork(nodes, name=self.name)

    @property
    def edit(self) -> NetworkEdits:
        """Edited copies: nodes, states and edges added, removed or renamed; this network does not change."""
        from bayeswise.networks.editing import NetworkEdits

        return NetworkEdits(self)

    if TYPE_CHECKING:
        learn = staticmethod(_learn)
    else:
        learn = LateFunction("bayeswise.networks.learning.learned_network", "learn")

    # -- pictures ---------------------------------------------------------------------------------------------
    def picture(
        self,
        evidence: Evidence | None = None,
        *,
        soft: Soft | None = None,
        nodes: Iterable[str] | None = None,
        beliefs: bool = True,
        title: str = "",
        strengths: EdgeStrengths | Mapping[tuple[str, str], float] | None = None,
        by: str | None = None,
    ) -> Picture:
        """The graph with P(node | evidence) in each node; `.svg()`, `.html()`, `.dot()`, `.save(path)`.

        Edges are as wide as their `strengths`, those of `strengths_in_table` or any {(parent, child): number}; `by`
        chooses "score_gain", "support", "support_either_way" or "posterior".

        >>> BeliefNetwork([Node("a", [0, 1], 0.5), Node("b", [0, 1], [0.1, 0.2], ["a"])]).picture({"b": 0})
        Picture(2 nodes, 1 edge)
        """
        from bayeswise.networks.plots import picture_of

        return picture_of(self, evidence, soft, nodes, beliefs, title, strengths, by)

    def plot(
        self,
        evidence: Evidence | None = None,
        ax: Any = None,
        *,
        soft: Soft | None = None,
        nodes: Iterable[str] | None = None,
        beliefs: bool = True,
        title: str = "",
    ) -> GraphDisplay:
        """Draw the picture with matplotlib."""
        return self.picture(evidence, soft=soft, nodes=nodes, beliefs=beliefs, title=title).plot(ax)

    def _repr_html_(self) -> str:
        from bayeswise.networks.plots import notebook_html

        return notebook_html(self)

    # -- files ------------------------------------------------------------------------------------------------
    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> BeliefNetwork:
        """The network in a BIF, XMLBIF, Hugin .net, GeNIe .xdsl, Netica .dne or UAI file, packed (.gz) or not."""
        from bayeswise.networks.formats import read

        return read(path)

    def write(self, path: str | os.PathLike[str]) -> tuple[str, ...]:
        """A file in the format of its suffix; reading it gives back the same network, bit for bit.

        Returns a note for each thing that the format cannot store (UAI files have no names), or that few other programs
        read in it (BIF with names in quotes).
        """
        from bayeswise.networks.formats import write

        return write(self, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """A model file, which `bw.load` reads: states keep their types, of any size."""
        from bayeswise.models.files import save_model

        save_model(self, path)

    def to_plain(self) -> tuple[Any, ...]:
        """The content of a model file: the name, the nodes, and all tables concatenated (of noisy nodes the causes)."""
        nodes, cells = [], [np.zeros(0)]
        for place, name in enumerate(self.names):
            given = self._tables.given[place]
            noisy = isinstance(given, NoisyMax)
            nodes.append((name, self._states[place], self.parents(name), *(["noisy maximum"] if noisy else [])))
            cells += [
                part.ravel() for part in ((*given.causes, given.leak) if isinstance(given, NoisyMax) else (given,))
            ]
        return self.name, tuple(nodes), np.concatenate(cells)

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> BeliefNetwork:
        """The inverse of `to_plain`, checked like any new network."""
        name, nodes, cells = plain
        sizes = {node: len(states) for node, states, *_ in nodes}
        made, start = [], 0
        for node, states, parents, *noisy in nodes:
            n_rows = [sizes[parent] for parent in parents]
            n_rows = [*n_rows, 1] if noisy else [math.prod(n_rows)]
            parts = []
            for rows in n_rows:
                parts.append(cells[start : start + rows * len(states)].reshape(-1, len(states)))
                start += rows * len(states)
            made.append(Node(node, states, NoisyMax(parts[:-1], parts[-1][0]) if noisy else parts[0], parents))
        return cls(made, name=name)
