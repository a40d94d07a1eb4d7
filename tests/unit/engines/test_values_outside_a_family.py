"""A value that its family does not allow is reported with its place in the whole table."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise.engines import Request, summarise
from bayeswise.families import Poisson
from bayeswise.foundation.errors import SupportError
from bayeswise.foundation.threads import limit_threads
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.schema import Schema


@pytest.mark.parametrize("threads", [1, 2])
def test_the_row_is_counted_over_all_batches_and_the_column_is_named(threads: int) -> None:
    schema = Schema((Column("age", "number"), Column("calls", "count")))
    values = np.ones((60_000, 2))
    values[50_000, 1] = -3.0
    parts = ((0, np.ones((10, 2))), (10, values))
    batches = [Batch(len(part), part, np.empty((len(part), 0), np.int32), first_row=first) for first, part in parts]
    request = Request.numbers("poisson", ["calls"], Poisson().statistic)
    with limit_threads(threads), pytest.raises(SupportError, match=r"row 50011 of column 'calls' has -3\. Fix"):
        summarise(batches, schema, request)
