"""Naive Bayes over mixed columns: p(state | row) is proportional to p(state) times the product of p(cell | state).

settings.py      what the user believes: smoothing, priors, floors, families; named conventions
factors.py       the contract of a factor: the columns of one family, learned, scored and left out together
categories.py    categories and flags, by counting          numbers.py   normal columns
others.py        every other family of numbers              words.py     word counts of text
model.py         the fitted model                           learning.py  from a table to a model
choices.py       which family for which column             selection.py the same, by evidence
linear.py        w and w0 where the log-odds are linear
"""

from bayeswise.models.naive_bayes.learning import fit, select
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.naive_bayes.settings import CONVENTIONS, MEstimate, NaiveBayesSettings

__all__ = ["CONVENTIONS", "MEstimate", "NaiveBayesModel", "NaiveBayesSettings", "fit", "select"]
