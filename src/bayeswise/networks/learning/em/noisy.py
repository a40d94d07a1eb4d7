"""The parameters of a noisy maximum by EM: the state that each cause produces alone is latent.

With F_i(y) = P(cause i produces y or weaker), the effect is y with probability prod F_i(y) - prod F_i(y - 1). Given
that, cause i produced a weaker state a with probability q_i(a) (prod' F(y) - prod' F(y - 1)), and y itself with
q_i(y) prod' F(y), the products being over the other causes; both divided by the probability of y.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, TooFewRowsError
from bayeswise.networks.canonical import NoisyMax
from bayeswise.networks.learning.coded_rows import CodedRows, summed_weights

_MOST_STEPS = 5_000
_TOLERANCE = 1e-12  # of the objective, gained by a step


@dataclass(frozen=True)
class FittedNoisyMax:
    """The table, its log-likelihood, and how many steps it took."""

    table: NoisyMax
    log_likelihood: float
    steps: int


def fit_noisy_max(
    rows: CodedRows, node: str, parents: Sequence[str], *, smoothing: float = 1.0, most_steps: int = _MOST_STEPS
) -> FittedNoisyMax:
    """The noisy maximum of greatest posterior density for a node, in the rows that have the node and its parents.

    States are in order from strongest to none; the last state of a parent is its absence, which has no effect. There
    are `smoothing` pseudo-counts in each table of a cause, and in the leak.

    >>> states = {"flu": ["yes", "no"], "fever": ["yes", "no"]}
    >>> rows = CodedRows.of({"flu": ["yes", "yes", "yes", "no"], "fever": ["yes", "yes", "no", "no"]}, states=states)
    >>> fit_noisy_max(rows, "fever", ["flu"], smoothing=0.0).table.causes[0].round(3).tolist()
    [[0.667, 0.333], [0.0, 1.0]]
    """
    if not parents:
        raise ParameterError(f"{node!r} has no parents: there is no cause", fix="name its causes in parents={...}")
    if not (math.isfinite(smoothing) and smoothing >= 0.0):
        raise ParameterError(f"smoothing is {smoothing!r}", fix="give a number from 0 on")
    places = [rows.names.index(name) for name in (*parents, node)]
    known = np.asarray((rows.codes[:, places] >= 0).all(axis=1))
    if not known.any():
        raise TooFewRowsError(f"no row has {node!r} and all of its causes", fix="give rows that have them")
    cells, which = np.unique(rows.codes[known][:, places], axis=0, return_inverse=True)
    weight = summed_weights(which.ravel(), len(cells), None if rows.weights is None else rows.weights[known])
    n_states = rows.sizes[places[-1]]
    effect = n_states - 1 - cells[:, -1].astype(np.int64)  # 0 is none
    causes = [cells[:, k].astype(np.int64) for k in range(len(parents))]
    sizes = [*(rows.sizes[place] for place in places[:-1]), 1]
    climb = _Climb([*causes, np.zeros(len(cells), dtype=np.int64)], effect, weight, sizes, n_states, smoothing)
    steps = climb.run(most_steps)
    tables = [table[:, ::-1] for table in climb.tables]
    return FittedNoisyMax(NoisyMax(tables[:-1], tables[-1][0]), climb.log_likelihood, steps)


class _Climb:
    """Tables by cause, states from none to strongest; the leak is the last cause, always there."""

    def __init__(
        self,
        causes: Sequence[IntArray],
        effect: IntArray,
        weight: FloatArray,
        sizes: Sequence[int],
        n_states: int,
        smoothing: float,
    ) -> None:
        self.causes, self.effect, self.weight, self.n_states = causes, effect, weight, n_states
        self.pseudo = [smoothing / (max(size - 1, 1) * n_states) for size in sizes]
        seen = np.bincount(effect, weights=weight, minlength=n_states) + 1.0
        start = 0.5 * seen / seen.sum() + 0.5 / n_states
        self.tables = [np.tile(start, (size, 1)) for size in sizes]
        for table in self.tables[:-1]:
            table[-1] = np.eye(n_states)[0]  # absence has no effect
        self.log_likelihood = -math.inf

    def run(self, most_steps: int) -> int:
        """Steps until one gains less than the tolerance; returns their number."""
        before = -math.inf
        for step in range(1, most_steps + 1):
            expected = self._expected()
            objective = self.log_likelihood + self._log_prior()
            if objective - before <= _TOLERANCE * (1.0 + abs(objective)):
                return step
            before = objective
            self._maximise(expected)
        return most_steps

    def _log_prior(self) -> float:
        total = 0.0
        for table, pseudo in zip(self.tables, self.pseudo, strict=True):
            free = table if len(table) == 1 else table[:-1]
            total += pseudo * float(np.log(free).sum()) if pseudo > 0.0 else 0.0
        return total

    def _expected(self) -> list[FloatArray]:
        """The expected count of each state of the effect that each state of each cause produced."""
        chances = [table[cause] for table, cause in zip(self.tables, self.causes, strict=True)]
        row = np.arange(len(self.effect))
        tails = [np.cumsum(chance, axis=1) for chance in chances]
        up_to = np.stack([tail[row, self.effect] for tail in tails])
        below = np.stack([np.where(self.effect > 0, tail[row, self.effect - 1], 0.0) for tail in tails])
        others_up_to, others_below = _products_of_others(up_to), _products_of_others(below)
        p = np.maximum(up_to.prod(axis=0) - below.prod(axis=0), 1e-300)
        self.log_likelihood = math.fsum(self.weight * np.log(p))
        expected: list[FloatArray] = []
        for chance, cause, table, up, low in zip(
            chances, self.causes, self.tables, others_up_to, others_below, strict=True
        ):
            share = chance * ((up - low) / p)[:, None]
            share[row, self.effect] = chance[row, self.effect] * up / p
            share[np.arange(self.n_states) > self.effect[:, None]] = 0.0
            columns = (np.bincount(cause, weights=self.weight * state, minlength=len(table)) for state in share.T)
            expected.append(np.asarray(np.stack(list(columns), axis=1), dtype=np.float64))
        return expected

    def _maximise(self, expected: Sequence[FloatArray]) -> None:
        for place, (total, pseudo) in enumerate(zip(expected, self.pseudo, strict=True)):
            free = slice(None) if place == len(self.tables) - 1 else slice(None, -1)
            counts = total[free] + pseudo
            mass = counts.sum(axis=1, keepdims=True)
            self.tables[place][free] = np.divide(counts, mass, out=self.tables[place][free].copy(), where=mass > 0.0)


def _products_of_others(factors: FloatArray) -> FloatArray:
    """(n_factors, n) the product of all factors but one, for each of them; factors may be 0."""
    before, after = np.ones_like(factors), np.ones_like(factors)
    before[1:] = np.cumprod(factors, axis=0)[:-1]
    after[:-1] = np.cumprod(factors[::-1], axis=0)[::-1][1:]
    return np.asarray(before * after)


def check_noisy(noisy: Sequence[str], parents: Mapping[str, Sequence[str]] | None, declared: frozenset[str]) -> None:
    """Noisy nodes need a given graph, and an order of their states and of those of their parents."""
    for node in noisy:
        if parents is None or not parents.get(node):
            raise ParameterError(f"{node!r} is noisy and has no causes", fix="give the graph: parents={...}")
        for name in (node, *parents[node]):
            if name not in declared:
                raise ParameterError(
                    f"the order of the states of {name!r}, from strongest to none, is not given",
                    fix=f"give states={{{name!r}: ['yes', 'no']}}",
                )
