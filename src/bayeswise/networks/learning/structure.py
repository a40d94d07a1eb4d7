"""All searches for a graph by one name each."""

from __future__ import annotations

from bayeswise.networks.learning.climbing import climb, hill_climbing
from bayeswise.networks.learning.constraints import Constraints, Edges
from bayeswise.networks.learning.orders import k2
from bayeswise.networks.learning.trees import chow_liu

__all__ = ["Constraints", "Edges", "chow_liu", "climb", "hill_climbing", "k2"]
