"""Learning as belief in hypotheses: a finite space, its exact posterior, and what follows from it.

space.py      the space: prior, likelihood, posterior step by step        display.py    its picture
combining.py  Bayes-optimal, Gibbs and MAP answers
"""

from bayeswise.models.hypotheses.combining import Combined
from bayeswise.models.hypotheses.space import HypothesisSpace

__all__ = ["Combined", "HypothesisSpace"]
