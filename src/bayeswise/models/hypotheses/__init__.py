"""Learning as belief in hypotheses: a finite space, its exact posterior, and what follows from it.

space.py       prior, likelihood, posterior step by step
combining.py   Bayes-optimal, Gibbs and MAP answers
concepts.py    from a table of categories to its conjunctive concepts, and what they say
boundaries.py  FIND-S and candidate elimination; the belief in every concept
plots.py       the posterior datum by datum
"""

from bayeswise.models.hypotheses.combining import Combined
from bayeswise.models.hypotheses.concepts import ConceptModel, learn_concept
from bayeswise.models.hypotheses.space import HypothesisSpace

__all__ = ["Combined", "ConceptModel", "HypothesisSpace", "learn_concept"]
