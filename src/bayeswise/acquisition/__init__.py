"""Active learning: which row to label next.

pool.py          rows without labels, encoded once, and the model that knows nothing yet
pool_beliefs.py  the posterior of every row, kept up to date label by label
uncertainty.py   how uncertain rows are, seen in single precision first
choosing.py      the rows of a query, which differ, and what a label would save, each answer tried
queries.py       a row to label and the reason; rows whose best action is to ask
pool_risk.py     the cost of decisions, measured on queried rows; the gain over random rows
teaching.py      a model that is taught the labels of a pool, and can take them back
learner.py       the learner that queries the most useful label
curves.py        sessions against an oracle, and how soon they learn
plots.py         their picture
session.py       answers that are journaled before they count
journal.py       an append-only file that survives kills
"""

from bayeswise.acquisition.curves import LearningCurves, learning_curves
from bayeswise.acquisition.learner import ActiveLearner
from bayeswise.acquisition.pool_risk import Risk, Step
from bayeswise.acquisition.queries import Query, RowToAsk, rows_to_ask

__all__ = ["ActiveLearner", "LearningCurves", "Query", "Risk", "RowToAsk", "Step", "learning_curves", "rows_to_ask"]
