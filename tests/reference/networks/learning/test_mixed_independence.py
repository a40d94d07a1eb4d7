"""Tests between numbers and states against scipy and simulation, and PC of mixed networks against d-separation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

import bayeswise as bw
from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import Constraints
from bayeswise.networks.learning.independence_tests import pc
from bayeswise.networks.mixed.learning import MixedTest
from bayeswise.networks.mixed.mixed_rows import MixedRows, ScatterByStates, read_rows
from bayeswise.tables.schema.labels import Vocabulary


def test_of(table: dict[str, list[Any]]) -> MixedTest:
    rows, _ = read_rows(table, (), None, None, "error")
    return MixedTest(rows, ScatterByStates(rows))


test_of.__test__ = False  # type: ignore[attr-defined]


def labels(codes: Any) -> list[str]:
    return [f"k{code}" for code in codes]


def test_two_numbers_are_tested_as_by_their_correlation() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=80)
    y = 0.2 * x + rng.normal(size=80)
    found = test_of({"x": x.tolist(), "y": y.tolist()}).p_value(0, 1, ())
    assert found == pytest.approx(stats.pearsonr(x, y).pvalue, rel=0.01)


def test_the_scaled_ratio_of_spreads_and_means_is_near_the_sum_of_bartlett_and_anova() -> None:
    rng = np.random.default_rng(2)
    groups = [rng.normal(size=150), rng.normal(size=150) + 0.1, 1.1 * rng.normal(size=150)]
    table = {"s": labels(np.repeat([0, 1, 2], 150)), "x": np.concatenate(groups).tolist()}
    spreads, means = stats.bartlett(*groups), stats.f_oneway(*groups)
    together = spreads.statistic + stats.chi2.isf(means.pvalue, 2)
    assert test_of(table).p_value(0, 1, ()) == pytest.approx(stats.chi2.sf(together, 4), rel=0.05)


@pytest.mark.parametrize(("x", "y", "given"), [("x", "y", "dz"), ("x", "s", "dz"), ("e", "s", ""), ("e", "x", "")])
def test_p_values_are_as_small_as_they_say_under_independence(x: str, y: str, given: str) -> None:
    n_tables, n = 300, 120
    found = np.empty(n_tables)
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, 7])
        d = rng.integers(0, 3, n)
        s = np.where(rng.random(n) < 0.6, d, rng.integers(0, 3, n))
        z = rng.normal(size=n) + d
        x_and_more = (d - 1) * z + (1 + d) * rng.normal(size=n), (d + 0.5) * z + (3 - d) * rng.normal(size=n)
        values = np.column_stack([*x_and_more, 7.0 + 3.0 * rng.normal(size=n), z])
        coded = CodedRows(("d", "s"), (Vocabulary("012"),) * 2, np.column_stack([d, s]).astype(np.int32))
        rows = MixedRows(tuple("dsxyez"), tuple("xyez"), values, coded)
        test = MixedTest(rows, ScatterByStates(rows))
        found[seed] = test.p_value(*(test.names.index(name) for name in (x, y)), [test.names.index(k) for k in given])
    for level in (0.01, 0.05, 0.2, 0.5):
        share, error = float((found < level).mean()), np.sqrt(level * (1 - level) / n_tables)
        assert abs(share - level) < 3.5 * error, (level, share)


def test_states_are_never_separated_by_a_number_and_too_few_rows_are_not_a_test() -> None:
    rng = np.random.default_rng(0)
    test = test_of({"a": labels(rng.integers(0, 2, 60)), "b": labels(rng.integers(0, 2, 60)),
                    "many": labels(np.arange(60) % 30), "x": rng.normal(size=60).tolist(),
                    "y": rng.normal(size=60).tolist()})  # fmt: skip
    assert test.p_value(0, 1, ()) > 0.0 and test.p_value(0, 1, (3,)) == 0.0
    assert test.p_value(3, 4, ()) > 0.0 and test.p_value(3, 4, (2,)) == 0.0
    assert test.p_value(2, 3, ()) == 0.0


def mixed_network(seed: int) -> tuple[list[tuple[int, ...]], dict[str, list[Any]]]:
    """Three columns of states and five of numbers, with strong edges, and 20,000 rows."""
    rng, n = np.random.default_rng(seed), 20_000
    parents: list[tuple[int, ...]] = []
    for node in range(8):
        before = rng.permutation(node)[: rng.integers(0, 3)]
        parents.append(tuple(sorted(int(k) for k in before if node >= 3 or k < 3)))
    columns: list[Any] = []
    for node, above in enumerate(parents):
        which = np.zeros(n, dtype=int)
        for parent in above:
            which = 2 * which + columns[parent] if parent < 3 else which
        n_cases = 2 ** sum(parent < 3 for parent in above)
        if node < 3:
            columns.append((rng.random(n) < rng.permutation(np.linspace(0.15, 0.85, n_cases))[which]).astype(int))
            continue
        value = 2.0 * rng.permutation(n_cases)[which] + rng.normal(size=n)
        for parent in (k for k in above if k >= 3):
            value = value + (rng.uniform(0.6, 1.2, n_cases) * rng.choice([-1, 1]))[which] * columns[parent]
        columns.append(value)
    names = [f"{'s' if node < 3 else 'x'}{node}" for node in range(8)]
    shown = [labels(values) if node < 3 else values.tolist() for node, values in enumerate(columns)]
    return parents, dict(zip(names, shown, strict=True))


def test_pc_of_mixed_rows_finds_the_class_that_d_separation_gives() -> None:
    wrong = 0
    for seed in range(6):
        parents, table = mixed_network(seed)
        rows, _ = read_rows(table, (), None, None, "error")
        rules = Constraints().without(rows.impossible())

        class Oracle:
            names = rows.names

            def p_value(self, x: int, y: int, given: Sequence[int], parents: Any = parents) -> float:
                return float(graph.d_separated(parents, [x], [y], given))

        known = pc(Oracle(), rules).edge
        found = pc(MixedTest(rows, ScatterByStates(rows)), rules, alpha=1e-4).edge
        wrong += sum(
            not np.array_equal(known[[u, v], [v, u]], found[[u, v], [v, u]]) for u, v in combinations(range(8), 2)
        )
    assert wrong <= 3  # of 168 pairs


def test_a_mixed_network_is_learned_by_tests_within_tiers() -> None:
    _, table = mixed_network(3)
    few = {name: column[:2_000] for name, column in table.items()}
    tiers = [["x7"], [name for name in few if name.startswith("x") and name != "x7"]]
    found = bw.MixedNetwork.learn(few, method="pc", alpha=0.01, tiers=tiers)
    assert found.edges and not any(child == "x7" and parent.startswith("x") for parent, child in found.edges)
    assert not any(parent.startswith("x") and child.startswith("s") for parent, child in found.edges)
    with pytest.raises(ParameterError, match="for numbers there is no method 'exact'"):
        bw.MixedNetwork.learn(few, method="exact")
