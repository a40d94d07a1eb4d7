"""The exact average over all naive Bayes structures: every column may be relevant to the class, or not.

With d columns there are 2^d structures. As columns are independent given the class, their average is one product
(Dash and Cooper, "Model averaging for prediction with discrete Bayesian networks", 2004):

    p(state, row | rows) = p(state) prod over columns of w p(cell | state, rows) + (1 - w) p(cell | rows)

with w = p(the column is relevant | rows), from the evidence of its cells with and without the classes.

model.py           the fitted average
mixing.py          from evidence to the weight of a column, and the mixture; a prior of how many are relevant
evidence.py        the log evidence of rows, part by part
categories.py      category columns
category_pairs.py  what several categories say together; normal columns with the sums of their pairs
normal_columns.py  normal columns
redundancy.py      columns that say the same, and the exponent that repairs it
others.py          Poisson, exponential, geometric and more
words.py           texts
"""

from functools import partial
from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names
from bayeswise.models import fitting
from bayeswise.models.averaged_naive_bayes.category_pairs import with_pairs
from bayeswise.models.averaged_naive_bayes.model import AveragedNaiveBayesModel, averaged
from bayeswise.models.settings.averaged import AveragedSettings, given_temper

if TYPE_CHECKING:
    from bayeswise.models.averaged_naive_bayes.evidence import Evidence as Evidence
    from bayeswise.models.averaged_naive_bayes.evidence import evidence_of as evidence_of

fit_averaged = partial(fitting.fit, model="averaged")

_late, __getattr__, __dir__ = late_names()
__all__ = [
    "AveragedNaiveBayesModel",
    "AveragedSettings",
    "averaged",
    "fit_averaged",
    "given_temper",
    "with_pairs",
    *_late,
]
