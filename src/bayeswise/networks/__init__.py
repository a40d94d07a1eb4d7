"""Belief networks: a graph, a table for each node, and exact answers to any question about them.

network.py             the network and the questions that it answers
structure.py           names and parents, and what follows from the graph alone; states and tables, checked
arguments.py           what calls are given: names, evidence, counts and seeds, checked
soft_evidence.py       a likelihood for each state, in a call or in a cell of a table, or a distribution to be reached
node.py                a node as one writes it down, and its conditional table, checked
equivalence.py         graphs with the same independences
causes.py              nodes set by hand, and sets that adjust for confounding
dynamic.py             a slice for each step of time: filtering, smoothing, prediction
editing.py             nodes, states and edges added, removed and renamed
canonical.py           noisy-OR and noisy-MAX, expanded only on request
mixed/                 networks with numbers as well as states
inference/             exact and sampled answers
explaining/            reasons for an answer, what to observe next, which entries matter
learning/              tables and graphs from rows
classifiers/           the class of a row from a network of all columns
formats/               BIF, XMLBIF, Hugin, GeNIe, Netica and UAI files
description_length.py  the bits of a network and of rows under it
plots.py               its picture, with the beliefs in the nodes; findings and distributions by matplotlib
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
