"""The one exit from log space: posterior = joint / evidence, shifted by the top so nothing underflows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, row_number

Undefined = Literal["error", "prior", "uniform"]

# A block this large, turned so that states come first, stays in the second-level cache.
_BLOCK_CELLS = 1 << 15


@dataclass(frozen=True)
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
    share = _share(undefined, prior, joint.shape[1])
    probability = np.empty(joint.shape) if out is None else _checked_out(out, joint)
    log_evidence = np.empty(len(joint))  # (n_rows,)
    for rows, log_block, log_top, impossible in _shifted(joint, first_row, share is not None):
        np.exp(log_block, out=log_block)
        total = _sum_over_states(log_block)  # (n_block_rows,)
        log_block /= total
        if impossible is not None and share is not None:
            log_block[:, impossible] = share[:, None]
        probability[rows] = log_block.T
        log_evidence[rows] = np.log(total, out=total) + log_top
    return Posterior(probability, log_evidence)


def log_posterior(log_joint: ArrayLike, *, first_row: int = 0) -> FloatArray:
    """log p(state | row) = log_joint - log_evidence, (n_rows, n_states), as exact near 0 as in the tails.

    >>> [f"{value:.4g}" for value in log_posterior([[0.0, -50.0]])[0]]
    ['-1.929e-22', '-50']
    """
    joint = _rows_of(log_joint)
    log_probability = np.empty(joint.shape)  # (n_rows, n_states)
    for rows, log_block, _, _ in _shifted(joint, first_row, allowed=False):
        others = np.exp(log_block)
        # The largest term is exp(0) = 1: left out of the sum, log1p keeps what 1 + tiny would swallow.
        others[np.argmax(log_block, axis=0), np.arange(log_block.shape[1])] = 0.0
        log_probability[rows] = (log_block - np.log1p(_sum_over_states(others))).T
    return log_probability


def _sum_over_states(terms: FloatArray) -> FloatArray:
    """The sum of each column, (n_states, n) -> (n,), by halves: 50 states round 6 times, not 49."""
    while len(terms) > 2:
        half = len(terms) // 2
        folded = terms[:half] + terms[half : 2 * half]
        if len(terms) % 2:
            folded[0] += terms[-1]
        terms = folded
    return np.asarray(terms[0] + terms[1] if len(terms) == 2 else terms[0].copy())


def _shifted(
    joint: FloatArray, first_row: int, allowed: bool
) -> Iterator[tuple[slice, FloatArray, FloatArray, BoolArray | None]]:
    """Blocks of rows as (n_states, n_block_rows) less their top, the top, and which rows are impossible."""
    n_rows, n_states = joint.shape
    size = max(1, min(n_rows, _BLOCK_CELLS // n_states))
    buffer = np.empty((n_states, size))
    for start in range(0, n_rows, size):
        rows = slice(start, min(start + size, n_rows))
        log_block = buffer[:, : rows.stop - start]
        log_block[:] = joint[rows].T
        log_top = log_block.max(axis=0)
        impossible = None
        if not np.isfinite(log_top).all():
            impossible = _impossible(log_block, log_top, first_row + start, allowed)
            log_block[:, impossible] = 0.0
        with np.errstate(over="ignore"):  # -1.7e308 - 1e308 is minus infinity, as it should be
            log_block -= np.where(impossible, 0.0, log_top) if impossible is not None else log_top
        yield rows, log_block, log_top, impossible


def _impossible(log_block: FloatArray, log_top: FloatArray, first_row: int, allowed: bool) -> BoolArray:
    """Which rows of a block are -inf in every state; NaN, +inf and what is not allowed are errors."""
    broken = np.isnan(log_top) | (log_top == np.inf)
    if broken.any():
        k = int(np.argmax(broken))
        raise ParameterError(
            f"the log joint of row {row_number(first_row + k)} is {log_block[:8, k].tolist()}; it must be finite or "
            "-inf",
            fix="look for an infinite cell or a zero variance in that row",
        )
    impossible: BoolArray = log_top == -np.inf
    if not allowed:
        k = int(np.argmax(impossible))
        raise ImpossibleEvidenceError(
            f"row {row_number(first_row + k)} has probability 0 in every state, so that its posterior is 0/0",
            fix='use smoothing above 0 in the model; a call of normalise itself takes undefined="prior" or "uniform"',
        )
    return impossible


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
