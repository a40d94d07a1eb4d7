"""Who sweeps the rows: `summarise(batches, request)` answers a request with statistics, on any number of threads.

request.py  what a model needs of rows, united by `|`
local.py    the local sweep, in ranges of rows on threads
"""

from bayeswise.engines.local import Summary, of_no_rows, summarise
from bayeswise.engines.request import Ask, Request

__all__ = ["Ask", "Request", "Summary", "of_no_rows", "summarise"]
