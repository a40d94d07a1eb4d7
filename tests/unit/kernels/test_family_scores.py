"""Scores of families by bitmaps against the same scores from counted tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayeswise import _kernels
from bayeswise.networks.learning import Scores
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.tables.schema.labels import Vocabulary
from tests.cases.network_cases import random_network

EVERY_SCORE = pytest.mark.parametrize("score", ["bic", "aic", "mdl", "bdeu", "k2"])


@EVERY_SCORE
@pytest.mark.parametrize("n_rows", [0, 1, 63, 700])
def test_each_family_has_the_score_of_its_table(score: str, n_rows: int) -> None:
    network = random_network(n_rows, n_nodes=6, zeros=0.2, most_states=4)
    rows = CodedRows.of(network.sample(n_rows, seed=1), states={name: network.states(name) for name in network})
    scores = Scores(rows, score, smoothing=2.5)
    for node in range(6):
        others = [k for k in range(6) if k != node]
        for parents in itertools.chain.from_iterable(itertools.combinations(others, k) for k in range(5)):
            assert scores.family(node, parents) == pytest.approx(scores._scored(node, parents), rel=1e-11, abs=1e-9)


@EVERY_SCORE
def test_families_of_very_many_cells_are_counted_row_by_row(score: str) -> None:
    codes = np.random.default_rng(0).integers(0, 9, (3_000, 6)).astype(np.int32)
    rows = CodedRows(tuple("abcdef"), (Vocabulary(range(9)),) * 6, codes)
    scores = Scores(rows, score)
    assert scores.family(0, [1, 2, 3]) == pytest.approx(scores._scored(0, (1, 2, 3)), rel=1e-11)
    assert scores.family(0, [1, 2, 3, 4]) == pytest.approx(scores._scored(0, (1, 2, 3, 4)), rel=1e-11)
    assert scores.family(0, [1, 2, 3, 4, 5]) == pytest.approx(scores._scored(0, (1, 2, 3, 4, 5)), rel=1e-11)
    many = CodedRows(tuple("abcdefg"), (Vocabulary(range(9)),) * 7, np.hstack([codes, codes[:, :1]]))
    assert Scores(many, score).family(0, [1, 2, 3, 4, 5, 6]) == -np.inf


def test_more_rows_than_a_chunk_of_bitmaps() -> None:
    codes = np.random.default_rng(0).integers(0, [2, 3, 4], (150_000, 3)).astype(np.int32)
    rows = CodedRows(tuple("abc"), tuple(Vocabulary(range(size)) for size in (2, 3, 4)), codes)
    scores = Scores(rows, "bic")
    assert scores.family(2, [0, 1]) == pytest.approx(scores._scored(2, (0, 1)), rel=1e-12)


def test_codes_and_columns_that_are_not_there_are_refused() -> None:
    columns = np.array([[0, 1, 2]], dtype=np.uint8)
    with pytest.raises(ValueError, match="beyond the size"):
        _kernels.FamilyScores(columns, [2], False, 1.0, 1.0)
    with pytest.raises(ValueError, match="no such column"):
        _kernels.FamilyScores(columns, [3], False, 1.0, 1.0).additions(0, [], [1])
