"""Regressions and moments beside scikit-learn-intelex, scikit-learn's own interface on Intel's library."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.harness import Race, Row, Size, Task
from benchmarks.rows.regression import labelled_rows
from benchmarks.rows.statistics import gaussian_rows, numbers

EVERY_ISA = True


def logistic_fits(n_rows: int, n_columns: int, n_classes: int) -> tuple[Task, Task]:
    """The same penalty on the same columns: C = scale^2 = 1."""
    from sklearnex.linear_model import LogisticRegression

    import bayeswise as bw

    values, classes = labelled_rows(n_rows, n_columns, n_classes)
    return (
        lambda: bw.LogisticRegression(standardise=False).fit(values, classes),
        lambda: LogisticRegression().fit(values, classes),
    )


def linear_fits(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    from sklearnex.linear_model import LinearRegression

    import bayeswise as bw

    values, _ = labelled_rows(n_rows, n_columns, 2)
    target = values @ np.arange(n_columns) + np.random.default_rng(1).standard_normal(n_rows)
    return (
        lambda: bw.LinearRegression(prior=None).fit(values, target).coef_,
        lambda: LinearRegression().fit(values, target).coef_,
    )


def moments(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    """Ours are exact, theirs are rounded; one class, since theirs knows none."""
    from sklearnex.basic_statistics import BasicStatistics

    from bayeswise.statistics import Moments

    values, groups = gaussian_rows(n_rows, n_columns, 1)
    return numbers(values, groups, Moments.of), lambda: BasicStatistics(["mean", "variance"]).fit(values)


def rows(size: Size) -> Iterator[Row]:
    million, fifty = size.rows(1_000_000), size.rows(50_000)
    for n_rows, n_columns, n_classes in ((million, 20, 2), (fifty, 100, 10)):
        shape = f"{n_rows:,} x {n_columns}, {n_classes} classes"
        yield Race(f"logistic {shape} | scikit-learn-intelex", partial(logistic_fits, n_rows, n_columns, n_classes))
    yield Race(f"linear {million:,} x 20, exact moments | scikit-learn-intelex", partial(linear_fits, million, 20))
    yield Race(f"moments {million:,} x 20, exact | scikit-learn-intelex", partial(moments, million, 20))
