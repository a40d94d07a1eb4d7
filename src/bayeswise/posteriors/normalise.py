"""The one exit from log space: posterior = joint / evidence, so that nothing underflows; odds; checked posteriors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, row_number
from bayeswise.foundation.logspace import log, log_sum_exp
from bayeswise.tables.schema.labels import Label

Undefined = Literal["error", "prior", "uniform"]

# A block this large, turned so that states come first, stays in the second-level cache.
_BLOCK_CELLS = 1 << 15


@dataclass(frozen=True, eq=False)
class Posterior:
    """p(state | row) and log p(row)."""

    probability: FloatArray  # (n_rows, n_states)
    log_evidence: FloatArray  # (n_rows,)


def normalise(
    log_joint: ArrayLike,
    *,
    undefined: Undefined = "error",
    prior: FloatArray | None = None,
    out: FloatArray | None = None,
    first_row: int = 0,
) -> Posterior:
    """p(state | row) = exp(log_joint - log_evidence), log_evidence = log sum_state exp(log_joint).

    A row that is impossible in every state (all -inf) has no posterior: it is 0/0. `undefined` says what
    happens then: an error that names the row, the `prior` (n_states,), or equal shares; its log-evidence is
    -inf. `out` takes the probabilities and may be `log_joint` itself, which saves an array of that size.

    >>> answer = normalise([[-1000.0, -1000.0 - np.log(3.0)]])
    >>> answer.probability.round(12).tolist(), answer.log_evidence.round(4).tolist()
    ([[0.75, 0.25]], [-999.7123])
    """
    joint = _rows_of(log_joint)
    log_evidence = np.empty(len(joint))  # (n_rows,)
    return Posterior(_divided(joint, undefined, prior, out, first_row, log_evidence), log_evidence)


def shares_of(log_joint: ArrayLike, *, out: FloatArray | None = None, first_row: int = 0) -> FloatArray:
    """p(state | row) alone, as `normalise` has it, (n_rows, n_states).

    >>> shares_of([[-1000.0, -1000.0 - np.log(3.0)]]).round(12).tolist()
    [[0.75, 0.25]]
    """
    return _divided(_rows_of(log_joint), "error", None, out, first_row, np.empty(0))


def _divided(
    joint: FloatArray,
    undefined: Undefined,
    prior: FloatArray | None,
    out: FloatArray | None,
    first_row: int,
    log_evidence: FloatArray,
) -> FloatArray:
    """The posterior, and the log-evidence in its place if that has one for each row."""
    share = _share(undefined, prior, joint.shape[1])
    found = np.empty(joint.shape) if out is None else _checked_out(out, joint)
    target = found if found.flags.c_contiguous else np.empty(joint.shape)
    joint = np.ascontiguousarray(joint)
    stopped = _kernels.normalise_rows(target, joint, np.empty(0) if share is None else share, log_evidence)
    if stopped < len(joint):
        _refuse(joint[stopped], first_row + stopped)
    if target is not found:
        found[:] = target
    return found


def log_posterior(
    log_joint: ArrayLike, *, undefined: Literal["error", "uniform"] = "error", first_row: int = 0
) -> FloatArray:
    """log p(state | row) = log_joint - log_evidence, (n_rows, n_states), as exact near 0 as in the tails.

    `undefined` says what happens to a row that is impossible in every state, as in `normalise`.

    >>> [f"{value:.4g}" for value in log_posterior([[0.0, -50.0]])[0]]
    ['-1.929e-22', '-50']
    """
    joint = _rows_of(log_joint)
    log_probability = np.empty(joint.shape)  # (n_rows, n_states)
    for rows, log_block in _shifted(joint, first_row, allowed=undefined == "uniform"):
        others = np.exp(log_block)
        # The largest term is exp(0) = 1: left out of the sum, log1p keeps what 1 + tiny would swallow.
        others[np.argmax(log_block, axis=0), np.arange(log_block.shape[1])] = 0.0
        log_probability[rows] = (log_block - np.log1p(_sum_over_states(others))).T
    return log_probability


def log_own(probability: FloatArray, own: IntArray, log_rest: Callable[[IntArray], FloatArray]) -> FloatArray:
    """(n_rows,) log p(own state), `own` being its position.

    Where p is too small for a number, it is found in the (n, n_states) log posteriors that `log_rest` has of such rows.

    >>> p = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> log_own(p, np.array([1, 1]), lambda rows: np.array([[0.0, -800.0]])).round(2).tolist()
    [-0.69, -800.0]
    """
    found = log(probability[np.arange(len(own)), own])
    small = np.flatnonzero(np.isneginf(found))
    if len(small):
        found[small] = log_rest(small)[np.arange(len(small)), own[small]]
    return found


def _sum_over_states(terms: FloatArray) -> FloatArray:
    """The sum of each column, (n_states, n) -> (n,), by halves: 50 states round 6 times, not 49."""
    while len(terms) > 2:
        half = len(terms) // 2
        folded = terms[:half] + terms[half : 2 * half]
        if len(terms) % 2:
            folded[0] += terms[-1]
        terms = folded
    return np.asarray(terms[0] + terms[1] if len(terms) == 2 else terms[0].copy())


def _shifted(joint: FloatArray, first_row: int, allowed: bool) -> Iterator[tuple[slice, FloatArray]]:
    """Blocks of rows as (n_states, n_block_rows) less their top."""
    n_rows, n_states = joint.shape
    size = max(1, min(n_rows, _BLOCK_CELLS // n_states))
    buffer = np.empty((n_states, size))
    for start in range(0, n_rows, size):
        rows = slice(start, min(start + size, n_rows))
        log_block = buffer[:, : rows.stop - start]
        log_block[:] = joint[rows].T
        log_top = log_block.max(axis=0)
        refused = ~np.isfinite(log_top) & ~(allowed & (log_top == -np.inf))
        if refused.any():
            k = int(np.argmax(refused))
            _refuse(log_block[:, k], first_row + start + k)
        impossible = log_top == -np.inf
        if impossible.any():
            log_block[:, impossible] = log_top[impossible] = 0.0
        with np.errstate(over="ignore"):  # -1.7e308 - 1e308 is minus infinity, as it should be
            log_block -= log_top
        yield rows, log_block


def _refuse(log_row: FloatArray, row: int) -> NoReturn:
    """A row whose largest number is not finite."""
    if np.isnan(log_row).any() or log_row.max() == np.inf:
        raise ParameterError(
            f"the log joint of row {row_number(row)} is {log_row[:8].tolist()}; it must be finite or -inf",
            fix="look for an infinite cell or a zero variance in that row",
        )
    raise ImpossibleEvidenceError(
        f"row {row_number(row)} has probability 0 in every state, so that its posterior is 0/0",
        fix='use smoothing above 0 in the model; a call of normalise itself takes undefined="prior" or "uniform"',
    )


def _share(undefined: Undefined, prior: FloatArray | None, n_states: int) -> FloatArray | None:
    """What an impossible row is given, (n_states,); None if that is an error."""
    if undefined == "error":
        return None
    if undefined == "uniform":
        return np.full(n_states, 1.0 / n_states)
    if undefined == "prior" and prior is not None and np.shape(prior) == (n_states,):
        return np.asarray(prior, dtype=np.float64)
    if undefined == "prior":
        raise ParameterError(
            f'undefined="prior" needs the prior of {n_states} states; found {prior!r}',
            fix="give prior=(n_states,)",
        )
    raise ParameterError(f"undefined is {undefined!r}", fix='choose "error", "prior" or "uniform"')


def _rows_of(log_joint: ArrayLike) -> FloatArray:
    joint = np.asarray(log_joint, dtype=np.float64)
    if joint.ndim != 2 or joint.shape[1] == 0:
        raise ParameterError(
            f"a log joint has the shape (n_rows, n_states) with at least one state; found {joint.shape}",
            fix="give one row per case and one column per state",
        )
    return joint


def _checked_out(out: FloatArray, joint: FloatArray) -> FloatArray:
    if out.shape != joint.shape or out.dtype != np.float64 or not out.flags.writeable:
        raise ParameterError(
            f"out must be a writable float64 array of shape {joint.shape}; found {out.dtype} {out.shape}",
            fix="give np.empty(log_joint.shape)",
        )
    return out


def log_odds(log_joint: ArrayLike, state: int, against: int | None = None) -> FloatArray:
    """log p(state | row) - log p(against | row), (n_rows,); `against` None is all other states together.

    A state is the position of its column. The sign is the decision between the two.

    >>> log_odds([[-1.0, -3.0]], state=0).tolist()
    [2.0]
    >>> log_odds(np.log([[0.5, 0.25, 0.25]]), state=1, against=0).round(4).tolist()
    [-0.6931]
    """
    joint = np.asarray(log_joint, dtype=np.float64)  # (n_rows, n_states)
    n_states = joint.shape[-1]
    if n_states < 2 or state == against:
        raise ParameterError(
            f"odds compare two different states; found state {state} against {against} of {n_states}",
            fix="name another state",
        )
    log_for = joint[..., state]
    others = np.delete(joint, state, axis=-1) if against is None else joint[..., [against]]
    log_top = others.max(axis=-1)
    _check_possible(log_for, log_top)
    # Subtracting the largest rival first keeps the digits that a large common exponent would push out.
    log_shift = np.where(np.isfinite(log_top), log_top, 0.0)
    return np.asarray((log_for - log_shift) - log_sum_exp(others - log_shift[..., None]))


def probability_of(log_odds: ArrayLike) -> FloatArray:
    """p = 1 / (1 + exp(-log_odds)), exact in both tails.

    >>> probability_of([0.0, np.log(3.0), -np.inf]).round(12).tolist()
    [0.5, 0.75, 0.0]
    """
    size = np.asarray(log_odds, dtype=np.float64)
    small = np.exp(-np.abs(size))
    return np.asarray(np.where(size >= 0.0, 1.0, small) / (1.0 + small))


def odds_of(log_odds: float) -> float:
    """exp(log_odds), infinite beyond the range of a float.

    >>> odds_of(0.0), odds_of(1e4)
    (1.0, inf)
    """
    return math.exp(log_odds) if log_odds < 709.0 else math.inf


def _check_possible(log_for: FloatArray, log_against: FloatArray) -> None:
    impossible = np.isneginf(np.maximum(log_for, log_against))
    if impossible.any():
        row = row_number(int(np.argmax(impossible)))
        raise ImpossibleEvidenceError(
            f"row {row} has probability 0 in all states compared: their odds are 0/0",
            fix="use smoothing above 0, or compare other states",
        )


SUM_TOLERANCE = 1e-5  # posteriors of single precision pass
_BLOCK_ROWS = 1 << 14


def as_shares(values: Any, states: Sequence[Label]) -> FloatArray:
    """(n_rows, n_states) numbers; a single row may be given alone."""
    try:
        found = np.atleast_2d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise ParameterError("a posterior is made of numbers", fix="give one column for each state") from None
    if found.ndim != 2 or found.shape[1] != len(states):
        raise ParameterError(
            f"the posterior has the shape {found.shape}; {len(states)} states are named",
            fix="give one column for each state",
        )
    return found


def check_posterior(probability: FloatArray, states: Sequence[Label]) -> None:
    """Refuse what is not a distribution: a number that is missing, below 0, or a row that does not sum to 1."""
    for start in range(0, len(probability), _BLOCK_ROWS):
        block = probability[start : start + _BLOCK_ROWS]
        total = block[:, 0].copy()
        low = block[:, 0]
        for column in block.T[1:]:
            total += column
            low = np.minimum(low, column)
        # a comparison with NaN is false, so that one test finds all three
        good = (np.abs(total - 1.0) <= SUM_TOLERANCE) & (low >= 0.0)
        if not good.all():
            k = int(np.argmin(good))
            _complain(block[k], total[k], row_number(start + k), states)


def _complain(row: FloatArray, total: float, number: int, states: Sequence[Label]) -> None:
    for state, p in zip(states, row.tolist(), strict=True):
        if not 0.0 <= p <= 1.0 + SUM_TOLERANCE:
            raise ParameterError(
                f"the posterior of state {state!r} in row {number} must be from 0 to 1; found {p}",
                fix="give probabilities, such as predict_proba of a model returns",
            )
    raise ParameterError(f"the posterior of row {number} sums to {total:.9g}, not to 1", fix="divide it by its sum")
