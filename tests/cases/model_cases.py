"""A small model of every kind that has a file: for the files that are kept, and for the files that are forged."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from unittest import mock

import numpy as np

import bayeswise as bw
from bayeswise.families import Binomial, NormalInverseWishart
from bayeswise.models.regression.solving import wide
from bayeswise.networks.learning.family_counts import FamilyCounts
from tests.cases.network_cases import random_mixed_network, random_network

Table = dict[str, list[Any]]

FAMILIES: dict[str, Any] = {
    "normal": "normal",
    "laplace": "laplace",
    "student": "student-t",
    "lognormal": "log-normal",
    "gamma": "gamma",
    "exponential": "exponential",
    "beta": "beta",
    "poisson": "poisson",
    "geometric": "geometric",
    "binomial": Binomial(5),
    "bernoulli": "bernoulli",
}


def a_table(n_rows: int = 16, seed: int = 0, missing: float = 0.1) -> Table:
    """Numbers, counts, categories, a flag, a class and a number to predict; some cells are missing."""
    generator = np.random.default_rng(seed)
    codes = np.arange(n_rows) % 3
    x = generator.normal(codes, 1.0).round(3)
    table: Table = {
        "x": x.tolist(),
        "z": generator.normal(10.0 * codes, 4.0).round(3).tolist(),
        "n": generator.poisson(2.0 + codes).tolist(),
        "colour": [("red", "green", "blue")[code] for code in (codes + generator.integers(0, 2, n_rows)) % 3],
        "flag": (generator.random(n_rows) < 0.3 + 0.2 * codes).tolist(),
    }
    for name in ("x", "colour"):
        for row in np.flatnonzero(generator.random(n_rows) < missing).tolist():
            table[name][row] = None
    table["class"] = [("yes", "no", "maybe")[code] for code in codes]
    table["price"] = (2.0 + 3.0 * codes + generator.normal(size=n_rows)).round(3).tolist()
    return table


def family_table(n_rows: int = 16, seed: int = 1) -> Table:
    """One column for each family of numbers."""
    generator = np.random.default_rng(seed)
    codes = np.arange(n_rows) % 2
    table: Table = {
        "normal": generator.normal(codes, 1.0).round(3).tolist(),
        "laplace": generator.laplace(codes, 1.0).round(3).tolist(),
        "student": generator.standard_t(3.0, n_rows).round(3).tolist(),
        "lognormal": generator.lognormal(codes, 1.0).round(3).tolist(),
        "gamma": (generator.gamma(2.0 + codes) + 0.01).round(3).tolist(),
        "exponential": generator.exponential(1.0 + codes).round(3).tolist(),
        "beta": generator.beta(2.0, 2.0 + codes).clip(0.01, 0.99).round(3).tolist(),
        "poisson": generator.poisson(2.0 + codes).tolist(),
        "geometric": generator.geometric(0.4, n_rows).tolist(),
        "binomial": generator.binomial(5, 0.3 + 0.3 * codes).tolist(),
        "bernoulli": generator.binomial(1, 0.3 + 0.3 * codes).tolist(),
    }
    table["class"] = [("yes", "no")[code] for code in codes]
    return table


def text_table() -> Table:
    """Four messages."""
    return {
        "text": ["buy cheap pills now", "see you at lunch", "cheap cheap offer", "the minutes of the meeting"],
        "class": ["spam", "ham", "spam", "ham"],
    }


def without(table: Table, *names: str) -> Table:
    return {name: cells for name, cells in table.items() if name not in names}


def complete() -> Table:
    """No missing cells and no column that is a class."""
    return a_table(missing=0.0)


def numbers(missing: float = 0.0) -> Table:
    """Two number columns and the class."""
    table = a_table(missing=missing)
    return {name: table[name] for name in ("x", "z", "class")}


def categories(missing: float = 0.0) -> Table:
    """Columns that network classifiers take, with one that has to be cut."""
    table = a_table(n_rows=30, missing=missing)
    return {name: table[name] for name in ("z", "colour", "flag", "class")} | {"size": ["S", "M", "L"] * 10}


def counted(target: str = "class") -> Table:
    return without(complete(), *({"class", "price"} - {target}))


def _network(
    structure: str, missing: float = 0.0, em: bool = False, **settings: Any
) -> Callable[[], tuple[Any, Table]]:
    table = categories(missing)
    policy = {"missing": "em"} if em else {}
    return lambda: (bw.fit(table, "class", model=structure, **policy, **settings), table)


def _gaussian(missing: float = 0.0, **settings: Any) -> Callable[[], tuple[Any, Table]]:
    table = numbers(missing)
    return lambda: (bw.fit(table, "class", model="gaussian", **settings), table)


def _linear(**settings: Any) -> Callable[[], tuple[Any, Table]]:
    def made() -> tuple[Any, Table]:
        table = counted("price")
        if settings.get("likelihood") == "poisson":
            table["price"] = [max(0, round(price)) for price in table["price"]]
        elif settings.get("likelihood") == "exponential":
            table["price"] = [abs(price) + 0.1 for price in table["price"]]
        return bw.fit(table, "price", model="linear", **settings), table

    return made


def _classifier(
    table: Table, target: str = "class", model: str = "naive-bayes", **settings: Any
) -> Callable[[], tuple[Any, Table]]:
    return lambda: (bw.fit(table, target, model=model, **settings), table)


def interactions(n_rows: int) -> Table:
    """Three numbers that say nothing about the class one by one or in pairs, and a category that says nothing."""
    generator = np.random.default_rng(0)
    x = generator.integers(0, 4, (n_rows, 3))
    table: Table = {f"x{column}": x[:, column].tolist() for column in range(3)}
    table["colour"] = generator.choice(["red", "green", "blue"], n_rows).tolist()
    table["class"] = [("even", "odd")[odd] for odd in ((x > 1).sum(axis=1) % 2).tolist()]
    return table


def _auto(n_rows: int) -> Callable[[], tuple[Any, Table]]:
    kinds = dict.fromkeys(("x0", "x1", "x2"), "number")
    return _classifier(interactions(n_rows), model="auto", kinds=kinds)


def _wide() -> tuple[Any, Table]:
    """Fewer rows than columns; where there are this few columns, moments would be kept instead."""
    generator = np.random.default_rng(4)
    table: Table = {f"x{column}": generator.normal(size=6).round(3).tolist() for column in range(9)}
    table["price"] = generator.normal(size=6).round(3).tolist()
    with mock.patch.object(wide, "FEWEST_TURNED", 0):
        return bw.fit(table, "price", model="linear"), table


def _family_counts() -> tuple[Any, Table]:
    network = random_network(3, n_nodes=4, zeros=0.0)
    rows = network.sample(30, seed=1)
    return FamilyCounts.of(rows, {name: network.parents(name) for name in network}), rows


_PRIOR = NormalInverseWishart(mean=[0.0, 10.0], strength=1.0, scale=[[1.0, 0.0], [0.0, 16.0]], df=4.0)

# Name -> the model and rows that it can answer about.
MODELS: dict[str, Callable[[], tuple[Any, Table]]] = {
    "naive-bayes": _classifier(without(a_table(), "price")),
    "naive-bayes-settings": _classifier(
        without(a_table(), "price"), smoothing=0.5, class_prior={"yes": 0.5, "no": 0.25, "maybe": 0.25}
    ),
    "naive-bayes-weighted": _classifier(
        {**without(a_table(), "price"), "w": [0.5, 2.0, 1.25, 1.0] * 4}, weight="w", shared_variance=True
    ),
    "naive-bayes-declared": _classifier(
        without(a_table(), "price"), levels={"colour": ["red", "green", "blue", "white"]}, missing="level"
    ),
    "naive-bayes-families": _classifier(
        family_table(),
        families=FAMILIES,
        kinds=dict.fromkeys(("poisson", "geometric", "binomial", "bernoulli"), "count"),
    ),
    "naive-bayes-words": _classifier(text_table(), kinds={"text": "text"}),
    **{
        f"naive-bayes-words-{name}": _classifier(text_table(), kinds={"text": "text"}, families={"text": name})
        for name in ("bernoulli", "complement")
    },
    "naive-bayes-counted-columns": _classifier(
        {name: family_table()[name] for name in ("poisson", "geometric", "class")},
        kinds=dict.fromkeys(("poisson", "geometric"), "count"),
        families="multinomial",
    ),
    **{
        f"calibrated-{method}": _classifier(without(a_table(), "price"), calibrate=method)
        for method in ("auto", "sigmoid", "isotonic", "dirichlet", "temperature")
    },
    "calibrated-gaussian": lambda: (bw.fit(numbers(), "class", model="gaussian", calibrate="sigmoid"), numbers()),
    "calibrated-tan": _network("tan", calibrate="isotonic"),
    "averaged": _classifier(without(a_table(), "price"), model="averaged"),
    "averaged-relevance": _classifier(without(a_table(), "price"), model="averaged", n_relevant="uniform"),
    "averaged-words": _classifier(text_table(), model="averaged", kinds={"text": "text"}),
    **{
        f"gaussian-{form}": _gaussian(covariance=form)
        for form in ("per-class", "shared", "diagonal", "shared-diagonal", "spherical")
    },
    "gaussian-shrinkage": _gaussian(shrinkage="auto", variance_divisor="n-1"),
    "gaussian-student-t": _gaussian(predictive="student-t"),
    "gaussian-prior": _gaussian(prior=_PRIOR),
    "gaussian-available": _gaussian(missing=0.2, covariance="diagonal"),
    "gaussian-em": _gaussian(missing=0.2, covariance="shared"),
    "linear": _linear(),
    "linear-flat": _linear(prior=None),
    "linear-laplace-prior": _linear(prior="laplace"),
    "linear-evidence": _linear(scale="evidence"),
    **{f"linear-{name}": _linear(likelihood=name) for name in ("student-t", "laplace", "poisson", "exponential")},
    "linear-wide": _wide,
    "logistic": _classifier(counted(), model="logistic"),
    "logistic-moderated": _classifier(counted(), model="logistic", marginalize=True),
    "logistic-laplace": _classifier(counted(), model="logistic", prior="laplace"),
    "tan": _network("tan"),
    "tan-missing": _network("tan", missing=0.15),
    "tan-em": _network("tan", missing=0.15, em=True),
    "aode": _network("aode"),
    "k-dependence": _network("k-dependence", k=2),
    "markov-blanket": _network("markov-blanket"),
    "tree": _classifier(counted(), model="tree"),
    "tree-missing": _classifier(without(a_table(n_rows=30), "price"), model="tree", code="exceptions", max_depth=3),
    "auto": _auto(80),  # naive Bayes, averaged, crossed columns and networks
    "auto-trees": _auto(100),
    "belief-network": lambda: (random_network(5, n_nodes=4), {}),
    "mixed-network": lambda: (random_mixed_network(3, n_states=2, n_numbers=3), {}),
    "family-counts": _family_counts,
}


@cache
def model_of(name: str) -> tuple[Any, Table]:
    """The model of this name, and rows for it."""
    return MODELS[name]()
