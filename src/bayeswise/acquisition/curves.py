"""Learning curves: sessions against an oracle column, strategy by strategy, over several shuffles of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.acquisition.learner import ActiveLearner
from bayeswise.acquisition.pool import VARIANCE_FLOOR, Pool
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.tables.labels import Label, Vocabulary
from bayeswise.tables.names import find_name
from bayeswise.tables.source import Source, open_source

if TYPE_CHECKING:
    from bayeswise.acquisition.displays import LearningCurveDisplay


@dataclass(frozen=True, eq=False)
class LearningCurves:
    """The accuracy after each label, by strategy; and that of the model of all labels of the pool."""

    title: str
    accuracy: dict[str, FloatArray]  # (n_seeds, n_labels)
    full: FloatArray  # (n_seeds,)
    n_pool: int

    @property
    def n_labels(self) -> int:
        return int(next(iter(self.accuracy.values())).shape[1])

    def labels_to_reach(self, share: float = 0.99, *, for_good: bool = True) -> dict[str, IntArray]:
        """(n_seeds,) after how many labels the accuracy is this share of the full one; one more than all if never.

        For good: it does not fall below again within the curve. The first time may be luck, the more so the more
        restless a curve is.
        """
        found = {}
        for name, accuracy in self.accuracy.items():
            below = accuracy < share * self.full[:, None]
            last = np.where(below.any(axis=1), self.n_labels - np.argmax(below[:, ::-1], axis=1), 0) + 1
            first = np.where(below.all(axis=1), self.n_labels, np.argmin(below, axis=1)) + 1
            found[name] = last if for_good else first
        return found

    def mean_labels_to_reach(self, share: float = 0.99, *, for_good: bool = True) -> dict[str, float]:
        reached = self.labels_to_reach(share, for_good=for_good)
        return {name: float(labels.mean()) for name, labels in reached.items()}

    def band(self, strategy: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(n_labels,) each: the mean over the seeds, and the quarters that hold the middle half of them."""
        accuracy = self.accuracy[strategy]
        low, high = np.quantile(accuracy, [0.25, 0.75], axis=0)
        return accuracy.mean(axis=0), low, high

    def to_columns(self) -> dict[str, list[Any]]:
        """strategy, n_labels, accuracy (the mean), low and high of each point."""
        columns: dict[str, list[Any]] = {"strategy": [], "n_labels": [], "accuracy": [], "low": [], "high": []}
        for name in self.accuracy:
            mean, low, high = self.band(name)
            columns["strategy"] += [name] * self.n_labels
            columns["n_labels"] += range(1, self.n_labels + 1)
            columns["accuracy"] += mean.tolist()
            columns["low"] += low.tolist()
            columns["high"] += high.tolist()
        return columns

    def to_frame(self) -> Any:
        """`to_columns` in the dataframe library that is installed, or as it is."""
        from bayeswise.explanations.plain import as_frame

        return as_frame(self.to_columns())

    def display(self) -> LearningCurveDisplay:
        """As a picture."""
        from bayeswise.acquisition.displays import LearningCurveDisplay

        return LearningCurveDisplay(self)

    def __repr__(self) -> str:
        needed = ", ".join(f"{name} {n:.1f}" for name, n in self.mean_labels_to_reach().items())
        return f"LearningCurves({self.title}; labels to 99 % of the full accuracy: {needed})"


def learning_curves(
    table: Any,
    target: str,
    *,
    strategies: Sequence[str] = ("margin", "random"),
    n_labels: int = 100,
    n_seeds: int = 20,
    test_share: float = 1 / 3,
    average: bool = False,
    variance_floor: float = VARIANCE_FLOOR,
    costs: Any = None,
    **wishes: Any,
) -> LearningCurves:
    """How soon each strategy learns: for each seed the rows are shuffled, and a share of them kept for the test.

    The target column is the oracle, and the labelled set starts empty. With test_share=0 the pool is all rows, and
    the accuracy that of labelling all of them.

    >>> rows = [{"x": float(k % 7 + 9 * (k % 2)), "y": "ab"[k % 2]} for k in range(60)]
    >>> learning_curves(rows, "y", n_labels=5, n_seeds=3, kinds={"x": "number"}).accuracy["margin"].shape
    (3, 5)
    """
    if not 0 <= test_share < 1:
        raise ParameterError(f"test_share is {test_share!r}", fix="give a share from 0 on, below 1")
    source = open_source(table)
    truth = oracle_of(source, target)
    whole = Pool.of(source, target, Vocabulary.of(truth), **wishes)
    n_pool = max(1, round(len(truth) * (1 - test_share)))
    wanted = min(n_labels, n_pool)
    accuracy = {name: np.empty((n_seeds, wanted)) for name in strategies}
    full = np.empty(n_seeds)
    for seed in range(n_seeds):
        order = np.random.default_rng(seed).permutation(len(truth))
        pool, labels = whole.subset(order[:n_pool]), [truth[k] for k in order[:n_pool].tolist()]
        held = order[n_pool:] if test_share else order
        test = HeldOut(whole.subset(held), [truth[k] for k in held.tolist()])
        empty = pool.empty_model(average=average, variance_floor=variance_floor)
        full[seed] = test(empty.learn(pool.rows(range(n_pool), labels, empty.classes)))
        for name in strategies:
            learner = ActiveLearner(empty, costs, name, pool=pool, seed=seed).simulate(labels, wanted, test)
            accuracy[name][seed] = [value for _, value in learner.curve]
    return LearningCurves(f"{source.description}, {target}, {n_seeds} shuffles", accuracy, full, n_pool)


def oracle_of(source: Source, target: str) -> list[Label]:
    """The target column, of which no cell may be missing."""
    name = find_name(target, [column.name for column in source.columns], where=source.description)
    truth: list[Label] = []
    for chunk in source.chunks([name]):
        codes, levels = chunk.labels(name)
        if (codes < 0).any():
            row = len(truth) + int(np.argmax(codes < 0)) + 1
            raise ParameterError(f"row {row} of {source.description} has no {target!r}", fix="leave out such rows")
        truth.extend(levels[code] for code in codes.tolist())
    return truth


class HeldOut:
    """The accuracy of a model on rows whose labels are known."""

    def __init__(self, pool: Pool, labels: Sequence[Label]) -> None:
        self._pool = pool
        self._labels = labels
        self._classes: Any = None

    def __call__(self, model: Any) -> float:
        truth = self._codes(model.classes)
        posterior = model.probability(self._pool.for_model(model))
        return float((np.argmax(posterior, axis=1) == truth).mean())

    def _codes(self, classes: tuple[Label, ...]) -> Any:
        if self._classes is not classes:
            self._classes, self._truth = classes, Vocabulary(classes).encode(self._labels)
        return self._truth
