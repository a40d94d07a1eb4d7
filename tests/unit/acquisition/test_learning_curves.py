"""Learning curves: what they say, what they refuse, and how they are drawn."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import bayeswise as bw
from bayeswise.acquisition import LearningCurves
from bayeswise.acquisition.curves import HeldOut
from bayeswise.acquisition.plots import same_curves
from bayeswise.acquisition.pool import Pool
from bayeswise.foundation import progress

ROWS = [{"x": k % 5 + 4.0 * (k % 2), "z": float(k % 3), "y": "ab"[k % 2]} for k in range(40)]


def curves_of(rows: Any = ROWS, target: str = "y", **words: Any) -> LearningCurves:
    kinds = {"x": "number", "z": "number"}
    return bw.learning_curves(rows, target, **{"n_labels": 6, "n_seeds": 2, "kinds": kinds, **words})


def made(**accuracy: list[list[float]]) -> LearningCurves:
    curves = {name.replace("_", " "): np.array(rows) for name, rows in accuracy.items()}
    return LearningCurves("t", curves, np.ones(2), 9, 3)


def test_the_mean_over_the_seeds_may_be_good_before_each_seed_is() -> None:
    """Seed 1 is good from label 4 on, seed 2 from label 2 on: 3 on average; their mean .99 is enough at label 3."""
    curves = made(margin=[[0.5, 0.9, 0.985, 1.0], [0.5, 1.0, 1.0, 1.0]])
    assert curves.mean_labels_to_reach(0.99) == {"margin": 3.0}
    assert curves.labels_of_the_mean(0.99) == {"margin": 3}
    assert curves.labels_of_the_mean(1.0) == {"margin": 4}
    assert made(margin=[[0.5, 0.9], [0.5, 1.0]]).labels_of_the_mean() == {"margin": 3}  # one more than all: never


def test_a_gain_is_measured_shuffle_by_shuffle() -> None:
    """Gains of .2 and .1: the mean .15, the standard error .0707 / sqrt 2 = .05, though the shuffles differ by .4."""
    curves = made(margin=[[0.9, 0.7], [0.4, 0.4]], random=[[0.6, 0.6], [0.2, 0.4]])
    assert curves.gain("margin") == pytest.approx((0.15, 0.05))
    assert curves.gain("random", over="margin")[0] == pytest.approx(-0.15)
    with pytest.raises(bw.UsageError, match=r"no curve of 'entropy'. Fix: choose one of 'margin', 'random'"):
        curves.gain("entropy")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"n_labels": 0}, "n_labels is 0"),
        ({"n_labels": 2.5}, r"n_labels is 2\.5"),
        ({"n_seeds": -3}, "n_seeds is -3"),
        ({"n_seeds": True}, "n_seeds is True"),
        ({"strategies": ()}, "no strategy"),
        ({"strategies": "margins"}, "no strategy 'margins'"),
        ({"test_share": "a third"}, "test_share is 'a third'"),
        ({"test_share": 0.001}, "keeps none of 40 rows"),
        ({"rows": [{**row, "y": "a"} for row in ROWS]}, "every row of list of dicts has the same 'y', 'a'"),
        ({"rows": [{**row, "y": k / 7} for k, row in enumerate(ROWS)]}, "each of the 40 rows"),
    ],
)
def test_what_makes_no_curve_is_refused_by_name(words: dict[str, Any], said: str) -> None:
    with pytest.raises(bw.UsageError, match=said) as refused:
        curves_of(**words)
    assert "Fix: " in str(refused.value)


@pytest.mark.parametrize("share", [0.0, 2.0, float("nan"), "most"])
def test_a_share_of_the_accuracy_is_above_nothing_and_at_most_all(share: Any) -> None:
    with pytest.raises(bw.UsageError, match="share of the full accuracy"):
        made(margin=[[0.5], [0.5]]).labels_to_reach(share)


def test_one_strategy_may_be_named_bare_and_twice_is_once() -> None:
    assert list(curves_of(strategies="margin").accuracy) == ["margin"]
    assert list(curves_of(strategies=("random", "random")).accuracy) == ["random"]


def test_a_budget_beyond_the_pool_ends_with_the_pool_where_all_curves_meet() -> None:
    curves = curves_of(n_labels=1000)
    assert (curves.n_labels, curves.n_pool, curves.n_test) == (27, 27, 13)
    for accuracy in curves.accuracy.values():
        assert accuracy[:, -1] == pytest.approx(curves.full)


def test_a_class_of_one_row_missing_cells_and_emoji_are_handled() -> None:
    names = {"a": "😀", "b": "👍🏽"}
    rows: list[dict[str, Any]] = [{**row, "y": names[str(row["y"])]} for row in ROWS]
    rows[3]["x"], rows[5]["z"] = None, None
    rows.append({"x": 90.0, "z": 0.0, "y": "once\nonly $"})
    curves = curves_of(rows, strategies=("margin", "density-weighted", "random"), test_share=0)
    assert curves.n_test == 0
    assert all(np.isfinite(accuracy).all() for accuracy in curves.accuracy.values())


def test_a_function_receives_every_label_and_a_bar_is_shown_on_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reported: list[int] = []
    curves_of(progress=reported.append)
    assert sum(reported) == 2 * 2 * 6
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    shown, silent = io.StringIO(), io.StringIO()
    with redirect_stderr(shown):
        curves_of(progress=True)
    with redirect_stderr(silent):
        curves_of()
    assert "Asking, labels" in shown.getvalue() and "24" in shown.getvalue()
    assert silent.getvalue() == ""


def test_strategies_that_ask_the_same_are_one_line_and_random_lies_below() -> None:
    same = [[0.5, 0.9], [0.5, 1.0]]
    curves = made(margin=same, entropy=same, density_weighted=[[0.5, 0.8], [0.5, 1.0]], random=[[0.4, 0.5], [0.5, 0.6]])
    assert same_curves(curves) == [["random"], ["margin", "entropy"], ["density weighted"]]


def test_the_picture_marks_where_the_mean_is_good_enough() -> None:
    import matplotlib

    matplotlib.use("Agg")
    curves = made(margin=[[0.5, 1.0, 1.0], [0.5, 0.99, 1.0]], random=[[0.4, 0.5, 0.6], [0.5, 0.6, 0.7]])
    display = curves.display().plot()
    assert display.ax_ is not None
    legend = display.ax_.get_legend()
    assert legend is not None and legend.get_title().get_text() == "labels to 99 %"
    assert [text.get_text() for text in legend.get_texts()] == ["margin: 2", "random: more than 3"]
    dots = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert [tuple(dot.get_xydata()[0]) for dot in dots] == [(2.0, 0.995)]
    assert display.ax_.get_ylabel() == "accuracy on 3 rows held out"
    matplotlib.pyplot.close(display.figure_)


def test_what_is_measured_label_by_label_is_the_accuracy_of_the_exact_model() -> None:
    generator = np.random.default_rng(3)
    labels: list[Any] = generator.integers(0, 3, 90).tolist()
    table = {"x": generator.normal(size=90) + labels, "z": generator.normal(size=90) - labels}
    pool = Pool.of(table, "y", [0, 1, 2], kinds={"x": "number", "z": "number"})
    queried = pool.subset(np.arange(60))
    for variance_floor in (0.0, 0.1):
        empty = queried.empty_model(variance_floor=variance_floor)
        test = HeldOut(pool, labels, 60, empty)
        learner = bw.ActiveLearner(empty, pool=queried)
        measure = test.measure(learner)
        for _ in range(40):
            row = learner.query()[0].row
            learner.teach(row, labels[row])
            assert measure(row) == test.accuracy(learner.model)


def bundled(X: Any, y: Any, **words: Any) -> LearningCurves:
    columns = {f"x{k}": X[:, k] for k in range(X.shape[1])}
    return curves_of({**columns, "y": y}, kinds=dict.fromkeys(columns, "number"), **words)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_on_rows_held_out_asking_needs_fewer_labels_than_drawing(load: Any) -> None:
    curves = bundled(*load(return_X_y=True), n_labels=60, n_seeds=20, random_share=0.1)
    gain, error = curves.gain("margin")
    assert gain > 3 * error
    needed = curves.mean_labels_to_reach(0.99)
    assert needed["margin"] < needed["random"]


def test_where_classes_overlap_asking_is_as_good_as_drawing_but_without_chance_it_is_worse() -> None:
    """The diabetes table cut at 140: all labels are right about 73 of 100 rows, and most rows are uncertain."""
    X, progression = load_diabetes(return_X_y=True)
    y = np.where(progression > 140, "high", "low")
    gain, error = bundled(X, y, n_labels=150, n_seeds=12).gain("margin")
    assert abs(gain) < 2 * error
    gain, error = bundled(X, y, n_labels=150, n_seeds=12, warm_up=False, random_share=0).gain("margin")
    assert gain < -2 * error
