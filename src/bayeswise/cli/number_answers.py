"""The answers of a regression to a stream of rows: the mean, its standard deviation, and quantiles if asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bayeswise.cli.answers import Answers, Layout, free_name
from bayeswise.cli.reading import Watched
from bayeswise.explanations.plain import json_number
from bayeswise.foundation.errors import TooFewRowsError, UsageError
from bayeswise.tables.batch import Batch
from bayeswise.tables.names import normal_name
from bayeswise.tables.source import Chunk

STDDEV = "stddev"


@dataclass(frozen=True)
class NumberLayout(Layout):
    """The columns that are kept, the mean, stddev, and one column for each quantile."""

    spread: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.kept, self.answer, *self.spread)

    @classmethod
    def named(cls, kept: Sequence[str], target: str, quantiles: Sequence[float]) -> NumberLayout:
        """The mean is named like the target, or `predicted` where the table has that name.

        >>> NumberLayout.named(["size"], "price", [0.05, 0.95]).names
        ('size', 'price', 'stddev', 'q_0.05', 'q_0.95')
        """
        taken = {normal_name(name) for name in kept}
        answer = free_name([target, "predicted"], taken)
        names = [STDDEV, *(f"q_{share:g}" for share in quantiles)]
        return cls(tuple(kept), answer, spread=tuple(free_name([name], taken) for name in names))


class NumberAnswers(Answers):
    """The rows of a table with the distribution of the target, as columns, chunk by chunk."""

    def __init__(self, model: Any, source: Watched, layout: NumberLayout, quantiles: Sequence[float]) -> None:
        super().__init__(model, source, layout)
        self.quantiles = list(quantiles)

    def _answers(self, batch: Batch, chunk: Chunk) -> Iterator[Sequence[Any]]:
        yield list(map(json_number, self.model.predict(batch).tolist()))
        try:
            ahead = self.model.predictive(batch)
        except TooFewRowsError:
            if self.quantiles:
                raise
            yield ["inf"] * batch.n_rows  # as many weights as rows: nothing is known about the noise
            return
        yield list(map(json_number, ahead.stddev.tolist()))
        if self.quantiles:
            for column in ahead.quantile(self.quantiles).T.tolist():
                yield list(map(json_number, column))


def quantiles_of(text: str | None) -> list[float]:
    """--quantiles as it was typed.

    >>> quantiles_of(".05,.95"), quantiles_of(None)
    ([0.05, 0.95], [])
    """
    found = []
    for word in (text or "").split(",") if text else []:
        try:
            share = float(word)
        except ValueError:
            share = -1.0
        if not 0 < share < 1:
            raise UsageError(f"--quantiles has {word!r}", fix="write probabilities between 0 and 1, as .05,.5,.95")
        found.append(share)
    return found
