"""Bits of families and networks against sums over sequences, scipy and the scores that networks are learned by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import bayeswise as bw
from bayeswise.models.description_length import coded_family, description_length, select
from bayeswise.networks.description_length import coded
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.family_counts import FamilyCounts
from bayeswise.networks.learning.search.scores import Scores

GENERATOR = np.random.default_rng(5)
X = GENERATOR.normal(3.0, 2.0, 40)
K = GENERATOR.poisson(4.0, 40)


def test_two_parts_are_half_log_n_for_each_number_and_the_largest_likelihood() -> None:
    found = description_length(coded_family(bw.families.Normal(), X), "two-part")
    assert found.model_bits == pytest.approx(2 * 0.5 * math.log2(40))
    assert found.data_bits == pytest.approx(-stats.norm(X.mean(), X.std()).logpdf(X).sum() / math.log(2))
    counts = description_length(coded_family(bw.families.Poisson(), K), "two-part")
    assert counts.data_bits == pytest.approx(-stats.poisson(K.mean()).logpmf(K).sum() / math.log(2))
    assert counts.bits == counts.model_bits + counts.data_bits


def test_the_evidence_of_a_column_is_a_product_of_predictions() -> None:
    shape, rate, log_p = K.mean(), 1.0, 0.0
    for k in K:
        log_p += stats.nbinom.logpmf(k, shape, rate / (rate + 1))
        shape, rate = shape + k, rate + 1
    assert description_length(coded_family(bw.families.Poisson(), K)).bits == pytest.approx(-log_p / math.log(2))


def test_normalised_maximum_likelihood_makes_all_sequences_of_flags_sum_to_one() -> None:
    total = 0.0
    for k in range(6):
        bits = description_length(coded_family(bw.families.Bernoulli(), [1] * k + [0] * (5 - k)), "nml").bits
        total += math.comb(5, k) * 2.0**-bits
    assert total == pytest.approx(1.0)
    labels = ["a", "b", "a", "c", "a"]
    found = description_length(coded_family(bw.families.Categorical(), labels), "evidence").bits
    assert 2.0**-found == pytest.approx(math.factorial(3) * math.factorial(2) / math.factorial(7))


def test_families_are_selected_by_their_bits_and_missing_values_cost_none() -> None:
    waits = np.random.default_rng(1).exponential(2.0, 200)
    chosen = select({"normal": bw.families.Normal(), "exponential": bw.families.Exponential()}, waits)
    assert chosen.best == "exponential"
    with_missing = np.append(waits, np.nan)
    assert description_length(coded_family(bw.families.Exponential(), with_missing)).bits == pytest.approx(
        chosen.lengths["exponential"].bits
    )


@pytest.mark.parametrize(
    ("family", "values", "code"),
    [
        (bw.families.Gamma(), [1.0, 2.0, 4.0], "evidence"),
        (bw.families.Normal(), [1.0, 1.0], "two-part"),
        (bw.families.Normal(), [1.0, 2.0], "nml"),
        (bw.families.Normal(), ["a", "b"], "evidence"),
        (bw.families.Normal(), [1.0, 2.0], "morse"),
    ],
    ids=["no evidence", "no maximum", "no regret", "no numbers", "no code"],
)
def test_what_has_no_such_code_is_said(family: Any, values: Any, code: Any) -> None:
    with pytest.raises((bw.UsageError, bw.DataError)):
        description_length(coded_family(family, values), code)


TABLE = {
    "a": GENERATOR.choice(["x", "y", "z"], 80).tolist(),
    "b": GENERATOR.choice(["u", "v"], 80).tolist(),
}
TABLE["c"] = [
    ("p" if GENERATOR.random() < 0.9 else "q") if (a, b) == ("x", "u") else str(GENERATOR.choice(["p", "q"]))
    for a, b in zip(TABLE["a"], TABLE["b"], strict=True)
]
ARCS = {"c": ["a", "b"], "b": ["a"]}


@pytest.mark.parametrize(("code", "score"), [("evidence", "k2"), ("two-part", "bic")])
def test_the_bits_of_a_network_are_its_score_and_those_of_its_arcs(code: Any, score: str) -> None:
    found = description_length(coded(FamilyCounts.of(TABLE, ARCS).network(), TABLE), code)
    rows = CodedRows.of(TABLE)
    parents = [[rows.names.index(parent) for parent in ARCS.get(name, ())] for name in rows.names]
    arcs = sum(math.log2(3) + math.log2(math.comb(2, len(above))) for above in parents)
    assert found.bits == pytest.approx(-Scores(rows, score).total(parents) / math.log(2) + arcs)
    assert [part.name for part in found.parts] == ["a", "b", "c"]


def test_arcs_that_say_nothing_do_not_pay_and_those_that_do_are_kept() -> None:
    noise = {name: GENERATOR.choice(["s", "t"], 100).tolist() for name in ("one", "two")}
    same = {"one": noise["one"], "two": noise["one"]}
    for code in ("evidence", "two-part", "nml"):
        for table, best in ((noise, "no arc"), (same, "an arc")):
            drawn = {"an arc": {"two": ["one"]}, "no arc": {}}
            networks = {name: coded(FamilyCounts.of(table, arcs).network(), table) for name, arcs in drawn.items()}
            assert select(networks, code=code).best == best


def test_rows_with_a_missing_value_are_left_out_of_their_families() -> None:
    with_missing = {name: [*column, None] for name, column in TABLE.items()}
    network = FamilyCounts.of(TABLE, ARCS).network()
    assert description_length(coded(network, with_missing)).bits == pytest.approx(
        description_length(coded(network, TABLE)).bits
    )


def test_a_naive_bayes_model_and_the_network_of_its_arcs_cost_the_same_but_for_the_arcs() -> None:
    model = bw.fit(TABLE, target="c", prior_smoothing=1.0, model="naive-bayes")
    star = FamilyCounts.of(TABLE, {"a": ["c"], "b": ["c"]}).network()
    network = description_length(coded(star, TABLE))
    assert network.data_bits == pytest.approx(description_length(model).bits)
