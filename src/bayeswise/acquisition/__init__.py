"""Which row to label next: asking instead of guessing.

pool.py          rows without labels, encoded once, and the model that knows nothing yet
pool_beliefs.py  what is believed of every row, kept up to date label by label
strategies.py    how uncertain rows are, seen in single precision first; which rows are alike
choosing.py      the rows of a query, and what a label would save, each answer tried
queries.py       a row, why it is asked, what decisions ask
pool_risk.py     what decisions cost, measured on rows that were asked for
watching.py      whether asking pays, and so how many rows are drawn
learner.py       the learner that asks, is taught, and can take it back
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
