"""Networks of nodes with states and nodes with numbers, each number linear in its parents with normal noise.

node.py        a node that is a number, as one writes it down, and what an answer about it is
network.py     the network and the questions that it answers
components.py  the numbers given the states: least squares, for many configurations at once
answering.py   answers, exact or from drawn rows: numbers are integrated out before states
mixed_rows.py  rows of numbers and states, and the exact scatter of the numbers
learning.py    networks from rows, by a score or by tests of independence
"""

from __future__ import annotations

from bayeswise.networks.mixed.network import MixedNetwork
from bayeswise.networks.mixed.node import GaussianNode, NormalMixture

__all__ = ["GaussianNode", "MixedNetwork", "NormalMixture"]
