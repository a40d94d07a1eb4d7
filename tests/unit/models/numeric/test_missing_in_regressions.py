"""Regressions take missing cells: the mean of the column, and an indicator with a weight of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression

import bayeswise as bw
from bayeswise.statistics.protocol import fingerprint


def table(n: int = 80) -> dict[str, list[Any]]:
    """Cells of `a` and `size` are missing more often where the target is high."""
    generator = np.random.default_rng(8)
    a, b = generator.normal(50.0, 4.0, n), generator.normal(size=n)
    size = generator.choice(["S", "M", "L"], n)
    y = 0.5 * a - b + (size == "L") + generator.normal(size=n)
    high = y > np.median(y)
    gone, none = generator.random(n) < 0.1 + 0.3 * high, generator.random(n) < 0.1
    return {
        "a": [None if out else x for x, out in zip(a.tolist(), gone.tolist(), strict=True)],
        "b": b.tolist(),
        "size": [None if out else x for x, out in zip(size.tolist(), none.tolist(), strict=True)],
        "y": y.tolist(),
        "high": np.where(high, "yes", "no").tolist(),
    }


def part(rows: dict[str, list[Any]], where: slice) -> dict[str, list[Any]]:
    return {name: cells[where] for name, cells in rows.items()}


def design(rows: dict[str, list[Any]]) -> Any:
    """a, b, M, S, a is missing, size is missing: L is the reference of size."""
    numbers = SimpleImputer(add_indicator=True).fit_transform(
        np.array([[np.nan if cell is None else cell for cell in rows[name]] for name in ("a", "b")]).T
    )
    levels = np.array([[np.nan if cell is None else cell == level for level in "MS"] for cell in rows["size"]], float)
    gone = np.isnan(levels[:, :1])
    levels = np.where(np.isnan(levels), np.nanmean(levels, axis=0), levels)
    return np.column_stack([numbers[:, :2], levels, numbers[:, 2:], gone])


def linear(rows: Any, **settings: Any) -> Any:
    return bw.fit(rows, "y", model="linear", ignore=["high"], **settings)


def logistic(rows: Any, **settings: Any) -> Any:
    return bw.fit(rows, "high", model="logistic", ignore=["y"], **settings)


NAMES = [("a", None), ("b", None), ("size", "M"), ("size", "S"), ("a is missing", None), ("size is missing", None)]


@pytest.mark.parametrize("scale", [None, 0.7])
def test_linear_weights_are_those_of_the_filled_columns(scale: float | None) -> None:
    rows = table()
    X, y = design(rows), np.array(rows["y"])
    prior: dict[str, Any] = {"prior": None} if scale is None else {"scale": scale}
    model = linear(rows, **prior)
    centred = X - X.mean(axis=0)
    unit = np.where(np.arange(6) < 2, X.std(axis=0), 1.0)  # numbers are measured in standard deviations
    penalty = 0.0 if scale is None else np.diag((unit / scale) ** 2)
    weights = np.linalg.solve(centred.T @ centred + penalty, centred.T @ (y - y.mean()))
    assert list(model.features.names) == NAMES
    assert model.weights == pytest.approx(weights, rel=1e-9)
    assert model.predict(part(rows, slice(5))) == pytest.approx(y.mean() + centred[:5] @ weights, rel=1e-9)


def test_logistic_weights_are_those_of_scikit_learn_with_its_indicators() -> None:
    rows = table()
    X = design(rows)
    theirs = LogisticRegression(C=4.0, tol=1e-10, max_iter=5_000).fit(X - X.mean(axis=0), np.array(rows["high"]))
    ours = logistic(rows, scale=2.0, standardise=False)
    assert ours.weights[1] - ours.weights[0] == pytest.approx(theirs.coef_[0], abs=1e-6)
    assert ours.predict_proba(rows) == pytest.approx(theirs.predict_proba(X - X.mean(axis=0)), abs=1e-6)


def test_parts_of_the_rows_merge_and_are_forgotten_to_the_last_byte() -> None:
    """A part in which no cell is missing has no indicators, and merges all the same."""
    rows = table()
    whole_rows = [k for k in range(80) if rows["a"][k] is not None and rows["size"][k] is not None][:9]
    complete = {name: [cells[k] for k in whole_rows] for name, cells in rows.items()}
    others = {name: [cell for k, cell in enumerate(cells) if k not in whole_rows] for name, cells in rows.items()}
    model = linear(others)
    schema = model.schema
    assert not bw.fit(complete, "y", model="linear", schema=schema).features.marked
    both = bw.fit(complete, "y", model="linear", schema=schema).merge(model)
    assert fingerprint(both) == fingerprint(linear(rows))
    of_complete = bw.fit(complete, "y", model="linear", schema=schema)
    assert fingerprint(both.forget(others).statistics) == fingerprint(of_complete.statistics)


def test_the_same_rows_in_any_order_give_the_same_bytes() -> None:
    rows = table()
    mixed = np.random.default_rng(1).permutation(80)
    moved = {name: [cells[k] for k in mixed] for name, cells in rows.items()}
    for fit in (linear, logistic):
        assert fingerprint(fit(rows)) == fingerprint(fit(moved))


def test_left_out_rows_are_those_of_models_that_never_saw_them() -> None:
    from bayeswise.models.regression.left_out import leave_one_out
    from bayeswise.models.regression.row_blocks import TargetRows
    from bayeswise.tables.source import open_source

    rows = part(table(), slice(30))
    model = linear(rows, scale=0.7)
    [(batch, target)] = TargetRows(model.schema, open_source(rows))
    left = leave_one_out(model, batch, target).location
    for k in (0, 7, 29):
        others = {name: cells[:k] + cells[k + 1 :] for name, cells in rows.items()}
        refitted = bw.fit(others, "y", model="linear", schema=model.schema, scale=0.7)
        assert left[k] == pytest.approx(refitted.predict(part(rows, slice(k, k + 1)))[0], rel=1e-12)


def test_a_missing_cell_is_explained_by_its_mean_and_indicator() -> None:
    rows = table()
    row = {"a": None, "b": 0.3, "size": "M"}
    why = logistic(rows).explain(row)
    assert {part.column: part.note for part in why.contributions if part.note} == {"a": "missing: indicator"}
    log_odds = np.log(logistic(rows).predict_proba(row)[0])
    total = why.log_prior + sum(part.log_likelihood for part in why.contributions)
    assert total[1] - total[0] == pytest.approx(log_odds[1] - log_odds[0], abs=1e-9)
    [term] = [term for term in linear(rows).explain(row).terms if term.column == "a"]
    model = linear(rows)
    place = NAMES.index(("a is missing", None))
    assert term.amount == pytest.approx(model.weights[place] * (1.0 - model.equations.mean[place]))


def test_models_of_missing_cells_are_saved_and_loaded(tmp_path: Any) -> None:
    rows = table()
    models = [linear(rows), logistic(rows), linear(rows, likelihood="student-t"), linear(rows, scale="cv")]
    for k, model in enumerate(models):
        model.save(tmp_path / f"{k}.bayeswise")
        again = bw.load(tmp_path / f"{k}.bayeswise")
        assert again.features.marked == ("a", "size")
        assert np.array_equal(again.predict(rows), model.predict(rows))


def test_what_a_column_could_say_instead_leaves_out_its_missing_cells() -> None:
    model = logistic(table())
    for column, value in (("a", None), ("size", "M")):
        offered = {each.value: each for each in model.alternatives(column)}
        chosen = value or next(iter(offered))
        why = model.explain({"a": 50.0, "b": 0.0, "size": "S", column: chosen})
        [own] = [each for each in why.contributions if each.column == column]
        assert offered[chosen].log_likelihood == pytest.approx(own.log_likelihood)


def test_columns_that_are_missing_only_later_stand_at_their_mean() -> None:
    rows = {name: cells for name, cells in table().items() if name != "a"}
    model = bw.fit(rows, "high", model="logistic", ignore=["y", "size"])
    assert model.explain({"b": None}).contributions[0].note == "missing: at its mean"
    assert not model.features.marked
