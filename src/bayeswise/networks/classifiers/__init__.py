"""Classifiers over any table as belief networks: naive Bayes, trees, averages of them, and any graph.

settings.py     which structure, how it is smoothed
coding.py       every column as a few levels; numbers are cut where that shortens the description of the classes
counted.py      the counts behind the tables       smoothing.py   from counts to tables
structure.py    trees and k-dependence from pair counts given the class
search.py       graphs that need rows: k-dependence beyond pairs, hill climbing
graph.py        which columns a column depends on
scores.py       the log joint of rows under one graph; missing cells are summed out
superparents.py the average over one-dependence networks
model.py        the fitted model     learning.py from a table to a model
explaining.py   the account of a row     left_out.py the posterior of rows under the model that never saw them
"""

from __future__ import annotations

from bayeswise.networks.classifiers.learning import fit_network, learned_network
from bayeswise.networks.classifiers.model import NetworkClassifierModel
from bayeswise.networks.classifiers.settings import STRUCTURES, NetworkSettings

__all__ = ["STRUCTURES", "NetworkClassifierModel", "NetworkSettings", "fit_network", "learned_network"]
