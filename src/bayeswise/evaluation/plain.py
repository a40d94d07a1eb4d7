"""An evaluation as plain data and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.explanations.plain import json_number, json_value
from bayeswise.posteriors.wording import told_apart

if TYPE_CHECKING:
    from bayeswise.evaluation.evaluate import Evaluation
    from bayeswise.evaluation.intervals import Estimate


def evaluation_dict(evaluation: Evaluation) -> dict[str, Any]:
    """Costs per case with intervals, baselines, and both tables by true state and action."""
    decisions = evaluation.decisions
    return {
        "n_rows": len(evaluation.truth),
        "how": evaluation.how,
        "cost_per_case": _estimate(evaluation.cost_per_case),
        "expected_cost_per_case": _estimate(evaluation.expected),
        "always": {
            name: _estimate(found)
            for name, found in zip(told_apart(decisions.actions), evaluation.always.values(), strict=True)
        },
        "best_constant": json_value(evaluation.best_constant),
        "most_probable": _estimate(evaluation.most_probable),
        "perfect": _estimate(evaluation.perfect),
        "accuracy": evaluation.accuracy,
        "states": [json_value(state) for state in decisions.states],
        "actions": [json_value(action) for action in decisions.actions],
        "confusion": evaluation.confusion.tolist(),
        "confusion_cost": [list(map(json_number, line)) for line in evaluation.confusion_cost.tolist()],
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    return {"mean": json_number(found.mean), "low": json_number(found.low), "high": json_number(found.high)}
