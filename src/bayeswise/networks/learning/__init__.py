"""Networks from rows: tables by counting or by EM, graphs by a score or as a tree.

learned_network.py     all of it in one call
graph_search.py        the method of a structure search, and its score
coded_rows.py          any table as codes, states and weights
column_findings.py     which columns hold numbers, and notes on columns
column_states.py       from labels to states: their type, and intervals of numbers
counted_rows.py        distinct rows of partitioned tables, with counts
rounds.py              graphs of partitioned tables with too many rows, by rounds of counts
family_counts.py       exact joint counts of every node with its parents
constraints.py         required and forbidden edges, tiers, limits
search/                graphs by a score, and trees
independence_tests.py  graphs by tests of independence
slices.py              dynamic networks from sequences
em/                    tables, and graphs, from rows with missing cells
strengths.py           strengths of edges
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.networks.learning.constraints import Constraints as Constraints
    from bayeswise.networks.learning.constraints import Search as Search
    from bayeswise.networks.learning.em.fitted_tables import FittedTables as FittedTables
    from bayeswise.networks.learning.em.fitted_tables import fit_tables as fit_tables
    from bayeswise.networks.learning.family_counts import FamilyCounts as FamilyCounts
    from bayeswise.networks.learning.learned_network import learn as learn
    from bayeswise.networks.learning.search.chow_liu_tree import chow_liu as chow_liu
    from bayeswise.networks.learning.search.climbing import climb as climb
    from bayeswise.networks.learning.search.climbing import hill_climbing as hill_climbing
    from bayeswise.networks.learning.search.climbing import k2 as k2
    from bayeswise.networks.learning.search.dynamic_programming import best_graph as best_graph
    from bayeswise.networks.learning.search.scores import Scores as Scores
    from bayeswise.networks.learning.strengths import EdgeProbabilities as EdgeProbabilities
    from bayeswise.networks.learning.strengths import EdgeStrength as EdgeStrength
    from bayeswise.networks.learning.strengths import EdgeStrengths as EdgeStrengths
    from bayeswise.networks.learning.strengths import edge_probabilities as edge_probabilities
    from bayeswise.networks.learning.strengths import edge_strengths as edge_strengths
    from bayeswise.networks.learning.strengths import strengths_in_table as strengths_in_table

__all__, __getattr__, __dir__ = late_names()
