"""What decisions cost on rows whose state is known, and how far a posterior can be trusted.

evaluate.py          cost per case beside what else one could do
curves.py            thresholds, coverage, cost curves
reliability.py       calibration, and scores taken apart
calibrated.py        how much is at stake in each row; a calibration by rows that count by it
novelty.py           rows unlike any that were learned
parameter_draws.py   posteriors under parameters drawn from their posterior
empty_columns.py     tests that could be made, and what they could show
model_comparison.py  all kinds of models of a table, each by rows that it never saw
report.py            an evaluation for a terminal, as plain data, and as one page
plots.py             an evaluation as pictures
"""

from bayeswise.evaluation.calibrated import calibrated
from bayeswise.evaluation.curves import Curve, cost_curve, coverage_curve, threshold_curve
from bayeswise.evaluation.empty_columns import next_test_for
from bayeswise.evaluation.evaluate import Comparison, Evaluation, compare, evaluate
from bayeswise.evaluation.parameter_draws import decision_stability, posterior_draws
from bayeswise.evaluation.reliability import Reliability, brier_parts, classwise_ece, log_parts, reliability

__all__ = [
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
