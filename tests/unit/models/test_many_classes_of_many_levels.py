"""Ten thousand classes of ten thousand levels take as much room as their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation import sparse
from bayeswise.foundation.errors import StoreError, TooLargeError
from bayeswise.foundation.exact import ExactArray
from bayeswise.foundation.sparse import SparseExact
from bayeswise.models.files import bytes_of, load_contents
from bayeswise.store.document import Document
from bayeswise.store.file import model_bytes, read_bytes

N_CLASSES, N_LEVELS, N_ROWS = 3_000, 2_000, 6_000
OPTIONS: dict[str, Any] = {"model": "naive-bayes", "kinds": {"town": "category"}}


def table_of(rows: slice = slice(None)) -> dict[str, list[str]]:
    generator = np.random.default_rng(0)
    towns = generator.integers(0, N_LEVELS, N_ROWS)
    return {
        "town": [f"t{k:05}" for k in towns][rows],
        "id": [f"u{k % N_CLASSES:05}" for k in range(N_ROWS)][rows],
    }


@pytest.fixture(scope="module")
def model() -> Any:
    return bw.fit(table_of(), "id", **OPTIONS)


def test_a_table_of_mostly_zeros_is_held_and_saved_without_them(model: Any, tmp_path: Path) -> None:
    assert isinstance(model.statistics.part["categories"].table, SparseExact)
    path = tmp_path / "towns.bayeswise"
    model.save(path)
    assert path.stat().st_size < 400_000
    assert bytes_of(bw.load(path)) == path.read_bytes()


def test_any_order_and_any_parts_give_the_same_bytes(model: Any) -> None:
    table = table_of()
    backwards = {name: cells[::-1] for name, cells in table.items()}
    assert bytes_of(bw.fit(backwards, "id", schema=model.schema, model="naive-bayes")) == bytes_of(model)
    first, rest = (bw.fit(table_of(rows), "id", **OPTIONS) for rows in (slice(0, 900), slice(900, None)))
    merged = first.statistics.merge(rest.statistics)
    assert merged.part["categories"].table == model.statistics.part["categories"].table


def test_rows_come_and_go(model: Any) -> None:
    some = table_of(slice(0, 20))
    assert bytes_of(model.forget(some).learn(some)) == bytes_of(model)


def test_the_answers_are_those_of_the_full_table(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    few = table_of(slice(0, 30))
    new = {"town": [*few["town"], "nowhere", None]}
    found = model.predict_proba(new), model.leave_one_out(few)
    monkeypatch.setattr(sparse, "ALWAYS_DENSE", 1 << 40)
    dense = bw.fit(table_of(), "id", **OPTIONS)
    assert isinstance(dense.statistics.part["categories"].table, ExactArray)
    np.testing.assert_array_equal(found[0], dense.predict_proba(new))
    np.testing.assert_array_equal(found[1], dense.leave_one_out(few))


def test_a_file_with_all_its_zeros_is_the_same_model(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sparse, "ALWAYS_DENSE", 1 << 40)
        before = bytes_of(bw.fit(table_of(), "id", **OPTIONS))
    assert len(before) > 4 * N_CLASSES * N_LEVELS / 2
    loaded = load_contents("before.bayeswise", before)
    assert bytes_of(loaded) == bytes_of(model)


@pytest.mark.parametrize("wrong", ["order", "zero", "outside", "number"])
def test_forged_places_are_refused(model: Any, wrong: str) -> None:
    kind, document = read_bytes(bytes_of(model))
    name = next(each for each in document.tensors if each.endswith("/places"))
    places, values = document.tensors[name].copy(), document.tensors[name.replace("/places", "/values")].copy()
    if wrong == "order":
        places[:2] = places[1::-1]
    elif wrong == "outside":
        places[-1] = 1 << 60
    elif wrong == "zero":
        values[0] = 0
    else:
        places = places[:-1]
    tensors = {**document.tensors, name: places, name.replace("/places", "/values"): values}
    forged = model_bytes(Document(document.tree, tensors), kind)
    with pytest.raises(StoreError, match="damaged"):
        load_contents("forged.bayeswise", forged)


def test_the_full_table_of_an_id_beside_an_id_is_refused_with_its_size() -> None:
    ids = [f"u{k}" for k in range(20_000)]
    model = bw.fit({"town": ids, "id": ids}, "id", **OPTIONS)
    assert model.predict({"town": ["u17"]})[0] == "u17"
    with pytest.raises(TooLargeError, match=r"20,000 classes and 20,001 levels would take 3\.2 GB"):
        model.statistics.part["categories"]["town"]
