"""What decisions cost on rows whose state is known, and how far a posterior can be trusted.

evaluate.py          cost per case beside what else one could do
cost_curves.py       thresholds, coverage, cost curves
reliability.py       calibration, also by what is at stake in each row, and scores taken apart
novelty.py           rows unlike any that were learned
parameter_draws.py   posteriors under parameters drawn from their posterior
empty_columns.py     tests that could be made, and what they could show
model_comparison.py  all kinds of models of a table, each by rows that it never saw
report.py            an evaluation for a terminal, as plain data, and as one page
plots.py             an evaluation as pictures
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.evaluation.evaluate import Comparison, Evaluation, compare, evaluate
from bayeswise.evaluation.reliability import Reliability, brier_parts, calibrated, classwise_ece, log_parts, reliability
from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.evaluation.cost_curves import Curve as Curve
    from bayeswise.evaluation.cost_curves import cost_curve as cost_curve
    from bayeswise.evaluation.cost_curves import coverage_curve as coverage_curve
    from bayeswise.evaluation.cost_curves import threshold_curve as threshold_curve
    from bayeswise.evaluation.empty_columns import next_test_for as next_test_for
    from bayeswise.evaluation.parameter_draws import decision_stability as decision_stability
    from bayeswise.evaluation.parameter_draws import posterior_draws as posterior_draws

_late, __getattr__, __dir__ = late_names()
__all__ = [
    "calibrated",
    "Comparison",
    "Evaluation",
    "compare",
    "evaluate",
    "Reliability",
    "brier_parts",
    "classwise_ece",
    "log_parts",
    "reliability",
    *_late,
]
