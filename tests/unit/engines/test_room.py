"""A sweep that would not fit into memory is refused before it takes any."""

from __future__ import annotations

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.engines import Request
from bayeswise.engines.local import refuse_too_large
from bayeswise.foundation.errors import TooLargeError
from bayeswise.tables.schema.labels import Vocabulary


def test_an_id_as_target_beside_another_id_is_refused_where_zeros_take_room() -> None:
    rows = {"town": [f"t{k}" for k in range(20_000)], "id": [f"u{k}" for k in range(20_000)]}
    with pytest.raises(TooLargeError, match=r"20,000 classes and 20,00\d levels would take 3\.2 GB") as refused:
        bw.fit(rows, "id", kinds={"town": "category"}, model="averaged-naive-bayes").predict(rows)
    assert refused.value.fix == "choose a target with fewer classes, or leave out the column with most levels"
    assert len(bw.fit(rows, "id", kinds={"town": "category"}, model="naive-bayes").classes) == 20_000


def test_so_many_classes_and_columns_are_refused_with_an_estimate() -> None:
    names = [f"town{c}" for c in range(15_000)]
    statistic = Request.counts("categories", names).statistics["categories"]
    block = (np.zeros((1, len(names)), dtype=np.int8), [Vocabulary(["a", "b"])] * len(names))
    with pytest.raises(TooLargeError, match=r"20,000 classes and 30,000 levels would take 4\.8 GB") as refused:
        refuse_too_large(statistic, block, 20_000)
    assert refused.value.fix == "choose a target with fewer classes, or ignore=['town0'] (--ignore town0)"


def test_words_and_numbers_are_counted_too() -> None:
    ids = [f"u{k}" for k in range(20_000)]
    words = {"note": [f"word{k} and more of it" for k in range(20_000)], "id": ids}
    with pytest.raises(TooLargeError, match="classes and 20,004 words"):
        bw.fit(words, "id", kinds={"note": "text"}, model="naive-bayes")
    numbers = {f"x{c}": [float(k) for k in range(20_000)] for c in range(900)}
    with pytest.raises(TooLargeError, match="20,000 classes and 900 columns of numbers"):
        bw.fit({**numbers, "id": ids}, "id", kinds=dict.fromkeys(numbers, "number"), model="naive-bayes")
