"""The tables that settings may be chosen by: all that was looked at while models were made."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn import datasets

from benchmarks.quality.tables import Table, Tables, bundled, numbers, with_missing


def mixed(n: int, seed: int, strength: float) -> Table:
    """Numbers, skewed amounts, counts and categories; two of them interact."""
    g = np.random.default_rng(seed)
    region = g.choice(["north", "south", "east", "west", "centre"], n, p=[0.3, 0.3, 0.2, 0.15, 0.05])
    job = g.choice(list("abcdefgh"), n)
    age = g.normal(45, 14, n)
    income = g.lognormal(10 + 0.01 * age, 0.5, n)
    visits = g.poisson(1.5 + (region == "south"), n)
    smoker = g.choice(["yes", "no"], n, p=[0.25, 0.75])
    score = 0.04 * (age - 45) - 0.8 * (np.log(income) - 10.5) + 0.5 * visits - 1.0
    score += np.where((smoker == "yes") & (age > 50), 1.5, 0.0) + np.where(np.isin(job, ["a", "b"]), 0.8, -0.2)
    y = g.random(n) < 1 / (1 + np.exp(-strength * score))
    frame = pd.DataFrame(
        {"region": region, "job": job, "age": age, "income": income, "visits": visits, "smoker": smoker}
    )
    return frame, pd.Series(np.where(y, "ill", "well"), name="y")


def redundant(n: int, seed: int, copies: int) -> Table:
    """Three numbers that matter, each said several times over with a little noise, and ten that do not."""
    g = np.random.default_rng(seed)
    base = g.normal(size=(n, 3))
    y = g.random(n) < 1 / (1 + np.exp(-base @ [1.5, -1.0, 0.7]))
    X = np.concatenate(
        [base + 0.1 * k * g.normal(size=(n, 3)) for k in range(copies)] + [g.normal(size=(n, 10))], axis=1
    )
    return numbers(X, y)


def imbalanced(n: int, seed: int) -> Table:
    """One row in fifty is of the rare class, which is a cluster of its own in two of eight numbers."""
    g = np.random.default_rng(seed)
    rare = np.arange(n) < max(n // 51, 10)
    X = g.normal(size=(n, 8))
    X[rare, :2] += [1.8, -1.4]
    X[rare, 2] *= 2.0
    return numbers(X, rare)


def digits_of_leds(n: int, seed: int) -> Table:
    """Ten digits on seven lights, each wrong one time in ten, and ten lights that mean nothing."""
    g = np.random.default_rng(seed)
    lights = np.array([[int(bit) for bit in digit] for digit in LEDS])
    y = g.integers(0, 10, n)
    seen = np.concatenate([lights[y] ^ (g.random((n, 7)) < 0.1), g.random((n, 10)) < 0.5], axis=1).astype(int)
    frame = pd.DataFrame(np.where(seen == 1, "on", "off"), columns=[f"light{j}" for j in range(17)])
    return frame, pd.Series([f"d{k}" for k in y], name="y")


LEDS = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011")


def parity(n: int, seed: int) -> Table:
    """Two categories decide together and not alone; four others say nothing, and a number helps a little."""
    g = np.random.default_rng(seed)
    a, b = g.integers(0, 2, n), g.integers(0, 3, n)
    y = ((a + (b > 0)) % 2) ^ (g.random(n) < 0.1)
    frame = pd.DataFrame({f"noise{j}": g.choice(list("pqr"), n) for j in range(4)})
    frame["a"], frame["b"], frame["x"] = np.where(a, "on", "off"), np.array(list("uvw"))[b], g.normal(size=n) + 0.5 * y
    return frame, pd.Series(np.where(y, "yes", "no"), name="y")


def friedman(n: int, seed: int) -> Table:
    """Above the median of Friedman's function: a product, a square, two lines and five numbers without a part in it."""
    X, y = datasets.make_friedman1(n, 10, noise=1.5, random_state=seed)
    return numbers(X, y > np.median(y))


def rings(n: int, seed: int) -> Table:
    """Two circles with noise, and four numbers that say nothing."""
    X, y = datasets.make_circles(n, noise=0.18, factor=0.55, random_state=seed)
    return numbers(np.c_[X, np.random.default_rng(seed).normal(size=(n, 4))], y)


def moons(n: int, seed: int) -> Table:
    """Two half moons with noise."""
    return numbers(*datasets.make_moons(n, noise=0.25, random_state=seed))


def clusters(n: int, seed: int, classes: int = 2) -> Table:
    """scikit-learn's clusters on the corners of a cube, with redundant columns."""
    made = datasets.make_classification(
        n, 20, n_informative=8, n_redundant=4, n_classes=classes, n_clusters_per_class=2, flip_y=0.03, random_state=seed
    )
    return numbers(*made)


def signs(n: int, seed: int, k: int) -> Table:
    """The parity of the signs of k numbers, wrong one time in twenty, and numbers that say nothing: eight in all."""
    g = np.random.default_rng(seed)
    X = g.normal(size=(n, 8))
    return numbers(X, ((X[:, :k] > 0).sum(axis=1) % 2) ^ (g.random(n) < 0.05))


def steps(n: int, seed: int) -> Table:
    """A sum of five numbers' bands, and five numbers that say nothing."""
    g = np.random.default_rng(seed)
    X = g.uniform(0, 1, (n, 10))
    bands = [(0.2, 2.0), (0.5, -2.5), (0.1, 1.5), (0.6, 2.0), (0.35, -1.5)]
    score = sum(height * ((X[:, j] > low) & (X[:, j] <= low + 0.25)) for j, (low, height) in enumerate(bands))
    return numbers(X, g.random(n) < 1 / (1 + np.exp(0.5 - 2.0 * np.asarray(score))))


def rules(n: int, seed: int) -> Table:
    """If this and not that: a tree of conditions on numbers and categories, and four numbers that say nothing."""
    g = np.random.default_rng(seed)
    age, income, debt = g.uniform(18, 80, n), g.lognormal(10, 0.6, n), g.gamma(2.0, 2_000.0, n)
    job, home = g.choice(list("abcdef"), n), g.choice(["own", "rent", "free"], n)
    deep = np.where(age < 40, 0.85, np.where(home == "rent", 0.6, 0.2))
    poor = np.where(np.isin(job, ["a", "c"]) & (income < 22_000), 0.7, 0.08)
    frame = pd.DataFrame({"age": age, "income": income, "debt": debt, "job": job, "home": home})
    frame = frame.assign(**{f"x{j}": g.normal(size=n) for j in range(4)})
    bad = g.random(n) < np.where(debt > 0.25 * income, deep, poor)
    return frame, pd.Series(np.where(bad, "bad", "good"), name="y")


def interactions(n: int, seed: int) -> Table:
    """A product, a line that changes sides, three conditions at once, a wave and a line; three numbers say nothing."""
    g = np.random.default_rng(seed)
    X = g.normal(size=(n, 12))
    score = X[:, 0] * X[:, 1] + np.where(X[:, 2] > 0, X[:, 3], -X[:, 3]) + np.sin(2 * X[:, 7]) + 0.7 * X[:, 8]
    score += 1.5 * (X[:, 4] > 0.3) * (X[:, 5] > 0) * (X[:, 6] < 0.5)
    return numbers(X, g.random(n) < 1 / (1 + np.exp(-1.5 * score)))


DEVELOPMENT: Tables = {
    "iris": bundled(datasets.load_iris),
    "wine": bundled(datasets.load_wine),
    "moons": lambda: moons(600, 11),
    "mixed": lambda: mixed(900, 12, 1.0),
    "mixed, missing": lambda: with_missing(mixed(700, 13, 2.0), 0.15, 13),
    "redundant": lambda: redundant(500, 14, 4),
    "imbalanced": lambda: imbalanced(2_000, 15),
    "clusters": lambda: clusters(1_000, 16),
    "hastie": lambda: numbers(*datasets.make_hastie_10_2(1_500, random_state=17)),
    "leds": lambda: digits_of_leds(600, 18),
    "leds, few rows": lambda: digits_of_leds(250, 22),
    "rings": lambda: rings(800, 23),
    "clusters, missing": lambda: with_missing(clusters(800, 26, 3), 0.1, 26),
    "redundant, more": lambda: redundant(800, 27, 6),
    "friedman": lambda: friedman(1_000, 30),
    "parity": lambda: parity(700, 32),
}

NONLINEAR: Tables = {
    "signs of two": lambda: signs(3_000, 61, 2),
    "signs of three": lambda: signs(4_000, 62, 3),
    "rings, more": lambda: rings(4_000, 63),
    "steps": lambda: steps(3_000, 64),
    "rules": lambda: rules(5_000, 65),
    "friedman, more": lambda: friedman(4_000, 66),
    "hastie, more": lambda: numbers(*datasets.make_hastie_10_2(6_000, random_state=67)),
    "clusters, more": lambda: clusters(4_000, 68),
    "clusters of three": lambda: clusters(5_000, 69, 3),
    "mixed, more": lambda: mixed(5_000, 70, 2.0),
    "moons, more": lambda: moons(2_000, 72),
    "interactions": lambda: interactions(20_000, 71),
}
"""Those where gradient-boosted trees would be expected to win; settings may be chosen by them, too."""
