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


# -- classes that columns nearly determine -------------------------------------------------------------------------
def decision_list(n: int, seed: int, noise: float = 0.0) -> Table:
    """36 answers about the places of six pieces, and the class of the first of 14 rules that applies.

    A rule is a conjunction of one to four answers; a class is wrong as often as `noise` says.
    """
    g = np.random.default_rng(seed)
    place = g.integers(0, 8, (n, 6))
    frame = pd.DataFrame()
    for j in range(36):
        one, other = g.choice(6, 2, replace=False)
        apart, kind = place[:, one] - place[:, other], j % 4
        if kind == 3:
            frame[f"q{j}"] = np.array(["left", "same", "right"])[np.sign(apart) + 1]
        else:
            limit = int(g.integers(0, 4))
            answer = [apart > limit, np.abs(apart) <= limit, place[:, one] >= 2 + limit][kind]
            frame[f"q{j}"] = np.where(answer, "t", "f")
    y, decided = np.zeros(n, dtype=int), np.zeros(n, dtype=bool)
    for k in range(14):
        applies = ~decided
        for name in g.choice(frame.columns, int(g.integers(1, 5)), replace=False):
            applies &= (frame[name] == g.choice(frame[name].unique())).to_numpy()
        y[applies] = k % 2
        decided |= applies
    y ^= g.random(n) < noise
    return frame, pd.Series(np.where(y, "won", "lost"), name="y")


def rule_tree(n: int, seed: int, depth: int = 6, noise: float = 0.0) -> Table:
    """30 categories of two or three levels, and a tree of questions about them with a class at each end."""
    g = np.random.default_rng(seed)
    levels = [list("ab") if j % 3 else list("abc") for j in range(30)]
    frame = pd.DataFrame({f"c{j}": g.choice(known, n) for j, known in enumerate(levels)})
    node = np.ones(n, dtype=int)
    for level in range(depth):
        for k in range(1 << level, 2 << level):
            name = frame.columns[int(g.integers(0, 12))]
            yes = (frame[name] == "a").to_numpy()
            node = np.where(node == k, 2 * k + yes, node)
    of_leaf = g.integers(0, 2, 2 << depth)
    y = of_leaf[node] ^ (g.random(n) < noise)
    return frame, pd.Series(np.where(y, "yes", "no"), name="y")


def unbalanced_rules(n: int, seed: int, leaves: int = 30) -> Table:
    """36 flags of skewed shares that depend on each other, and a tree of questions about them, deep and unbalanced.

    Time and again the rows of an end of the tree, a large one rather than a small one, are divided by a flag, and those
    of its rarer answer change their class.
    """
    g = np.random.default_rng(seed)
    loads = g.normal(size=(8, 36)) * (g.random((8, 36)) < 0.35)
    moved = g.normal(size=(n, 8)) @ loads + 0.7 * g.normal(size=(n, 36))
    shares = g.choice([0.03, 0.06, 0.1, 0.2, 0.35, 0.5], 36)
    flags = moved > np.array([np.quantile(column, 1.0 - share) for column, share in zip(moved.T, shares, strict=True)])
    end, of_end = np.zeros(n, dtype=int), [0]
    while len(of_end) < leaves:
        k, flag = int(end[g.integers(0, n)]), flags[:, g.integers(0, 36)]
        inside = end == k
        rarer = inside & (flag == (flag[inside].mean() < 0.5))
        if rarer.mean() >= 0.008:
            end[rarer] = len(of_end)
            of_end.append(1 - of_end[k])
    return _flags(flags, np.array(of_end)[end])


def exceptions(n: int, seed: int) -> Table:
    """30 flags; four rules, each with an exception, an exception of that one and so on, by one or two flags more."""
    g = np.random.default_rng(seed)
    flags = g.random((n, 30)) < g.choice([0.3, 0.5, 0.7], 30)
    y = np.zeros(n, dtype=int)
    for rule in range(4):
        applies = np.ones(n, dtype=bool)
        for level in range(5):
            more = g.choice(30, 2 if level == 0 else int(g.integers(1, 3)), replace=False)
            usual = g.random(len(more)) < np.where(flags[:, more].mean(axis=0) > 0.5, 0.75, 0.25)
            applies &= (flags[:, more] == usual).all(axis=1)
            y[applies] = (rule + level + 1) % 2
    return _flags(flags, y)


def conjunctions(n: int, seed: int) -> Table:
    """30 flags; won where one of eight conjunctions of five to eight of them holds."""
    g = np.random.default_rng(seed)
    flags = g.random((n, 30)) < g.choice([0.2, 0.5, 0.65, 0.8], 30)
    usual = flags == (flags.mean(axis=0) > 0.5)
    won = np.zeros(n, dtype=bool)
    for _ in range(8):
        won |= usual[:, g.choice(30, int(g.integers(5, 9)), replace=False)].all(axis=1)
    return _flags(flags, won)


def _flags(flags: np.ndarray, won: np.ndarray) -> Table:
    frame = pd.DataFrame(np.where(flags, "t", "f"), columns=[f"q{j}" for j in range(flags.shape[1])])
    return frame, pd.Series(np.where(won, "won", "lost"), name="y")


def pixels(n: int, seed: int, classes: int = 10) -> Table:
    """Strokes on a grid of 8 x 8, each drawn a little elsewhere, thicker or thinner: brightness from 0 to 16."""
    g = np.random.default_rng(seed)
    ends = g.uniform(0.5, 6.5, (classes, 4, 2))  # three strokes for each class
    y = g.integers(0, classes, n)
    grid = np.stack(np.meshgrid(np.arange(8), np.arange(8), indexing="ij"), axis=-1).reshape(-1, 2)
    drawn = ends[y] + 0.45 * g.normal(size=(n, 4, 2)) + 0.35 * g.normal(size=(n, 1, 2))
    width = np.exp(0.2 * g.normal(size=(n, 1)))
    least = np.full((n, 64), np.inf)
    for k in range(3):
        start, way = drawn[:, k, None], drawn[:, k + 1, None] - drawn[:, k, None]
        along = np.clip(((grid - start) * way).sum(axis=2) / np.maximum((way**2).sum(axis=2), 1e-9), 0.0, 1.0)
        least = np.minimum(least, ((grid - start - along[:, :, None] * way) ** 2).sum(axis=2))
    bright = 16.0 * np.exp(-least / (0.7 * width) ** 2) + 0.7 * g.normal(size=(n, 64))
    return numbers(np.clip(np.round(bright), 0, 16), y)


def fragments(n: int, seed: int, classes: int = 6) -> Table:
    """Nine numbers that rise and fall together, some 0 in most rows, of kinds that overlap and are not equally many."""
    g = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, classes + 1)
    y = g.choice(classes, n, p=share / share.sum())
    mixing = g.normal(size=(4, 9))
    centre, spread = 1.3 * g.normal(size=(classes, 4)), np.exp(0.4 * g.normal(size=(classes, 4)))
    hidden = centre[y] + spread[y] * g.standard_t(4, size=(n, 4))
    X = hidden @ mixing + 0.4 * g.normal(size=(n, 9))
    X[:, 6:] = np.where(X[:, 6:] > np.quantile(X[:, 6:], 0.6, axis=0), X[:, 6:], 0.0)
    return numbers(np.round(X, 2), y)


def animals(n: int, seed: int, classes: int = 7) -> Table:
    """15 flags and a count, which kinds have or have not with few exceptions; some kinds are rare."""
    g = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, classes + 1)
    y = g.choice(classes, n, p=share / share.sum())
    has = np.where(g.random((classes, 15)) < 0.8, g.integers(0, 2, (classes, 15)), g.random((classes, 15)))
    flags = g.random((n, 15)) < np.clip(has[y], 0.03, 0.97)
    frame = pd.DataFrame(np.where(flags, "true", "false"), columns=[f"f{j}" for j in range(15)])
    legs = g.choice([0.0, 2.0, 4.0, 6.0], classes)
    frame["legs"] = np.where(g.random(n) < 0.05, g.choice([0.0, 2.0, 4.0, 5.0, 6.0, 8.0], n), legs[y])
    return frame, pd.Series([f"k{k}" for k in y], name="y")


def few_informative(n: int, columns: int, informative: int, strength: float, seed: int) -> Table:
    """Many normal columns; the means of some differ between the classes, of each by another amount."""
    g = np.random.default_rng(seed)
    y = g.random(n) < 0.5
    X = g.normal(size=(n, columns))
    X[:, :informative] += strength * g.uniform(0.5, 1.5, informative) * (2 * y[:, None] - 1)
    return numbers(X, y)


def unequal_effects(n: int, columns: int, seed: int, classes: int = 2, mean_effect: float = 0.35) -> Table:
    """Many normal columns; a tenth of them differ between the classes, most by little and some by much."""
    g = np.random.default_rng(seed)
    y = g.integers(0, classes, n)
    effect = g.exponential(mean_effect, columns // 10) * g.normal(size=(classes, columns // 10))
    X = g.normal(size=(n, columns)) * np.exp(g.normal(size=columns))
    X[:, : columns // 10] += effect[y] * np.std(X[:, : columns // 10], axis=0)
    return numbers(X, y)


def modules(n: int, columns: int, seed: int, classes: int = 2) -> Table:
    """Columns in modules of 5 to 40 that rise and fall together, with heavy tails; a few modules differ by class."""
    g = np.random.default_rng(seed)
    y = g.integers(0, classes, n)
    module = np.repeat(np.arange(columns), g.integers(5, 41, columns))[:columns]
    hidden = g.normal(size=(n, module.max() + 1))
    informative = g.choice(module.max() + 1, 6, replace=False)
    hidden[:, informative] += 0.8 * g.normal(size=(classes, 6))[y]
    X = g.uniform(0.3, 0.8, columns) * hidden[:, module] + 0.8 * g.standard_t(5, size=(n, columns))
    return numbers(X, y)


def spreads(n: int, columns: int, informative: int, seed: int) -> Table:
    """Many columns, a few of which vary more in one class and lie elsewhere by a little."""
    g = np.random.default_rng(seed)
    y = g.random(n) < 0.4
    X = g.normal(size=(n, columns))
    X[:, :informative] *= np.exp(0.35 * (2 * y[:, None] - 1))
    X[:, :informative] += 0.15 * (2 * y[:, None] - 1)
    return numbers(X, y)


def many_flags(n: int, columns: int, informative: int, seed: int) -> Table:
    """Categories of three levels whose shares differ from column to column; those of a few differ by class."""
    g = np.random.default_rng(seed)
    y = g.random(n) < 0.5
    log_odds = np.tile(g.normal(-0.5, 1.0, columns), (n, 1))
    log_odds[:, :informative] += g.normal(0.0, 0.6, informative) * (2 * y[:, None] - 1)
    level = g.binomial(2, 1 / (1 + np.exp(-log_odds)))
    frame = pd.DataFrame(np.array(["aa", "ab", "bb"])[level], columns=[f"s{j}" for j in range(columns)])
    return frame, pd.Series(np.where(y, "case", "control"), name="y")


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

SHARP: Tables = {
    "decision list": lambda: decision_list(3_000, 81),
    "decision list, noise": lambda: decision_list(3_000, 82, 0.02),
    "decision list, fewer": lambda: decision_list(1_200, 83),
    "decision list, few": lambda: decision_list(700, 84),
    "rule tree": lambda: rule_tree(3_000, 85),
    "rule tree, noise": lambda: rule_tree(3_000, 86, 5, 0.02),
    "rule tree, fewer": lambda: rule_tree(1_200, 87, 4),
    "unbalanced rules": lambda: unbalanced_rules(2_000, 101),
    "unbalanced rules, fewer": lambda: unbalanced_rules(1_200, 102, 15),
    "exceptions": lambda: exceptions(1_500, 103),
    "conjunctions": lambda: conjunctions(1_500, 104),
    "pixels": lambda: pixels(1_500, 88),
    "pixels, fewer": lambda: pixels(700, 89, 6),
    "fragments": lambda: fragments(200, 90),
    "fragments, other": lambda: fragments(200, 91),
    "fragments of two": lambda: fragments(160, 92, 2),
    "fragments, more": lambda: fragments(600, 93),
    "animals": lambda: animals(100, 94),
    "animals, other": lambda: animals(100, 95),
    "animals, third": lambda: animals(100, 96),
    "animals of four": lambda: animals(100, 97, 4),
}
"""Those whose classes the columns nearly determine: rules, pictures, few rows of many kinds. Settings may be chosen
by them, too."""

WIDE: Tables = {
    "25 of 600": lambda: few_informative(350, 600, 25, 0.5, 901),
    "40 of 800": lambda: few_informative(400, 800, 40, 0.4, 902),
    "20 of 500": lambda: few_informative(300, 500, 20, 0.55, 903),
    "30 of 700": lambda: few_informative(400, 700, 30, 0.35, 904),
    "15 of 900": lambda: few_informative(300, 900, 15, 0.7, 905),
    "35 of 800": lambda: few_informative(350, 800, 35, 0.45, 906),
    "25 of 900": lambda: few_informative(450, 900, 25, 0.45, 907),
    "30 of 600": lambda: few_informative(300, 600, 30, 0.4, 908),
    "unequal effects": lambda: unequal_effects(300, 600, 909),
    "unequal effects, three classes": lambda: unequal_effects(360, 500, 910, 3),
    "modules": lambda: modules(250, 800, 911),
    "modules, three classes": lambda: modules(300, 600, 912, 3),
    "spreads": lambda: spreads(350, 500, 30, 913),
    "many flags": lambda: many_flags(400, 250, 25, 914),
}
"""Those with more columns than rows, or nearly as many, of which few are informative. Settings may be chosen by them,
too."""
