"""An evaluation for a terminal, as plain data, and as one page that needs no script, no network and no package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayeswise.decisions.plots import simplex_regions
from bayeswise.decisions.policy.action_account import ActionAccount
from bayeswise.decisions.policy.rule import rule
from bayeswise.evaluation.cost_curves import cost_curve, coverage_curve, threshold_curve
from bayeswise.evaluation.evaluate import Evaluation
from bayeswise.evaluation.reliability import brier_parts, log_parts, reliability
from bayeswise.foundation.errors import BayeswiseError
from bayeswise.render import svg
from bayeswise.render.labels import distinct_texts, markup, shown
from bayeswise.render.numbers import count, interval, number
from bayeswise.render.page import fragment, page, table, text_block
from bayeswise.render.plain import json_number, json_value
from bayeswise.render.terminal import aligned
from bayeswise.render.theme import NEUTRAL, state_colour
from bayeswise.statistics.intervals import Estimate, variance_inflation

_MOST_STATES = 6


def report_page(
    evaluation: Evaluation,
    *,
    title: str = "What the decisions cost",
    calibrated: bool = False,
    stories: Sequence[ActionAccount] = (),
) -> str:
    """The whole page; parts that do not apply (curves of two states) are left out.

    `stories` are the accounts of some rows, and `calibrated` says whether their posteriors are, for the fix.
    """
    sections = (f"<section>{part}</section>" for part in _parts(evaluation, calibrated, stories))
    return page(title, f"<h1>{markup(shown(title))}</h1>", *sections)


def summary(evaluation: Evaluation) -> str:
    """What a notebook shows: the costs, and the rows by true state and action."""
    return fragment(_headline(evaluation), _costs(evaluation), _confusion(evaluation))


def _parts(evaluation: Evaluation, calibrated: bool, stories: Sequence[ActionAccount]) -> Iterator[str]:
    remedy = promise_lines(evaluation, calibrated=calibrated)
    yield _headline(evaluation) + "".join(f"<p>{markup(line)}</p>" for line in remedy)
    yield f'<div class="pair"><div>{_costs(evaluation)}</div><div>{_confusion(evaluation)}</div></div>'
    yield _policy(evaluation)
    pictures = [f"<div>{picture}</div>" for picture in _pictures(evaluation)]
    yield f'<div class="pair">{"".join(pictures)}</div>'
    yield _scores(evaluation)
    for story in stories:
        yield story.to_fragment()


def _headline(evaluation: Evaluation) -> str:
    found = evaluation.cost_per_case
    return (
        f"<p>A case costs <b>{number(found.mean)}</b> on average ({interval(found.low, found.high)}, "
        f"{evaluation.interval}), {markup(evaluation.rows_text)}. "
        f"{markup(comparison_line(evaluation))} The posteriors promised {number(evaluation.expected.mean)}.</p>"
    )


def comparison_line(evaluation: Evaluation, what: str = "That") -> str:
    """What the decisions save against the best single action, and whether the rows can tell."""
    saved, always = evaluation.saved, f"always {shown(evaluation.best_constant, 40)}, the best single action"
    if saved.low == saved.high == 0.0:
        return f"{what} is as much as {always}."
    low, high = (saved.low, saved.high) if saved.mean >= 0.0 else (-saved.high, -saved.low)
    size = f"{number(abs(saved.mean))} {'less' if saved.mean >= 0.0 else 'more'} than" if saved.mean else "as much as"
    if not np.isfinite(high - low):
        return f"{what} is {size} {always}, but the rows cannot tell which costs less."
    paired = f"paired {evaluation.interval}: {interval(low, high)}"
    if saved.low > 0.0 or saved.high < 0.0:
        return f"{what} is {size} {always} ({paired})."
    return f"{what} is {size} {always}, but the rows cannot tell which costs less ({paired})."


def _costs(evaluation: Evaluation) -> str:
    columns = evaluation.to_columns()
    names = [shown(name) for name in columns["rule"]]
    picture = svg.bars(
        "cost per case of each way to act", names, columns["cost_per_case"], columns["low"], columns["high"]
    )
    rows = [
        [name, *map(number, numbers)]
        for name, *numbers in zip(names, columns["cost_per_case"], columns["low"], columns["high"], strict=True)
    ]
    heading = markup(evaluation.decisions.costs.in_unit("Cost per case"))
    return f"<h2>{heading}</h2>{picture}{table(['', 'mean', 'low', 'high'], rows)}"


def _confusion(evaluation: Evaluation) -> str:
    decisions = evaluation.decisions
    heads = ["true state", *(shown(action, 30) for action in decisions.actions)]
    counts, costs = [], []
    for s, state in enumerate(decisions.states):
        counts.append([shown(state, 30), *map(count, evaluation.confusion[s].tolist())])
        costs.append([shown(state, 30), *map(number, evaluation.confusion_cost[s].tolist())])
    return f"<h2>Rows by action</h2>{table(heads, counts)}<h2>Their cost</h2>{table(heads, costs)}"


def _policy(evaluation: Evaluation) -> str:
    costs = evaluation.decisions.costs
    if not costs.constant:
        columns = ", ".join(costs.columns)
        return f"<h2>Policy</h2>{text_block(repr(costs))}<small>costs depend on {markup(columns)}</small>"
    return f"<h2>Policy</h2>{text_block(str(rule(costs)))}"


def _pictures(evaluation: Evaluation) -> Iterator[str]:
    yield _reliability(evaluation)
    coverage = coverage_curve(evaluation)
    enough = coverage.x >= coverage.least_x
    decided = {coverage.y_name: coverage.y["cost_per_decided_case"][enough]}
    yield "<h2>Refusing the least certain</h2>" + svg.lines(
        coverage.x[enough], decided, "share of rows decided", coverage.y_name
    )
    decisions = evaluation.decisions
    if len(decisions.states) == 3 and decisions.costs.constant:
        regions = {shown(action, 30): region for action, region in simplex_regions(decisions.costs).items()}
        states = [f"{shown(state, 30)} is certain" for state in decisions.states]
        yield "<h2>Which action for which posterior</h2>" + svg.triangle(
            "which action for which posterior of three states", states, regions, decisions.posterior
        )
    if len(decisions.states) != 2:
        return
    try:
        curve = cost_curve(evaluation, decisions.states[0])
    except BayeswiseError:  # rows of one state only
        return
    drawn = svg.lines(curve.x, curve.lines(), "probability times cost", curve.y_name)
    yield f"<h2>Any prior, any ratio of costs</h2>{drawn}"
    best = [decisions.costs.actions[k] for k in np.argmin(evaluation.paid_by_state, axis=0)]
    if best[0] != best[1]:
        turned = threshold_curve(evaluation, decisions.states[0], best[0], best[1])
        inside = turned.x <= 1.0
        state = shown(decisions.states[0], 30)
        yield f"<h2>{markup(shown(best[0]))} from which P({markup(state)}) on?</h2>" + svg.lines(
            turned.x[inside],
            {turned.y_name: turned.y["cost_per_case"][inside]},
            f"{shown(best[0], 30)} if P({state}) is at least this, else {shown(best[1], 30)}",
            turned.y_name,
            turned.marks,
        )


def _reliability(evaluation: Evaluation) -> str:
    states = evaluation.decisions.states
    two = len(states) == 2  # the second one is the mirror image of the first
    predicted = f"predicted P({shown(states[0], 30)})" if two else "predicted"
    axes = svg.Axes((0.0, 1.0), (0.0, 1.0), predicted, "observed share")
    axes.line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "", NEUTRAL, dashed=True)
    verdicts = []
    for k, state in enumerate(states[: 1 if two else _MOST_STATES]):
        p, true = evaluation.decisions.posterior[:, k], evaluation.truth == k
        inflation = variance_inflation(evaluation.n_folds)
        found = reliability(p, true, state, weights=evaluation.weights, inflation=inflation)
        verdicts.append(found.verdict if two else f"{shown(state, 30)}: {found.verdict}")
        colour = state_colour(k)
        axes.line(found.predicted, found.observed, shown(state, 30), colour)
        for x, low, high, middle in zip(found.predicted, found.low, found.high, found.observed, strict=True):
            axes.band(float(x), float(low), float(high), float(middle), colour)
    below = "<br>".join(map(markup, verdicts))
    return f"<h2>Do probabilities mean what they say?</h2>{axes.svg()}<small>{below}</small>"


def _scores(evaluation: Evaluation) -> str:
    rows = []
    states = evaluation.decisions.states
    for k, state in enumerate(states[: 1 if len(states) == 2 else _MOST_STATES]):
        p, true = evaluation.decisions.posterior[:, k], evaluation.truth == k
        ece = reliability(p, true, state, weights=evaluation.weights).ece
        for name, made in (("Brier", brier_parts), ("log-loss", log_parts)):
            parts = made(p, true, weights=evaluation.weights)
            numbers = (parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty)
            rows.append([shown(state, 30), name, *map(number, numbers), number(ece)])
    heads = ["state", "score", "value", "miscalibration", "discrimination", "uncertainty", "ECE"]
    meaning = "value = miscalibration - discrimination + uncertainty"
    return f"<h2>Scores</h2>{table(heads, rows, left=2)}<small>{meaning}</small>"


_LABEL = 24


def evaluation_text(evaluation: Evaluation) -> str:
    """Cost per case beside what else one could do, then the rows by true state and action."""
    compared = comparison_line(evaluation, "The least expected cost")
    return "\n".join([*_cost_lines(evaluation), "", compared, "", *_confusion_lines(evaluation)])


def _cost_lines(evaluation: Evaluation) -> Iterator[str]:
    interval = f" ({evaluation.interval})" if evaluation.n_folds else ""
    yield f"{evaluation.rows_text}{interval}"
    columns = evaluation.to_columns()
    lines: list[tuple[str, ...]] = [("", evaluation.decisions.costs.in_unit("cost per case"), "low", "high")]
    for name, *numbers in zip(*columns.values(), strict=True):
        lines.append((shown(name, 40), *map(number, numbers)))
    yield from aligned(lines)


def _confusion_lines(evaluation: Evaluation) -> Iterator[str]:
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
    """What to say where what the posteriors promised and what happened differ by more than chance, and the fix."""
    cost, surprise = evaluation.beyond_promise, evaluation.beyond_entropy
    overconfident = surprise.low > 0.0 or cost.low > 0.0
    underconfident = not overconfident and (surprise.high < 0.0 or cost.high < 0.0)
    if not (overconfident or underconfident):
        return []
    sentences = []
    if cost.low > 0.0 or cost.high < 0.0:
        paid, promised = evaluation.cost_per_case.mean, evaluation.expected.mean
        sentences.append(
            f"The posteriors promised {number(promised)} per case, and {number(paid)} was paid "
            f"(difference {_spread(cost)})."
        )
    if surprise.low > 0.0 or surprise.high < 0.0:
        sentences.append(f"The log-loss is off by {_spread(surprise)} from what the posteriors promised.")
    sentences.append("They are overconfident." if overconfident else "They are underconfident.")
    remedy = (
        "the model is calibrated already; this is chance, or these rows differ from those of "
        "the calibration: then fit and calibrate with rows such as these, or, if only the shares of the classes have "
        "changed, give --prior estimate to `decide`"
        if calibrated
        else "calibrate the model: fit --calibrate auto, in Python bw.fit(..., calibrate='auto')"
    )
    return [" ".join(sentences), f"Remedy: {remedy}."]


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
            for name, found in zip(distinct_texts(decisions.actions), evaluation.always.values(), strict=True)
        },
        "saved_against_best_constant": _estimate(evaluation.saved),
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
