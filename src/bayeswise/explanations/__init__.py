"""Why this answer: weight of evidence as plain data, and ways to show it.

account.py          prior x contributions = posterior, for one case
steps.py            the calculation with every factor, in fractions where they were counted
calibrated.py       the same, and what a calibration adds
answered.py         the same where columns go together: changes are answered by the model
balance.py          one state against another: weights that add up to the log-odds
alternatives.py     what a column could be instead
flip.py             the least change that changes the answer
class_densities.py  classes along one column: density, posterior, regions and errors
class_plane.py      classes over two columns: regions and contours
nomogram.py         points to add up, and the probability they stand for
wording.py          weights, factors and values in words
plain.py            for JSON and dataframes
text.py             for a terminal
html.py             for a page
plots/              as pictures
"""

from bayeswise.explanations.account import Account, Contribution
from bayeswise.explanations.alternatives import Explainable, alternatives_of
from bayeswise.explanations.balance import Balance, Weight
from bayeswise.explanations.class_densities import ClassDensities
from bayeswise.explanations.class_plane import ClassPlane
from bayeswise.explanations.flip import Change, Flip, change_of, least_change, least_change_of
from bayeswise.explanations.nomogram import Nomogram, NomogramLine
from bayeswise.explanations.steps import Steps

__all__ = [
    "Account",
    "Balance",
    "Change",
    "ClassDensities",
    "ClassPlane",
    "Contribution",
    "Explainable",
    "Flip",
    "Nomogram",
    "NomogramLine",
    "Steps",
    "Weight",
    "alternatives_of",
    "change_of",
    "least_change",
    "least_change_of",
]
