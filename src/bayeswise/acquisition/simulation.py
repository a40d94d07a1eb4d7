"""Sessions against an oracle column, strategy by strategy, over several shuffles of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from bayeswise.acquisition.curves import LearningCurves
from bayeswise.acquisition.learner import ActiveLearner
from bayeswise.acquisition.pool import VARIANCE_FLOOR, Pool
from bayeswise.foundation.arrays import IntArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.progress import StepsBar
from bayeswise.tables.labels import Label, Vocabulary
from bayeswise.tables.names import find_name
from bayeswise.tables.source import Source, open_source

RANDOM_SHARE = 0.1


def learning_curves(
    table: Any,
    target: str,
    *,
    strategies: Sequence[str] = ("margin", "random"),
    n_labels: int = 100,
    n_seeds: int = 20,
    test_share: float = 1 / 3,
    random_share: float = RANDOM_SHARE,
    warm_up: bool = True,
    average: bool = False,
    variance_floor: float = VARIANCE_FLOOR,
    costs: Any = None,
    progress: Callable[[int], None] | bool = False,
    **wishes: Any,
) -> LearningCurves:
    """How soon each strategy learns: for each seed the rows are shuffled, and a share of them kept for the test.

    The target column is the oracle, and the labelled set starts empty. With test_share=0 the pool is all rows, and
    the accuracy that of labelling all of them. `progress=True` shows a bar where it takes long, a function is told of
    labels as they come.

    >>> rows = [{"x": float(k % 7 + 9 * (k % 2)), "y": "ab"[k % 2]} for k in range(60)]
    >>> learning_curves(rows, "y", n_labels=5, n_seeds=3, kinds={"x": "number"}).accuracy["margin"].shape
    (3, 5)
    """
    names = _strategies(strategies)
    _refuse_unless_counts(n_labels=n_labels, n_seeds=n_seeds)
    _refuse_unless_share(test_share)
    source = open_source(table)
    truth = oracle_of(source, target)
    whole = Pool.of(source, target, Vocabulary.of(truth), **wishes)
    n_pool = _n_pool(len(truth), test_share)
    wanted = min(n_labels, n_pool)
    how: dict[str, Any] = {"random_share": random_share, "warm_up": warm_up}
    accuracy = {name: np.empty((n_seeds, wanted)) for name in names}
    full = np.empty(n_seeds)
    with StepsBar(shown=False, asked_for=progress is True) as bar:
        told = progress if callable(progress) else _Told(bar, n_seeds * len(names) * wanted)
        for seed in range(n_seeds):
            order = np.random.default_rng(seed).permutation(len(truth))
            pool, labels = _taken(whole, truth, order[:n_pool])
            test = HeldOut(*_taken(whole, truth, order[n_pool:] if test_share else order), told)
            empty = pool.empty_model(average=average, variance_floor=variance_floor)
            full[seed] = test.accuracy(empty.learn(pool.rows(range(n_pool), labels, empty.classes)))
            for name in names:
                learner = ActiveLearner(empty, costs, name, pool=pool, seed=seed, **how)
                accuracy[name][seed] = [value for _, value in learner.simulate(labels, wanted, test).curve]
    title = f"{source.description}, {target}, {n_seeds} shuffle{'s' if n_seeds > 1 else ''}"
    return LearningCurves(title, accuracy, full, n_pool, len(truth) - n_pool)


def _taken(whole: Pool, truth: Sequence[Label], rows: IntArray) -> tuple[Pool, list[Label]]:
    return whole.subset(rows), [truth[row] for row in rows.tolist()]


def oracle_of(source: Source, target: str) -> list[Label]:
    """The target column, of which no cell may be missing, and which must tell classes apart."""
    name = find_name(target, [column.name for column in source.columns], where=source.description)
    truth: list[Label] = []
    for chunk in source.chunks([name]):
        codes, levels = chunk.labels(name)
        if (codes < 0).any():
            row = len(truth) + int(np.argmax(codes < 0)) + 1
            raise ParameterError(f"row {row} of {source.description} has no {target!r}", fix="leave out such rows")
        truth.extend(levels[code] for code in codes.tolist())
    n_classes = len(set(truth))
    if n_classes == 1:
        only = f"every row of {source.description} has the same {target!r}, {truth[0]!r}"
        raise ParameterError(only, fix="give rows of at least two classes")
    if n_classes == len(truth) > 2:
        own = f"each of the {len(truth)} rows of {source.description} has its own {target!r}"
        raise ParameterError(own, fix="name a column of classes, or cut its numbers into bands")
    return truth


def _strategies(given: Sequence[str]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))
    if not names:
        raise ParameterError("no strategy is named", fix='give strategies=("margin", "random")')
    return names


def _refuse_unless_counts(**counts: Any) -> None:
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
            raise ParameterError(f"{name} is {count!r}", fix="give a whole number from 1 on")


def _refuse_unless_share(test_share: float) -> None:
    if not (isinstance(test_share, Real) and 0 <= test_share < 1):
        raise ParameterError(f"test_share is {test_share!r}", fix="give a share from 0 on, below 1")


def _n_pool(n_rows: int, test_share: float) -> int:
    """How many rows are asked about."""
    n_pool = max(1, round(n_rows * (1 - test_share)))
    if test_share and n_pool == n_rows:
        raise ParameterError(
            f"test_share {test_share:g} keeps none of {n_rows} rows for the test",
            fix="give a larger share, or 0 to measure on the pool itself",
        )
    return n_pool


class _Told:
    """A bar that counts labels."""

    def __init__(self, bar: StepsBar, total: int) -> None:
        self._bar, self._total, self._done = bar, total, 0

    def __call__(self, labels: int) -> None:
        self._done += labels
        self._bar("Asking, labels", self._done, self._total)


class HeldOut:
    """The accuracy of a model on rows whose labels are known; each measure of a curve is told."""

    def __init__(self, pool: Pool, labels: Sequence[Label], told: Callable[[int], None]) -> None:
        self._pool = pool
        self._labels = labels
        self._told = told
        self._classes: Any = None

    def __call__(self, model: Any) -> float:
        self._told(1)
        return self.accuracy(model)

    def accuracy(self, model: Any) -> float:
        truth = self._codes(model.classes)
        posterior = model.probability(self._pool.for_model(model))
        return float((np.argmax(posterior, axis=1) == truth).mean())

    def _codes(self, classes: tuple[Label, ...]) -> Any:
        if self._classes is not classes:
            self._classes, self._truth = classes, Vocabulary(classes).encode(self._labels)
        return self._truth
