"""Why this answer: weight of evidence as plain data, and its faces.

account.py       prior x contributions = posterior, for one case
balance.py       one state against another: weights that add up to the log-odds
alternatives.py  what a model offers so that it can be explained
flip.py          the least change that changes the answer
nomogram.py      points to add up, and the probability they stand for
plain.py text.py html.py displays/   JSON and dataframes, a terminal, a page, pictures
wording.py       weights, factors and values in words
"""

from bayeswise.explanations.account import Account, Contribution, Explainable, alternatives_of
from bayeswise.explanations.balance import Balance, Weight
from bayeswise.explanations.flip import Change, Flip, least_change, least_change_of
from bayeswise.explanations.nomogram import Nomogram, NomogramLine

__all__ = [
    "Account",
    "Balance",
    "Change",
    "Contribution",
    "Explainable",
    "Flip",
    "Nomogram",
    "NomogramLine",
    "Weight",
    "alternatives_of",
    "least_change",
    "least_change_of",
]
