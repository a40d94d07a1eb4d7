"""Classifiers over any table as belief networks: naive Bayes, trees, averages of them, and any graph.

learning.py           from a table to a model
coding.py             discretised columns
counted.py            the counts behind the tables
em.py                 expected counts by EM, where cells are missing
column_graph.py       the parents of columns: trees and k-dependence from pair counts given the class
superparents.py       the average over one-dependence networks (AODE)
superparent_pairs.py  the average over two-dependence networks (A2DE)
graph_scores.py       the log joint of rows under one graph
model.py              the fitted model, and its account of a row
left_out.py           leave-one-out predictions of learned rows
"""

from __future__ import annotations

from bayeswise.models.settings.network import STRUCTURES, NetworkSettings
from bayeswise.networks.classifiers.learning import learned_network
from bayeswise.networks.classifiers.model import NetworkClassifierModel

__all__ = ["STRUCTURES", "NetworkClassifierModel", "NetworkSettings", "learned_network"]
