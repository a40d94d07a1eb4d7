"""An evaluation for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bayeswise.render.labels import shown, told_apart
from bayeswise.render.numbers import count, number
from bayeswise.render.plain import json_number, json_value
from bayeswise.render.terminal import aligned

if TYPE_CHECKING:
    from bayeswise.evaluation.evaluate import Evaluation
    from bayeswise.statistics.intervals import Estimate


_LABEL = 24


def evaluation_text(evaluation: Evaluation) -> str:
    """Cost per case beside what else one could do, then the rows by true state and action."""
    return "\n".join([*_costs(evaluation), "", *_confusion(evaluation)])


def _costs(evaluation: Evaluation) -> Iterator[str]:
    n_rows = len(evaluation.truth)
    interval = f" ({evaluation.interval})" if evaluation.n_folds else ""
    yield f"{n_rows:,} row{'s' * (n_rows != 1)}, {evaluation.how}{interval}"
    columns = evaluation.to_columns()
    lines: list[tuple[str, ...]] = [("", "cost per case", "low", "high")]
    for name, *numbers in zip(*columns.values(), strict=True):
        lines.append((shown(name, 40), *map(number, numbers)))
    yield from aligned(lines)


def _confusion(evaluation: Evaluation) -> Iterator[str]:
    decisions = evaluation.decisions
    heads = [shown(action, _LABEL) for action in decisions.actions]
    lines = [("rows (cost)", *heads)]
    for s, state in enumerate(decisions.states):
        cells = [
            f"{count(n)} ({number(cost)})"
            for n, cost in zip(evaluation.confusion[s], evaluation.confusion_cost[s], strict=True)
        ]
        lines.append((f"true {shown(state, _LABEL)}", *cells))
    yield from aligned(lines)


def promise_lines(evaluation: Evaluation, *, calibrated: bool = False) -> list[str]:
    """What to say where what the posteriors promised and what happened differ by more than chance, and the remedy."""
    cost, surprise = evaluation.beyond_promise, evaluation.beyond_entropy
    too_sure = surprise.low > 0.0 or cost.low > 0.0
    too_modest = not too_sure and (surprise.high < 0.0 or cost.high < 0.0)
    if not (too_sure or too_modest):
        return []
    told = []
    if cost.low > 0.0 or cost.high < 0.0:
        paid, promised = evaluation.cost_per_case.mean, evaluation.expected.mean
        told.append(
            f"The posteriors promised {number(promised)} per case, and {number(paid)} was paid "
            f"(difference {_spread(cost)})."
        )
    if surprise.low > 0.0 or surprise.high < 0.0:
        told.append(f"The log-loss is off by {_spread(surprise)} from what the posteriors promised.")
    told.append("They are too sure." if too_sure else "They are not sure enough.")
    remedy = (
        "the rows are unlike those that the calibration saw: fit and calibrate with rows such as these, or, if only "
        "the shares of the classes have changed, give --prior estimate to `decide`"
        if calibrated
        else "calibrate the model: fit --calibrate auto, in Python bw.fit(..., calibrate='auto')"
    )
    return [" ".join(told), f"Remedy: {remedy}."]


def _spread(found: Estimate) -> str:
    return f"{number(found.mean)}, {number(found.low)} to {number(found.high)}"


def evaluation_dict(evaluation: Evaluation) -> dict[str, Any]:
    """Costs per case with intervals, baselines, and both tables by true state and action."""
    decisions = evaluation.decisions
    return {
        "n_rows": len(evaluation.truth),
        "how": evaluation.how,
        "interval": evaluation.interval,
        "cost_per_case": _estimate(evaluation.cost_per_case),
        "expected_cost_per_case": _estimate(evaluation.expected),
        "paid_beyond_promise": _estimate(evaluation.beyond_promise),
        "log_loss_beyond_promise": _estimate(evaluation.beyond_entropy),
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
