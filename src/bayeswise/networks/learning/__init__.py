"""Networks from rows: tables by counting or by EM, graphs by a score or as a tree.

learn.py         all of it in one call
rows.py          any table as codes, states and weights
cutting.py       numbers as states: intervals
counted_rows.py  rows in partitions, each different one counted
rounds.py        graphs of tables in partitions whose rows are too many, by rounds of counts
counts.py        exact joint counts of every node with its parents
incomplete.py    rows with missing values, by pattern
structural.py    graphs from rows with missing cells
fitting.py       EM and gradient ascent, and the best of several starts
noisy.py         noisy maxima by EM
scores.py        BIC, AIC, MDL, BDeu and K2 of a node with its parents
constraints.py   what a graph must and must not have
climbing.py      hill climbing with tabu and restarts
exact.py         the best graph of all, by dynamic programming
independence.py  PC-stable: edges by tests of independence
trees.py         Chow-Liu trees from the counts of all pairs
strengths.py     what an edge is worth
"""

from __future__ import annotations

from bayeswise.networks.learning.climbing import climb, hill_climbing, k2
from bayeswise.networks.learning.constraints import Constraints, Search
from bayeswise.networks.learning.counts import FamilyCounts
from bayeswise.networks.learning.exact import best_graph
from bayeswise.networks.learning.fitting import FittedTables, fit_tables
from bayeswise.networks.learning.learn import learn
from bayeswise.networks.learning.scores import Scores
from bayeswise.networks.learning.strengths import EdgeStrength, EdgeStrengths, edge_strengths, strengths_in_table
from bayeswise.networks.learning.trees import chow_liu

__all__ = [
    "Constraints",
    "EdgeStrength",
    "EdgeStrengths",
    "FamilyCounts",
    "FittedTables",
    "Scores",
    "Search",
    "best_graph",
    "chow_liu",
    "climb",
    "edge_strengths",
    "fit_tables",
    "hill_climbing",
    "k2",
    "learn",
    "strengths_in_table",
]
