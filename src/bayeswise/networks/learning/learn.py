"""From a table to a network in one call: a graph, given or found, and tables by counting."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.counts import FamilyCounts
from bayeswise.networks.learning.rows import CodedRows
from bayeswise.networks.learning.scores import Scores
from bayeswise.networks.learning.structure import Constraints, Edges, chow_liu, climb, k2
from bayeswise.networks.network import BeliefNetwork
from bayeswise.posteriors.states import guess

METHODS = ("hill-climbing", "k2", "chow-liu")


def learn(
    table: Any,
    *,
    parents: Mapping[str, Sequence[str]] | None = None,
    method: str = "hill-climbing",
    score: str = "bic",
    order: Sequence[str] | None = None,
    root: str | None = None,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Sequence[Sequence[str]] = (),
    max_parents: int | None = None,
    prior: str = "bdeu",
    strength: float = 1.0,
    missing: str = "error",
    ignore: Collection[str] = (),
    states: Mapping[str, Sequence[Any]] | None = None,
) -> BeliefNetwork:
    """A network with a given graph (`parents`), or one that a method finds by a score.

    >>> rows = {"rain": ["y", "n"] * 20, "wet": ["y", "n"] * 20, "day": ["a", "a", "b", "b"] * 10}
    >>> learn(rows).edges
    (('rain', 'wet'),)
    """
    rows = CodedRows.of(table, ignore=ignore, states=states)
    if missing not in ("error", "drop"):
        raise ParameterError(f"missing is {missing!r}", fix="choose 'error' or 'drop'")
    if parents is None:
        rows = rows.without_holes() if missing == "drop" else rows.complete()
        rules = Constraints(tuple(required), tuple(forbidden), tuple(map(tuple, tiers)), max_parents)
        parents = _found(rows, method, score, order, root, rules, strength)
    return FamilyCounts.of_rows(rows, parents, states=states).network(prior=prior, strength=strength)


def _found(
    rows: CodedRows,
    method: str,
    score: str,
    order: Sequence[str] | None,
    root: str | None,
    rules: Constraints,
    strength: float,
) -> dict[str, list[str]]:
    if method == "hill-climbing":
        found = climb(Scores(rows, score, strength=strength), rules)
    elif method == "k2":
        if order is None:
            raise ParameterError("K2 needs an order of the columns", fix="give order=[...], causes first")
        found = k2(Scores(rows, score, strength=strength), order, rules)
    elif method == "chow-liu":
        found = chow_liu(rows, root)
    else:
        raise ParameterError(f"there is no method {method!r}", fix=guess(method, METHODS))
    return {name: [rows.names[k] for k in above] for name, above in zip(rows.names, found, strict=True)}
