"""Why this answer: weight of evidence as plain data, and ways to show it.

account.py             prior x contributions = posterior, for one case
steps.py               the calculation with every factor, in fractions where they were counted
answered.py            the same where columns go together: changes are answered by the model
balance.py             one state against another: weights that add up to the log-odds, and their words
alternatives.py        what a column could be instead
flip.py                the least change that changes the answer
nearest.py             what a least change is: fewest columns, nearest values
class_densities.py     classes along one column: density, posterior, regions and errors
class_plane.py         classes over two columns: regions and contours
nomogram.py            points to add up, and the probability they stand for
account_views.py       an account in a terminal and on a page
plots/                 as pictures
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account as Account
    from bayeswise.explanations.account import Contribution as Contribution
    from bayeswise.explanations.alternatives import Explainable as Explainable
    from bayeswise.explanations.alternatives import alternatives_of as alternatives_of
    from bayeswise.explanations.balance import Balance as Balance
    from bayeswise.explanations.balance import Weight as Weight
    from bayeswise.explanations.class_densities import ClassDensities as ClassDensities
    from bayeswise.explanations.class_plane import ClassPlane as ClassPlane
    from bayeswise.explanations.flip import Change as Change
    from bayeswise.explanations.flip import Flip as Flip
    from bayeswise.explanations.flip import change_of as change_of
    from bayeswise.explanations.flip import least_change as least_change
    from bayeswise.explanations.flip import least_change_of as least_change_of
    from bayeswise.explanations.nomogram import Nomogram as Nomogram
    from bayeswise.explanations.nomogram import NomogramLine as NomogramLine
    from bayeswise.explanations.steps import Steps as Steps

__all__, __getattr__, __dir__ = late_names()
