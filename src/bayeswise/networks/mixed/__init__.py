"""Conditional Gaussian networks: nodes with states, and numbers that are linear in their parents with normal noise.

node.py        Gaussian nodes, and mixtures of normals, which are their posteriors
network.py     the network and its queries
components.py  the numbers given the states: least squares, for many configurations at once
answering.py   exact and sampled inference: numbers are integrated out before states
mixed_rows.py  rows of numbers and states, and the exact scatter of the numbers
learning.py    networks from rows, by a score or by tests of independence
"""

from __future__ import annotations

from bayeswise.networks.mixed.network import MixedNetwork
from bayeswise.networks.mixed.node import GaussianNode, NormalMixture

__all__ = ["GaussianNode", "MixedNetwork", "NormalMixture"]
