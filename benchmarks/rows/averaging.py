"""Averages over structures and their calibration, models compared by bits, and trees pruned by bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from benchmarks.harness import Figure, Outcome, Race, Row, Size, Task, best_of
from benchmarks.rows.statistics import gaussian_rows

TREE_TABLES = ("iris", "wine", "breast_cancer", "digits")
CALIBRATION_TABLES = ("iris", "wine", "breast_cancer", "diabetes", "digits")
MOST_ALPHAS = 20


def averaged_fit(n_rows: int, n_columns: int, temper: Any, repeats: int) -> float:
    """The fit of the average over the fit of plain naive Bayes, in one run."""
    import bayeswise as bw

    values, groups = gaussian_rows(n_rows, n_columns, 2)
    averaged, plain = best_of(
        2 * repeats,
        lambda: bw.AveragedNaiveBayes(temper=temper).fit(values, groups),
        lambda: bw.NaiveBayes().fit(values, groups),
    )
    return averaged / plain


def comparing(n_rows: int, repeats: int) -> float:
    """Four models of one table, bits and rows left out, over one naive Bayes fit of the same table."""
    from bayeswise.models.description_length.comparing import compare_table
    from bayeswise.models.naive_bayes import fit

    values, groups = gaussian_rows(n_rows, 20, 2)
    values[:, 10:] = np.exp(values[:, 10:])  # so that families are worth choosing
    table = {f"x{k}": values[:, k] for k in range(20)} | {"y": np.where(groups == 1, "b", "a")}
    lines = compare_table({name: column[:2000] for name, column in table.items()}, "y")
    if len(lines) != 4:
        raise ValueError(f"{len(lines)} models were compared")
    compared, fitted = best_of(repeats, lambda: compare_table(table, "y"), lambda: fit(table, "y"))
    return compared / fitted


# -- trees ----------------------------------------------------------------------------------------------------


def cross_validated_tree(X: Any, y: Any) -> Any:
    """scikit-learn's tree, pruned by the cost-complexity that cross-validation likes best."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(random_state=0)
    alphas = np.unique(np.maximum(tree.cost_complexity_pruning_path(X, y).ccp_alphas, 0.0))
    few = alphas[np.linspace(0, len(alphas) - 1, min(len(alphas), MOST_ALPHAS)).round().astype(int)]
    return GridSearchCV(tree, {"ccp_alpha": few}, cv=5).fit(X, y)


def trees(name: str) -> tuple[Task, Task]:
    from sklearn import datasets

    import bayeswise as bw

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return lambda: bw.DescriptionLengthTree().fit(X, y), lambda: cross_validated_tree(X, y)


@dataclass(frozen=True)
class Accuracy:
    """The mean accuracy of ours beside a peer's on the same folds, in percent."""

    what: str
    measure: Callable[[], tuple[float, float]]

    def run(self, size: Size) -> Outcome:
        ours, peer = self.measure()
        return Outcome(self.what, 100 * ours, 100 * peer, "%", ours / peer, "", None)


def accuracies(code: str, tables: tuple[str, ...], n_times: int) -> tuple[float, float]:
    """The mean over tables and folds."""
    from sklearn import datasets
    from sklearn.model_selection import RepeatedStratifiedKFold

    import bayeswise as bw

    ours, peers = [], []
    for name in tables:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        for learned, held in RepeatedStratifiedKFold(n_splits=5, n_repeats=n_times, random_state=0).split(X, y):
            pruned = bw.DescriptionLengthTree(code=code).fit(X[learned], y[learned])
            ours.append(pruned.score(X[held], y[held]))
            peers.append(cross_validated_tree(X[learned], y[learned]).score(X[held], y[held]))
    return float(np.mean(ours)), float(np.mean(peers))


# -- calibration ----------------------------------------------------------------------------------------------


@cache
def predicted(name: str, n_shuffles: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """(n_shuffles, n_rows, n_classes) what the average and plain naive Bayes say of folds that they never saw."""
    from sklearn import datasets
    from sklearn.model_selection import StratifiedKFold

    import bayeswise as bw

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    y = (y > np.median(y)).astype(int) if name == "diabetes" else y
    said = np.empty((2, n_shuffles, len(y), len(np.unique(y))))
    for k in range(n_shuffles):
        for learned, held in StratifiedKFold(10, shuffle=True, random_state=k).split(X, y):
            for place, model in enumerate((bw.AveragedNaiveBayes(), bw.NaiveBayes())):
                said[place, k, held] = model.fit(X[learned], y[learned]).predict_proba(X[held])
    return said[0], said[1], y


def log_loss(posterior: FloatArray, truth: IntArray) -> float:
    return float(-np.log(np.maximum(posterior[np.arange(len(truth)), truth], 1e-300)).mean())


def calibration_error(posterior: FloatArray, truth: IntArray) -> float:
    """Of the most probable class, in ten bins of as many rows each."""
    from bayeswise.evaluation.reliability import reliability

    return reliability(posterior.max(axis=1), posterior.argmax(axis=1) == truth, "most probable").ece


def calibration_error_above_chance(posterior: FloatArray, truth: IntArray) -> float:
    """What is left of it without the mean error of classes that are drawn from these very probabilities."""
    generator = np.random.default_rng(0)
    reached = posterior.cumsum(axis=1)
    last = posterior.shape[1] - 1
    drawn = [np.minimum((reached < generator.random((len(truth), 1))).sum(axis=1), last) for _ in range(20)]
    by_chance = float(np.mean([calibration_error(posterior, each) for each in drawn]))
    return max(0.0, calibration_error(posterior, truth) - by_chance)


@dataclass(frozen=True)
class NoWorse:
    """The mean of a loss over shuffles of the folds, beside that of plain naive Bayes."""

    what: str
    name: str
    n_shuffles: int
    loss: Callable[[FloatArray, IntArray], float]

    def run(self, size: Size) -> Outcome:
        ours, plain, truth = predicted(self.name, self.n_shuffles)
        losses = np.array([[self.loss(each, truth) for each in said] for said in (ours, plain)])
        gap = losses[0] - losses[1]
        error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else 0.0
        what = f"{self.what} ({gap.mean():+.4f} +- {error:.4f})"
        mean, peer = losses.mean(axis=1).tolist()
        return Outcome(what, mean, peer, "", None, "<= peer", mean <= peer)


def calibrations(size: Size) -> Iterator[Row]:
    for name in CALIBRATION_TABLES if size.scale >= 1 else CALIBRATION_TABLES[:1]:
        n_shuffles = 2 if size.scale < 1 else 3 if name == "digits" else 20
        yield NoWorse(f"log-loss, {name} | plain", name, n_shuffles, log_loss)
        yield NoWorse(f"calibration error, {name} | plain", name, n_shuffles, calibration_error)
        yield NoWorse(f"the same above chance, {name} | plain", name, n_shuffles, calibration_error_above_chance)


def rows(size: Size) -> Iterator[Row]:
    yield from calibrations(size)
    million = size.rows(1_000_000)
    yield Figure(
        f"averaged fit {million:,} x 20 over plain fit",
        partial(averaged_fit, million, 20, "auto", size.repeats),
        at_most=1.3,
        unit="x",
    )
    yield Figure(
        f"the same with the pairs of all {million:,} rows",
        partial(averaged_fit, million, 20, "pairs", size.repeats),
        at_most=4.0,
        unit="x",
    )
    yield Figure(
        f"compare 4 models, {million:,} x 20, over one naive Bayes fit",
        partial(comparing, million, size.repeats),
        at_most=5.0,
        unit="x",
    )
    tables, n_times = (TREE_TABLES, 2) if size.scale >= 1 else (TREE_TABLES[:1], 1)
    for name in tables:
        yield Race(f"tree pruned by bits, {name} | by cross-validation", partial(trees, name), at_least=10)
    for code in ("exceptions", "nml"):
        yield Accuracy(f"accuracy of trees by {code} | by cross-validation", partial(accuracies, code, tables, n_times))
