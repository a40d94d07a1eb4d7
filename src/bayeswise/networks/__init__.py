"""Belief networks: a graph, a conditional probability table (CPT) for each node, and exact inference.

network.py             the network and its queries
structure.py           names and parents, d-separation; states and tables, checked
arguments.py           validation of arguments: names, evidence and seeds
soft_evidence.py       a likelihood for each state, in a call or in a cell of a table, or a target distribution
node.py                a node as the user writes it, and its CPT, checked
equivalence.py         Markov equivalence classes of graphs (CPDAGs)
causes.py              interventions, and adjustment sets for confounding
dynamic.py             a slice for each time step: filtering, smoothing, prediction
editing.py             nodes, states and edges added, removed and renamed
canonical.py           noisy-OR and noisy-MAX, expanded only on request
mixed/                 networks with numbers as well as states
inference/             exact and sampled answers
explaining/            weight of evidence, what to observe next, sensitivity to table entries
learning/              tables and graphs from rows
classifiers/           the class of a row from a network of all columns
formats/               BIF, XMLBIF, Hugin, GeNIe, Netica and UAI files
description_length.py  description length of a network and of rows under it, in bits
plots.py               the graph with beliefs in its nodes; findings and distributions by matplotlib
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.networks.canonical import NoisyMax as NoisyMax
    from bayeswise.networks.canonical import NoisyOr as NoisyOr
    from bayeswise.networks.canonical import noisy_max as noisy_max
    from bayeswise.networks.canonical import noisy_or as noisy_or
    from bayeswise.networks.inference.distribution import Distribution as Distribution
    from bayeswise.networks.inference.distribution import Explanation as Explanation
    from bayeswise.networks.network import BeliefNetwork as BeliefNetwork
    from bayeswise.networks.node import Node as Node

__all__, __getattr__, __dir__ = late_names()
