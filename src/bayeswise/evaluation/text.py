"""An evaluation for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.posteriors.wording import padded, shown

if TYPE_CHECKING:
    from bayeswise.evaluation.evaluate import Evaluation

_LABEL = 24


def number(value: float) -> str:
    """Four digits, large amounts in full; sums that no number holds are said to be so.

    >>> number(42540.0), number(-0.123456), number(1e12), number(250), number(-np.inf)
    ('42,540', '-0.1235', '1e+12', '250', 'below -1.8e308')
    """
    if np.isinf(value):
        return "above 1.8e308" if value > 0 else "below -1.8e308"
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.4g}"


def count(weight: float) -> str:
    """Rows, which may be weighted.

    >>> count(1234567.0), count(12.5)
    ('1,234,567', '12.5')
    """
    return f"{weight:,.0f}" if weight == int(weight) else f"{weight:.6g}"


def evaluation_text(evaluation: Evaluation) -> str:
    """Cost per case beside what else one could do, then the rows by true state and action."""
    return "\n".join([*_costs(evaluation), "", *_confusion(evaluation)])


def _costs(evaluation: Evaluation) -> Iterator[str]:
    n_rows = len(evaluation.truth)
    yield f"{n_rows:,} row{'s' * (n_rows != 1)}, {evaluation.how}"
    columns = evaluation.to_columns()
    lines: list[tuple[str, ...]] = [("", "cost per case", "low", "high")]
    for name, *numbers in zip(*columns.values(), strict=True):
        lines.append((shown(name, 40), *map(number, numbers)))
    yield from _aligned(lines)


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
    yield from _aligned(lines)


def _aligned(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    from rich.cells import cell_len

    widths = [max(cell_len(line[k]) for line in lines) for k in range(len(lines[0]))]
    for line in lines:
        cells = (padded(cell, width, right=k > 0) for k, (cell, width) in enumerate(zip(line, widths, strict=True)))
        yield "  ".join(cells).rstrip()
