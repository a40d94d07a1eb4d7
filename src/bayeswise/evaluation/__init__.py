"""What decisions cost on rows whose state is known, and how far a posterior can be trusted.

held_out.py       posteriors of rows with their state: as they are, leave-one-out, folds
evaluate.py       cost per case beside what else one could do    intervals.py   a mean and where it lies
comparison.py     two ways to decide on the same rows            curves.py      thresholds, coverage, cost curves
novelty.py        rows unlike any that were learned, by ranks or by the tail of the model
parameter_draws.py gaussian_draws.py   how sure a decision is, from what the rows leave open about the parameters
reliability.py    calibration, and scores taken apart            calibrated.py  a model with its posteriors mended
empty_columns.py  tests that could be made      family_outcomes.py gaussian_outcomes.py  what they could show
plain.py text.py report.py svg.py displays/   JSON, a terminal, a page, pictures
"""

from bayeswise.evaluation.calibrated import CalibratedModel, calibrated
from bayeswise.evaluation.curves import Curve, cost_curve, coverage_curve, threshold_curve
from bayeswise.evaluation.empty_columns import next_test_for
from bayeswise.evaluation.evaluate import Comparison, Evaluation, compare, evaluate
from bayeswise.evaluation.parameter_draws import decision_stability, posterior_draws
from bayeswise.evaluation.reliability import Reliability, brier_parts, classwise_ece, log_parts, reliability

__all__ = [
    "CalibratedModel",
    "Comparison",
    "Curve",
    "Evaluation",
    "Reliability",
    "brier_parts",
    "calibrated",
    "classwise_ece",
    "compare",
    "cost_curve",
    "coverage_curve",
    "decision_stability",
    "evaluate",
    "log_parts",
    "next_test_for",
    "posterior_draws",
    "reliability",
    "threshold_curve",
]
