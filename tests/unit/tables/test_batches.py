"""A batch gives ranges, chosen rows, other codes and the whole of its parts; each keeps every field of a row."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bayeswise.tables.batch import MISSING, UNSEEN, Batch, TextBlock
from bayeswise.tables.schema.labels import Vocabulary


def batch(first_row: int = 0, *, texts: bool = True) -> Batch:
    block = TextBlock(csr_array(np.array([[1, 0], [0, 2], [3, 0], [0, 0]])), Vocabulary(["ham", "spam"]))
    return Batch(
        4,
        values=np.array([[1.0], [2.0], [np.nan], [4.0]]),
        codes=np.array([[0], [1], [MISSING], [UNSEEN]], dtype=np.int32),
        vocabularies=(Vocabulary(["red", "blue"]),),
        texts=(block,) if texts else (),
        groups=np.array([0, 1, 0, 1], dtype=np.int32),
        group_labels=Vocabulary(["no", "yes"]),
        weights=np.array([1.0, 2.0, 3.0, 4.0]),
        first_row=first_row,
    )


def rows(found: Batch) -> list[tuple[object, ...]]:
    assert found.groups is not None and found.weights is not None
    words = found.texts[0].counts.toarray().tolist() if found.texts else [[]] * found.n_rows
    values = [str(value) for value in found.values[:, 0]]
    places = [found.place(row) for row in range(found.n_rows)]
    columns = (values, found.codes[:, 0].tolist(), words, found.groups.tolist(), found.weights.tolist(), places)
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize(("start", "stop"), [(0, 4), (0, 1), (1, 3), (3, 4), (2, 2)])
def test_a_range_of_rows_is_a_view_of_the_same_rows(start: int, stop: int) -> None:
    whole = batch(10)
    part = whole.rows(slice(start, stop))
    assert rows(part) == rows(whole)[start:stop]
    assert part.n_rows == 0 or np.shares_memory(part.values, whole.values)


@pytest.mark.parametrize("chosen", [[3, 1], [2], [], [0, 0, 3], [0, 1, 2, 3]])
def test_chosen_rows_come_in_the_order_of_their_positions(chosen: list[int]) -> None:
    whole = batch(10)
    assert rows(whole.take(np.array(chosen, dtype=np.int64))) == [rows(whole)[row] for row in chosen]


def test_a_part_of_a_part_still_knows_its_place_in_the_table() -> None:
    part = batch(10).take(np.array([3, 1, 0])).rows(slice(1, 3))
    assert [part.place(row) for row in range(2)] == [11, 10]


def test_recoded_cells_keep_their_labels_and_missing_cells_stay_missing() -> None:
    other = [Vocabulary(["green", "blue"])]
    assert batch().recode(other).codes[:, 0].tolist() == [UNSEEN, 1, MISSING, UNSEEN]
    assert batch().recode(other, [MISSING]).codes[:, 0].tolist() == [MISSING, 1, MISSING, MISSING]


def test_a_batch_that_has_the_vocabularies_already_is_not_copied() -> None:
    whole = batch()
    assert whole.recode([Vocabulary(["red", "blue"])]) is whole


def test_words_are_recoded_by_their_columns() -> None:
    [block] = batch().texts
    assert block.recode(Vocabulary(["spam", "ham"])).counts.toarray().tolist() == [[0, 1], [2, 0], [0, 3], [0, 0]]


def test_the_parts_of_a_table_join_to_its_rows() -> None:
    first, second = batch(0, texts=False), batch(4, texts=False)
    whole = Batch.concat([first, second.take(np.array([2, 3]))])
    assert rows(whole) == rows(first) + rows(second)[2:]
    assert Batch.concat([first]) is first
