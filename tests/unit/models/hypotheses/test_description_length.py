"""Description length: NML against enumeration, cuts, codes, choices and pruned trees."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import duckdb
import mpmath
import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayeswise as bw
from bayeswise import families
from bayeswise.estimators.description_length_tree import DescriptionLengthTree
from bayeswise.foundation.errors import MissingCellError, NonFiniteError
from bayeswise.models.averaged_naive_bayes import averaged
from bayeswise.models.description_length import bits as multinomial
from bayeswise.models.description_length import (
    coded_family,
    cut_points,
    description_length,
    log_regret,
    nml_bits,
    select,
)
from tests.paths import GOLF


@pytest.mark.parametrize(("n", "k"), [(1, 2), (2, 2), (5, 2), (4, 3), (6, 3), (5, 4), (3, 5), (7, 1)])
def test_the_regret_equals_the_sum_over_all_sequences(n: int, k: int) -> None:
    total = 0.0
    for sequence in product(range(k), repeat=n):
        counts = np.bincount(sequence, minlength=k)
        total += math.prod((c / n) ** c for c in counts.tolist() if c)
    assert math.exp(log_regret(n, k)) == pytest.approx(total, rel=1e-12)


def test_nml_lengths_are_those_of_a_code() -> None:
    n, k = 6, 3
    kraft = sum(2.0 ** -sum(nml_bits(np.bincount(s, minlength=k))) for s in product(range(k), repeat=n))
    assert kraft == pytest.approx(1.0, rel=1e-12)


def test_the_regret_of_many_rows_grows_by_half_a_log_for_each_parameter() -> None:
    grown = log_regret(1_000_000, 5) - log_regret(10_000, 5)
    assert grown == pytest.approx(0.5 * 4 * math.log(100.0), abs=0.03)


def test_a_class_boundary_is_cut_and_noise_is_not() -> None:
    generator = np.random.default_rng(0)
    x = np.concatenate([generator.uniform(0, 1, 100), generator.uniform(2, 3, 100), generator.uniform(4, 5, 100)])
    cuts = cut_points(x, np.repeat([0, 1, 0], 100))
    assert len(cuts) == 2 and 1 < cuts[0] < 2 and 3 < cuts[1] < 4
    assert len(cut_points(generator.normal(size=300), generator.integers(0, 2, 300))) == 0
    assert len(cut_points(np.full(5, 2.0), np.array([0, 1, 0, 1, 0]))) == 0
    assert len(cut_points(np.array([]), np.array([], dtype=np.int32))) == 0


def test_iris_is_cut_where_the_flowers_differ() -> None:
    X, y = load_iris(return_X_y=True)
    cuts = cut_points(X[:, 2], y)
    assert cuts[0] == pytest.approx(2.45)
    assert cuts[1] == pytest.approx(4.75)


def test_bits_of_the_evidence_code_are_minus_log2_of_the_evidence() -> None:
    model = bw.fit(GOLF, target="play", model="naive-bayes")
    length = description_length(model)
    assert [part.name for part in length.parts] == ["play", "outlook", "temperature", "humidity", "wind"]
    assert length.bits == pytest.approx(sum(part.bits for part in length.parts))
    assert length.parts[0].bits == pytest.approx(math.log2(15 * math.comb(14, 5)), rel=1e-12)


def test_the_shortest_description_is_the_most_probable_structure() -> None:
    columns = ["outlook", "temperature", "humidity", "wind"]
    plain = bw.fit(GOLF, target="play", model="naive-bayes")
    structures = {str(k): averaged(plain, {c: float(k >> j & 1) for j, c in enumerate(columns)}) for k in range(16)}
    found = select(structures)
    weights = bw.average(structures).weights
    assert found.best == max(weights, key=lambda name: weights[name])
    assert found.model is structures[found.best]


def test_all_three_codes_rank_a_real_column_above_noise() -> None:
    generator = np.random.default_rng(2)
    y = generator.integers(0, 2, 400)
    rows = [{"a": f"v{v ^ (generator.random() < 0.2)}", "b": f"v{generator.integers(2)}", "y": f"c{v}"} for v in y]
    model = bw.fit(rows, target="y", model="naive-bayes")
    for code in ("evidence", "two-part", "nml"):
        bits = {part.name: part.bits for part in description_length(model, code).parts}
        assert bits["a"] < 0.8 * 400 < 0.95 * 400 < bits["b"]


def test_codes_that_do_not_exist_are_refused_with_one_that_does() -> None:
    rows = [{"x": float(k), "y": "ab"[k % 2]} for k in range(10)]
    model = bw.fit(rows, target="y", kinds={"x": "number"}, model="naive-bayes")
    assert description_length(model, "two-part").bits > 0
    with pytest.raises(bw.UsageError, match="no nml code"):
        description_length(model, "nml")
    with pytest.raises(bw.UsageError, match="average over structures"):
        description_length(averaged(model), "two-part")
    with pytest.raises(bw.UsageError, match="needs a table"):
        select({"a": lambda table: model})


@parametrize_with_checks([DescriptionLengthTree(), DescriptionLengthTree(code="nml")])
def test_scikit_learn_finds_nothing_to_complain_about(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_tree_of_noise_is_pruned_to_its_root_unless_noise_is_a_list_of_exceptions() -> None:
    generator = np.random.default_rng(1)
    X, y = generator.normal(size=(300, 5)), generator.integers(0, 2, 300)
    assert DescriptionLengthTree(code="nml").fit(X, y).n_leaves_ == 1
    full = DecisionTreeClassifier(random_state=0).fit(X, y).get_n_leaves()
    assert 1 < DescriptionLengthTree().fit(X, y).n_leaves_ < full


def test_the_pruned_tree_has_the_fewest_bits_of_all_prunings() -> None:
    generator = np.random.default_rng(7)
    X = generator.integers(0, 4, size=(30, 2)).astype(float)
    y = ((X[:, 0] > 1) ^ (generator.random(30) < 0.15)).astype(int)
    model = DescriptionLengthTree(max_depth=3).fit(X, y)
    tree = model.tree_.tree_
    counts = np.rint(tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None])
    thresholds = [len(np.unique(column)) - 1 for column in X.T]

    def all_costs(node: int) -> list[float]:
        wrong = counts[node].sum() - counts[node].max()
        as_leaf = 1 + 1 + wrong * (math.log2(30) + 1)
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            return [as_leaf]
        split = 1 + 1 + math.log2(thresholds[tree.feature[node]])
        return [as_leaf, *(split + a + b for a in all_costs(left) for b in all_costs(right))]

    assert model.bits_ == pytest.approx(min(all_costs(0)), rel=1e-12)


def test_pruning_by_bits_keeps_the_accuracy_of_the_full_tree_with_a_fraction_of_its_leaves() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pruned, full = DescriptionLengthTree().fit(X, y), DecisionTreeClassifier(random_state=0).fit(X, y)
    assert pruned.n_leaves_ < 0.5 * full.get_n_leaves()
    ours, theirs = (
        cross_val_score(model, X, y, cv=5).mean()
        for model in (DescriptionLengthTree(), DecisionTreeClassifier(random_state=0))
    )
    assert ours > theirs - 0.02


@pytest.mark.parametrize("n", [1, 7, 100, 3000])
def test_the_regret_of_two_levels_keeps_all_its_digits(n: int) -> None:
    with mpmath.workdps(40):
        terms = (mpmath.binomial(n, h) * mpmath.mpf(h) ** h * mpmath.mpf(n - h) ** (n - h) for h in range(n + 1))
        exact = mpmath.fsum(terms) / mpmath.mpf(n) ** n
        assert math.exp(log_regret(n, 2)) == pytest.approx(float(exact), rel=2e-15)


def test_the_sum_and_the_series_of_the_regret_meet_and_any_number_of_rows_has_one() -> None:
    most = multinomial._MOST_TERMS
    assert multinomial._of_two_and_many(most) == pytest.approx(multinomial._of_two(most), rel=1e-14)
    assert log_regret(10**15, 2) == pytest.approx(0.5 * math.log(math.pi * 10**15 / 2), abs=1e-7)


@pytest.mark.parametrize("counts", [[-1, 2], [0.5, 1.5], [math.nan], ["a"], [[1, 2], [3, 4]], [math.inf]])
def test_what_is_not_a_column_of_counts_has_no_code(counts: Any) -> None:
    with pytest.raises(bw.UsageError, match="Fix: "):
        nml_bits(counts)


@pytest.mark.parametrize("n, k", [("2", 2), (2, 2.5), (True, 2), (2, None)])
def test_the_regret_is_that_of_whole_numbers(n: Any, k: Any) -> None:
    with pytest.raises(bw.UsageError, match="Fix: "):
        log_regret(n, k)


@pytest.mark.parametrize(
    "values, groups, more",
    [
        (["a", "b"], [0, 1], {}),
        ([1.0, 2.0], [0, 5], {"n_groups": 2}),
        ([1.0, 2.0], [0], {}),
        ([1.0, 2.0], [0, 1], {"weights": [1.0]}),
        ([1.0, 2.0], [0, 1], {"weights": [1.0, -1.0]}),
        ([1.0, math.inf], [0, 1], {}),
    ],
)
def test_what_is_not_a_column_is_not_cut(values: Any, groups: Any, more: Any) -> None:
    with pytest.raises(bw.BayeswiseError, match="Fix: "):
        cut_points(values, groups, **more)


def test_trees_are_selected_by_the_bits_of_their_splits_and_leaves() -> None:
    X, y = load_iris(return_X_y=True)
    trees = {f"depth {d}": bw.DescriptionLengthTree(max_depth=d).fit(X, y) for d in (1, 2, 3)}
    chosen = select(trees, code="two-part")
    assert chosen.best == "depth 3" and list(chosen.lengths) == ["depth 3", "depth 2", "depth 1"]
    two = trees["depth 2"]
    splits, leaves = chosen.lengths["depth 2"].parts
    one_split = 1 + math.log2(4)
    petal = [math.log2(len(np.unique(X[:, c])) - 1) for c in (2, 3)]
    assert splits.model_bits in [pytest.approx(2 * one_split + a + b) for a in petal for b in petal]
    assert leaves.model_bits == pytest.approx(3 * (1 + math.log2(3)))
    assert leaves.data_bits == pytest.approx((two.predict(X) != y).sum() * (math.log2(150) + math.log2(3)))
    assert chosen.lengths["depth 2"].bits == two.bits_
    with pytest.raises(bw.UsageError, match='code="two-part"'):
        select(trees)


def test_models_without_names_are_numbered() -> None:
    assert list(select([families.Poisson(), families.Geometric()], [3, 4, 2, 3]).lengths) == ["model 0", "model 1"]


@pytest.mark.parametrize("scale", [1e300, 1e-310])
def test_families_are_weighed_in_the_unit_of_the_column(scale: float) -> None:
    """Squares of such numbers are not floats; a change of the unit adds the same bits for every value."""
    values = np.array([1.0, 1.5, 2.0, 2.75, 3.0])
    small, large = (description_length(coded_family(families.Normal(), x)).bits for x in (values, values * scale))
    assert large == pytest.approx(small + 5 * math.log2(scale), rel=1e-12)


def test_families_that_describe_no_single_column_say_so() -> None:
    for family in (families.Multinomial(), families.MultivariateNormal()):
        with pytest.raises(bw.UsageError, match="several columns"):
            coded_family(family, [1.0, 2.0])
    with pytest.raises(bw.UsageError, match="no maximum"):
        description_length(coded_family(families.StudentT(), [1.0, 0.0, 1.0, 1.0]), "two-part")


# -- trees with categories, node by node ------------------------------------------------------------------------------
def golf_frame(copies: int) -> tuple[Any, Any]:
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(GOLF)
    whole = pandas.concat([table] * copies, ignore_index=True)
    return whole.drop(columns="play"), whole["play"]


def test_a_tree_asks_for_levels_and_pays_for_the_choice_of_one() -> None:
    """A split costs 1 bit, log2(4) for its column, and log2(3) for one of three levels; of two levels one is enough."""
    X, y = golf_frame(6)
    tree = DescriptionLengthTree().fit(X, y)
    columns = tree.described().to_columns()
    by_question = dict(zip(columns["question"], columns["bits"], strict=True))
    assert by_question["outlook = overcast"] == pytest.approx(1 + 2 + np.log2(3))
    assert by_question["humidity = normal"] == pytest.approx(1 + 2)
    assert sum(columns["bits"]) == pytest.approx(tree.bits_) == pytest.approx(tree.description_length().bits)
    assert tree.score(X, y) == 1.0
    assert tree.described().n_leaves == tree.n_leaves_


def test_a_level_that_was_never_seen_answers_no_to_every_question() -> None:
    X, y = golf_frame(6)
    tree = DescriptionLengthTree().fit(X, y)
    row = X.head(1).assign(outlook="fog")
    other = X.head(1).assign(outlook="sunny")
    assert tree.predict(row).tolist() == tree.predict(other).tolist()


def test_the_text_of_a_tree_has_the_bits_of_each_node() -> None:
    X = np.arange(40.0)[:, None]
    tree = DescriptionLengthTree().fit(X, (X[:, 0] > 20).astype(int))
    assert str(tree.described()).splitlines() == [
        "x0 <= 20.5?  [6.285 bits]",
        "  yes: 0 (21 of 21)  [2 bits]",
        "  no: 1 (19 of 19)  [2 bits]",
        "2 leaves, 10.29 bits in all",
    ]


def test_numbers_and_categories_go_together_and_missing_numbers_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    X = pandas.DataFrame({"x": random.normal(size=60), "c": random.choice(["u", "v", "w"], 60)})
    y = np.where((X["c"] == "u") & (X["x"] > 0), "yes", "no")
    tree = DescriptionLengthTree().fit(X, y)
    questions = {q for q in tree.described().to_columns()["question"] if q}
    assert "c = u" in questions and tree.score(X, y) == 1.0
    with pytest.raises(bw.DataError, match="a number in every cell"):
        tree.predict(X.assign(x=np.nan))


def test_rows_come_as_any_table_of_other_libraries() -> None:
    random = np.random.default_rng(0)
    frame = pl.DataFrame({"a": random.normal(size=60), "b": random.normal(size=60)})
    y = np.where(frame["a"] > 0, "yes", "no")
    expected = DescriptionLengthTree().fit(frame, y).predict_proba(frame).tolist()
    relation = duckdb.sql("SELECT * FROM frame")
    for form in (frame.lazy, lambda: frame.to_arrow().to_reader(), lambda: relation, frame.to_pandas, frame.to_numpy):
        assert DescriptionLengthTree().fit(form(), y).predict_proba(form()).tolist() == expected


def test_lists_of_rows_may_hold_text() -> None:
    rows = [["u", 1], ["v", 2], ["u", 3], ["v", 4]] * 5
    assert DescriptionLengthTree().fit(rows, [0, 1] * 10).predict([["u", 9], ["v", 0]]).tolist() == [0, 1]


@pytest.mark.parametrize(("value", "error"), [(np.inf, NonFiniteError), (np.nan, MissingCellError)])
def test_cells_that_are_not_numbers_are_refused_by_name_learning_or_predicting(value: float, error: Any) -> None:
    X, y = np.arange(40.0)[:, None], np.arange(40) > 20
    with pytest.raises(error, match=r"column 'x0' .* in row 2"):
        DescriptionLengthTree().fit(X, y).predict([[1.0], [value]])
    with pytest.raises(error, match=r"column 'x0' .* in row 41"):
        DescriptionLengthTree().fit(np.vstack([X, [[value]]]), [*y, True])


def test_a_tree_is_drawn_with_a_box_for_each_node() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    X, y = golf_frame(6)
    tree = DescriptionLengthTree().fit(X, y)
    shown = tree.plot()
    texts = [text.get_text() for text in shown.ax_.texts]
    assert "outlook = overcast?\n4.585 bits" in texts
    assert sum(text.endswith(" bits") for text in texts) == 2 * tree.n_leaves_ - 1
    assert shown.ax_.get_title(loc="left") == "7 leaves, 36.75 bits in all"
    plt.close("all")
