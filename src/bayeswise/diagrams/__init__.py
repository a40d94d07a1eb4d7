"""Influence diagrams: what to do, and when, on what is known then.

nodes.py nested.py building.py diagram.py   chance, decision and utility nodes, checked when they meet
ordering.py elimination.py solver.py        which past matters, how sums are planned, the best policies
policy.py wording.py solution.py            policies as tables and in words, and what they lead to
information.py                              what knowing or setting a node would be worth
scenarios.py risk.py                        where the utility comes from, and what else can happen
entries.py sensitivity.py tornado.py        how much hangs on one number of the tables
displays/ drawing.py                        pictures of these and of the graph
files.py toml_text.py                       TOML and JSON
"""

from bayeswise.diagrams.diagram import InfluenceDiagram
from bayeswise.diagrams.nodes import Chance, Cost, Decision, Utility
from bayeswise.diagrams.solving.policy import Policy
from bayeswise.diagrams.solving.solution import Solution

__all__ = ["Chance", "Cost", "Decision", "InfluenceDiagram", "Policy", "Solution", "Utility"]
