"""Batches that are put together, and rows that they are made of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from bayeswise.foundation.errors import FitError
from bayeswise.tables.batch import Batch, TextBlock
from bayeswise.tables.schema.labels import Vocabulary


def batch_of(counts: list[list[int]], groups: list[int] | None = None) -> Batch:
    n = len(counts)
    text = TextBlock(csr_array(np.array(counts)), Vocabulary(["a", "b"]))
    codes = None if groups is None else np.array(groups, dtype=np.int32)
    return Batch(n, np.arange(n, dtype=float)[:, None], np.zeros((n, 0), dtype=np.int32), texts=(text,), groups=codes)


def test_texts_of_one_vocabulary_are_put_below_each_other() -> None:
    both = Batch.concat([batch_of([[1, 0]], [0]), batch_of([[0, 2], [3, 0]], [1, -1])])
    assert both.texts[0].counts.toarray().tolist() == [[1, 0], [0, 2], [3, 0]]
    assert (both.n_rows, both.values.ravel().tolist(), np.asarray(both.groups).tolist()) == (3, [0, 0, 1], [0, 1, -1])


def test_words_of_another_vocabulary_that_a_text_does_not_have_are_counted_0_times() -> None:
    block = batch_of([[1, 5], [0, 7]]).texts[0].recode(Vocabulary(["a", "z"]))
    assert block.counts.toarray().tolist() == [[1, 0], [0, 0]]
    assert block.recode(Vocabulary(["y", "a"])).counts.toarray().tolist() == [[0, 1], [0, 0]]


def test_rows_without_a_target_are_left_out_and_a_table_without_one_is_refused() -> None:
    assert batch_of([[0, 2], [3, 0]], [1, -1]).with_target().texts[0].counts.toarray().tolist() == [[0, 2]]
    with pytest.raises(FitError, match="no target"):
        batch_of([[1, 0]]).with_target()
