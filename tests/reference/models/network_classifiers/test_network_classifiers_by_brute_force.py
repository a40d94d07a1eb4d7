"""Every structure beside its textbook formula: fractions, loops over rows, sums over all completions of a row."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.cases.classifier_cases import Table, dependent_table, fit_network, rows_of, without_class

ALPHA = Fraction(1)


class Rows:
    """A table by rows; counting is a loop."""

    def __init__(self, table: Table) -> None:
        self.columns = [name for name in table if name != "y"]
        self.rows = [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]
        self.classes = sorted(set(table["y"]))
        self.levels = {name: sorted({cell for cell in table[name] if cell is not None}) for name in self.columns}

    def count(self, **cells: Any) -> int:
        return sum(all(row[name] == cell for name, cell in cells.items()) for row in self.rows)

    def share(self, column: str, level: str, **given: Any) -> Fraction:
        """(n + alpha) / (all + alpha levels) over rows that have the cell."""
        total = sum(self.count(**{column: each}, **given) for each in self.levels[column])
        return (self.count(**{column: level}, **given) + ALPHA) / (total + ALPHA * len(self.levels[column]))

    def prior(self, state: str) -> Fraction:
        return Fraction(self.count(y=state), len(self.rows))

    def information(self, one: str, other: str) -> float:
        """I(one; other | class) in nats, over rows that have both cells."""
        both = [row for row in self.rows if row[one] is not None and row[other] is not None]
        total = 0.0
        for row in both:
            here = [each for each in both if each["y"] == row["y"]]
            pair = sum(each[one] == row[one] and each[other] == row[other] for each in here)
            first = sum(each[one] == row[one] for each in here)
            second = sum(each[other] == row[other] for each in here)
            total += math.log(pair * len(here) / (first * second))
        return total / len(both)

    def relevance(self, column: str) -> float:
        """I(column; class)."""
        here = [row for row in self.rows if row[column] is not None]
        total = 0.0
        for row in here:
            pair = sum(each[column] == row[column] and each["y"] == row["y"] for each in here)
            level = sum(each[column] == row[column] for each in here)
            state = sum(each["y"] == row["y"] for each in here)
            total += math.log(pair * len(here) / (level * state))
        return total / len(here)

    def completions(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        options = [self.levels[name] if row[name] is None else [row[name]] for name in self.columns]
        return [dict(zip(self.columns, cells, strict=True)) for cells in itertools.product(*options)]


def tree_by_kruskal(rows: Rows) -> dict[str, tuple[str, ...]]:
    """The spanning tree by its heaviest edges, hung up at the column that says most of the class."""
    edges = sorted(itertools.combinations(rows.columns, 2), key=lambda pair: -rows.information(*pair))
    part = {name: name for name in rows.columns}
    joined: dict[str, list[str]] = {name: [] for name in rows.columns}
    for one, other in edges:
        if part[one] != part[other]:
            old = part[other]
            part = {name: part[one] if root == old else root for name, root in part.items()}
            joined[one].append(other)
            joined[other].append(one)
    root = max(rows.columns, key=rows.relevance)
    parents: dict[str, tuple[str, ...]] = {root: ()}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        for below in joined[node]:
            if below not in parents:
                parents[below] = (node,)
                waiting.append(below)
    return parents


def k_dependence(rows: Rows, k: int) -> dict[str, tuple[str, ...]]:
    ranked = sorted(rows.columns, key=lambda name: -rows.relevance(name))
    parents: dict[str, tuple[str, ...]] = {}
    for place, name in enumerate(ranked):
        best = sorted(ranked[:place], key=lambda other: -rows.information(name, other))[:k]
        parents[name] = tuple(best)
    return parents


def joint_of_graph(rows: Rows, parents: dict[str, tuple[str, ...]], row: dict[str, Any], state: str) -> Fraction:
    joint = rows.prior(state)
    for name, above in parents.items():
        joint *= rows.share(name, row[name], y=state, **{other: row[other] for other in above})
    return joint


def posterior(rows: Rows, joint: Any, row: dict[str, Any]) -> list[float]:
    """Missing cells are summed out by trying every level."""
    total = {state: sum(joint(each, state) for each in rows.completions(row)) for state in rows.classes}
    return [float(total[state] / sum(total.values())) for state in rows.classes]


def graph_answers(table: Table, parents: dict[str, tuple[str, ...]], new_rows: Table) -> np.ndarray[Any, Any]:
    rows = Rows(table)
    return np.array(
        [
            posterior(rows, lambda each, state: joint_of_graph(rows, parents, each, state), row)
            for row in Rows(new_rows).rows
        ]
    )


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_is_kruskals_and_its_posterior_the_sum_over_completions(seed: int, missing: float) -> None:
    table = dependent_table(seed, n_rows=40, missing=missing)
    model = fit_network(table, "y", structure="tan")
    parents = tree_by_kruskal(Rows(table))
    found = {name: tuple(p for p in model.network.parents(name) if p != "y") for name in parents}
    assert found == parents
    new_rows = rows_of(dependent_table(seed, n_rows=40, missing=0.4), range(10))
    expected = graph_answers(table, parents, new_rows)
    np.testing.assert_allclose(model.predict_proba(without_class(new_rows)), expected, rtol=1e-12)


@pytest.mark.parametrize(("k", "missing"), [(0, 0.2), (1, 0.0), (1, 0.2), (2, 0.2)])
def test_k_dependence_takes_the_columns_that_say_most_of_it(k: int, missing: float) -> None:
    table = dependent_table(5, n_rows=50, missing=missing)
    model = fit_network(table, "y", structure="k-dependence", k=k)
    parents = k_dependence(Rows(table), k)
    found = {name: {p for p in model.network.parents(name) if p != "y"} for name in parents}
    assert found == {name: set(above) for name, above in parents.items()}
    new_rows = rows_of(dependent_table(5, n_rows=50, missing=0.4), range(10))
    expected = graph_answers(table, parents, new_rows)
    np.testing.assert_allclose(model.predict_proba(without_class(new_rows)), expected, rtol=1e-12)


@pytest.mark.parametrize(("least", "missing"), [(1, 0.0), (1, 0.2), (14, 0.2), (1000, 0.2)])
def test_aode_is_the_mean_over_superparents_that_were_seen_often_enough(least: int, missing: float) -> None:
    table = dependent_table(3, n_rows=50, missing=missing)
    rows = Rows(table)
    frequency = {(name, level): rows.count(**{name: level}) for name in rows.columns for level in rows.levels[name]}

    def one(parent: str, row: dict[str, Any], state: str) -> Fraction:
        joint = rows.prior(state) * rows.share(parent, row[parent], y=state)
        for name in rows.columns:
            if name != parent:
                joint *= rows.share(name, row[name], y=state, **{parent: row[parent]})
        return joint

    def mean(row: dict[str, Any], state: str) -> Fraction:
        allowed = [name for name in rows.columns if frequency[name, row[name]] >= least]
        return sum((one(parent, row, state) for parent in allowed), Fraction(0))

    def naive(row: dict[str, Any], state: str) -> Fraction:
        return joint_of_graph(rows, dict.fromkeys(rows.columns, ()), row, state)

    model = fit_network(table, "y", structure="aode", min_frequency=least)
    new_rows = rows_of(dependent_table(3, n_rows=50, missing=0.3), range(10))
    joint = naive if least > len(rows.rows) else mean
    expected = [posterior(rows, joint, row) for row in Rows(new_rows).rows]
    np.testing.assert_allclose(model.predict_proba(without_class(new_rows)), expected, rtol=1e-12)


@pytest.mark.parametrize(("least", "missing"), [(1, 0.0), (1, 0.2), (6, 0.2)])
def test_a2de_is_the_mean_over_pairs_of_superparents_that_were_seen_often_enough(least: int, missing: float) -> None:
    """Of rows with missing cells, products and pairs are those of the cells that are there."""
    table = dependent_table(3, n_rows=50, missing=missing)
    rows = Rows(table)

    def one(pair: tuple[str, str], row: dict[str, Any], state: str) -> Fraction:
        first, second = pair
        joint = rows.prior(state) * rows.share(first, row[first], y=state)
        joint *= rows.share(second, row[second], y=state, **{first: row[first]})
        for name in rows.columns:
            if name not in pair and row[name] is not None:
                joint *= rows.share(name, row[name], y=state, **{each: row[each] for each in pair})
        return joint

    model = fit_network(table, "y", structure="a2de", min_frequency=least)
    new_rows = rows_of(dependent_table(3, n_rows=50, missing=0.2), range(20))
    answers = model.predict_proba(without_class(new_rows))
    fewer = fit_network(table, "y", structure="aode", min_frequency=least).predict_proba(without_class(new_rows))
    for k, row in enumerate(Rows(new_rows).rows):
        there = [name for name in rows.columns if row[name] is not None]
        pairs = [
            (first, second)
            for first, second in itertools.permutations(there, 2)
            if rows.count(**{first: row[first], second: row[second]}) >= least
        ]
        joint = [sum((one(pair, row, state) for pair in pairs), Fraction(0)) for state in rows.classes]
        expected = [float(each / sum(joint)) for each in joint] if pairs else fewer[k]
        np.testing.assert_allclose(answers[k], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("prior", "pseudo_count"),
    [("laplace", lambda n, q: 0.5), ("m-estimate", lambda n, q: 0.5 / n), ("bdeu", lambda n, q: 0.5 / (n * q))],
)
def test_each_prior_adds_its_pseudo_counts_to_every_table(prior: str, pseudo_count: Any) -> None:
    table = dependent_table(1, n_rows=40)
    rows = Rows(table)
    model = fit_network(table, "y", structure="tan", prior=prior, smoothing=0.5)
    for name in rows.columns:
        above = [p for p in model.network.parents(name) if p != "y"]
        n_levels = len(rows.levels[name])
        n_tables = len(rows.classes) * math.prod(len(rows.levels[p]) for p in above)
        each = pseudo_count(n_levels, n_tables)
        for given in itertools.product(*(rows.levels[p] for p in above), rows.classes):
            cells = dict(zip([*above, "y"], given, strict=True))
            counts = [rows.count(**{name: level}, **cells) for level in rows.levels[name]]
            expected = [(count + each) / (sum(counts) + each * n_levels) for count in counts]
            found = model.network.query(name, cells)
            np.testing.assert_allclose([found[level] for level in rows.levels[name]], expected, rtol=1e-12)
