"""Sweeps over rows: `swept(source, schema, request)` answers a request with statistics, wherever the rows are.

request.py         what a model needs of rows, united by `|`
local.py           the local sweep, in ranges of rows on threads
passes.py          the same by one pass over any table, merged in any order
one_pass.py        the profile of a table and the statistics of its schema by one pass, which threads share
dask.py            Dask: one task for each partition, answers merged in a tree
spark.py           Spark: Arrow batches in, answers out, merged on the executors
spark_batches.py   how rows of Spark come to Python: the size and the form of Arrow batches
spark_sessions.py  sessions of Spark that the command line starts
"""

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.engines.local import Summary as Summary
    from bayeswise.engines.local import of_no_rows as of_no_rows
    from bayeswise.engines.local import summarise as summarise
    from bayeswise.engines.passes import Coded as Coded
    from bayeswise.engines.passes import swept as swept
    from bayeswise.engines.request import ColumnStatistic as ColumnStatistic
    from bayeswise.engines.request import Request as Request

__all__, __getattr__, __dir__ = late_names()
