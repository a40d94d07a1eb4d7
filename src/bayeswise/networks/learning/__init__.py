"""Networks from rows: tables by counting with a Dirichlet prior, graphs by a score or as a tree.

rows.py         any table -> codes and states
counts.py       exact joint counts of every family: merged, forgotten, turned into tables
scores.py       BIC, AIC, BDeu and K2 of a node with its parents
structure.py    hill climbing, K2 with an order, Chow-Liu trees, under constraints
"""

from __future__ import annotations

from bayeswise.networks.learning.counts import FamilyCounts
from bayeswise.networks.learning.learn import learn
from bayeswise.networks.learning.scores import Scores
from bayeswise.networks.learning.structure import Constraints, chow_liu, climb, k2

__all__ = ["Constraints", "FamilyCounts", "Scores", "chow_liu", "climb", "k2", "learn"]
