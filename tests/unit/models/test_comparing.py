"""Models compared in one sweep: the same statistics as by one fit each, and rows kept to be left out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine

import bayeswise as bw
from bayeswise.models.description_length.comparing import KeptRows, candidates, compare, compare_table
from bayeswise.models.held_out import held_out
from bayeswise.models.naive_bayes import select
from bayeswise.statistics import fingerprint
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.source import open_source

GENERATOR = np.random.default_rng(4)
N = 300
Y = GENERATOR.integers(0, 2, N)
TABLE = {
    "normal": GENERATOR.normal(size=N) + Y,
    "normal too": GENERATOR.normal(size=N),
    "wealth": np.exp(2.0 * GENERATOR.normal(size=N) + Y),
    "wait": GENERATOR.exponential(1.0 + Y),
    "idle": np.where(GENERATOR.random(N) < 0.1, 0.0, GENERATOR.exponential(1.0 + Y)),
    "visits": GENERATOR.poisson(3.0 + Y).astype(float),
    "tries": (GENERATOR.geometric(0.2 + 0.2 * Y) - 1).astype(float),
    "colour": np.where(GENERATOR.random(N) < 0.5, "red", "blue"),
    "y": np.where(Y == 1, "b", "a"),
}
KINDS = {name: "number" for name in TABLE if name not in ("colour", "y", "visits")} | {"visits": "count"}


def test_families_are_those_that_a_sweep_of_their_own_selects_with_the_same_sums() -> None:
    models = candidates(TABLE, "y", kinds=KINDS)
    schema = infer_schema(open_source(TABLE), "y", kinds=KINDS)
    selected = select(TABLE, schema).families
    found = models["averaged, families by evidence"]
    families = {factor.name: factor for factor in found.factors}
    assert families["log-normal"].columns == ("wealth",) and families["geometric"].columns == ("tries",)
    assert families["poisson"].columns == ("visits",) and "idle" in families["exponential"].columns
    alone = bw.fit(TABLE, target="y", schema=schema, families=selected, model="naive-bayes")
    assert [factor.columns for factor in alone.factors] == [factor.columns for factor in found.factors]
    for name in ("log-normal", "exponential", "poisson", "geometric", "categories"):
        assert fingerprint(found.statistics.part[name]) == fingerprint(alone.statistics.part[name])
    assert fingerprint(found.statistics.part["normal"].moments) == fingerprint(alone.statistics.part["normal"])


def test_one_sweep_says_what_two_say() -> None:
    once = compare_table(TABLE, "y", kinds=KINDS)
    twice = compare(candidates(TABLE, "y", kinds=KINDS), TABLE)
    assert [line.name for line in once] == [line.name for line in twice]
    for one, other in zip(once, twice, strict=True):
        assert one.n_rows == other.n_rows == N
        assert (one.bits, one.log_loss, one.error) == pytest.approx((other.bits, other.log_loss, other.error))


def test_naive_bayes_and_the_average_are_those_of_their_own_fits() -> None:
    lines = {line.name: line for line in compare_table(TABLE, "y", kinds=KINDS)}
    plain = bw.fit(TABLE, target="y", kinds=KINDS, model="naive-bayes")
    own = np.array([plain.classes.index(label) for label in TABLE["y"].tolist()])
    left_out = plain.leave_one_out(TABLE)
    assert lines["naive Bayes"].log_loss == pytest.approx(-np.log(left_out[np.arange(N), own]).mean())


def test_families_by_evidence_are_chosen_again_without_each_fold() -> None:
    name = "averaged, families by evidence"
    line = next(line for line in compare_table(TABLE, "y", kinds=KINDS) if line.name == name)
    folded = held_out(candidates(TABLE, "y", kinds=KINDS)[name], TABLE, cv=10)
    assert line.log_loss == pytest.approx(-np.log(folded.posterior[np.arange(N), folded.truth]).mean())


def test_intervals_of_noise_hold_chance() -> None:
    """Rows of two classes, as many of each: leave-one-out of the baseline errs in all of them."""
    covered = []
    for seed in range(20):
        generator = np.random.default_rng(seed)
        y = generator.permutation(["a", "b"] * 20)
        table = {"x": generator.normal(size=40), "wait": generator.exponential(size=40), "y": y}
        lines = compare_table(table, "y", lambda classes: 2.0 * (1.0 - np.eye(2)))
        covered.append([(line.error_interval[0] <= 0.5 <= line.error_interval[1]) for line in lines])
        assert all(2 * line.error == pytest.approx(line.cost) for line in lines)
        baseline = next(line for line in lines if line.name == "baseline (prior only)")
        assert baseline.error == 1.0 and baseline.error_interval[0] < 0.5
        assert baseline.log_loss_interval[0] <= np.log(2.0) < baseline.log_loss_interval[1]
    assert sum(map(sum, covered)) >= 0.92 * sum(map(len, covered))


def test_the_families_of_a_sample_are_said_to_be_those_of_all_rows() -> None:
    generator = np.random.default_rng(3)
    table = {"x": generator.exponential(size=9_000), "y": np.where(generator.random(9_000) < 0.5, "a", "b")}
    large = {line.name: line.families for line in compare_table(table, "y")}
    small = {line.name: line.families for line in compare_table({k: v[:900] for k, v in table.items()}, "y")}
    name = "averaged, families by evidence"
    assert (large[name], small[name], large["averaged"]) == ("of all rows", "of each fold", "given")


def test_of_a_large_table_an_even_sample_is_left_out() -> None:
    n = 60_000
    y = np.random.default_rng(0).integers(0, 2, n)  # small seeds must not choose the rows by their class
    x = np.random.default_rng(1).normal(size=n) + y
    table = {"x": x, "c": np.array(["p", "q", "r"])[np.arange(n) % 3], "y": np.where(y == 1, "b", "a")}
    lines = {line.name: line for line in compare_table(table, "y")}
    assert 4096 <= lines["naive Bayes"].n_rows <= 8192
    whole = bw.fit(table, target="y", model="naive-bayes").leave_one_out(table)
    everything = -np.log(whole[np.arange(n), (y == 1).astype(int)]).mean()
    assert lines["naive Bayes"].log_loss == pytest.approx(everything, abs=0.02)


def test_rows_are_kept_in_the_codes_of_the_whole_vocabulary() -> None:
    schema = infer_schema(open_source(TABLE), "y", kinds=KINDS)
    kept = KeptRows(100)
    for _ in kept.watching(Encoder(schema, batch_rows=40).batches(open_source(TABLE))):
        pass
    model = bw.fit(TABLE, target="y", schema=schema, model="naive-bayes")
    batches = list(kept.batches(schema, model.vocabularies))
    assert 20 < sum(batch.n_rows for batch in batches) <= 100
    levels = model.vocabularies["colour"]
    for batch in batches:
        for row in range(batch.n_rows):
            assert levels[int(batch.codes[row, 0])] == TABLE["colour"][batch.place(row)]


def test_columns_that_are_best_log_normal_are_averaged_too() -> None:
    X, y = load_wine(return_X_y=True)
    table = {**{f"x{k}": X[:, k] for k in range(13)}, "y": [str(label) for label in y]}
    best = compare_table(table, "y")[0]
    assert best.name == "averaged, families by evidence" and best.log_loss < 0.1
