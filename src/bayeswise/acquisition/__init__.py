"""Which row to label next: asking instead of guessing.

pool.py        rows without labels, encoded once, and the model that knows nothing yet
strategies.py  how uncertain a posterior is            lookahead.py   what a label would save, each answer tried
learner.py     the learner that asks, is taught, and can take it back
"""

from bayeswise.acquisition.learner import ActiveLearner, Query

__all__ = ["ActiveLearner", "Query"]
