"""From joint probabilities to posteriors: the only place where logarithms become probabilities.

normalise.py         posterior = joint / evidence for many rows; odds; posteriors from outside, checked
prior.py             a prior given by name, checked; the same evidence under another prior
calibration.py       the calibration that fits rows whose state is known
calibration_maps.py  calibrations as values: temperature, Platt, isotonic, Dirichlet
calibration_fits.py  the estimates behind calibration
bayes_rule.py        Bayes' rule for problems of two lines, every step kept; it and joint tables as text
joint_table.py       sum rule, product rule, chain rule and independence on a table of joint probabilities
line_regions.py      where the best action changes along one number
plots.py             a probability mass function as bars
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names
from bayeswise.posteriors.normalise import (
    Posterior,
    Undefined,
    log_odds,
    log_posterior,
    normalise,
    odds_of,
    probability_of,
)

if TYPE_CHECKING:
    from bayeswise.posteriors.bayes_rule import Inference as Inference
    from bayeswise.posteriors.bayes_rule import bayes as bayes
    from bayeswise.posteriors.joint_table import JointTable as JointTable
    from bayeswise.posteriors.prior import prior_by_state as prior_by_state

_late, __getattr__, __dir__ = late_names()
__all__ = [
    "Posterior",
    "Undefined",
    "log_odds",
    "log_posterior",
    "normalise",
    "odds_of",
    "probability_of",
    *_late,
]
