"""Who sweeps the rows: `summarise(batches, request)` answers a request with statistics, on any number of threads."""

from bayeswise.engines.local import Summary, of_no_rows, summarise
from bayeswise.engines.request import Ask, Request

__all__ = ["Ask", "Request", "Summary", "of_no_rows", "summarise"]
