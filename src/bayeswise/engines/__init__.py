"""Sweeps over rows: `swept(source, schema, request)` answers a request with statistics, wherever the rows are.

request.py         what a model needs of rows, united by `|`
local.py           the local sweep, in ranges of rows on threads
passes.py          the same by one pass over any table, merged in any order
dask.py            Dask: one task for each partition, answers merged in a tree
spark.py           Spark: Arrow batches in, answers out, merged on the executors
spark_batches.py   how rows of Spark come to Python: the size and the form of Arrow batches
spark_sessions.py  sessions of Spark that the command line starts
"""

from bayeswise.engines.local import Summary, of_no_rows, summarise
from bayeswise.engines.passes import Coded, swept
from bayeswise.engines.request import ColumnStatistic, Request

__all__ = ["ColumnStatistic", "Coded", "Request", "Summary", "of_no_rows", "summarise", "swept"]
