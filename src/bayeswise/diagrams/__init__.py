"""Influence diagrams: the best decisions given what is known at each.

diagram.py     the diagram and the questions that it answers
structure.py   a network, decisions and utilities, checked when they meet
nodes.py       chance, decision and utility nodes; options that are forbidden in some cases
attitude.py    attitudes to risk, and the sum of all utilities as a node
attributes.py  several attributes of what is gained, weighed into one sum
nested.py      tables nested by the states of the parents
solving/       the best policies
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
