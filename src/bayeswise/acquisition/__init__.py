"""Which row to label next: asking instead of guessing.

pool.py          rows without labels, encoded once, and the model that knows nothing yet
pool_beliefs.py  what is believed of every row, kept up to date label by label
uncertainty.py   how uncertain rows are, seen in single precision first
choosing.py      the rows of a query, which differ, and what a label would save, each answer tried
queries.py       a row, why it is asked, what decisions ask
pool_risk.py     what decisions cost, measured on rows that were asked for; whether asking pays
teaching.py      a model that is taught the labels of a pool, and can take them back
learner.py       the learner that asks for the label it needs most
curves.py        sessions against an oracle, and how soon they learn
plots.py         their picture
session.py       answers that are in a journal before they count
journal.py       lines that no kill can tear
"""

from bayeswise.acquisition.curves import LearningCurves, learning_curves
from bayeswise.acquisition.learner import ActiveLearner
from bayeswise.acquisition.pool_risk import Risk, Step
from bayeswise.acquisition.queries import Asked, Query, rows_to_ask

__all__ = ["ActiveLearner", "Asked", "LearningCurves", "Query", "Risk", "Step", "learning_curves", "rows_to_ask"]
