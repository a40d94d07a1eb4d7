"""Trees as members of `model="auto"`: interactions of more than two columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import SchemaError
from bayeswise.models.auto import boosting, candidates, learning
from bayeswise.models.auto.boosted_trees import AsTrees, Trees
from bayeswise.models.auto.boosting import Growing, Growth
from bayeswise.models.auto.model import AutoModel
from tests.cases.export_cases import posterior_in
from tests.databases import Lite
from tests.unit.store.files.make_files import FILES

N_ROWS = 500
Columns = dict[str, list[Any]]


def parity_table(seed: int = 0) -> Columns:
    """The class is the sign of a product of three numbers: no two of them say anything; a category says nothing."""
    g = np.random.default_rng(seed)
    x = g.normal(size=(N_ROWS, 3))
    y = np.where(g.random(N_ROWS) < 0.97, x.prod(axis=1) > 0, g.random(N_ROWS) < 0.5)
    columns: Columns = {f"x{j}": [round(float(cell), 3) for cell in x[:, j]] for j in range(3)}
    columns["x2"] = [None if g.random() < 0.05 else cell for cell in columns["x2"]]
    return {**columns, "c": [str(k) for k in g.choice(list("uvw"), N_ROWS)], "y": ["odd" if k else "even" for k in y]}


def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    trees = (each.name for each in candidates.CANDIDATES if each.sees == "trees")
    kept = ("naive-bayes", "logistic, scale 1", *trees)
    monkeypatch.setattr(learning, "CANDIDATES", tuple(each for each in candidates.CANDIDATES if each.name in kept))


@pytest.fixture(scope="module")
def model() -> AutoModel:
    with pytest.MonkeyPatch.context() as monkeypatch:
        few_candidates(monkeypatch)
        found: AutoModel = bw.fit(parity_table(), "y", model="auto")
    return found


def test_trees_find_what_three_columns_say_together(model: AutoModel) -> None:
    losses = {score.name: score.log_loss for score in model.scores}
    assert losses["trees, 16 leaves"] < 0.6 < 0.68 < losses["logistic, scale 1"]
    assert sum(weight for name, weight in model.weight_of_member.items() if "trees" in name) > 0.9
    new_rows = parity_table(1)
    right = np.array(model.predict({name: cells for name, cells in new_rows.items() if name != "y"})) == new_rows["y"]
    assert right.mean() > 0.8


def test_trees_go_on_where_classes_are_nearly_known(monkeypatch: pytest.MonkeyPatch) -> None:
    few_candidates(monkeypatch)
    g = np.random.default_rng(7)
    flags = g.random((700, 10)) < 0.5
    a, b, c, d, e = flags.T[:5]
    won = np.where(a & b, ~c, np.where(d & ~e, b, c & e))
    table: Columns = {f"f{j}": np.where(flags[:, j], "t", "f").tolist() for j in range(10)}
    found: AutoModel = bw.fit({**table, "y": np.where(won, "won", "lost").tolist()}, "y", model="auto")
    losses = {score.name: score.log_loss for score in found.scores}
    assert losses["trees, 16 leaves"] < 0.003  # 0.027 where a branch needs the curvature of a dozen doubtful rows


def test_the_same_rows_in_another_order_grow_the_same_trees(
    model: AutoModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    few_candidates(monkeypatch)
    order = np.random.default_rng(3).permutation(N_ROWS).tolist()
    shuffled = {name: [cells[k] for k in order] for name, cells in parity_table().items()}
    model.save(tmp_path / "one.bayeswise")
    bw.fit(shuffled, "y", model="auto").save(tmp_path / "other.bayeswise")
    assert (tmp_path / "one.bayeswise").read_bytes() == (tmp_path / "other.bayeswise").read_bytes()
    again = bw.load(tmp_path / "one.bayeswise")
    assert np.array_equal(again.predict_proba(parity_table(1)), model.predict_proba(parity_table(1)))


def test_what_columns_say_in_trees_adds_up(model: AutoModel) -> None:
    case = {name: cells[0] for name, cells in parity_table(1).items() if name != "y"}
    account = model.explain(case)
    log_p = model.predict_log_proba([case])[0]
    moved = account.log_prior + sum(part.log_likelihood for part in account.contributions)
    assert moved[1] - moved[0] == pytest.approx(log_p[1] - log_p[0], abs=1e-9)


def test_a_query_follows_the_splits_of_trees(model: AutoModel) -> None:
    new_rows = {name: cells[:60] for name, cells in parity_table(1).items() if name != "y"}
    new_rows["c"][0] = "never seen"
    found = Lite().answers(new_rows, model.to_sql("sqlite"))
    np.testing.assert_allclose(posterior_in(found, model), model.predict_proba(new_rows), rtol=1e-9)


def test_leaves_are_learned_again_from_the_same_rows_as_they_were() -> None:
    g = np.random.default_rng(2)
    x = g.normal(size=(500, 3))
    groups = (x[:, 0] > 0).astype(int) + (x[:, 1] * x[:, 2] > 0)
    growing = Growing.of_numbers(x, groups, 3, np.ones(500), x[:0], Growth(n_leaves=6, rate=0.3))
    for _ in range(20):
        growing.round()
    trees = growing.trees()
    again = trees.estimated(x, groups, np.ones(500))
    np.testing.assert_allclose(again.scores(x).argmax(axis=1), trees.scores(x).argmax(axis=1))
    one_by_one = trees.by_feature(x).sum(axis=2) + trees.start + trees.roots
    np.testing.assert_allclose(one_by_one, trees.scores(x), atol=1e-9)


def test_trees_that_are_much_worse_are_not_tried_in_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    few_candidates(monkeypatch)
    g = np.random.default_rng(5)
    x = g.normal(size=(N_ROWS, 2))
    y = np.where(x @ [2.0, 2.0] + 0.3 * g.logistic(size=N_ROWS) > 0, "a", "b")
    monkeypatch.setattr(learning, "TOO_FAR", 0.1)
    found = bw.fit({"u": x[:, 0].tolist(), "v": x[:, 1].tolist(), "y": y.tolist()}, "y", model="auto")
    assert "which no tree has seen" in found.notes["trees, 8 leaves"]


def test_trees_follow_a_rule_with_exceptions_of_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    few_candidates(monkeypatch)
    g = np.random.default_rng(11)
    flags = g.random((1_000, 24)) < 0.6
    won = np.zeros(1_000, dtype=bool)
    for k in range(8):  # each flag more turns the class over: a way of eight splits to the last
        won[flags[:, : k + 1].all(axis=1)] ^= True
    table: Columns = {f"f{j}": np.where(flags[:, j], "t", "f").tolist() for j in range(24)}
    found: AutoModel = bw.fit({**table, "y": np.where(won, "won", "lost").tolist()}, "y", model="auto")
    losses = {score.name: score.log_loss for score in found.scores}
    assert losses["trees, 16 leaves"] < 0.0006  # 0.0009 of complete trees, 6 splits deep


def test_a_rare_flag_is_split_on(monkeypatch: pytest.MonkeyPatch) -> None:
    few_candidates(monkeypatch)
    g = np.random.default_rng(13)
    rare, a, b = np.array([[0.02], [0.5], [0.5]]) > g.random((1_000, 3)).T
    table: Columns = {name: np.where(flag, "t", "f").tolist() for name, flag in (("rare", rare), ("a", a), ("b", b))}
    y = np.where(np.where(rare, ~a, a ^ b), "won", "lost").tolist()
    found: AutoModel = bw.fit({**table, "y": y}, "y", model="auto")
    losses = {score.name: score.log_loss for score in found.scores}
    assert losses["trees, 8 leaves"] < 0.01  # 0.05 where the borders of bins are quantiles, which pass it over


def test_numbers_that_are_nearly_all_the_same_are_split_where_they_differ() -> None:
    x = np.zeros((2_000, 1))
    x[:40, 0] = np.arange(1, 41) / 7.0
    groups = (x[:, 0] > 0).astype(np.int64)
    growing = Growing.of_numbers(x, groups, 2, np.ones(2_000), x[:0], Growth(n_leaves=2, rate=1.0))
    growing.round()
    assert growing.trees().threshold[0, 0] == 1.0 / 7.0


def test_rounds_that_gain_next_to_nothing_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    g = np.random.default_rng(14)
    table: Columns = {f"f{j}": np.where(g.random(400) < 0.5, "t", "f").tolist() for j in range(4)}
    table["y"] = [str((a == b) == (c == d)) for a, b, c, d in zip(*table.values(), strict=True)]
    monkeypatch.setattr(
        learning, "CANDIDATES", tuple(each for each in candidates.CANDIDATES if each.name == "trees, 16 leaves")
    )

    def n_trees() -> int:
        (member,) = bw.fit(table, "y", model="auto").members
        assert isinstance(member.inputs, AsTrees)
        return len(member.inputs.trees.state)

    enough = n_trees()
    monkeypatch.setattr(boosting, "WORTH", 0.0)
    assert enough < 300 < n_trees()


def test_each_level_of_a_category_can_be_split_on(monkeypatch: pytest.MonkeyPatch) -> None:
    few_candidates(monkeypatch)
    g = np.random.default_rng(12)
    levels = g.choice(list("aabc"), (300, 3))
    table: Columns = {f"c{j}": levels[:, j].tolist() for j in range(3)}
    y = np.where((levels == "a").all(axis=1), "all", "not all").tolist()
    found: AutoModel = bw.fit({**table, "y": y}, "y", model="auto")
    (inputs,) = (each.inputs for each in found.members if each.name == "trees, 8 leaves")
    assert isinstance(inputs, AsTrees)
    assert [name for name, _ in inputs.base.features] == [f"c{j}={level}" for j in range(3) for level in "abc"]


def test_complete_trees_of_an_older_file_are_exported() -> None:
    model = bw.load(FILES / "auto-complete-trees.bayeswise")
    rows = {"a": list("ffft"), "b": list("ffft"), "c": list("uvvv"), "x": [0.9, 1.4, -1.1, -0.8]}
    found = Lite().answers(rows, model.to_sql("sqlite"))
    np.testing.assert_allclose(posterior_in(found, model), model.predict_proba(rows), rtol=1e-9)


def test_a_file_of_a_tree_that_splits_on_nothing_is_refused(model: AutoModel) -> None:
    (inputs,) = (each.inputs for each in model.members if each.name == "trees, 16 leaves")
    assert isinstance(inputs, AsTrees)
    inputs.refuse_impossible()
    trees: Trees = inputs.trees
    trees.refuse_impossible()
    with pytest.raises(SchemaError, match="not there"):
        replace(inputs, trees=replace(trees, feature=trees.feature + 99)).refuse_impossible()
    with pytest.raises(SchemaError, match="match"):
        replace(trees, value=trees.value[:, 1:]).refuse_impossible()
    with pytest.raises(SchemaError, match="ridge"):
        replace(trees, ridge=0.0).refuse_impossible()
    assert trees.node is not None
    for wrong in (3, -2, 0):  # a node that comes later, one that is not a node, and one that is split already
        node = trees.node.copy()
        node[0, 1] = wrong
        with pytest.raises(SchemaError, match="splits a node"):
            replace(trees, node=node).refuse_impossible()
    with pytest.raises(SchemaError, match="match"):
        replace(trees, node=trees.node[:, 1:]).refuse_impossible()
    with pytest.raises(SchemaError, match="deep"):
        replace(trees, node=None).refuse_impossible()
    with pytest.raises(SchemaError, match="match"):
        replace(trees, node=None, depth=3).refuse_impossible()  # 15 splits are not those of so deep complete trees


def test_candidates_that_say_the_same_of_all_left_out_rows_are_one() -> None:
    g = np.random.default_rng(2)
    a, b, c = g.integers(0, 2, (3, 400))
    y = (a ^ b ^ c) ^ (g.random(400) < 0.1)
    table = {name: ["nt"[k] for k in values] for name, values in (("a", a), ("b", b), ("c", c), ("y", y.astype(int)))}
    model = bw.fit(table, "y")
    names = [score.name for score in model.scores]
    assert "trees, 8 leaves" in names
    assert "trees, 16 leaves" not in names
    assert model.notes["trees, 16 leaves"] == "it says of all left-out rows what trees, 8 leaves says"
