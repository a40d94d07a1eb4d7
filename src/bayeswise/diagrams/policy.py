"""What a decision does in each case of what it knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.diagrams.nested import option_table
from bayeswise.diagrams.wording import in_words
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.tables import checked
from bayeswise.posteriors.states import find_state, guess
from bayeswise.tables.labels import Label, Vocabulary

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram


@dataclass(frozen=True, eq=False)
class Policy:
    """P(option | case) of one decision; of an optimal one only the past that matters is an argument."""

    decision: str
    options: tuple[Label, ...]
    knows: tuple[str, ...]
    states: tuple[Vocabulary, ...]  # of what is known
    table: FloatArray  # (n_cases, n_options) probabilities; the last known node changes fastest
    expected: FloatArray | None = None  # (n_cases, n_options) expected utility from here on; none if it was given
    possible: BoolArray | None = None  # (n_cases,) whether a case can come about at all
    best: BoolArray | None = None  # (n_cases, n_options) which options are as good as the chosen one
    reached: FloatArray | None = None  # (n_cases,) how probable a case is if all policies are followed

    def option(self, known: Mapping[str, Any] | None = None) -> Label:
        """The option for one case; nodes that do not matter may be named too."""
        place = 0
        for name, levels in zip(self.knows, self.states, strict=True):
            if name not in (known or {}):
                raise ParameterError(f"the policy of {self.decision!r} needs {name!r}", fix=f"give {{{name!r}: STATE}}")
            place = place * len(levels) + find_state((known or {})[name], levels, what=f"{name!r} has no state")
        return self.options[int(np.argmax(self.table[place]))]

    @property
    def is_certain(self) -> bool:
        """Whether every case has one option."""
        return bool((self.table.max(axis=1) == 1.0).all())

    def cases(self) -> Iterator[tuple[Label, ...]]:
        """The states of what is known, the last node changing fastest."""
        return product(*self.states)

    def in_words(self) -> str:
        """Which option when; cases that nobody gets into are left out."""
        if not self.is_certain:
            return "by chance, see its table"
        kept = self._happens()
        codes = product(*(range(len(levels)) for levels in self.states))
        chosen = np.argmax(self.table, axis=1)
        cases = {case: int(chosen[k]) for k, case in enumerate(codes) if kept[k]}
        if not cases:
            return "no case is possible"
        known = list(zip(self.knows, self.states, strict=True))
        return in_words(known, self.options, cases) + self._ties_in_words(kept)

    def _happens(self) -> BoolArray:
        """(n_cases,) the cases that one gets into, as far as that is known."""
        kept = np.ones(len(self.table), dtype=bool) if self.possible is None else self.possible
        if self.reached is not None and (self.reached > 0.0).any():
            kept = kept & (self.reached > 0.0)
        return kept

    def _ties_in_words(self, kept: BoolArray) -> str:
        if self.best is None or len(self.options) == 1:
            return ""
        n_best = self.best[kept].sum(axis=1)
        if (n_best == len(self.options)).all():
            return " (every option is as good)"
        n_tied = int((n_best > 1).sum())
        return f" (a tie in {n_tied} of {len(n_best)} cases)" if n_tied else ""

    def to_columns(self) -> dict[str, list[Any]]:
        """One line for each possible case: what is known, the option, others as good, what each leads to."""
        rows = list(range(len(self.table))) if self.possible is None else np.flatnonzero(self.possible).tolist()
        cases = list(self.cases())
        columns: dict[str, list[Any]] = {name: [cases[k][v] for k in rows] for v, name in enumerate(self.knows)}
        best = [int(np.argmax(self.table[k])) for k in rows]
        columns[self.decision] = [self.options[option] for option in best]
        if self.best is not None and (self.best[rows].sum(axis=1) > 1).any():
            equal = [
                [str(o) for j, o in enumerate(self.options) if self.best[k, j] and j != best[r]]
                for r, k in enumerate(rows)
            ]
            columns["as good"] = [", ".join(others) for others in equal]
        if self.reached is not None:
            columns["probability"] = [float(self.reached[k]) for k in rows]
        if self.expected is not None:
            for option, label in enumerate(self.options):
                columns[f"utility of {label}"] = [float(self.expected[k, option]) for k in rows]
        return columns

    def to_frame(self) -> Any:
        """`to_columns` in the dataframe library that is installed, or as it is."""
        from bayeswise.explanations.plain import as_frame

        return as_frame(self.to_columns())

    def __repr__(self) -> str:
        return f"Policy({self.decision}: {self.in_words()})"


def given_policy(diagram: InfluenceDiagram, name: str, rule: Any, knows: Sequence[str] | None = None) -> Policy:
    """A policy that somebody has: an option, a table by what the decision is told, or a `Policy`."""
    diagram.decision_place(name)
    if isinstance(rule, Policy):
        return _fitting(diagram, name, rule)
    known: Sequence[str] = (diagram.parents(name) if isinstance(rule, Mapping) else ()) if knows is None else knows
    for node in known:
        _refuse_unknown(diagram, name, node)
    levels = [(node, Vocabulary(diagram.states(node))) for node in known]
    table, _ = checked(name, option_table(name, Vocabulary(diagram.states(name)), levels, rule), levels)
    return Policy(name, diagram.states(name), tuple(known), tuple(states for _, states in levels), table)


def _fitting(diagram: InfluenceDiagram, name: str, rule: Policy) -> Policy:
    if rule.decision != name or rule.options != diagram.states(name):
        raise ParameterError(f"the policy of {rule.decision!r} is no policy of {name!r}", fix="give one for it")
    for node, states in zip(rule.knows, rule.states, strict=True):
        if node not in diagram.known(name):
            raise ParameterError(
                f"the policy of {name!r} needs {node!r}, which is not known then",
                fix=guess(node, diagram.known(name)),
            )
        if states.labels != diagram.states(node):
            raise ParameterError(f"the policy of {name!r} knows other states of {node!r}", fix="make it anew")
    return replace(rule, expected=None, possible=None, best=None, reached=None)  # it is followed, not chosen


def _refuse_unknown(diagram: InfluenceDiagram, name: str, node: str) -> None:
    if node not in diagram.known(name):
        raise ParameterError(
            f"the policy of {name!r} needs {node!r}, which is not known then", fix=guess(node, diagram.known(name))
        )
