"""Naive Bayes over mixed columns: p(state | row) is proportional to p(state) times the product of p(cell | state).

learning.py         from a table to a model
choices.py          which family for which column: by kind, by name or by evidence
model.py            the fitted model
factors.py          the contract of a factor: the columns of one family, learned, scored and left out together
categories.py       categories and flags, by counting
sparse_levels.py    the same where counts are mostly zero: many classes of many levels
normal_columns.py   normal columns, and rows that no state explains in doubles
others.py           every other family of numbers
words.py            word counts of text
counted_columns.py  number columns that count words
left_out.py         each learned row under the model that never saw it, in closed form
closed_forms.py     as a textbook writes it: the counts behind one row, the distributions of one column, w and w0
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.settings.naive_bayes import CONVENTIONS, MEstimate, NaiveBayesSettings

if TYPE_CHECKING:
    from bayeswise.models import fitting
    from bayeswise.models.naive_bayes.learning import select

    fit = partial(fitting.fit, model="naive-bayes")

__all__ = ["CONVENTIONS", "MEstimate", "NaiveBayesModel", "NaiveBayesSettings", "fit", "select"]


def __getattr__(name: str) -> Any:
    """What learns is imported late: a model that is loaded from its file does not need it."""
    if name == "fit":
        from bayeswise.models import fitting

        return partial(fitting.fit, model="naive-bayes")
    if name == "select":
        from bayeswise.models.naive_bayes.learning import select

        return select
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
