"""Networks from rows: tables by counting or by EM, graphs by a score or as a tree.

learn.py               all of it in one call
graph_search.py        which method finds the graph, by which score
coded_rows.py          any table as codes, states and weights
column_states.py       from labels to states: their type, and intervals of numbers
counted_rows.py        rows in partitions, each different one counted
rounds.py              graphs of tables in partitions whose rows are too many, by rounds of counts
family_counts.py       exact joint counts of every node with its parents
constraints.py         what a graph must and must not have
search/                graphs by a score, and trees
independence_tests.py  graphs by tests of independence
slices.py              dynamic networks from sequences
em/                    tables, and graphs, from rows with missing cells
strengths.py           what an edge is worth
"""

from __future__ import annotations

from bayeswise.networks.learning.constraints import Constraints, Search
from bayeswise.networks.learning.em.fitted_tables import FittedTables, fit_tables
from bayeswise.networks.learning.family_counts import FamilyCounts
from bayeswise.networks.learning.learn import learn
from bayeswise.networks.learning.search.chow_liu_tree import chow_liu
from bayeswise.networks.learning.search.climbing import climb, hill_climbing, k2
from bayeswise.networks.learning.search.dynamic_programming import best_graph
from bayeswise.networks.learning.search.scores import Scores
from bayeswise.networks.learning.strengths import (
    EdgeProbabilities,
    EdgeStrength,
    EdgeStrengths,
    edge_probabilities,
    edge_strengths,
    strengths_in_table,
)

__all__ = [
    "Constraints",
    "EdgeProbabilities",
    "EdgeStrength",
    "EdgeStrengths",
    "FamilyCounts",
    "FittedTables",
    "Scores",
    "Search",
    "best_graph",
    "chow_liu",
    "climb",
    "edge_probabilities",
    "edge_strengths",
    "fit_tables",
    "hill_climbing",
    "k2",
    "learn",
    "strengths_in_table",
]
