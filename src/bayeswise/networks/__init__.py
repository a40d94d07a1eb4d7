"""Belief networks: a graph, a table for each node, and exact answers to any question about them.

node.py tables.py graph.py network.py   what a network is, checked when it is made
inference.py distribution.py rows.py    exact answers: one question, every node, whole tables of rows
sampling.py gibbs.py estimate.py        rows drawn from it; answers with error bars where exact ones are too large
account*.py information.py sensitivity.py   why an answer is what it is, what to ask next, which entries matter
drawing/                                pictures with the beliefs in the nodes
formats/                                BIF, XMLBIF and Hugin files
learning/                               tables and graphs from rows
classifiers/                            the class of a row from a network of all columns
"""

from __future__ import annotations

from bayeswise.networks.inference.distribution import Distribution, Explanation
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Node
from bayeswise.networks.tables import noisy_max, noisy_or

__all__ = ["BeliefNetwork", "Distribution", "Explanation", "Node", "noisy_max", "noisy_or"]
