"""Asking for labels: a teach and a query on a large pool, beside scikit-activeml."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Race, Row, Size, Task

N_COLUMNS, N_CLASSES, N_FIRST, N_LABELS = 20, 5, 50, 10


def pool_of(n_rows: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    y = generator.integers(0, N_CLASSES, n_rows)
    centres = 0.5 * generator.normal(size=(N_CLASSES, N_COLUMNS))
    return generator.normal(size=(n_rows, N_COLUMNS)) + centres[y], y


def ours(X: Any, y: Any, strategy: str = "margin") -> Task:
    """One label: ask for a row, and learn its label."""
    import bayeswise as bw

    frame = {f"x{k}": X[:, k] for k in range(X.shape[1])}
    costs = {f"say {k}": {s: float(s != k) for s in range(N_CLASSES)} for k in range(N_CLASSES)}
    kinds: Any = dict.fromkeys(frame, "number")
    how: dict[str, Any] = {"strategy": strategy, "random_share": 0.0}  # a row drawn at random would be quick
    learner = bw.ActiveLearner.over(frame, "y", range(N_CLASSES), costs=costs, kinds=kinds, **how)
    for row in range(N_FIRST):
        learner.teach(row, int(y[row]))

    def ask() -> None:
        row = learner.query()[0].row
        learner.teach(row, int(y[row]))

    ask()  # what is made once is made
    return ask


def scikit_activeml(X: Any, y: Any) -> Task:
    """The same with their margin sampling over their wrapper of scikit-learn's GaussianNB."""
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling
    from sklearn.naive_bayes import GaussianNB

    known = np.full(len(y), np.nan)
    known[:N_FIRST] = y[:N_FIRST]
    model = SklearnClassifier(GaussianNB(), classes=list(range(N_CLASSES)))
    strategy = UncertaintySampling(method="margin_sampling", random_state=0)

    def ask() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = strategy.query(X, known, model)[0]
        known[row] = y[row]

    ask()
    return ask


def race(n_rows: int) -> tuple[Task, Task]:
    """Both loops for some labels, as a session would."""
    X, y = pool_of(n_rows)
    return several(ours(X, y)), several(scikit_activeml(X, y))


def several(ask: Task) -> Task:
    def session() -> None:
        for _ in range(N_LABELS):
            ask()

    return session


def per_label(n_rows: int, strategy: str) -> float:
    """The mean of several labels, the first one left out."""
    ask = ours(*pool_of(n_rows), strategy)
    start = time.perf_counter()
    for _ in range(20):
        ask()
    return (time.perf_counter() - start) / 20


def rows(size: Size) -> Iterator[Row]:
    n_rows = size.rows(100_000)
    shape = f"{n_rows:,} x {N_COLUMNS}"
    what = f"{N_LABELS} x teach + query, {shape}, {N_CLASSES} classes | scikit-activeml"
    yield Race(what, partial(race, n_rows), at_least=50)
    for strategy in ("margin", "entropy", "density-weighted"):
        what = f"teach + query by {strategy}, {shape}, {N_CLASSES} classes"
        yield Figure(what, partial(per_label, n_rows, strategy), at_most=0.05)
