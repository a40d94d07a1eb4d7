"""`model="auto"`: all models, weighted by left-out rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.evaluation.model_comparison import compare_models
from bayeswise.foundation.errors import (
    CostError,
    FitError,
    ImpossibleEvidenceError,
    KindError,
    ParameterError,
    TooLargeError,
)
from bayeswise.models.auto import candidates, extent, learning, weighing
from bayeswise.models.auto.candidates import CANDIDATES, Candidate
from bayeswise.models.auto.durations import seconds_for
from bayeswise.models.auto.extent import Extent
from bayeswise.models.auto.inputs import AsNumbers, Crossing
from bayeswise.models.auto.model import AutoModel
from bayeswise.models.base.facts import mixture_of
from bayeswise.models.settings.auto import seconds_of
from bayeswise.statistics import fingerprint
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.schema import Schema, Target

Columns = dict[str, list[Any]]


def mixed_table(n: int = 160, seed: int = 0) -> Columns:
    """Two classes, a number with missing cells, a category, a flag and a count."""
    g = np.random.default_rng(seed)
    ill = g.random(n) < 0.4
    age = g.normal(50, 10, n) + 8 * ill
    ages = [None if g.random() < 0.1 else round(float(x), 3) for x in age]
    size = [str(x) for x in np.where(g.random(n) < 0.3 + 0.3 * ill, "L", np.where(g.random(n) < 0.5, "M", "S"))]
    visits = [int(x) for x in g.poisson(1 + 2 * ill)]
    return {"age": ages, "size": size, "visits": visits, "y": ["ill" if x else "well" for x in ill]}


def category_table(n: int = 120, seed: int = 1) -> Columns:
    g = np.random.default_rng(seed)
    a, b = g.integers(0, 3, n), g.integers(0, 2, n)
    y = np.where(g.random(n) < 0.85, (a == 0) | (b == 1), g.random(n) < 0.5)
    return {
        "a": [f"a{k}" for k in a],
        "b": [f"b{k}" for k in b],
        "c": [str(x) for x in g.choice(list("uv"), n)],
        "y": ["yes" if x else "no" for x in y],
    }


def taken(table: Columns, rows: list[int]) -> Columns:
    return {name: [cells[k] for k in rows] for name, cells in table.items()}


@pytest.fixture(scope="module")
def mixed_model() -> AutoModel:
    model: AutoModel = bw.fit(mixed_table(), "y", model="auto")
    return model


def test_weights_are_on_the_simplex_and_certified(mixed_model: AutoModel) -> None:
    assert (mixed_model.weights > 0).all()
    assert mixed_model.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert mixed_model.certificate < 1e-9
    assert mixed_model.log_loss < np.log(2)


def test_every_candidate_has_a_score_or_a_reason(mixed_model: AutoModel) -> None:
    tried = {score.name for score in mixed_model.scores}
    assert tried | mixed_model.notes.keys() == {candidate.name for candidate in CANDIDATES}
    only_categories: AutoModel = bw.fit(category_table(), "y", model="auto")
    assert only_categories.notes["gaussian"] == "there are no numbers"


def test_triples_of_columns_are_counted_where_rows_and_columns_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class is the parity of three columns: no pair of them says anything about it."""
    g = np.random.default_rng(4)
    bits = g.integers(0, 2, (240, 4))
    y = np.where(g.random(240) < 0.95, bits[:, :3].sum(axis=1) % 2, g.integers(0, 2, 240))
    table = {**{f"c{k}": [f"l{x}" for x in bits[:, k]] for k in range(4)}, "y": [f"y{x}" for x in y]}
    assert "at least 500" in bw.fit(table, "y", model="auto", choose="best").notes["a2de"]
    monkeypatch.setattr(extent, "FEW_FOR_TRIPLES", 200)
    model = bw.fit(table, "y", model="auto")
    losses = {score.name: score.log_loss for score in model.scores}
    assert losses["a2de"] < 0.6 < losses["aode"]
    wide = Extent(1_000, 0, 13, 0, 26, 2, 1)
    (candidate,) = (each for each in CANDIDATES if each.name == "a2de")
    assert candidate.refusal(wide) == "13 columns, and triples of 3 to 12 columns are counted"


def test_classes_share_variances_where_there_are_many_numbers(tmp_path: Path) -> None:
    """120 columns of which 12 say a little: a variance for each class and column is mostly noise."""
    g = np.random.default_rng(5)
    y = g.random(90) < 0.5
    X = g.normal(size=(90, 120))
    X[:, :12] += 0.5 * (2 * y[:, None] - 1)
    table = {**{f"x{j}": X[:, j].tolist() for j in range(120)}, "y": [f"c{int(label)}" for label in y]}
    rows = [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]
    model: AutoModel = bw.fit(table, "y", model="auto")
    losses = {score.name: score.log_loss for score in model.scores}
    assert losses["averaged, shared"] < 0.95 * losses["averaged"]
    (member,) = (each for each in model.members if each.name == "averaged, shared")
    assert member.model.forget(rows[:5]).learn(rows[:5]) == member.model
    model.save(tmp_path / "m.bayeswise")
    assert np.array_equal(bw.load(tmp_path / "m.bayeswise").predict_proba(table), model.predict_proba(table))
    fewer = bw.fit({name: table[name] for name in (*list(table)[:2], "y")}, "y", model="auto")
    assert fewer.notes["averaged, shared"] == "2 numbers, and classes share variances from 100 on"


def test_a_candidate_that_fails_is_reported_and_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Candidate, *rows: Any) -> Any:
        if self.kind == "gaussian":
            raise FitError("no such luck")
        return learn(self, *rows)

    learn = Candidate.learned
    monkeypatch.setattr(Candidate, "learned", fail)
    model = bw.fit(mixed_table(), "y", model="auto")
    assert model.notes["gaussian"] == "it failed: no such luck"
    assert model.predict_proba(mixed_table()).shape == (160, 2)


def test_the_same_rows_give_the_same_file_in_any_order_and_chunks(mixed_model: AutoModel, tmp_path: Path) -> None:
    table = mixed_table()
    mixed_model.save(tmp_path / "one.bayeswise")
    order = np.random.default_rng(3).permutation(160).tolist()
    bw.fit(taken(table, order), "y", model="auto").save(tmp_path / "other.bayeswise")
    assert (tmp_path / "one.bayeswise").read_bytes() == (tmp_path / "other.bayeswise").read_bytes()


def test_a_saved_model_answers_as_before(mixed_model: AutoModel, tmp_path: Path) -> None:
    mixed_model.save(tmp_path / "m.bayeswise")
    again = bw.load(tmp_path / "m.bayeswise")
    assert np.array_equal(again.predict_proba(mixed_table()), mixed_model.predict_proba(mixed_table()))
    assert again.weight_of_member == mixed_model.weight_of_member
    assert again.scores == mixed_model.scores


@pytest.mark.parametrize("row", range(8))
def test_what_columns_say_adds_up_to_the_log_odds(mixed_model: AutoModel, row: int) -> None:
    case = {name: cells[row] for name, cells in mixed_table().items() if name != "y"}
    account = mixed_model.explain(case)
    assert set(mixed_model.schema.used) <= set(account.columns)
    log_p = mixed_model.predict_log_proba([case])[0]
    assert account.log_odds("ill", "well") == pytest.approx(log_p[0] - log_p[1], abs=1e-9)


def test_a_row_that_one_member_thinks_impossible_is_answered_by_the_others() -> None:
    g = np.random.default_rng(3)
    rich = g.random(240) < 0.5
    table = {
        "amount": np.exp(g.normal(3, 1, 240) + 1.2 * rich).tolist(),
        "age": (g.normal(40, 9, 240) + 6 * rich).tolist(),
        "y": np.where(rich, "rich", "poor").tolist(),
    }
    model: AutoModel = bw.fit(table, "y", model="auto")
    (member,) = (each for each in model.members if each.name == "naive-bayes, families")  # log-normal: above 0 only
    row = {"amount": 0.0, "age": 50.0}
    with pytest.raises(ImpossibleEvidenceError):
        member.model.predict_proba([row])
    answer = model.predict_proba([row])[0]
    assert 0.3 < answer[0] < 0.7  # the heaviest member says what it says of no row: the shares of the classes
    assert model.explain(row).log_odds("rich") == pytest.approx(np.log(answer[1] / answer[0]), abs=1e-9)
    alone: AutoModel = bw.fit(table, "y", model="auto", choose="best")
    with pytest.raises(ImpossibleEvidenceError):  # nobody else is there to answer
        alone.predict_proba([row])


def test_a_column_that_no_member_uses_says_nothing() -> None:
    table = {**category_table(), "same": ["x"] * 120}
    model = bw.fit(table, "y", model="auto", kinds={"same": "category"})
    account = model.explain({"a": "a0", "b": "b0", "c": "u", "same": "x"})
    (same,) = [part for part in account.contributions if part.column == "same"]
    assert np.ptp(same.log_likelihood) == pytest.approx(0.0, abs=1e-9)


def test_forgotten_rows_leave_exact_members_as_if_never_seen() -> None:
    table = category_table()
    model: AutoModel = bw.fit(table, "y", model="auto", calibrate="none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        after = model.forget(taken(table, [3, 5, 8]))
    rest = taken(table, [k for k in range(120) if k not in (3, 5, 8)])
    for member in after.members:
        if member.name in ("naive-bayes", "aode", "tan"):
            without = bw.fit(rest, "y", model=member.name)
            assert fingerprint(member.model.statistics) == fingerprint(without.statistics)
    assert after.rows_learned == 117
    assert after.age == "those of 120 rows; since then 3 forgotten"
    assert after.weights.sum() == pytest.approx(1.0, abs=1e-12)


def test_members_that_cannot_forget_leave_with_a_warning(mixed_model: AutoModel) -> None:
    assert any(member.learns_weights for member in mixed_model.members)
    with pytest.warns(UserWarning, match="cannot take rows in or out"):
        after = mixed_model.forget(taken(mixed_table(), [0]))
    assert not any(member.learns_weights for member in after.members)


def test_members_that_cannot_merge_leave_with_a_warning_and_inspect_says_so(mixed_model: AutoModel) -> None:
    fixed = mixture_of(mixed_model)["mixture"]["without_statistics"]
    assert fixed
    assert all(name.startswith(("logistic", "trees")) for name in fixed)
    with pytest.warns(UserWarning, match="cannot take rows in or out"):
        more = mixed_model.learned_like(mixed_table(30, 5))[0]
    with pytest.warns(UserWarning, match="cannot take rows in or out and leave"):
        merged = mixed_model.merge(more)
    facts = mixture_of(merged)["mixture"]
    assert facts["gone"] == fixed
    assert not facts["without_statistics"]


def test_a_mixture_of_regressions_alone_says_what_to_fit_instead(mixed_model: AutoModel) -> None:
    regressions = tuple(member for member in mixed_model.members if member.learns_weights)
    model = replace(mixed_model, members=regressions[:1], weights=np.ones(1))
    for change in (lambda: model.merge(model), lambda: model.forget(mixed_table())):
        with pytest.raises(FitError, match=r"no row can come or go.*naive-bayes"):
            change()


def test_a_table_learned_like_a_model_merges_with_it() -> None:
    table = category_table(200)
    first, second = taken(table, list(range(120))), taken(table, list(range(120, 200)))
    model: AutoModel = bw.fit(first, "y", model="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = model.merge(model.learned_like(second)[0])
    assert both.rows_learned == 200
    assert "80 learned" in both.age
    naive = next(member for member in both.members if member.name in ("naive-bayes", "averaged", "aode", "tan"))
    whole = bw.fit(table, "y", model=naive.name)
    assert fingerprint(naive.model.statistics) == fingerprint(whole.statistics)


def test_of_many_rows_some_choose_and_all_estimate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(learning, "MOST_CHOOSING", 70)
    table, files = mixed_table(), (tmp_path / "one.bayeswise", tmp_path / "other.bayeswise")
    for path, order in zip(files, (list(range(160)), list(range(159, -1, -1))), strict=True):
        model: AutoModel = bw.fit(taken(table, order), "y", model="auto")
        model.save(path)
    assert model.n_weighed == 70
    assert all(member.model.rows_learned == 160 for member in model.members)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_columns_that_decide_together_are_crossed() -> None:
    g = np.random.default_rng(2)
    x, z, n = g.normal(size=300), g.normal(size=300), g.normal(size=300)
    table = {"x": x.tolist(), "z": z.tolist(), "n": n.tolist(), "y": ["+" if each else "-" for each in x * z > 0]}
    model: AutoModel = bw.fit(table, "y", model="auto")
    loss = {score.name: score.log_loss for score in model.scores}
    assert loss["logistic, crossed, scale 1"] < 0.5 * loss["logistic, scale 1"]
    case = {"x": 1.0, "z": -1.0, "n": 0.0}
    assert model.predict([case]) == ["-"]
    log_p = model.predict_log_proba([case])[0]
    assert model.explain(case).log_odds("+", "-") == pytest.approx(log_p[0] - log_p[1], abs=1e-9)


def test_a_regression_on_cuts_or_products_is_not_the_plain_one_twice() -> None:
    g = np.random.default_rng(5)
    y = [str(label) for label in np.where(g.random(60) < 0.5, "u", "v")]
    noise = {"a": g.normal(size=60).tolist(), "b": g.normal(size=60).tolist(), "y": y}
    model = bw.fit(noise, "y", model="auto")
    assert model.notes["logistic, cut, scale 1"] == "no cut of a number is worth its bits"
    assert model.notes["logistic, crossed, scale 1"] == "no two columns say more together than one by one"


def test_regressions_of_many_classes_are_bounded_by_their_weights() -> None:
    schema = Schema((Column("x", "number"), Column("z", "number")), Target("y", "text"))
    fill, crossed = np.zeros(2), Crossing((("x", "z"),), {"x": (0.0,), "z": (0.0,)}, {}, {}, ())
    seen = AsNumbers(schema, (), (), fill, {"x": (0.0, 1.0)}, crossed)  # 2 numbers, 2 cuts, 4 products
    (candidate,) = (each for each in CANDIDATES if each.name == "logistic, crossed, scale 0.3")
    few = Extent(1_000, 2, 0, 0, 0, n_classes=10, n_patterns=1)
    assert candidate.refusal_of_inputs(seen, few, 10) == ""
    assert "one width of the prior" in candidate.refusal_of_inputs(seen, replace(few, n_rows=3_000, n_classes=60), 10)
    assert candidate.refusal_of_inputs(seen, replace(few, n_classes=70), 10) == (
        "one width of the prior is tried for 630 weights in 10 folds"
    )
    assert "equations would take too long" in candidate.refusal_of_inputs(seen, replace(few, n_classes=200), 10)
    assert "rows x weights x folds are" in candidate.refusal_of_inputs(
        seen, replace(few, n_rows=10_000, n_classes=200), 10
    )
    assert candidate.refusal_of_inputs(seen, replace(few, n_classes=400), 10) == (
        "3,600 weights, and at most 3,000 are fitted"
    )


def test_means_stand_where_em_would_complete_too_many_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    by_em = {score.name: score for score in bw.fit(mixed_table(), "y", model="auto").scores}
    monkeypatch.setattr(candidates, "MOST_COMPLETED", 0.0)
    by_means = {score.name: score for score in bw.fit(mixed_table(), "y", model="auto").scores}
    assert by_means["gaussian, shared"].log_loss != by_em["gaussian, shared"].log_loss
    assert by_means["gaussian, shared"].how == "10 folds"  # means are learned again without the fold
    assert by_means["naive-bayes"] == replace(by_em["naive-bayes"], weight=by_means["naive-bayes"].weight)


def test_where_em_takes_long_it_is_tried_in_three_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MANY_COMPLETED", 0.0)
    how = {score.name: score.how for score in bw.fit(mixed_table(60), "y", model="auto").scores}
    assert how["gaussian, shared"] == "3 folds"
    assert how["logistic, scale 1"] == "10 folds"


def test_what_needs_an_additive_model_says_which(mixed_model: AutoModel) -> None:
    row = {"age": 50.0, "size": "L", "visits": 2}
    with pytest.raises(KindError, match='model="naive-bayes" or "logistic"'):
        mixed_model.nomogram(row)
    with pytest.raises(KindError, match='model="naive-bayes" or "logistic"'):
        mixed_model.alternatives("age")


def test_a_candidate_of_far_more_than_the_least_loss_has_no_part(mixed_model: AutoModel) -> None:
    least = min(score.log_loss for score in mixed_model.scores)
    most = 1.5 * least + 1.0 / 160  # one nat of all rows together proves nothing
    assert all(score.log_loss <= most for score in mixed_model.scores if score.weight > 0.0)


def test_where_classes_are_easily_separated_the_boldest_model_is_not_alone() -> None:
    g = np.random.default_rng(10)
    kind = np.repeat([0, 1, 2], 25)
    flags = (np.arange(12) // 4 == kind[:, None]) ^ (g.random((75, 12)) < 0.06)
    table = {f"f{j}": np.where(flags[:, j], "yes", "no").tolist() for j in range(12)}
    model: AutoModel = bw.fit(table | {"y": [f"k{k}" for k in kind]}, "y", model="auto")
    assert min(score.log_loss for score in model.scores) < 0.002
    assert model.weights.max() < 0.5


@pytest.mark.parametrize("cv", [2, 14])
def test_folds_of_a_few_rows_have_an_answer(cv: int) -> None:
    golf = compare_models("examples/golf.csv", "play", models=["auto", "naive-bayes"], cv=cv)
    assert not golf.failed
    assert {line.name for line in golf.models} == {"auto", "naive-bayes"}


def test_choose_best_is_the_candidate_of_least_left_out_loss() -> None:
    model: AutoModel = bw.fit(mixed_table(), "y", model="auto", choose="best")
    assert len(model.members) == 1
    assert model.members[0].name == min(model.scores, key=lambda score: score.log_loss).name


def test_choose_best_by_costs_needs_a_cost_for_every_class() -> None:
    costs = {"treat": {"ill": 0, "well": 1}, "wait": {"ill": 5, "well": 0}}
    model = bw.fit(mixed_table(), "y", model="auto", choose="best", costs=costs)
    assert len(model.members) == 1
    with pytest.raises(CostError, match="no entry for state 'well'"):
        bw.fit(mixed_table(), "y", model="auto", choose="best", costs={"treat": {"ill": 1}})
    with pytest.raises(ParameterError, match="costs choose one member"):
        bw.fit(mixed_table(), "y", model="auto", costs=costs)


def test_costs_of_any_form_choose_the_best(tmp_path: Path) -> None:
    table, by_class = category_table(), {"go": {"yes": 0, "no": 5}, "stay": {"yes": 1, "no": 1}}
    file = tmp_path / "decision.toml"
    file.write_text("[costs]\ngo = { yes = 0, no = 5 }\nstay = 1\n")
    expected = bw.fit(table, "y", choose="best", costs=by_class)
    for costs in ({"go": {"yes": 0, "no": 5}, "stay": 1}, bw.Costs(by_class), file):
        assert bw.fit(table, "y", choose="best", costs=costs) == expected
    assert expected.settings.costs == by_class


@pytest.mark.parametrize(
    ("costs", "says"),
    [
        ({"go": {"yse": 0, "no": 5}, "stay": 1}, "'yse', which is not a class.*did you mean 'yes'"),
        ({"go": {"yes": 0, "no": 5, "on": 2}, "stay": 1}, "'on', which is not a class"),
        ({"go": {"yes": 0, "no": "2 * a"}, "stay": 1}, "depend on the columns 'a'"),
    ],
)
def test_costs_that_do_not_suit_the_classes_are_refused(costs: Any, says: str) -> None:
    with pytest.raises(CostError, match=says):
        bw.fit(category_table(), "y", choose="best", costs=costs)


def test_a_given_prior_shifts_the_answer() -> None:
    plain = bw.fit(category_table(), "y", model="auto")
    moved = plain.changed(class_prior={"yes": 0.01, "no": 0.99})
    case = {"a": "a0", "b": "b0", "c": "u"}
    before, after = (model.predict_proba([case])[0] for model in (plain, moved))
    odds = np.log([0.99, 0.01]) - plain.log_prior
    assert np.log(after[1] / after[0]) == pytest.approx(np.log(before[1] / before[0]) + odds[1] - odds[0], abs=1e-9)
    assert moved.explain(case).log_odds("yes", "no") == pytest.approx(np.log(after[1] / after[0]), abs=1e-9)


def test_texts_are_read_by_the_members_that_can_read() -> None:
    words = ["good fine nice", "bad poor", "good nice", "awful bad"] * 10
    table = {"text": words, "n": [float(k % 7) for k in range(40)], "y": ["+", "-"] * 20}
    model = bw.fit(table, "y", model="auto", kinds={"text": "text"})
    assert model.predict([{"text": "nice good", "n": 3.0}]) == ["+"]
    assert {"naive-bayes", "logistic, scale 1"} <= {score.name for score in model.scores}


def test_words_of_a_text_share_what_it_says() -> None:
    """Among members that read words, others that average over them, and others that see no text."""
    generator = np.random.default_rng(5)
    good, bad, both = ["good", "fine", "nice"], ["bad", "poor", "awful"], ["the", "a", "and"]
    signs = generator.choice(["+", "-"], 120)
    texts = [
        " ".join([*generator.choice(good if sign == "+" else bad, 2), *generator.choice(both, 3)]) for sign in signs
    ]
    swapped = generator.random(120) < 0.2
    table = {"text": texts, "n": generator.normal(size=120) + (signs == "+"), "y": np.where(swapped, "-", signs)}
    model = bw.fit(table, "y", model="auto", kinds={"text": "text"})
    case = {"text": "nice nice the poor unheard", "n": 0.5}
    account = model.explain(case)
    text = next(each for each in account.contributions if each.column == "text")
    assert {"nice (2 times)", "the", "poor"} <= {word for word, _ in text.parts}
    assert np.allclose(sum(part for _, part in text.parts), text.log_likelihood, atol=1e-12)
    shown = [weight.value for weight in account.weigh("+").weights]
    assert "nice (2 times)" in shown
    log_p = dict(zip(model.classes, model.predict_log_proba([case])[0].tolist(), strict=True))
    assert account.log_odds("+", "-") == pytest.approx(log_p["+"] - log_p["-"], abs=1e-9)
    said = dict(text.parts)
    assert said["nice (2 times)"][model.classes.index("+")] > said["nice (2 times)"][model.classes.index("-")]


def test_what_needs_two_columns_says_so() -> None:
    model = bw.fit({"x": [0.0, 1.0, 2.0, 3.0] * 5, "y": ["a", "a", "b", "b"] * 5}, "y", model="auto")
    one = {name for name, reason in model.notes.items() if reason == "there is one column only"}
    assert one == {
        *("tan", "aode", "a2de", "k-dependence", "markov-blanket"),
        *("logistic, crossed, scale 0.3", "logistic, crossed, scale 1"),
    }


def test_little_time_drops_the_dearest_candidates_first(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(0, 100_000, 10))
    monkeypatch.setattr(learning.time, "monotonic", lambda: float(next(seconds)))
    model: AutoModel = bw.fit(mixed_table(), "y", model="auto", within="60s")
    dropped = {name for name, reason in model.notes.items() if "are left" in reason}
    assert "markov-blanket" in dropped
    assert "naive-bayes" not in dropped


def test_a_calibration_that_cannot_be_worth_its_numbers_is_not_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("35 free numbers cost more nats than six classes easily separated can lose")

    monkeypatch.setattr(weighing, "fit_calibration", refuse)
    g = np.random.default_rng(0)
    kind = np.arange(120) % 6
    x = 8.0 * kind[:, None] + g.normal(size=(120, 2))
    model: AutoModel = bw.fit({"a": x[:, 0].tolist(), "b": x[:, 1].tolist(), "y": [f"k{k}" for k in kind]}, "y")
    assert model.calibration.name == "none"


def test_a_time_that_is_enough_for_all_candidates_drops_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As fast as estimated: what 1,000 rows take is far below ten seconds."""
    clock = [0.0]
    monkeypatch.setattr(learning.time, "monotonic", lambda: clock[0])
    learn = Candidate.learned

    def timed(self: Candidate, batch: Any, *rest: Any) -> Any:
        clock[0] += seconds_for(self, Extent.of(rest[0], batch, batch), 10) / 11
        return learn(self, batch, *rest)

    monkeypatch.setattr(Candidate, "learned", timed)
    model: AutoModel = bw.fit(mixed_table(1_000), "y", model="auto", within="10s")
    assert not [name for name, reason in model.notes.items() if "are left" in reason]
    assert clock[0] < 10.0


def test_a_time_is_written_with_its_unit() -> None:
    assert [seconds_of(each) for each in ("60s", "1.5m", "2min", 7)] == [60.0, 90.0, 120.0, 7.0]
    for wrong in ("soon", "-3s", 0, True):
        with pytest.raises(ParameterError, match="within is"):
            seconds_of(wrong)


def test_rows_are_not_left_out_one_by_one(mixed_model: AutoModel) -> None:
    with pytest.raises(TooLargeError, match="cv=10"):
        mixed_model.leave_one_out(mixed_table())


def test_tables_of_one_class_and_of_one_row_have_an_answer() -> None:
    with pytest.warns(UserWarning, match="only the class 'a', so every answer will be this one"):
        one = bw.fit([{"x": 1.0, "y": "a"}, {"x": 2.0, "y": "a"}], "y", model="auto")
    assert one.predict_proba([{"x": 3.0}]).tolist() == [[1.0]]


def test_members_whose_names_have_commas_are_separated_by_semicolons() -> None:
    table = rare_class()
    model: AutoModel = bw.fit(table, "y", model="auto")
    listed = repr(model).partition("rows, ")[2].rstrip(")").split("; ")
    assert [each.rpartition(" ")[0] for each in listed] == [member.name for member in model.members]
    fixed = [member.name for member in model.members if member.learns_weights]
    assert len(fixed) > 1
    with pytest.warns(UserWarning) as found:
        model.forget(taken(table, [0]))
    assert str(found[0].message).startswith("; ".join(fixed) + " (weight")


def test_rows_of_an_older_mixture_are_counted_with_commas(mixed_model: AutoModel) -> None:
    old = replace(mixed_model, weight_weighed=1200.0, forgotten_since=1000.0)
    assert old.age == "those of 1,200 rows; since then 1,000 forgotten"


@pytest.mark.parametrize("kind", ["auto", "naive-bayes", "logistic"])
def test_of_one_class_one_model_is_learned_and_the_caller_is_warned(kind: str) -> None:
    table = mixed_table() | {"y": ["well"] * 160}
    with pytest.warns(UserWarning, match="only the class 'well'") as found:
        model = bw.fit(table, "y", model=kind)
    assert [each.filename for each in found] == [__file__]
    assert model.predict({"age": 30.0, "size": "S", "visits": 0}) == ["well"]
    if isinstance(model, AutoModel):
        assert len(model.members) == 1 and "only one class" in model.notes["logistic, scale 1"]


def test_on_noise_the_mixture_is_not_better_than_chance() -> None:
    """30 tables of noise: the left-out loss of the mixture is log 2 up to its error, and its answers are not sure."""
    losses, fresh = [], []
    for seed in range(30):
        g = np.random.default_rng(seed)
        table: Columns = {f"x{j}": g.normal(size=80).tolist() for j in range(4)}
        table |= {f"c{j}": [str(c) for c in g.choice(list("uvw"), 80)] for j in range(2)}
        table["y"] = [str(c) for c in g.choice(["a", "b"], 80)]
        model: AutoModel = bw.fit(table, "y", model="auto")
        losses.append(model.log_loss - np.log(2))
        new = {name: cells[::-1] for name, cells in table.items() if name != "y"}
        new["c0"] = new["c0"][::-1]
        fresh.append(np.abs(model.predict_proba(new)[:, 0] - 0.5).mean())
    error = np.std(losses) / np.sqrt(len(losses))
    assert np.mean(losses) > -2.0 * error
    assert np.mean(fresh) < 0.1


def test_the_one_model_is_not_the_boldest_of_those_that_made_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = ("gaussian", "logistic, scale 3")
    monkeypatch.setattr(learning, "CANDIDATES", tuple(each for each in CANDIDATES if each.name in kept))
    g = np.random.default_rng(0)
    groups = g.integers(0, 4, 300)
    share = np.clip(g.integers(0, 2, (4, 12)), 0.02, 0.98)  # each kind has a flag nearly always, or nearly never
    flags = g.random((300, 12)) < share[groups]
    columns: dict[str, Any] = {f"f{j}": np.where(flags[:, j], "yes", "no").tolist() for j in range(12)}
    columns["legs"] = (groups + 0.1 * g.normal(size=300)).tolist()
    seen, new = ({name: column[part] for name, column in columns.items()} for part in (slice(100), slice(100, None)))
    seen["y"] = [f"k{k}" for k in groups[:100]]
    model = bw.fit(seen, "y", model="auto", choose="best", calibrate="none")
    losses = {score.name: score.log_loss for score in model.scores}
    assert losses["gaussian"] < 1e-6 < losses["logistic, scale 3"]
    assert [member.name for member in model.members] == ["logistic, scale 3"]
    monkeypatch.setattr(learning, "CANDIDATES", tuple(each for each in CANDIDATES if each.name == "gaussian"))
    bold = bw.fit(seen, "y", model="auto", calibrate="none")
    rows = np.arange(200)
    chosen, boldest = (-each.predict_log_proba(new)[rows, groups[100:]].mean() for each in (model, bold))
    assert chosen < 0.01 < 1.0 < boldest


def rare_class(n: int = 800) -> dict[str, list[Any]]:
    """One row in 25 is of the class, and two numbers tell which."""
    g = np.random.default_rng(1)
    a, b = g.normal(size=(2, n))
    seen = g.random(n) < 1.0 / (1.0 + np.exp(7.0 - 2.5 * a - 2.0 * b))
    return {"a": a.round(3).tolist(), "b": b.round(3).tolist(), "y": ["yes" if each else "no" for each in seen]}


def test_an_account_begins_at_the_shares_of_the_classes_and_a_row_of_means_has_a_line_of_its_own() -> None:
    table = rare_class()
    model = bw.fit(table, "y", model="auto")
    row = {"a": 2.5, "b": 1.0}
    account = model.explain(row)
    share = table["y"].count("yes") / len(table["y"])
    assert account.start == "prior" and account.prior[1] == pytest.approx(share, abs=0.01)  # it was 0.003
    assert repr(account).startswith("Account(") and len(repr(account)) < 200
    assert "(at the means)" in account.columns and "(at the means)" not in account.cells
    p = model.predict_proba(row)[0]
    assert account.log_odds("yes") == pytest.approx(math.log(p[1] / p[0]), abs=1e-9)


def test_pairs_of_classes_are_contrasted_where_they_are_few() -> None:
    (candidate,) = (each for each in CANDIDATES if each.name == "averaged")
    dates = Extent(1_200, 4, 4, 0, 12, n_classes=577, n_patterns=1)
    assert candidate.refusal(dates) == (
        "1,200 rows, 4 numbers and 577 classes, whose pairs would be contrasted without each row"
    )
    assert candidate.refusal(replace(dates, n_numbers=0)) == ""  # only normal columns are contrasted
    digits = Extent(1_800, 64, 0, 0, 0, n_classes=10, n_patterns=1)
    assert candidate.refusal(digits) == ""
    assert seconds_for(candidate, replace(dates, n_rows=400), 10) > 2 * seconds_for(candidate, digits, 10)
