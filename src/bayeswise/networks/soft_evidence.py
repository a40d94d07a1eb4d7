"""Soft evidence: a likelihood for each state of a node, in a call or in a cell of a table, `yes=0.7;no=0.3`.

Or a target distribution of a node (Jeffrey's rule): P'(x) = sum_s q(s) P(x | s). Several are fitted in turn until all
hold at once (iterative proportional fitting); the result is the distribution with these marginals that is closest to
the network in KL divergence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import (
    BayeswiseError,
    FitError,
    ImpossibleEvidenceError,
    ParameterError,
    SchemaError,
    quoted,
)
from bayeswise.networks.node import Evidence, Soft, place_of_state
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.render.labels import guess
from bayeswise.tables.schema.labels import Label, Vocabulary

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork


def likelihood_of(
    states: Vocabulary, given: Iterable[tuple[Any, Any]], what: str, error: type[BayeswiseError] = ParameterError
) -> FloatArray:
    """(n_states,) a non-negative number for each state of a node.

    >>> likelihood_of(Vocabulary(["yes", "no"]), [("no", 0.2), ("yes", 1)], "the soft evidence on 'wet'").tolist()
    [1.0, 0.2]
    """
    likelihood, known = np.zeros(len(states)), np.zeros(len(states), dtype=bool)
    for state, value in given:
        place = place_of_state(states, state)
        if place < 0:
            raise error(f"{what} names {quoted(state)}, which is not a state", fix=guess(state, states.labels))
        if known[place]:
            raise error(f"{what} names the state {states[place]!r} twice", fix="give one number for each state")
        known[place] = True
        try:
            likelihood[place] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise error(
                f"{what} has {quoted(value)} for the state {quoted(state)}", fix="give numbers from 0 on"
            ) from None
    if not known.all():
        lost = states[int(np.argmin(known))]
        raise error(f"{what} has no likelihood for the state {lost!r}", fix="give one for each state, 0 if impossible")
    if not (np.isfinite(likelihood) & (likelihood >= 0.0)).all():
        raise error(f"{what} has a likelihood that is negative or not finite", fix="give numbers from 0 on")
    return likelihood


def parsed_cell(cell: Label) -> list[tuple[str, float]] | None:
    """The likelihoods in a cell that is written as STATE=LIKELIHOOD;STATE=LIKELIHOOD..., None for any other cell.

    >>> parsed_cell("yes=0.7; no=.3"), parsed_cell("yes"), parsed_cell("yes=1")
    ([('yes', 0.7), ('no', 0.3)], None, None)
    """
    if not isinstance(cell, str) or ";" not in cell or "=" not in cell:
        return None
    likelihoods: list[tuple[str, float]] = []
    for part in filter(None, _parts(cell)):
        state, _, number = part.rpartition("=")
        try:
            likelihoods.append((state.strip(), float(number)))
        except ValueError:
            return None
    return likelihoods if len(likelihoods) > 1 and all(state for state, _ in likelihoods) else None


def _parts(cell: str) -> list[str]:
    """The parts between semicolons; a trailing semicolon is ignored."""
    return [part.strip() for part in cell.strip().removesuffix(";").split(";")]


def likelihood_in_cell(column: str, states: Vocabulary, cell: Label) -> FloatArray:
    """(n_states,) the likelihoods in a soft cell, not all of which may be 0."""
    what = f"the soft cell {quoted(cell)} of column {quoted(column)}"
    if not all(_parts(str(cell))):
        raise SchemaError(f"{what} has an empty part", fix="write STATE=LIKELIHOOD for each state, and ; between them")
    likelihood = likelihood_of(states, parsed_cell(cell) or (), what, SchemaError)
    if not likelihood.any():
        raise SchemaError(f"{what} has likelihood 0 in every state", fix="give one of them a likelihood above 0")
    return likelihood


def no_soft_cells(sizes: Iterable[int]) -> list[FloatArray]:
    """The likelihoods of columns without soft cells."""
    return [np.zeros((0, size)) for size in sizes]


@dataclass(frozen=True)
class SoftCells:
    """Which cells of rows have a likelihood instead of a state, and which one."""

    places: CodeArray  # (n_rows, n_columns) the number of its likelihood among those of the column, -1: no soft cell
    likelihoods: Sequence[FloatArray]  # by column, (n_likelihoods, n_states)

    def of_rows(self, chosen: BoolArray) -> SoftCells:
        return SoftCells(self.places[chosen], self.likelihoods)

    def coded(self, codes: CodeArray, sizes: Sequence[int]) -> CodeArray:
        """Codes in which n_states + k is the k-th likelihood of the column."""
        return np.where(self.places >= 0, self.places + np.array(sizes, dtype=np.int32), codes)


def is_soft(cell: Label, states: Collection[Any]) -> bool:
    """Whether a cell holds likelihoods; a cell that equals a given state is that state."""
    return parsed_cell(cell) is not None and cell not in states


def refuse_soft(name: str, levels: Sequence[Label], states: Collection[Any]) -> None:
    """Refuse soft cells where cells are counted."""
    cell = next((level for level in levels if is_soft(level, states)), None)
    if cell is not None:
        raise SchemaError(
            f"column {quoted(name)} has the soft cell {quoted(cell)}, which has no state to count",
            fix="learn by missing='em' (--missing em); if it is a name, give states={...} (--category COLUMN=STATES)",
        )


class Separated(NamedTuple):
    """A column of labels without its soft cells."""

    levels: list[Label]  # the last `n_named` occur in soft cells only
    cells: CodeArray  # codes of these, -1 where a cell is missing or soft
    n_named: int
    places: CodeArray  # the number of each soft cell's likelihood, -1 for other cells
    written: list[Label]  # the text of each soft cell


def separated(levels: Sequence[Label], cells: CodeArray, states: Collection[Any] = ()) -> Separated:
    """The labels of a column, and its soft cells apart; labels without a cell define no states.

    >>> separated(["a", "a=1;b=2"], np.array([1, 0], dtype=np.int32))[:3]
    (['a', 'b'], array([-1,  0], dtype=int32), 1)
    """
    present = np.bincount(cells[cells >= 0], minlength=len(levels)) > 0
    soft = [place for place, level in enumerate(levels) if is_soft(level, states)]
    hard = [place for place in range(len(levels)) if place not in set(soft)]
    kept = [place for place in soft if present[place]]
    known = Vocabulary.trusted(tuple(levels[place] for place in hard))
    named = dict.fromkeys(state for place in kept for state, _ in parsed_cell(levels[place]) or ())
    new = [name for name in named if place_of_state(known, name) < 0]
    code, number = np.full((2, len(levels) + 1), -1, dtype=np.int32)
    code[hard] = np.arange(len(hard))
    number[kept] = np.arange(len(kept))
    return Separated([*known, *new], code[cells], len(new), number[cells], [levels[place] for place in kept])


# -- target distributions -----------------------------------------------------------------------------------------


_CLOSE = 1e-13
_MOST_ROUNDS = 10_000


def likelihoods_for(
    network: BeliefNetwork, distributions: Soft, evidence: Evidence | None = None, given: Soft | None = None
) -> dict[str, Mapping[Any, float]]:
    """The soft evidence, in addition to `given`, under which each node has its target distribution.

    >>> from bayeswise.networks import BeliefNetwork, Node
    >>> network = BeliefNetwork([Node("a", ["x", "y"], 0.2), Node("b", ["x", "y"], [0.9, 0.4], ["a"])])
    >>> soft = likelihoods_for(network, {"a": {"x": 0.5, "y": 0.5}})
    >>> network.query("b", soft=soft)
    Distribution(b: x 0.65, y 0.35)
    """
    targets = {
        name: prior_by_state(q, network.states(name), f"the belief about {name}") for name, q in distributions.items()
    }
    fitted = {name: dict.fromkeys(network.states(name), 1.0) for name in targets}
    others = dict(given or {})
    for _ in range(_MOST_ROUNDS):
        off = 0.0
        for name, target in targets.items():
            now = network.query(name, evidence, soft={**others, **fitted}).cells
            off = max(off, float(np.abs(now - target).max()))
            fitted[name] = _fitted(name, network.states(name), fitted[name], now, target)
        if off <= _CLOSE:
            return {**others, **fitted}
    raise FitError(
        f"no joint distribution was found that matches {' and '.join(targets)}",
        fix="give distributions that are compatible",
    )


def _fitted(
    name: str, states: tuple[Any, ...], likelihood: dict[Any, float], now: FloatArray, target: FloatArray
) -> dict[Any, float]:
    """Likelihoods times target / current probability; an impossible state cannot become possible."""
    for state, p, q in zip(states, now, target, strict=True):
        if p == 0.0 and q > 0.0:
            raise ImpossibleEvidenceError(
                f"{name} = {state} has probability 0, and its target is {q:g}",
                fix="set its target to 0, or change the tables",
            )
    ratio = np.divide(target, now, out=np.zeros_like(target), where=now > 0.0)
    fitted = np.array([likelihood[state] for state in states]) * ratio
    return dict(zip(states, (fitted / fitted.max()).tolist(), strict=True))
