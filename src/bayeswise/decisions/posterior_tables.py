"""A posterior in any form as one checked array with named states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.decisions.costs.tables import numbers_of
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.normalise import as_shares, check_posterior
from bayeswise.tables.schema.labels import Label, label_of


def posterior_of(
    posterior: Any, states: Sequence[Any] | None, expected: Sequence[Label]
) -> tuple[FloatArray, tuple[Label, ...]]:
    """(n_rows, n_states) and the names of the states.

    {state: numbers}, a frame with columns STATE or p_STATE, a `Posterior` or an array with `states`. An array alone
    is refused: which column is which state would be a guess.
    """
    if isinstance(posterior, Mapping):
        probability, labels = _of_mapping(posterior)
    elif states is None and (hasattr(posterior, "columns") or hasattr(posterior, "__arrow_c_stream__")):
        probability, labels = _of_frame(posterior, expected)
    else:
        probability, labels = _of_array(getattr(posterior, "probability", posterior), states)
    check_posterior(probability, labels)
    return probability, labels


def states_of(posterior: Any, states: Sequence[Any] | None) -> list[Any]:
    """The states that a posterior names itself: its keys, `states`, or the columns p_STATE of a frame."""
    if isinstance(posterior, Mapping):
        return list(posterior)
    if states is not None:
        return list(states)
    named = [name.removeprefix("p_") for name in _names(posterior) if name.startswith("p_")]
    if not named:
        raise ParameterError("the posterior does not name its states", fix="add states=[...], or give {state: numbers}")
    return named


def _of_mapping(posterior: Mapping[Any, Any]) -> tuple[FloatArray, tuple[Label, ...]]:
    labels = tuple(label_of(state) for state in posterior)
    try:
        columns = [np.asarray(values, dtype=np.float64) for values in posterior.values()]
        if len({column.shape for column in columns if column.ndim}) > 1:
            raise ValueError
        rows = [np.atleast_1d(row) for row in np.broadcast_arrays(*columns)] if columns else []
    except (TypeError, ValueError):
        raise ParameterError(
            "the probabilities of a posterior must be numbers, as many for each state", fix="write {state: [p, ...]}"
        ) from None
    if not rows or rows[0].ndim != 1:
        raise ParameterError("a posterior needs one row of numbers for each state", fix="write {state: [p, ...]}")
    return np.stack(rows, axis=1), labels


def _of_frame(frame: Any, expected: Sequence[Label]) -> tuple[FloatArray, tuple[Label, ...]]:
    known = {str(name) for name in _names(frame)}
    names = [str(s) if str(s) in known and f"p_{s}" not in known else f"p_{s}" for s in expected]
    found = numbers_of(frame, names, "probabilities")
    return np.stack([found[name] for name in names], axis=1), tuple(expected)


def _names(frame: Any) -> Any:
    from bayeswise.tables.source import open_source

    return [column.name for column in open_source(frame).columns]


def _of_array(values: Any, states: Sequence[Any] | None) -> tuple[FloatArray, tuple[Label, ...]]:
    if states is None:
        raise ParameterError(
            "an array does not name the states of its columns", fix="add states=[...], or give {state: numbers}"
        )
    labels = tuple(label_of(state) for state in states)
    if not labels:
        raise ParameterError("states=[] names no state", fix="name one for each column of the posterior")
    return as_shares(values, labels), labels
