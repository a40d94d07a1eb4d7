"""Ours and scikit-learn's: from a training frame to posteriors of a test frame, states in the order given."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.quality.trials import tried_on

FloatArray = np.ndarray
Posteriors = dict[str, FloatArray]


def ours(
    train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, states: list[str], folder: Path | None = None
) -> Posteriors:
    """auto, the single member that `choose="best"` keeps, and each member by itself; `folder` keeps the candidates."""
    found = tried_on(train, y, test, folder)
    order = [found.classes.index(state) for state in states]
    return {name: posterior[:, order] for name, posterior in found.posteriors().items()}


def peers(train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, states: list[str], names: Sequence[str]) -> Posteriors:
    """scikit-learn's of these names; prepared as usual: one-hot, standardised, missing cells filled and flagged."""
    found = {}
    for name, make in (PEERS | MORE_PEERS).items():
        if name not in names:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = make(train).fit(train, y)
            order = [list(fitted.classes_).index(state) for state in states]
            found[name] = fitted.predict_proba(test)[:, order]
    return found


def _prepared(train: pd.DataFrame, estimator: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = list(train.select_dtypes("number").columns)
    others = [name for name in train.columns if name not in numbers]
    filled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    hot = make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), OneHotEncoder(handle_unknown="ignore"))
    return make_pipeline(make_column_transformer((filled, numbers), (hot, others), sparse_threshold=0.0), estimator)


def _logistic(train: pd.DataFrame) -> Any:
    from sklearn.linear_model import LogisticRegressionCV

    return _prepared(train, LogisticRegressionCV(cv=5, scoring="neg_log_loss", max_iter=2_000))


def _forest(train: pd.DataFrame) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return _prepared(train, RandomForestClassifier(300, random_state=0))


def _boosted(train: pd.DataFrame) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _prepared(train, HistGradientBoostingClassifier(random_state=0))


def _boosted_until_enough(train: pd.DataFrame) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _prepared(train, HistGradientBoostingClassifier(early_stopping=True, max_iter=500, random_state=0))


def _boosted_calibrated(train: pd.DataFrame) -> Any:
    from sklearn.calibration import CalibratedClassifierCV

    return CalibratedClassifierCV(_boosted(train), cv=3)


def tuned_threshold(
    train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, states: list[str], rare: str, dear: float
) -> FloatArray:
    """(n_rows,) the states that a threshold tuned for such costs of the rarest of two states decides for."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import TunedThresholdClassifierCV

    def gain(truth: Any, decided: Any) -> float:
        wrong = np.asarray(truth) != np.asarray(decided)
        return -float((wrong * np.where(np.asarray(truth) == rare, dear, 1.0)).mean())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tuned = TunedThresholdClassifierCV(
            _prepared(train, LogisticRegression(max_iter=2_000)), scoring=make_scorer(gain), cv=5
        )
        return np.array([states.index(state) for state in tuned.fit(train, y).predict(test)])


PEERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "LogisticRegressionCV": _logistic,
    "RandomForest": _forest,
    "HistGradientBoosting": _boosted,
    "HistGradientBoosting, calibrated": _boosted_calibrated,
}
MORE_PEERS: dict[str, Callable[[pd.DataFrame], Any]] = {"HistGradientBoosting, early stopping": _boosted_until_enough}
"""Those that only take part where they are named: ranks of the reporting set are among the others."""
