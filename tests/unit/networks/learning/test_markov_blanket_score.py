"""The score of a Markov blanket is chosen by left-out rows: of many classes with few rows, none is best always."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise.models.settings.network import NetworkSettings
from bayeswise.networks.classifiers.learning import TRIED_SCORES
from bayeswise.networks.classifiers.left_out import left_out_loss
from bayeswise.networks.learning import FamilyCounts
from bayeswise.networks.learning.coded_rows import CodedRows
from tests.cases.classifier_cases import fit_network


def many_classes(
    seed: int, n_classes: int, n_columns: int, rows_each: int, *, missing: float, concentration: float
) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Rows to learn from and 800 others: columns of 2 to 5 levels, most about the class, half about another, too."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, n_columns)
    parent = [-1 if k == 0 or rng.random() < 0.5 else int(rng.integers(0, k)) for k in range(n_columns)]
    tells = rng.random(n_columns) < 0.7
    tables = [
        rng.dirichlet(
            np.full(sizes[k], concentration),
            size=(n_classes if tells[k] else 1, sizes[parent[k]] if parent[k] >= 0 else 1),
        )
        for k in range(n_columns)
    ]

    def drawn(n: int) -> dict[str, list[Any]]:
        classes, cells = rng.integers(0, n_classes, n), np.zeros((n, n_columns), dtype=int)
        for k in range(n_columns):
            shares = tables[k][classes if tells[k] else 0, cells[:, parent[k]] if parent[k] >= 0 else 0]
            steps = np.broadcast_to(np.cumsum(shares, axis=-1), (n, sizes[k]))
            cells[:, k] = (rng.random((n, 1)) >= steps[:, :-1]).sum(axis=1)
        lost = rng.random(cells.shape) < missing
        columns = {f"c{k}": [None if gone else f"v{v}" for v, gone in zip(cells[:, k], lost[:, k], strict=True)]
                   for k in range(n_columns)}  # fmt: skip
        return {**columns, "class": [f"k{c}" for c in classes]}

    return drawn(n_classes * rows_each), drawn(800)


def losses(train: dict[str, list[Any]], test: dict[str, list[Any]], score: str) -> tuple[float, float]:
    """The log loss of the test rows, and the share of right classes."""
    model = fit_network(train, "class", structure="markov-blanket", score=score)
    shares = np.asarray(model.predict_proba({name: column for name, column in test.items() if name != "class"}))
    right = np.array([list(model.classes).index(label) for label in test["class"]])
    at = np.arange(len(right))
    return float(-np.log(shares[at, right].clip(1e-300)).mean()), float((shares.argmax(axis=1) == right).mean())


@pytest.mark.parametrize(
    ("seed", "n_classes", "n_columns", "rows_each", "missing", "concentration"),
    [(1, 19, 35, 36, 0.1, 0.3), (2, 19, 35, 36, 0.1, 1.0), (7, 19, 35, 25, 0.1, 0.6), (3, 12, 20, 20, 0.0, 0.3)],
)
def test_no_score_by_itself_predicts_much_better_than_the_one_that_is_chosen(
    seed: int, n_classes: int, n_columns: int, rows_each: int, missing: float, concentration: float
) -> None:
    train, test = many_classes(seed, n_classes, n_columns, rows_each, missing=missing, concentration=concentration)
    by_score = {score: losses(train, test, score) for score in (*TRIED_SCORES, "auto")}
    best = min(loss for loss, _ in by_score.values())
    assert by_score["auto"][0] <= 1.15 * best + 0.01
    assert by_score["auto"][1] >= max(share for _, share in by_score.values()) - 0.02
    if concentration > 0.5:  # each column tells little, and BIC pays too much for tables of 19 classes to have any
        assert by_score["bic"][1] < 0.5 and by_score["auto"][1] > 0.8


def test_the_loss_is_that_of_tables_counted_without_each_row() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, 40), rng.integers(0, 3, 40)
    y = np.where(rng.random(40) < 0.7, (a + b) % 2, rng.integers(0, 2, 40))
    c = np.where(rng.random(40) < 0.6, y, rng.integers(0, 2, 40))
    rows = CodedRows.of({"a": a.tolist(), "b": b.tolist(), "c": c.tolist(), "y": y.tolist()})
    graph = [(), (0, 3), (3,), (0,)]  # y has a parent, and two children
    names = {name: [rows.names[k] for k in above] for name, above in zip(rows.names, graph, strict=True)}
    found = []
    for row in range(40):
        others = rows.of_rows(np.arange(40) != row)
        network = FamilyCounts.of_rows(others, names).network(prior="m-estimate", smoothing=2.0)
        evidence = {"a": int(a[row]), "b": int(b[row]), "c": int(c[row])}
        found.append(-np.log(network.query("y", evidence)[int(y[row])]))
    settings = NetworkSettings("markov-blanket", prior="m-estimate", smoothing=2.0)
    assert left_out_loss(rows, graph, settings) == pytest.approx(np.mean(found), rel=1e-9)


def test_without_smoothing_the_loss_is_infinite_and_bic_is_taken() -> None:
    train, _ = many_classes(3, 4, 5, 10, missing=0.0, concentration=0.3)
    plain = {"structure": "markov-blanket", "smoothing": 0.0}
    chosen, by_bic = (fit_network(train, "class", score=score, **plain) for score in ("auto", "bic"))
    assert chosen.network.edges == by_bic.network.edges
