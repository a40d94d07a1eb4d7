"""log p(row) under the model that never saw the row, beside models that are really made again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayeswise as bw

GENERATOR = np.random.default_rng(12)
LABELS = GENERATOR.choice(["a", "b", "c"], 50, p=[0.6, 0.3, 0.1])
NUMBERS = GENERATOR.normal(size=(50, 3)) * [1.0, 100.0, 1e-3] + [0.0, 5.0, 1e5]


def mixed_rows() -> list[dict[str, Any]]:
    rows = [
        {"x": x, "n": int(n), "c": str(c), "y": str(y)}
        for x, n, c, y in zip(
            NUMBERS[:, 0], GENERATOR.poisson(3, 50), GENERATOR.choice(list("uvw"), 50), LABELS, strict=True
        )
    ]
    rows[3]["x"] = None
    return [*rows, {"x": 0.5, "n": 1, "c": "z", "y": "alone"}]  # takes its class and its level with it


def test_naive_bayes_leaves_each_row_out_of_its_own_evidence() -> None:
    rows = mixed_rows()
    model = bw.fit(rows, target="y", model="naive-bayes")
    again = [float(model.forget([row]).log_evidence([row])[0]) for row in rows]
    assert model.leave_one_out_evidence(rows) == pytest.approx(again, rel=1e-12)
    assert (model.leave_one_out_evidence(rows) < model.log_evidence(rows)).mean() > 0.9


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"covariance": "shared"},
        {"covariance": "diagonal"},
        {"covariance": "spherical"},
        {"covariance": "shared", "predictive": "student-t"},
        {"shrinkage": 0.2},
    ],
)
@pytest.mark.filterwarnings("ignore:the covariance is singular")
def test_gaussian_bayes_leaves_each_row_out_of_its_own_evidence(settings: dict[str, Any]) -> None:
    fitted = bw.GaussianBayes(**settings).fit(NUMBERS, LABELS)
    again = []
    for k in range(len(LABELS)):
        others = np.arange(len(LABELS)) != k
        smaller = bw.GaussianBayes(**settings).fit(NUMBERS[others], LABELS[others])
        again.append(float(smaller.log_evidence(NUMBERS[k : k + 1])[0]))
    assert fitted.leave_one_out_evidence(NUMBERS, LABELS) == pytest.approx(again, rel=1e-9)


def test_the_only_row_is_impossible_without_itself() -> None:
    row = [{"c": "u", "y": "a"}]
    model = bw.fit(row, target="y", kinds={"c": "category"}, model="naive-bayes")
    assert model.leave_one_out_evidence(row).tolist() == [-np.inf]
    assert model.leave_one_out(row).tolist() == [[1.0]]
