"""Our networks and diagrams as pyAgrum's own, table for table, in double precision; for races and for tests."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from bayeswise.diagrams import InfluenceDiagram
from bayeswise.networks import BeliefNetwork


def network_twin(network: BeliefNetwork) -> Any:
    """Names and states as they are, as far as pyAgrum allows them."""
    gum: Any = import_module("pyagrum")
    twin = gum.BayesNet()
    for name in network:
        twin.add(gum.LabelizedVariable(name, "", [str(state) for state in network.states(name)]))
    for parent, child in network.edges:
        twin.addArc(parent, child)
    for name in network:
        sizes = [len(network.states(parent)) for parent in network.parents(name)]
        fill(twin.cpt(name), network.parents(name), network.table(name).reshape([*sizes, -1]))
    return twin


def diagram_twin(diagram: InfluenceDiagram) -> Any:
    """States are numbered."""
    gum: Any = import_module("pyagrum")
    twin = gum.InfluenceDiagram()
    for name in diagram.names:
        add = twin.addDecisionNode if name in diagram.decisions else twin.addChanceNode
        add(gum.LabelizedVariable(name, "", len(diagram.states(name))))
    for name in diagram.utilities:
        twin.addUtilityNode(gum.LabelizedVariable(name, "", 1))
    for name in diagram:
        for parent in diagram.parents(name):
            twin.addArc(parent, name)
    for name in diagram.chances:
        sizes = [len(diagram.states(parent)) for parent in diagram.parents(name)]
        fill(twin.cpt(name), diagram.parents(name), diagram.network.table(name).reshape([*sizes, -1]))
    for name in diagram.utilities:
        fill(twin.utility(name), diagram.parents(name), diagram.utility(name)[..., None])
    return twin


def fill(theirs: Any, parents: tuple[str, ...], table: Any) -> None:
    """Write a table whose last axis is the node; pyAgrum keeps axes in the order of its own names, the node last."""
    axes = [parents.index(axis) if axis in parents else table.ndim - 1 for axis in theirs.names[::-1]]
    theirs[:] = np.ascontiguousarray(np.transpose(table, axes))
