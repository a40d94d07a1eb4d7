"""Laws of a mixture of models: rows come and go in any order, to the last byte."""

from __future__ import annotations

import itertools
import warnings
from functools import cache, reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.models.auto.model import AutoModel

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot take rows in or out")


def rows(n: int, seed: int, *, weighted: bool) -> list[dict[str, Any]]:
    g = np.random.default_rng(seed)
    y = g.random(n) < 0.5
    a, b = g.choice(list("uvw"), n), np.where(g.random(n) < 0.8, y, ~y)
    x = (g.normal(size=n) + y).round(2)
    share = g.choice([0.1, 0.7, 1.3], n) if weighted else np.ones(n)
    names = ("a", "b", "x", "n", "y")
    return [
        dict(zip(names, (str(i), str(j), float(k), float(w), "yes" if t else "no"), strict=True))
        for i, j, k, w, t in zip(a, b, x, share, y, strict=True)
    ]


@cache
def base(weighted: bool) -> AutoModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model: AutoModel = bw.fit(rows(120, 1, weighted=weighted), "y", weight="n" if weighted else None)
    assert len(model.exact_members) > 1
    return model


@given(st.lists(st.integers(2, 40), min_size=3, max_size=4), st.integers(0, 99), st.booleans(), st.booleans())
@settings(max_examples=8, deadline=None)
def test_merging_is_commutative_and_associative(sizes: list[int], seed: int, weighted: bool, with_first: bool) -> None:
    model = base(weighted)
    tables = [rows(n, seed + k, weighted=weighted) for k, n in enumerate(sizes)]
    parts = [model.learned_like(table)[0] for table in tables]
    whole = model.learned_like([row for table in tables for row in table])[0]
    if with_first:
        parts, whole = [model, *parts], model.merge(whole)
    for order in itertools.islice(itertools.permutations(parts), 6):
        assert reduce(lambda one, other: one.merge(other), order) == whole
        assert reduce(lambda one, other: other.merge(one), order) == whole
    learned = sum(row["n"] for table in tables for row in table)
    assert whole.learned_since == pytest.approx(learned)


def test_learning_rows_is_merging_with_those_learned_like_it() -> None:
    model, more = base(False), rows(30, 5, weighted=False)
    both = model.merge(model.learned_like(more)[0])
    assert model.learn(more) == both
    assert both.age == "those of 120 rows; since then 30 learned"


def test_what_was_forgotten_is_said_of_both() -> None:
    model, more = base(False), rows(30, 5, weighted=False)
    part = model.learned_like(more)[0].forget(more[:4])
    assert model.merge(part) == part.merge(model) == model.learn(more).forget(more[:4])
    assert model.merge(part).age == "those of 120 rows; since then 30 learned and 4 forgotten"
