"""Learning as belief in hypotheses: a finite space, its exact posterior, and what follows from it.

space.py      the space: prior, likelihood, posterior step by step        display.py    its picture
combining.py  Bayes-optimal, Gibbs and MAP answers
concepts.py   conjunctive concepts over a table of categories
boundaries.py FIND-S and candidate elimination                            cube.py       the belief in every concept
"""

from bayeswise.models.hypotheses.combining import Combined
from bayeswise.models.hypotheses.concepts import ConceptModel, learn_concept
from bayeswise.models.hypotheses.space import HypothesisSpace

__all__ = ["Combined", "ConceptModel", "HypothesisSpace", "learn_concept"]
