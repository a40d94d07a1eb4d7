"""Network classifiers: time beside pyAgrum's tree, log-loss beside naive Bayes on tables that scikit-learn brings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Outcome, Race, Row, Size, Task, best_of

N_LEVELS = 4


def dependent_codes(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Each column copies the one before it, or the class, in a third of the rows each."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, n_rows)
    codes = generator.integers(0, N_LEVELS, (n_rows, n_columns))
    for column in range(n_columns):
        chance = generator.random(n_rows)
        codes[:, column] = np.where(chance < 1 / 3, y, codes[:, column])
        if column:
            codes[:, column] = np.where(chance > 2 / 3, codes[:, column - 1], codes[:, column])
    return codes, y


def text_frame(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    import pandas as pd

    codes, y = dependent_codes(n_rows, n_columns)
    frame = pd.DataFrame({f"c{k}": np.array(list("abcd"))[codes[:, k]] for k in range(n_columns)}).astype(object)
    return frame, pd.Series(np.array(["no", "yes"])[y], name="y").astype(object)


def pyagrum_tree() -> Any:
    skbn: Any = import_module("pyagrum.skbn")
    processor: Any = import_module("pyagrum.lib.discreteTypeProcessor")
    as_is = processor.DiscreteTypeProcessor("NoDiscretization", None)
    return skbn.BNClassifier(type_processor=as_is, learningMethod="TAN", prior="Smoothing", priorWeight=1)


def our_classifier(structure: str, **overrides: Any) -> Any:
    return import_module("bayeswise").NetworkClassifier(structure, **overrides)


def fitting(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    X, y = text_frame(n_rows, n_columns)
    ours, theirs = our_classifier("tan"), pyagrum_tree()
    return lambda: ours.fit(X, y).network, lambda: theirs.fit(X, y)


def predicting(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    X, y = text_frame(n_rows, n_columns)
    ours, theirs = our_classifier("tan").fit(X[:1000], y[:1000]), pyagrum_tree()
    theirs.fit(X[:1000], y[:1000])
    return lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X)


def counting(n_rows: int, structure: str) -> float:
    """Statistics and structure of integer codes."""
    X, y = dependent_codes(n_rows, 40)
    [best] = best_of(3, lambda: our_classifier(structure, numbers="category").fit(X, y).model_.scores)
    return best


def answering(n_rows: int, structure: str, missing: float) -> float:
    """Posteriors of coded rows."""
    X, y = dependent_codes(n_rows, 40)
    model = our_classifier(structure, numbers="category").fit(X, y).model_
    codes = X.astype(np.int32)
    codes[np.random.default_rng(1).random(codes.shape) < missing] = -1
    [best] = best_of(3, lambda: model.scores.log_joint(codes))
    return best


@dataclass(frozen=True)
class LogLoss:
    """Log-loss by ten-fold cross-validation, ours beside naive Bayes; less is better."""

    what: str
    table: str
    structure: str

    def run(self, size: Size) -> Outcome:
        folds = 10 if size.scale >= 1 else 2
        ours, peer = (loss(each, self.table, folds) for each in (our_classifier(self.structure), naive_bayes()))
        return Outcome(self.what, ours, peer, "nats", peer / ours, ">= 1x", peer >= ours)


def naive_bayes() -> Any:
    return import_module("bayeswise").NaiveBayes()


def loss(classifier: Any, table: str, folds: int) -> float:
    selection: Any = import_module("sklearn.model_selection")
    X, y = getattr(import_module("sklearn.datasets"), f"load_{table}")(return_X_y=True)
    split = selection.StratifiedKFold(folds, shuffle=True, random_state=0)
    return -float(selection.cross_val_score(classifier, X, y, cv=split, scoring="neg_log_loss").mean())


def rows(size: Size) -> Iterator[Row]:
    n_rows = size.rows(5_000)
    yield Race(f"TAN of {n_rows:,} x 12 of text, fit | pyAgrum", partial(fitting, n_rows, 12), at_least=10)
    yield Race(f"TAN of {n_rows:,} x 12 of text, predict | pyAgrum", partial(predicting, n_rows, 12), at_least=10)
    n_rows = size.rows(1_000_000)
    yield Figure(f"TAN of {n_rows:,} x 40, counts and tree", partial(counting, n_rows, "tan"), at_most=2.0)
    yield Figure(f"AODE of {n_rows:,} x 40, counts and tables", partial(counting, n_rows, "aode"), at_most=2.0)
    n_rows = size.rows(100_000)
    yield Figure(f"TAN, {n_rows:,} x 40, 20 % missing", partial(answering, n_rows, "tan", 0.2), at_most=0.5)
    yield Figure(f"AODE, {n_rows:,} x 40", partial(answering, n_rows, "aode", 0.0), at_most=2.0)
    for table in ("breast_cancer", "digits"):
        for structure in ("tan", "aode"):
            yield LogLoss(f"{table}, log-loss of {structure} | naive Bayes", table, structure)
