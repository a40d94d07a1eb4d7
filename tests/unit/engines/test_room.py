"""A sweep that would not fit into memory is refused before it takes any."""

from __future__ import annotations

import pytest

import bayeswise as bw
from bayeswise.foundation.errors import TooLargeError


def test_an_id_as_target_beside_another_id_is_refused_with_an_estimate() -> None:
    rows = {"town": [f"t{k}" for k in range(20_000)], "id": [f"u{k}" for k in range(20_000)]}
    with pytest.raises(TooLargeError, match=r"20,000 classes and 20,000 levels would take 3\.2 GB") as refused:
        bw.fit(rows, "id", kinds={"town": "category"}, model="naive-bayes")
    assert refused.value.fix == "choose a target with fewer classes, or ignore=['town'] (--ignore town)"


def test_words_and_numbers_are_reckoned_too() -> None:
    ids = [f"u{k}" for k in range(20_000)]
    words = {"note": [f"word{k} and more of it" for k in range(20_000)], "id": ids}
    with pytest.raises(TooLargeError, match="classes and 20,004 words"):
        bw.fit(words, "id", kinds={"note": "text"}, model="naive-bayes")
    numbers = {f"x{c}": [float(k) for k in range(20_000)] for c in range(900)}
    with pytest.raises(TooLargeError, match="20,000 classes and 900 columns of numbers"):
        bw.fit({**numbers, "id": ids}, "id", kinds=dict.fromkeys(numbers, "number"), model="naive-bayes")
