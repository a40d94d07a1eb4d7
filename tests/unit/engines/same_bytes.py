"""A table with all kinds of columns, and the models whose files every engine must agree on."""

from __future__ import annotations

import hashlib
import warnings
from typing import Any

import numpy as np
import pandas as pd

import bayeswise as bw
from bayeswise.models.files import bytes_of

N_ROWS = 1_000


def mixed_table(n_rows: int = N_ROWS) -> pd.DataFrame:
    """Numbers, counts, categories, flags, texts and weights, with missing cells and rows without a target."""
    generator = np.random.default_rng(5)
    words = ["free", "money", "meeting", "monday", "report", "click"]
    frame = pd.DataFrame(
        {
            "height": np.exp(generator.normal(size=n_rows)),
            "visits": generator.integers(0, 40, n_rows),
            "colour": generator.choice(["red", "green", "blue", "rare"], n_rows, p=[0.5, 0.3, 0.199, 0.001]),
            "member": generator.random(n_rows) < 0.3,
            "note": [" ".join(generator.choice(words, 4)) + f" {k}" for k in range(n_rows)],
            "times": generator.integers(0, 3, n_rows) * 0.5,
            "price": generator.normal(size=n_rows),
            "class": generator.choice(["a", "b", "c"], n_rows),
        }
    )
    frame.loc[generator.random(n_rows) < 0.05, "height"] = np.nan
    frame.loc[generator.random(n_rows) < 0.05, "colour"] = None
    frame.loc[generator.random(n_rows) < 0.01, "class"] = None
    return frame


CUTS = {"height": [1.0], "visits": [10.0, 30.0], "times": [0.7], "price": [0.0]}
FAMILIES = {"height": "log-normal", "visits": "poisson"}
NO_TEXT = {"ignore": ["note"]}
SUMMARISED: dict[str, tuple[str, dict[str, Any]]] = {
    "naive Bayes": ("class", {"model": "naive-bayes"}),
    "words": ("class", {"model": "naive-bayes", "kinds": {"note": "text"}}),
    "families": ("class", {"model": "naive-bayes", "families": FAMILIES, **NO_TEXT}),
    "weights": ("class", {"model": "naive-bayes", "weight": "times"}),
    "averaged": ("class", {"model": "averaged"}),
    "gaussian": ("class", {"model": "gaussian", "missing": "ignore"}),
    "shared covariance": ("class", {"model": "gaussian", "covariance": "shared", "missing": "ignore"}),
    "linear": ("price", {"model": "linear", "missing": "mean", **NO_TEXT}),
    "linear by folds": ("price", {"model": "linear", "missing": "mean", "scale": "cv", **NO_TEXT}),
    "tan": ("class", {"model": "tan", "cuts": CUTS, **NO_TEXT}),
    "aode": ("class", {"model": "aode", "cuts": CUTS, **NO_TEXT}),
    "k-dependence": ("class", {"model": "k-dependence", "cuts": CUTS, **NO_TEXT}),
}
"""By passes over partitions alone."""

BROUGHT: dict[str, tuple[str, dict[str, Any]]] = {
    "logistic": ("class", {"model": "logistic", "missing": "mean", **NO_TEXT}),
    "poisson regression": ("visits", {"model": "linear", "likelihood": "poisson", "missing": "mean", **NO_TEXT}),
    "cuts found": ("class", {"model": "tan", **NO_TEXT}),
    "markov-blanket": ("class", {"model": "markov-blanket", "cuts": CUTS, **NO_TEXT}),
}
"""Rows that come to one machine, while they are few."""


def fitted(table: Any, name: str) -> Any:
    """The model of a name above."""
    target, settings = {**SUMMARISED, **BROUGHT}[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bw.fit(table, target, **settings)


def digest(table: Any, name: str) -> str:
    """The SHA-256 of the model file."""
    return hashlib.sha256(bytes_of(fitted(table, name))).hexdigest()
