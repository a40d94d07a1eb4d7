"""Who sweeps the rows: `summarise(batches, request)` answers a request with statistics, on any number of threads."""

from bayeswise.engines.request import Ask, Request
from bayeswise.engines.sweep import Summary, summarise

__all__ = ["Ask", "Request", "Summary", "summarise"]
