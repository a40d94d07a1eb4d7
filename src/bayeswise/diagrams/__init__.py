"""Influence diagrams: policies of maximum expected utility.

diagram.py     the diagram and its queries
structure.py   chance nodes, decisions and utilities, checked together
nodes.py       chance, decision and utility nodes; options that are forbidden in some cases
attitude.py    attitudes to risk, and the sum of all utilities as a node
attributes.py  multi-attribute utility: attributes weighted into one sum
nested.py      tables nested by the states of the parents
solving/       optimal policies
analysis/      value of information, risk, and sensitivity to one number
documents.py   tables of plain values, checked
files.py       TOML, JSON and the formats of other programs
plots.py       the picture of the graph, and the outcomes of a policy
"""

from bayeswise.diagrams.attitude import Exponential, PiecewiseLinear
from bayeswise.diagrams.attributes import Attribute
from bayeswise.diagrams.diagram import InfluenceDiagram
from bayeswise.diagrams.nodes import Chance, Cost, Decision, Utility
from bayeswise.diagrams.solving.policy import Policy, mixed
from bayeswise.diagrams.solving.solution import Solution

__all__ = [
    "Attribute",
    "Chance",
    "Cost",
    "Decision",
    "Exponential",
    "InfluenceDiagram",
    "PiecewiseLinear",
    "Policy",
    "Solution",
    "Utility",
    "mixed",
]
