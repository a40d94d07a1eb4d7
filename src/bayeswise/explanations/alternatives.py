"""What a model offers so that its answers can be explained, and questioned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from bayeswise.explanations.account import Account, Contribution
from bayeswise.posteriors.states import find_state

Alternatives: TypeAlias = Mapping[str, Sequence[Contribution]]  # other values, by column


class Explainable(Protocol):
    """A model whose log joint is a sum over columns."""

    def explain(self, row: Any) -> Account:
        """The reckoning of one row."""

    def alternatives(self, column: str) -> tuple[Contribution, ...]:
        """The values that the column could have instead, each with its log-likelihood by state."""


def alternatives_of(model: Explainable, columns: Iterable[str]) -> dict[str, tuple[Contribution, ...]]:
    """What each of the columns could be instead."""
    return {column: model.alternatives(column) for column in columns}


def known_columns(columns: Iterable[str], account: Account) -> None:
    """Refuse a column that the account does not have, and guess which one was meant."""
    for column in columns:
        find_state(column, account.columns, what="the case has no column")
