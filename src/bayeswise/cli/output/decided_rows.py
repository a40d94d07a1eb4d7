"""The decisions for a stream of rows, chunk by chunk; what changes them when all rows are known.

That are limits on actions, rows that are unknown, and priors of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from bayeswise.cli.options.reading import Watched
from bayeswise.cli.output.answer_stream import Answers, Layout, NumberLayout
from bayeswise.decisions.costs.cost_cells import RowCostError
from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.costs.number_costs import NumberCosts
from bayeswise.decisions.costs.tables import text_in
from bayeswise.decisions.decide import Decisions, decide_rows
from bayeswise.decisions.policy.action_account import ActionAccount, with_prior
from bayeswise.decisions.policy.capacity import within_capacity
from bayeswise.evaluation.novelty import ModelTail
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.progress import Bar
from bayeswise.posteriors.prior import estimate_prior, shifted
from bayeswise.render.labels import probability_names
from bayeswise.render.numbers import number
from bayeswise.render.plain import json_number, json_value
from bayeswise.statistics.intervals import exponent_of
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label, label_of_text
from bayeswise.tables.schema.names import find_name, free_name, normal_name
from bayeswise.tables.source import Chunk, Source

_ADDED = ("action", "expected_cost", "runner_up")


@dataclass(frozen=True)
class DecidedLayout(Layout):
    """The columns that are kept, then action, expected_cost, runner_up, novelty_p and why if requested, posterior."""

    decided: tuple[str, ...] = _ADDED

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.kept, *self.decided, *self.probabilities)

    @classmethod
    def named(
        cls, kept: Sequence[str], classes: Sequence[Label], *, novelty: bool = False, why: bool = False
    ) -> DecidedLayout:
        """Names that the table has already are numbered.

        >>> DecidedLayout.named(["age", "action"], ["no", "yes"]).names
        ('age', 'action', 'action_2', 'expected_cost', 'runner_up', 'p_no', 'p_yes')
        """
        taken = {normal_name(name) for name in kept}
        first = (*_ADDED, *(["novelty_p"] if novelty else []), *(["why"] if why else []))
        added = [free_name([name], taken) for name in (*first, *probability_names(classes))]
        return cls(tuple(kept), added[0], tuple(added[len(first) :]), None, tuple(added[: len(first)]))


class DecidedRows(Answers):
    """The rows of a table with the best action of each, as columns, chunk by chunk."""

    def __init__(
        self,
        model: Any,
        source: Source,
        bar: Bar,
        layout: DecidedLayout,
        costs: Costs,
        prior: FloatArray | None,
        limits: Limits | None = None,
        *,
        why: bool = False,
    ) -> None:
        self.why = why
        known = [column.name for column in source.columns]
        self.costs = costs
        self.prior = prior
        self.limits = limits or Limits()
        self.cost_columns = {name: find_name(name, known, where=source.description) for name in costs.columns}
        self.counts = np.zeros(len(costs.actions), dtype=np.int64)
        self.unknown = 0
        self.expected = 0.0
        self.mean = 0.0  # kept apart: the sum may be larger than any number
        self.price: dict[Label, float] = {}
        self._tail = None if self.limits.novelty is None else ModelTail(model)
        self._held: list[Decided] = []  # what the chunk in hand was decided to
        super().__init__(model, Watched(source, bar, also=[*layout.kept, *self.cost_columns.values()]), layout)

    def __iter__(self) -> Iterator[tuple[list[Sequence[Any]], list[bool]]]:
        """The columns of a chunk, and which of them need no guard: the names of actions do."""
        chunks = super().__iter__()
        if self.limits.at_most or self.limits.estimate:
            return self._together(list(chunks))
        return self._counted(chunks)

    def _counted(self, chunks: Iterator[Any]) -> Iterator[tuple[list[Sequence[Any]], list[bool]]]:
        for cells, safe in chunks:
            yield self._written(cells, safe, self._held.pop())

    def _together(self, chunks: list[Any]) -> Iterator[tuple[list[Sequence[Any]], list[bool]]]:
        """All rows are decided before the first one is written: places and priors depend on everybody."""
        held = self._held
        if self.limits.estimate and held:
            before = np.exp(self.model.log_prior)
            self.prior = estimated_prior(held, before)
            held = [each.under(before, self.prior) for each in held]
        if self.limits.at_most:
            held, self.price = within(held, self.limits.at_most)
        for (cells, safe), decided in zip(chunks, held, strict=True):
            cells[-len(self.model.classes) :] = decided.decisions.posterior.T.tolist()
            yield self._written(cells, safe, decided)

    def _written(self, cells: list[Any], safe: list[bool], decided: Decided) -> tuple[list[Any], list[bool]]:
        n_kept = len(self.layout.kept)
        cells[n_kept : n_kept + 3] = decided.columns(self.limits.unknown)
        safe[n_kept + 2] = False
        if self.why:
            safe[-len(self.model.classes) - 1] = False
        self.counts += np.bincount(decided.decisions.best[~decided.unknown], minlength=len(self.counts))
        self.unknown += int(decided.unknown.sum())
        known = decided.decisions.least_cost[~decided.unknown]
        if len(known):
            with np.errstate(over="ignore"):
                self.expected += float(known.sum())
            n_rows = int(self.counts.sum())
            exponent = exponent_of(known)
            mean = float(np.ldexp(np.ldexp(known, -exponent).mean(), exponent))
            self.mean = self.mean * ((n_rows - len(known)) / n_rows) + mean * (len(known) / n_rows)
        return cells, safe

    def _answers(self, batch: Batch, chunk: Chunk) -> Iterator[Sequence[Any]]:
        scored = self.model.scored(batch)
        self._refuse_impossible(scored.log_relative.max(axis=1), chunk)
        posterior = self.model.probability_of(scored)
        if self.prior is not None:
            posterior = shifted(posterior, np.exp(self.model.log_prior), self.prior, self.model.classes)
        found = {}
        for name, column in self.cost_columns.items():
            found[name], invalid = chunk.numbers(column)
            if invalid:
                raise text_in(column, invalid[0])
        try:
            decisions = decide_rows(posterior, self.costs, found)
        except RowCostError as error:
            raise error.at(chunk.first_row + error.row) from None
        p_value = np.ones(batch.n_rows)
        if self._tail is not None:
            p_value = self._tail.p_value(batch, self.model.log_evidence_of(scored))
        self._held.append(Decided(decisions, p_value <= (self.limits.novelty or 0.0), found))
        yield from ([None] * batch.n_rows for _ in range(3))  # filled in when all is known
        if self._tail is not None:
            yield p_value.tolist()
        if self.why:
            yield [self._reasons(batch, row, found) for row in range(batch.n_rows)]
        yield from posterior.T.tolist()

    def _reasons(self, batch: Batch, row: int, cost_columns: dict[str, FloatArray]) -> str:
        """The strongest columns for and against the action of a row, compared with the next best one."""
        account = self.model.explain(batch.rows(slice(row, row + 1)))
        if self.prior is not None:
            account = with_prior(account, np.exp(self.model.log_prior), self.prior)
        costs = self.costs
        if not costs.constant:
            costs = costs.for_row({name: float(cells[row]) for name, cells in cost_columns.items()})
        return ActionAccount.of(account, costs).reasons() if len(costs.actions) > 1 else ""

    def totals(self) -> dict[str, Any]:
        """What all rows together come to."""
        counts = [
            {"action": json_value(action), "rows": int(n)}
            for action, n in zip(self.costs.actions, self.counts, strict=True)
        ]
        if self._tail is not None:
            counts.append({"action": self.limits.unknown, "rows": self.unknown})
        prices = {"price": {str(action): price for action, price in self.price.items()}} if self.limits.at_most else {}
        prior = {"prior": {str(s): p for s, p in self._estimated().items()}} if self.limits.estimate else {}
        total = json_number(self.expected)
        return {**self.tally.to_dict(), "decided": counts, "expected_cost": total, **prices, **prior}

    def _estimated(self) -> dict[Label, float]:
        if not self.limits.estimate or self.prior is None:
            return {}
        return dict(zip(self.model.classes, self.prior.tolist(), strict=True))

    def summary(self) -> str:
        """One line for stderr."""
        shares = [f"{action} {n:,}" for action, n in zip(self.costs.actions, self.counts, strict=True)]
        if self._tail is not None:
            shares.append(f"{self.limits.unknown} {self.unknown:,}")
        n_rows = int(self.counts.sum())
        prices = "".join(f"; one more {action} would save {number(p)}" for action, p in self.price.items() if p > 0)
        mean = self.expected / max(1, n_rows) if np.isfinite(self.expected) else self.mean
        prices += "".join(f"; P({state}) {number(p, 3)} in these rows" for state, p in self._estimated().items())
        return f"{n_rows + self.unknown:,} rows: {', '.join(shares)}; expected cost {number(mean)} per row{prices}."


def number_layout(kept: Sequence[str]) -> NumberLayout:
    """The columns that are kept, then action, expected_cost and stddev.

    >>> number_layout(["size", "action"]).names
    ('size', 'action', 'action_2', 'expected_cost', 'stddev')
    """
    taken = {normal_name(name) for name in kept}
    action, cost, stddev = (free_name([name], taken) for name in ("action", "expected_cost", "stddev"))
    return NumberLayout(tuple(kept), action, spread=(cost, stddev))


class DecidedNumbers(Answers):
    """The rows of a table with the number to choose for each, as columns, chunk by chunk."""

    def __init__(self, model: Any, source: Watched, layout: NumberLayout, costs: NumberCosts) -> None:
        super().__init__(model, source, layout)
        self.costs = costs
        self.expected = 0.0

    def _answers(self, batch: Batch, chunk: Chunk) -> Iterator[Sequence[Any]]:
        ahead = self.model.predictive(batch)
        cost = self.costs.expected(ahead)
        self.expected += float(cost.sum())
        for column in (self.costs.actions(ahead), cost, ahead.stddev):
            yield list(map(json_number, column.tolist()))

    def totals(self) -> dict[str, Any]:
        """What all rows together come to."""
        return {**self.tally.to_dict(), "expected_cost": json_number(self.expected)}

    def summary(self) -> str:
        """One line for stderr."""
        mean = self.expected / max(1, self.tally.rows)
        return f"{self.tally.rows:,} rows; expected cost {number(mean)} per row."


@dataclass(frozen=True)
class Limits:
    """The most rows (an integer), or share of them, in an action; the share of ordinary rows called unknown."""

    at_most: Mapping[Label, int | float] = field(default_factory=dict)
    novelty: float | None = None
    unknown: str = "unknown"
    estimate: bool = False  # the prior, from the rows themselves

    @classmethod
    def typed(cls, at_most: Sequence[str], novelty: float | None, costs: Costs) -> Limits:
        """ACTION=N or ACTION=P% as they were typed.

        >>> costs = Costs({"ask": 1, "bin": {"a": 0, "b": 9}, "keep": {"a": 2, "b": 0}})
        >>> Limits.typed(["ask=5%", "bin=20"], None, costs)
        Limits(at_most={'ask': 0.05, 'bin': 20}, novelty=None, unknown='unknown', estimate=False)
        """
        if novelty is not None and not 0.0 < novelty < 1.0:
            raise ParameterError(f"--novelty is {novelty:g}", fix="give a share of rows such as 0.01")
        found: dict[Label, int | float] = {}
        for piece in at_most:
            name, equals, text = piece.rpartition("=")
            if not equals:
                raise ParameterError(f"--at-most takes ACTION=N or ACTION=P%; found {piece!r}", fix="write ask=5%")
            found[label_of_text(name, costs.actions, "the costs have no action")] = _most(text, piece)
        return cls(found, novelty)


def _most(text: str, piece: str) -> int | float:
    share = text.strip().endswith("%")
    digits = text.strip().removesuffix("%")
    try:
        number = float(digits)
    except ValueError:
        number = -1.0
    whole = number == int(number) if abs(number) < 2**53 else False
    if not number >= 0 or (share and number > 100) or not (share or whole):
        raise ParameterError(
            f"--at-most {piece} is not a number of rows", fix="write a whole number, or a share: ask=5%"
        )
    return number / 100 if share else int(number)


@dataclass(frozen=True)
class Decided:
    """The decisions of a chunk, which of its rows are unlike any that the model learned, and what its costs name."""

    decisions: Decisions
    unknown: BoolArray  # (n_rows,)
    cost_columns: Mapping[str, FloatArray] = field(default_factory=dict)

    def under(self, before: FloatArray, after: FloatArray) -> Decided:
        """The same rows decided under another prior."""
        posterior = shifted(self.decisions.posterior, before, after, self.decisions.states)
        return replace(self, decisions=decide_rows(posterior, self.decisions.costs, dict(self.cost_columns)))

    def columns(self, name: str) -> list[list[Any]]:
        """action, expected_cost and runner_up; of an unknown row the runner-up is the action by its posterior."""
        found = self.decisions
        action, cost, second = found.action.tolist(), found.least_cost.tolist(), found.runner_up.tolist()
        priced = found.cost_of(name).tolist() if name in found.actions else None
        for row in np.flatnonzero(self.unknown).tolist():
            second[row] = action[row]
            action[row] = name
            cost[row] = None if priced is None else priced[row]
        return [action, cost, second]


def estimated_prior(held: Sequence[Decided], before: FloatArray) -> FloatArray:
    """(n_states,) the prior that makes the rows most probable, those that are unknown left out."""
    states = held[0].decisions.states
    posterior = np.concatenate([each.decisions.posterior[~each.unknown] for each in held])
    found = estimate_prior(posterior, states=states, old=dict(zip(states, before.tolist(), strict=True)))
    return np.array([found.prior[state] for state in states])


def within(held: Sequence[Decided], at_most: Mapping[Label, int | float]) -> tuple[list[Decided], dict[Label, float]]:
    """The decisions of all chunks within the limits, and the price of one more place; unknown rows take none."""
    if not held:
        return [], {}
    known = [~each.unknown for each in held]
    n_rows = sum(len(each.unknown) for each in held)
    # a share is one of all rows, so that it does not shrink with what is unknown
    places = {action: most if isinstance(most, int) else int(most * n_rows + 1e-9) for action, most in at_most.items()}
    every = replace(
        held[0].decisions,
        posterior=np.concatenate([each.decisions.posterior[k] for each, k in zip(held, known, strict=True)]),
        expected_cost=np.concatenate([each.decisions.expected_cost[k] for each, k in zip(held, known, strict=True)]),
        best=np.concatenate([each.decisions.best[k] for each, k in zip(held, known, strict=True)]),
    )
    limited = within_capacity(every, places)
    best, start, answers = limited.decisions.best, 0, []
    for each, kept in zip(held, known, strict=True):
        mine = each.decisions.best.copy()
        mine[kept] = best[start : start + int(kept.sum())]
        start += int(kept.sum())
        answers.append(replace(each, decisions=replace(each.decisions, best=mine)))
    return answers, limited.price
