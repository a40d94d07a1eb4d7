"""How many labels are needed, beside drawing at random, on rows held out; and how often the interval of the risk
misses it. They count labels and not time, for an hour: `python -m benchmarks labels`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Outcome, Row, Size

BY_NAME = True
TABLES = ("iris", "wine", "breast_cancer")  # which the target is about
CREDIT = Path(__file__).parents[2] / "examples" / "credit.csv"


@dataclass(frozen=True)
class Labels:
    """The labels that asking needs to reach 99 % of the full accuracy, beside those of drawing at random."""

    what: str
    measure: Callable[[], tuple[float, float]]
    must_be_fewer: bool = True

    def run(self, size: Size) -> Outcome:
        queried, drawn = self.measure()
        target, met = ("> 1x", queried < drawn) if self.must_be_fewer else ("", None)
        return Outcome(self.what, queried, drawn, "", drawn / queried, target, met)


def labels_needed(table: str, n_seeds: int, n_labels: int, of_the_mean: bool) -> tuple[float, float]:
    """From how many labels on the accuracy is enough: on average over the seeds, or that of their mean curve."""
    curves = curves_of(table, n_seeds, n_labels)
    needed: dict[str, Any] = curves.labels_of_the_mean() if of_the_mean else curves.mean_labels_to_reach()
    return float(needed["margin"]), float(needed["random"])


@cache
def curves_of(table: str, n_seeds: int, n_labels: int) -> Any:
    """A third of the rows is held out of each shuffle."""
    import bayeswise as bw

    if table == "credit":
        return bw.learning_curves(CREDIT, "repaid", n_labels=n_labels, n_seeds=n_seeds)
    X, y = bundled(table)
    columns = {f"x{k}": X[:, k] for k in range(X.shape[1])}
    kinds: Any = dict.fromkeys(columns, "number")
    return bw.learning_curves({**columns, "y": y}, "y", n_labels=n_labels, n_seeds=n_seeds, kinds=kinds)


def bundled(table: str) -> tuple[Any, Any]:
    """A table of scikit-learn; the numbers of diabetes are cut in two."""
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, f"load_{table}")(return_X_y=True)
    return X, np.where(y > np.median(y), "high", "low") if table == "diabetes" else y


def points_behind_drawing(table: str, n_seeds: int, n_labels: int) -> float:
    """How much less accurate asking is than drawing, in points over the curve, on a development table."""
    import bayeswise as bw
    from benchmarks.quality.development import DEVELOPMENT

    frame, y = DEVELOPMENT[table]()
    curves = bw.learning_curves(frame.assign(target=y.to_numpy()), "target", n_labels=n_labels, n_seeds=n_seeds)
    return -100.0 * float(curves.gain("margin")[0])


def missed_risks(n_seeds: int) -> float:
    """The share of sessions whose interval of 95 % does not hold the risk: of the pool, labelled rows left out."""
    import bayeswise as bw

    X, y = bundled("breast_cancer")
    columns = {f"x{k}": X[:, k] for k in range(X.shape[1])}
    misses = 0
    for seed in range(n_seeds):
        how: dict[str, Any] = {"random_share": 0.2, "seed": seed, "kinds": dict.fromkeys(columns, "number")}
        learner = bw.ActiveLearner.over(columns, "y", [0, 1], **how)
        for _ in range(60):
            row = learner.query()[0].row
            learner.teach(row, int(y[row]))
        risk, wrong = learner.risk(), learner.posterior().argmax(axis=1) != y
        queried, labels = zip(*learner.taught, strict=True)
        batch = learner.pool.rows(queried, labels, learner.classes)
        wrong[list(queried)] = learner.model.leave_one_out(batch).argmax(axis=1) != batch.groups
        misses += not risk.low <= wrong.mean() <= risk.high
    return misses / n_seeds


def rows(size: Size) -> Iterator[Row]:
    yield from rows_of_labels(size)
    yield from rows_of_watching(size)
    seeds = max(1, round(200 * size.scale))
    what = f"labels: intervals of 95 % that miss the risk, {seeds} sessions"
    yield Figure(what, partial(missed_risks, seeds), at_most=0.08, unit="")


def rows_of_labels(size: Size) -> Iterator[Row]:
    """On three tables asking must need fewer labels; the others have classes that overlap, or many of them."""
    seeds, n_labels = max(1, round(100 * size.scale)), max(20, round(200 * size.scale))
    for table in TABLES:
        for which, of_the_mean in (("labels to 99 %", False), ("labels to 99 % by mean", True)):
            what = f"{which}, {table}, {seeds} seeds | random"
            yield Labels(what, partial(labels_needed, table, seeds, n_labels, of_the_mean))
    for table, share, times in (("diabetes", 1.0, 1), ("credit", 1.0, 1), ("digits", 0.05, 5)):
        some = max(1, round(seeds * share))
        what = f"labels to 99 % by mean, {table}, {some} seeds | random"
        measure = partial(labels_needed, table, some, n_labels * times, True)
        yield Labels(what, measure, must_be_fewer=False)


def rows_of_watching(size: Size) -> Iterator[Row]:
    """Nowhere is a learner that watches itself more than half a point behind drawing."""
    from benchmarks.quality.development import DEVELOPMENT

    seeds, n_labels = max(2, round(160 * size.scale)), max(30, round(100 * size.scale))  # errors of about .2 points
    for table in DEVELOPMENT:
        what = f"labels: points behind drawing, {table}, {seeds} seeds"
        yield Figure(what, partial(points_behind_drawing, table, seeds, n_labels), at_most=0.5, unit="points")
