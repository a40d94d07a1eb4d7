"""Levels that are met together have the codes, and the errors, that they have one by one."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from bayeswise.foundation.errors import BayeswiseError
from bayeswise.tables.encoding.coders import LevelCoder
from bayeswise.tables.schema.labels import Vocabulary

LEVELS = ["a", "b", "ä", "", "7", "-1", 7, 7.0, 7.5, 0, True, 2**70, 10**320]
levels = st.lists(st.sampled_from(LEVELS), min_size=1, max_size=8, unique_by=repr)
KINDS: dict[str, Any] = {
    "learning": {"learning": True},
    "learning more": {"learning": True, "known": Vocabulary(["b", "z"])},
    "declared": {"learning": True, "declared": Vocabulary(["b", "a", "ä", ""])},
    "known": {"learning": False, "known": Vocabulary(["b", "z"])},
    "known integers": {"learning": False, "known": Vocabulary([7, 2**70])},
    "more integers": {"learning": True, "known": Vocabulary([7, 2**70])},
    "known, unseen refused": {"learning": False, "known": Vocabulary(["b", "a", "", "ä"]), "unseen": "error"},
}


def answers(coder: LevelCoder, sweeps: list[list[Any]], together: bool) -> Any:
    """The codes of all levels of each sweep, the labels behind them, and how many were unseen."""
    found: list[Any] = []
    try:
        for labels in sweeps:
            coder.start(textual=True)
            codes = np.arange(len(labels), dtype=np.int32)
            parts = [codes] if together else np.split(codes, len(codes))
            found.append(([coder.encode(part, labels).tolist() for part in parts], coder.n_unseen))
    except BayeswiseError as error:
        return type(error).__name__, str(error)
    return [([code for part in codes for code in part], unseen) for codes, unseen in found], coder.vocabulary


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("label_type", ["text", "integer", "mixed"])
@given(sweeps=st.lists(levels, min_size=1, max_size=3))
def test_levels_met_together_are_those_met_one_by_one(kind: str, label_type: Any, sweeps: list[list[Any]]) -> None:
    one, other = (
        answers(LevelCoder("colour", label_type, **KINDS[kind]), sweeps, together) for together in (True, False)
    )
    assert one == other


@given(texts=st.lists(st.text(max_size=3), min_size=1, max_size=30, unique=True))
def test_texts_are_numbered_as_they_come_and_keep_their_numbers(texts: list[str]) -> None:
    coder = LevelCoder("colour", "text", learning=True)
    codes = np.arange(len(texts), dtype=np.int32)
    assert coder.encode(codes, texts).tolist() == codes.tolist()
    coder.start(textual=False)
    assert coder.encode(codes, texts[::-1]).tolist() == codes[::-1].tolist()
    assert coder.vocabulary == Vocabulary(texts)


def test_a_model_that_predicts_leaves_its_vocabulary_alone() -> None:
    known = Vocabulary(["b", "a"])
    coder = LevelCoder("colour", "text", learning=False, known=known)
    assert coder.encode(np.array([0, 1, -1], dtype=np.int32), ["c", "a"]).tolist() == [-2, 1, -1]
    more = LevelCoder("colour", "text", learning=True, known=known)
    assert more.encode(np.array([0, 1], dtype=np.int32), ["c", "a"]).tolist() == [2, 1]
    assert (known, known.codes_by_value) == (Vocabulary(["b", "a"]), {"b": 0, "a": 1})
