"""Who sweeps the rows: `summarise(batches, request)` answers a request with statistics, on any number of threads."""

from bayeswise.engines.request import Ask, Request
from bayeswise.engines.sweep import Summary, of_no_rows, summarise

__all__ = ["Ask", "Request", "Summary", "of_no_rows", "summarise"]
