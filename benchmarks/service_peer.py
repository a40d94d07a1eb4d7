"""The peer of the service's benchmark: FastAPI and a scikit-learn pipeline of the same model and the same answers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd
from fastapi import FastAPI
from pydantic import BaseModel
from sklearn.compose import ColumnTransformer
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

NUMBERS, LABELS = ["income", "amount"], ["history", "employed", "purpose"]
COSTS = np.array([[0.0, 0.0], [600.0, -120.0], [250.0, 130.0]])  # actions x (no, yes)
ACTIONS = ["refuse", "lend", "ask"]


class Body(BaseModel):
    """Rows as objects."""

    rows: list[dict[str, Any]]


def pipeline(path: str) -> Any:
    """Naive Bayes of categories and of numbers in bins, which scikit-learn has for mixed columns."""
    table = pd.read_csv(path)
    steps = ColumnTransformer(
        [
            ("labels", OneHotEncoder(handle_unknown="ignore"), LABELS),
            ("numbers", KBinsDiscretizer(n_bins=8, encode="onehot", subsample=None), NUMBERS),
        ]
    )
    return Pipeline([("columns", steps), ("model", BernoulliNB())]).fit(table[LABELS + NUMBERS], table["repaid"])


def application() -> FastAPI:
    """A service as its documentation would have it."""
    model = pipeline(os.environ["BAYESWISE_BENCH_TABLE"])
    app = FastAPI()

    @app.post("/decide")
    def decide(body: Body) -> dict[str, Any]:
        table = pd.DataFrame(body.rows)[LABELS + NUMBERS]
        posterior = model.predict_proba(table)
        expected = posterior @ COSTS.T
        best = expected.argmin(axis=1)
        classes = [str(label) for label in model.classes_]
        return {
            "rows": [
                {
                    "action": ACTIONS[action],
                    "expected_cost": float(costs[action]),
                    "probability": dict(zip(classes, row, strict=True)),
                }
                for action, costs, row in zip(best.tolist(), expected, posterior.tolist(), strict=True)
            ]
        }

    return app
