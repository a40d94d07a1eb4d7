"""`bw.fit(model="tree")`: a tree of questions that is as large as its description is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import bayeswise as bw
from bayeswise.explanations.account import Account
from bayeswise.foundation.errors import BayeswiseError, FitError, ParameterError
from bayeswise.models.tree.growing import Answers, full_tree

WEATHER = [
    {"outlook": o, "wind": w, "heat": h, "play": p}
    for o, w, h, p in 8
    * [
        ("sunny", "weak", 30.0, "no"),
        ("sunny", "weak", 20.0, "yes"),
        ("rainy", "strong", 18.0, "no"),
        ("rainy", "weak", 17.0, "yes"),
        ("overcast", "strong", 25.0, "yes"),
        ("overcast", "weak", 31.0, "yes"),
    ]
]


def test_the_bits_of_the_nodes_add_up_to_those_of_the_tree() -> None:
    model = bw.fit(WEATHER, "play", model="tree")
    tree = model.described()
    assert model.predict(WEATHER) == [row["play"] for row in WEATHER]
    assert sum(node.bits for _, _, node in tree.root.walk()) == pytest.approx(tree.bits)
    assert model.description_length().bits == pytest.approx(tree.bits)
    assert str(tree).splitlines()[-1] == f"{tree.n_leaves} leaves, {tree.bits:.4g} bits in all"


def test_classes_that_columns_say_nothing_of_are_one_leaf() -> None:
    generator = np.random.default_rng(0)
    rows = pd.DataFrame({"x": generator.normal(size=300), "y": generator.choice(["a", "b"], 300)})
    model = bw.fit(rows, "y", model="tree")
    share = (rows["y"] == "a").mean()
    assert model.described().n_leaves == 1
    assert model.predict_proba({"x": 0.0}).tolist() == [pytest.approx([share, 1.0 - share])]


def test_the_shares_of_a_leaf_are_smoothed_towards_those_of_all_rows() -> None:
    rows = [{"x": x, "y": y} for x, y in 10 * [("l", "a"), ("l", "a"), ("r", "b")]]
    model = bw.fit(rows, "y", model="tree", smoothing=1.5)
    left = (20 + 1.5 * 2 * 2 / 3) / (20 + 1.5 * 2)
    assert model.predict_proba({"x": "l"})[0].tolist() == pytest.approx([left, 1.0 - left])


def test_another_prior_moves_the_odds_of_every_leaf_by_the_same_factor() -> None:
    plain = bw.fit(WEATHER, "play", model="tree", max_depth=1)
    moved = bw.fit(WEATHER, "play", model="tree", max_depth=1, class_prior={"no": 0.5, "yes": 0.5})
    odds = plain.log_odds(WEATHER, "yes", "no") - moved.log_odds(WEATHER, "yes", "no")
    assert odds == pytest.approx(np.log(2.0))


def test_an_explanation_follows_the_questions_to_the_leaf_and_adds_up_to_its_posterior() -> None:
    model = bw.fit(WEATHER, "play", model="tree")
    for row in WEATHER[:6]:
        why = model.explain(row)
        assert isinstance(why, Account)
        assert why.posterior == pytest.approx(model.predict_proba(row)[0])
        tested = [part.note for part in why.contributions if part.note != "not asked"]
        assert tested and all(note.endswith((": yes", ": no")) for note in tested)


def test_without_smoothing_an_explanation_of_a_pure_leaf_is_certain() -> None:
    model = bw.fit(WEATHER, "play", model="tree", smoothing=0.0)
    assert model.explain(WEATHER[0]).posterior.tolist() == model.predict_proba(WEATHER[0])[0].tolist() == [1.0, 0.0]


def test_a_missing_cell_and_an_unseen_level_answer_no() -> None:
    rows = [{"x": x, "c": c, "y": y} for x, c, y in 12 * [(1.0, "p", "a"), (2.0, "q", "b"), (None, "q", "b")]]
    by_number = bw.fit(rows, "y", model="tree", ignore=["c"])
    assert by_number.described().root.question == "x <= 1.5"
    assert by_number.predict([{"x": None}, {"x": 1.0}]) == ["b", "a"]
    assert "missing: answers no" in by_number.explain({"x": None}).contributions[0].note
    by_level = bw.fit(rows, "y", model="tree", ignore=["x"])
    assert by_level.predict([{"c": "new"}, {"c": None}]) == by_level.predict([{"c": "p"}, {"c": "p"}])


def test_a_tree_is_the_same_for_any_order_of_the_rows_and_after_a_file(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    rows = pd.DataFrame({"x": generator.integers(0, 9, 200), "c": generator.choice(list("pqr"), 200)})
    rows["y"] = np.where((rows["x"] > 4) ^ (rows["c"] == "q"), "a", "b")
    model = bw.fit(rows, "y", model="tree")
    other = bw.fit(rows.sample(frac=1.0, random_state=1), "y", model="tree")
    model.save(tmp_path / "one.bayeswise")
    other.save(tmp_path / "other.bayeswise")
    assert (tmp_path / "one.bayeswise").read_bytes() == (tmp_path / "other.bayeswise").read_bytes()
    assert bw.load(tmp_path / "one.bayeswise").predict_proba(rows) == pytest.approx(model.predict_proba(rows), abs=0)


def test_a_row_of_weight_three_counts_as_three_rows() -> None:
    weights = [1 + k % 3 for k in range(len(WEATHER))]
    weighted = bw.fit(
        [{**row, "w": w} for row, w in zip(WEATHER, weights, strict=True)], "play", model="tree", weight="w"
    )
    repeated = bw.fit([row for row, w in zip(WEATHER, weights, strict=True) for _ in range(w)], "play", model="tree")
    assert str(weighted.described()) == str(repeated.described())


def test_numbers_that_differ_in_the_last_digit_are_distinguished() -> None:
    low = 1e300
    rows = [{"x": x, "y": y} for x, y in 10 * [(low, "a"), (float(np.nextafter(low, np.inf)), "b")]]
    model = bw.fit(rows, "y", model="tree", kinds={"x": "number"})
    assert model.predict(rows) == [row["y"] for row in rows]


@pytest.mark.parametrize("seed", range(4))
def test_the_full_tree_is_that_of_scikit_learn_by_entropy(seed: int) -> None:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(2000, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + generator.normal(size=2000) > 0.5).astype(np.int64) + (X[:, 2] > 1.0)
    ranks = np.argsort(np.argsort(X, axis=0), axis=0)
    columns = [Answers(column, True, np.ones(1999, dtype=bool)) for column in ranks.T]
    ours = full_tree(columns, y, 3, np.ones(2000), lambda counts: (counts > 0).sum(axis=1) > 1, 3)
    peer = DecisionTreeClassifier(criterion="entropy", max_depth=3, random_state=0).fit(ranks, y).tree_

    def questions(tree: Any) -> list[tuple[int, tuple[int, ...]]]:
        """Column and classes of each split, from the root on; of the ranks between two rows any one separates them."""
        found, pending = [], [(0, np.arange(2000))]
        while pending:
            at, rows = pending.pop()
            if tree.children_left[at] >= 0:
                yes = ranks[rows, tree.feature[at]] <= tree.threshold[at]
                found.append((int(tree.feature[at]), tuple(rows[yes].tolist())))
                pending += [(tree.children_right[at], rows[~yes]), (tree.children_left[at], rows[yes])]
        return found

    assert questions(ours) == questions(peer)


def test_rows_left_out_are_answered_by_the_tree_of_the_others() -> None:
    rows = WEATHER[:12]
    model = bw.fit(rows, "play", model="tree")
    left_out = model.leave_one_out(rows)
    others = bw.fit(rows[1:], "play", model="tree", schema=model.schema)
    assert left_out[0] == pytest.approx(others.predict_proba(rows[0])[0])
    assert bw.evaluate(model, rows, cv=3).log_loss.mean > 0


def test_a_tree_decides_under_costs() -> None:
    model = bw.fit(WEATHER, "play", model="tree")
    costs = {"stay": {"no": 0, "yes": 1}, "go": {"no": 20, "yes": 0}}
    assert set(bw.decide(model, WEATHER, costs).actions) == {"stay", "go"}


def test_free_text_and_weights_that_are_not_counted_are_refused() -> None:
    texts = [{"t": f"many words of text {k}", "y": "ab"[k % 2]} for k in range(10)]
    with pytest.raises(FitError, match="free text, which a tree cannot split on"):
        bw.fit(texts, "y", model="tree", kinds={"t": "text"})
    rows = [{**row, "w": 0.7} for row in WEATHER]
    with pytest.raises(ParameterError, match="whole numbers"):
        bw.fit(rows, "play", model="tree", weight="w")
    assert bw.fit(rows, "play", model="tree", weight="w", code="exceptions").rows_learned == pytest.approx(0.7 * 48)
    with pytest.raises(BayeswiseError):
        bw.fit(WEATHER, "play", model="tree", code="bits")


def test_trees_do_not_merge_and_do_not_forget() -> None:
    model = bw.fit(WEATHER, "play", model="tree")
    assert not hasattr(model, "merge") and not hasattr(model, "forget") and model.selected_by_rows == ("questions",)
