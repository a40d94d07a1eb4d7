"""The exact average over all naive Bayes structures: every column may tell the classes apart, or not.

With d columns there are 2^d structures. As columns are independent given the class, their average is one product
(Dash and Cooper, "Model averaging for prediction with discrete Bayesian networks", 2004):

    p(state, row | rows) = p(state) prod over columns of w p(cell | state, rows) + (1 - w) p(cell | rows)

with w = p(the column is relevant | rows), from the evidence of its cells with and without the classes.

settings.py   what is believed before: which columns are relevant     structures.py  how many of them are
mixing.py     from evidence to the weight of a column, and the mixture
categories.py Dirichlet-categorical columns     others.py  Poisson, exponential, geometric     words.py  texts
numbers.py    normal columns (student.py one of them; redundancy.py, pairs.py what several say together)
category_pairs.py  what several categories say together
model.py      the fitted model                  evidence.py  the log evidence of rows, part by part
"""

from bayeswise.models.averaged_naive_bayes.evidence import Evidence, evidence_of
from bayeswise.models.averaged_naive_bayes.model import AveragedNaiveBayesModel, averaged, fit_averaged
from bayeswise.models.averaged_naive_bayes.pairs import given_temper, with_pairs
from bayeswise.models.averaged_naive_bayes.settings import AveragedSettings

__all__ = [
    "AveragedNaiveBayesModel",
    "AveragedSettings",
    "Evidence",
    "averaged",
    "evidence_of",
    "fit_averaged",
    "given_temper",
    "with_pairs",
]
