"""Rows in memory, swept in blocks on threads; the blocks and the order of their sums depend on the shape alone."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.regression.features import Features, refuse_extreme
from bayeswise.statistics.moments import Moments

T = TypeVar("T")
CELLS_OF_A_BLOCK = 1 << 22
SPREADS = (1e-290, 1e305)  # whose inverses are floats
NO_WEIGHTS: FloatArray = np.empty(0)


@dataclass(frozen=True)
class Rows:
    """z = (x - centre) / unit for each row, followed by a one for the intercept."""

    matrix: FloatArray  # (n_rows, n), or float32
    weights: FloatArray  # (n_rows,), or empty where each row counts once
    centre: FloatArray  # (n,)
    unit: FloatArray  # (n,)

    @classmethod
    def of(cls, matrix: FloatArray, weights: FloatArray | None, features: Features, *, standardise: bool) -> Rows:
        """Centred at the means, and numbers in units of their standard deviation unless standardise=False."""
        weights = None if weights is None or not len(weights) else weights
        parts = in_blocks(
            lambda rows: Moments.of(matrix[rows], weights=None if weights is None else weights[rows]),
            _blocks(len(matrix), max(matrix.shape[1], 1)),
        )
        moments = parts[0]
        for part in parts[1:]:
            moments = moments.merge(part)
        spread = moments.stddev()[0]
        refuse_extreme([name for name, _ in features.names], spread, *SPREADS)
        measured = features.is_number & (spread > 0) & standardise
        return cls(
            matrix,
            NO_WEIGHTS if weights is None else weights,
            moments.mean()[0],
            np.where(measured, spread, 1.0),
        )

    @property
    def n_rows(self) -> int:
        return len(self.matrix)

    @property
    def n_columns(self) -> int:
        """With the intercept."""
        return int(self.matrix.shape[1]) + 1

    @property
    def total_weight(self) -> float:
        return math.fsum(self.weights) if len(self.weights) else float(self.n_rows)

    def every(self, step: int) -> Rows:
        """Every so manieth row, as views."""
        weights = np.ascontiguousarray(self.weights[::step]) if len(self.weights) else self.weights
        return Rows(self.matrix[::step], weights, self.centre, self.unit)

    def weights_of(self, rows: slice) -> FloatArray:
        return self.weights[rows] if len(self.weights) else self.weights

    def over(self, work: Callable[[slice], T], width: int = 1) -> list[T]:
        """The work on every block of rows, in order; `width` is how many numbers a cell takes part in."""
        return in_blocks(work, _blocks(self.n_rows, self.n_columns * width))

    # -- sums ---------------------------------------------------------------------------------------------------
    def scores(self, weights: FloatArray) -> FloatArray:
        """(n_rows,) weights . z."""
        slopes = weights[:-1] / self.unit
        parts = self.over(lambda rows: (self.matrix[rows] - self.centre) @ slopes + weights[-1])
        return np.concatenate(parts)

    def moment(self, amounts: FloatArray) -> FloatArray:
        """(n,) the sum over rows of amount z."""

        def of_block(rows: slice) -> FloatArray:
            inside = amounts[rows] @ (self.matrix[rows] - self.centre) / self.unit
            return np.append(inside, amounts[rows].sum())

        return np.asarray(sum(self.over(of_block)))

    def products(self, amounts: FloatArray) -> FloatArray:
        """(n, n) the sum over rows of amount z z'."""
        inverse = 1.0 / self.unit

        def of_block(rows: slice) -> FloatArray:
            products = np.empty((self.n_columns, self.n_columns))
            _kernels.weighted_products(
                self.matrix[rows], self.centre, inverse, np.ascontiguousarray(amounts[rows]), products
            )
            return products

        return np.asarray(sum(self.over(of_block, self.n_columns)))

    def in_original_units(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights (..., n) and intercept (...) for x itself."""
        slopes = weights[..., :-1] / self.unit
        return slopes, weights[..., -1] - slopes @ self.centre


def _blocks(n_rows: int, cells_of_a_row: int) -> list[slice]:
    step = max(1_024, min(32_768, CELLS_OF_A_BLOCK // cells_of_a_row // 64 * 64))
    return [slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]


def in_blocks(work: Callable[[slice], T], blocks: list[slice]) -> list[T]:
    """The work on every block, in order, on as many threads as there are cores."""
    if len(blocks) == 1:
        return [work(blocks[0])]
    answers: list[Any] = [None] * len(blocks)
    left = iter(range(len(blocks)))

    def labour() -> None:
        for k in left:  # shared: each thread takes the next block
            answers[k] = work(blocks[k])

    helpers = min(len(blocks), os.cpu_count() or 1) - 1
    if helpers == 0:
        labour()
        return answers
    with ThreadPoolExecutor(helpers) as pool:
        jobs = [pool.submit(labour) for _ in range(helpers)]
        labour()
        for job in jobs:
            job.result()
    return answers
