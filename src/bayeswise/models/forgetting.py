"""Which batches of rows a model has forgotten: none is taken out twice unless that is meant.

The ledger belongs to the history of a model and not to its value: two models that learned the same rows are equal and
have the same bytes, whatever they forgot on the way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from bayeswise.foundation.errors import NotMergedError, StoreError
from bayeswise.statistics import fingerprint

M = TypeVar("M")

_LEDGER = "_forgotten"


def forgotten_by(model: Any) -> tuple[str, ...]:
    """The fingerprints of the batches that the model has forgotten, first to last."""
    ledger: tuple[str, ...] | StoreError = vars(model).get(_LEDGER, ())
    if isinstance(ledger, StoreError):
        raise ledger
    return ledger


def with_ledger(model: M, batches: Iterable[str]) -> M:
    """The model with this history; each batch is in it once."""
    ledger = tuple(dict.fromkeys(batches))
    if ledger:
        vars(model)[_LEDGER] = ledger  # as a cached property would be: no field, so no part of the value
    return model


def with_unknown_ledger(model: M, error: StoreError) -> M:
    """The model whose ledger cannot be read: it answers, but takes part in no history."""
    vars(model)[_LEDGER] = error
    return model


def history_with(model: Any, gone: Any) -> tuple[str, ...]:
    """The history of the model after it forgets rows with these statistics; not twice."""
    before, batch = forgotten_by(model), fingerprint(gone)
    if batch in before:
        raise NotMergedError(
            "the model has forgotten these rows before; taking them out again would take out others that are like them",
            fix="if it learned them more than once, say again=True (--again in the shell)",
        )
    return before if gone.weight_of_rows.is_zero().all() else (*before, batch)
