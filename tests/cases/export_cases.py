"""Models to export and rows to ask them about, some cells missing and some levels never seen."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

import bayeswise as bw
from bayeswise.families import NormalInverseWishart
from bayeswise.models.auto.pooling import LogLinear
from tests.cases.model_cases import FAMILIES, a_table, family_table
from tests.paths import EXAMPLES

Table = dict[str, list[Any]]
KINDS = ("naive-bayes", "averaged", "logistic", "tan", "aode", "k-dependence", "markov-blanket", "auto")
COVARIANCES = ("per-class", "shared", "diagonal", "shared-diagonal", "spherical")
CALIBRATIONS = ("temperature", "platt", "isotonic", "dirichlet")
AVERAGED = ("normal", "lognormal", "poisson", "exponential", "geometric")


@cache
def example(name: str) -> Table:
    """A bundled table, numbers as numbers and empty cells as None."""
    with (EXAMPLES / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: _typed([row[column] or None for row in rows]) for column in rows[0]}


def _typed(cells: list[str | None]) -> list[Any]:
    try:
        return [None if cell is None else float(cell) for cell in cells]
    except ValueError:
        return list(cells)


def new_rows(table: Table, target: str, n_rows: int = 120, seed: int = 0) -> Table:
    """Rows of the table without the target; every sixth cell is missing, every tenth text was never seen."""
    generator = np.random.default_rng(seed)
    found = {name: list(cells[:n_rows]) for name, cells in table.items() if name != target}
    for cells in found.values():
        textual = any(isinstance(cell, str) for cell in cells)
        for row, share in enumerate(generator.random(len(cells)).tolist()):
            if share < 1 / 6:
                cells[row] = None
            elif textual and share < 1 / 6 + 1 / 10:
                cells[row] = "never seen"
    return found


def numbers_of(table: Table, target: str) -> Table:
    return {
        name: cells
        for name, cells in table.items()
        if name == target or not any(isinstance(cell, str | bool) for cell in cells)
    }


def mixed() -> Table:
    table = a_table(60)
    del table["price"]
    return table


Case = Callable[[], tuple[Any, Table]]  # a model, and rows to ask it about


def _fitted(table: Table, target: str, model: str, rows: Table | None = None, **settings: Any) -> tuple[Any, Table]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bw.fit(table, target=target, model=model, **settings)
    return found, new_rows(rows or table, target)


def _with_prior(case: tuple[Any, Table], shares: dict[str, float]) -> tuple[Any, Table]:
    model, rows = case
    return model.changed(class_prior=shares), rows


def _pooled(case: tuple[Any, Table], pool: LogLinear | None) -> tuple[Any, Table]:
    model, rows = case
    return replace(model, pool=pool), rows


def first(table: Table, n_rows: int) -> Table:
    return {name: cells[:n_rows] for name, cells in table.items()}


def cases() -> dict[str, Case]:
    """Every kind of model on every bundled table and on one of all types of columns, then settings one by one."""
    golf, credit, test, every = (
        example("golf.csv"),
        first(example("credit.csv"), 400),
        example("credit-test.csv"),
        mixed(),
    )
    tomorrow = example("golf-tomorrow.csv")
    played = {
        name: [*cells, *tomorrow[name], *example("golf-regretted.csv")[name]]
        for name, cells in golf.items()
        if name != "play"
    }
    found: dict[str, Case] = {}
    for name, table, target, rows in (
        ("golf", golf, "play", played),
        ("credit", credit, "repaid", test),
        ("mixed", every, "class", every),
    ):
        for kind in KINDS:
            settings = {"missing": "mean"} if kind == "logistic" else {}
            found[f"{name} {kind}"] = partial(_fitted, table, target, kind, rows, **settings)
    for covariance in COVARIANCES:
        for name, table, target, rows in (("credit", credit, "repaid", test), ("mixed", every, "class", every)):
            numbers = numbers_of(table, target)
            settings = {"covariance": covariance}
            used = numbers_of(rows, target)
            found[f"{name} gaussian {covariance}"] = partial(_fitted, numbers, target, "gaussian", used, **settings)
    prior = NormalInverseWishart(np.zeros(3), 1.0, 5.0, np.eye(3))
    found["gaussian prior"] = partial(_fitted, numbers_of(every, "class"), "class", "gaussian", prior=prior)
    families = family_table(80)
    for family in FAMILIES:
        column = {family: families[family], "class": families["class"]}
        found[f"family {family}"] = partial(
            _fitted, column, "class", "naive-bayes", families={family: FAMILIES[family]}
        )
    for family in AVERAGED:
        column = {family: families[family], "class": families["class"]}
        found[f"averaged {family}"] = partial(_fitted, column, "class", "averaged", families={family: FAMILIES[family]})
    found["averaged, shared variance"] = partial(_fitted, every, "class", "averaged", shared_variance=True)
    for method in CALIBRATIONS:
        found[f"calibrated {method}"] = partial(_fitted, every, "class", "naive-bayes", calibrate=method)
    counts = {name: families[name] for name in ("poisson", "geometric", "binomial", "class")}
    for model in ("multinomial", "bernoulli", "complement"):
        found[f"counts {model}"] = partial(_fitted, counts, "class", "naive-bayes", families=model)
    found["marginalized logistic"] = partial(_fitted, every, "class", "logistic", marginalize=True, missing="mean")
    found["marginalized two classes"] = partial(
        _fitted, credit, "repaid", "logistic", test, marginalize=True, missing="mean"
    )
    found["missing has an indicator"] = partial(_fitted, every, "class", "logistic", missing="indicator")
    found["missing is a level"] = partial(_fitted, every, "class", "naive-bayes", missing="level")
    found["missing is a level of tan"] = partial(_fitted, every, "class", "tan", missing="level")
    found["unseen is ignored"] = partial(_fitted, every, "class", "naive-bayes", unseen="ignore")
    found["unseen is ignored by aode"] = partial(_fitted, every, "class", "aode", unseen="ignore")
    found["no smoothing"] = partial(_fitted, every, "class", "naive-bayes", smoothing=0.0, unseen="ignore")
    shares = {"yes": 0.2, "no": 0.3, "maybe": 0.5}
    found["prior"] = partial(_fitted, every, "class", "naive-bayes", class_prior=shares)
    found["prior of auto"] = lambda: _with_prior(CASES["mixed auto"](), shares)
    found["auto, posteriors averaged"] = lambda: _pooled(CASES["mixed auto"](), None)
    found["auto, logarithms averaged"] = lambda: _pooled(CASES["mixed auto"](), LogLinear(1.7, 1e-4))
    return found


CASES = {name: cache(case) for name, case in cases().items()}


def regressions() -> dict[str, Case]:
    """Regressions of a number."""
    every = a_table(60)
    del every["class"]
    found: dict[str, Case] = {}
    for likelihood in ("gaussian", "student-t", "laplace", "poisson", "exponential"):
        table = {**every, "price": [abs(x) for x in every["price"]]}
        if likelihood == "poisson":
            table["price"] = [float(round(x)) for x in table["price"]]
        found[likelihood] = partial(_fitted, table, "price", "linear", likelihood=likelihood, missing="mean")
    found["no intercept"] = partial(_fitted, every, "price", "linear", fit_intercept=False, missing="mean")
    found["missing has an indicator"] = partial(_fitted, every, "price", "linear", missing="indicator")
    return found


REGRESSIONS = {name: cache(case) for name, case in regressions().items()}


def posterior_in(answers: dict[str, list[Any]], model: Any) -> Any:
    """(n_rows, n_states) the columns p_CLASS; NaN where they are NULL."""
    columns = [answers[f"p_{label}"] for label in model.classes]
    return np.array([[np.nan if cell is None else cell for cell in column] for column in columns]).T


def decided_in(posterior: Any) -> Any:
    """(n_rows,) whether one class is clearly the most probable: ties are broken by the last bit."""
    top = np.sort(posterior, axis=1)
    return top[:, -1] - top[:, -2] > 1e-9
