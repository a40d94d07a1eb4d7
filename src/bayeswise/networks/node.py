"""A node: its name, its states, its parents and its table, as the user writes them.

The table becomes a matrix with one row for each configuration of the parents, checked.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.arguments import is_number
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NetworkError, ParameterError, SchemaError, listed
from bayeswise.tables.schema.labels import Label, Vocabulary, as_label, find_state, label_of, label_type_of

Evidence: TypeAlias = Mapping[str, Any]  # the state of each node that was observed
Soft: TypeAlias = Mapping[str, Mapping[Any, float]]  # the likelihood of each state of a node


@dataclass(frozen=True, eq=False)
class Node:
    """P(name | parents); the table is parsed once the states of the parents are known.

    >>> Node("CampFire", ["yes", "no"], {("yes", "yes"): 0.4, ...: 0.1}, parents=["Storm", "BusTourGroup"])
    Node(CampFire | Storm, BusTourGroup: yes, no)
    """

    name: str
    states: Vocabulary
    table: Any
    parents: tuple[str, ...]

    def __init__(self, name: str, states: Iterable[Any], table: Any, parents: Iterable[str] = ()) -> None:
        if not isinstance(name, str) or not name:
            raise NetworkError(f"a node must have a name; found {name!r}", fix="name it")
        if isinstance(parents, str):
            raise NetworkError(f"the parents of {name!r} are the text {parents!r}", fix=f"write [{parents!r}]")
        if isinstance(states, str):
            raise NetworkError(f"the states of {name!r} are the text {states!r}", fix="give a list of states")
        for what, given in (("states", states), ("parents", parents)):
            if not isinstance(given, Iterable):
                raise NetworkError(f"the {what} of {name!r} are {given!r:.80}", fix="give a list")
        above = tuple(parents)
        for parent in above:
            if not isinstance(parent, str):
                raise NetworkError(f"a parent of {name!r} is {parent!r:.80}", fix="give the name of a node")
        vocabulary = states if isinstance(states, Vocabulary) else Vocabulary(states)
        if not vocabulary:
            raise NetworkError(f"node {name!r} has no state", fix="name its states")
        for field, value in (("name", name), ("states", vocabulary), ("table", table), ("parents", above)):
            object.__setattr__(self, field, value)
        if len(set(self.parents)) < len(self.parents):
            raise NetworkError(f"node {name!r} has a parent twice: {', '.join(self.parents)}", fix="name it once")

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        return f"Node({self.name}{given}: {listed(self.states)})"


ROUNDING = 1e-12  # rows that sum to 1 within this are kept as they are, so that a file read again is the same
TOLERANCE = 1e-6  # rows within this are renormalised, with a note; rounded entries may be off by their rounding
FEWEST_DIGITS = 3  # decimals of such entries
LARGEST_TABLE = 1 << 26
LARGEST_WITHOUT_EXPONENT = 1e16  # of cuts: up to about here a double has every integer


def table_of(node: str, states: Vocabulary, parents: Sequence[tuple[str, Vocabulary]], given: Any) -> FloatArray:
    """(n_configurations, n_states) from a mapping by states of the parents, or from numbers in their order.

    The last parent changes fastest. A row is {state: p}, a list, or for two states the probability of the first.

    >>> storm = ("storm", Vocabulary(["yes", "no"]))
    >>> table_of("fire", Vocabulary(["yes", "no"]), [storm], {"yes": 0.4, "no": [0.1, 0.9]}).tolist()
    [[0.4, 0.6], [0.1, 0.9]]
    """
    n_rows = math.prod(len(levels) for _, levels in parents)
    if n_rows * len(states) > LARGEST_TABLE:
        raise NetworkError(
            f"the table of {node!r} would have {n_rows} rows of {len(states)} states", fix="give it fewer parents"
        )
    if isinstance(given, Mapping) and parents:
        return _by_configuration(node, states, parents, given, n_rows)
    if isinstance(given, Mapping) or (not parents and is_number(given)):
        return np.array([_row(node, states, given, "")])
    return _from_numbers(node, states, n_rows, given)


def _from_numbers(node: str, states: Vocabulary, n_rows: int, given: Any) -> FloatArray:
    try:
        numbers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NetworkError(
            f"the table of {node!r} is not an array of numbers", fix="give a row for each case"
        ) from None
    if numbers.size == n_rows and len(states) == 2 and numbers.size != n_rows * 2:
        numbers = np.stack([numbers.ravel(), 1.0 - numbers.ravel()], axis=-1)
    if numbers.size != n_rows * len(states) or (numbers.ndim > 1 and numbers.shape[-1] != len(states)):
        raise NetworkError(
            f"the table of {node!r} has the shape {numbers.shape}; its parents and states make {n_rows} rows "
            f"of {len(states)}",
            fix="give one row for each configuration of the parents, the last parent changing fastest",
        )
    return numbers.reshape(n_rows, len(states))


def _by_configuration(
    node: str, states: Vocabulary, parents: Sequence[tuple[str, Vocabulary]], given: Mapping[Any, Any], n_rows: int
) -> FloatArray:
    table = np.full((n_rows, len(states)), np.nan)
    for key, row in given.items():
        labels = key if isinstance(key, tuple) else (key,)
        if len(labels) != len(parents):
            names = ", ".join(name for name, _ in parents)
            raise NetworkError(
                f"the table of {node!r} has a row for {key!r}; its parents are {names}", fix="name a state of each"
            )
        place = 0
        for label, (name, levels) in zip(labels, parents, strict=True):
            what = f"the table of {node!r} has a row for a state that {name!r} does not have:"
            place = place * len(levels) + find_state(label, levels, what=what)
        table[place] = _row(node, states, row, f" given {key!r}")
    missing = np.flatnonzero(np.isnan(table[:, 0]))
    if len(missing):
        case = configuration([levels for _, levels in parents], int(missing[0]))
        raise NetworkError(f"the table of {node!r} has no row for {case!r}", fix="add it")
    return table


def configuration(levels: Sequence[Vocabulary], place: int) -> tuple[Label, ...]:
    """The parent states of a row; the last parent changes fastest.

    >>> configuration([Vocabulary(["a", "b"]), Vocabulary([1, 2, 3])], 4)
    ('b', 2)
    """
    states: list[Label] = []
    for vocabulary in reversed(levels):
        place, code = divmod(place, len(vocabulary))
        states.append(vocabulary[code])
    return tuple(reversed(states))


def _row(node: str, states: Vocabulary, given: Any, where: str) -> list[float]:
    if isinstance(given, Mapping):
        row = [math.nan] * len(states)
        for state, probability in given.items():
            row[find_state(state, states, what=f"node {node!r} has no state", error=ParameterError)] = probability
        if math.nan in row or any(p != p for p in row):
            lost = next(state for state, p in zip(states, row, strict=True) if p != p)
            raise NetworkError(f"the table of {node!r}{where} has no probability for {lost!r}", fix="add it")
        return _floats(node, row, where)
    if is_number(given):
        if len(states) != 2:
            raise NetworkError(
                f"the table of {node!r}{where} is one number for {len(states)} states", fix="give one for each"
            )
        (first,) = _floats(node, [given], where)
        return [first, 1.0 - first]
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise NetworkError(
            f"the table of {node!r}{where} has {given!r:.80} as a row",
            fix="write a number for each state, or {state: p}",
        )
    row = _floats(node, given, where)
    if len(row) != len(states):
        raise NetworkError(
            f"the table of {node!r}{where} has {len(row)} numbers for {len(states)} states", fix="give one for each"
        )
    return row


def _floats(node: str, row: Any, where: str) -> list[float]:
    for entry in row:
        if not isinstance(entry, int | float | np.number | np.bool_):
            raise NetworkError(
                f"the table of {node!r}{where} has {entry!r:.80} as a probability", fix="write a number from 0 to 1"
            )
    try:
        return [float(p) for p in row]
    except OverflowError:
        raise NetworkError(
            f"the table of {node!r}{where} has a number that is too large for a float", fix="write a number from 0 to 1"
        ) from None


def checked(node: str, table: FloatArray, parents: Sequence[tuple[str, Vocabulary]]) -> tuple[FloatArray, str | None]:
    """The table with rows that sum to one, and a note if rows were renormalised; larger deviations are errors."""
    levels = [vocabulary for _, vocabulary in parents]
    if not np.isfinite(table).all() or (table < 0.0).any():
        row, state = map(int, np.argwhere(~np.isfinite(table) | (table < 0.0))[0])
        raise NetworkError(
            f"the table of {node!r}{_given(levels, row)} has the entry {table[row, state]:g}",
            fix="a probability is a number from 0 to 1",
        )
    total = table.sum(axis=1)
    worst = int(np.argmax(np.abs(total - 1.0)))
    off = abs(float(total[worst]) - 1.0)
    if off <= ROUNDING:
        return table, None
    wrong = _beyond_rounding(table, total)
    if wrong is not None:
        raise NetworkError(
            f"the table of {node!r}{_given(levels, wrong)} sums to {float(total[wrong]):.12g}, not to 1",
            fix=f"correct the row {[float(p) for p in table[wrong, :8]]}",
        )
    renormalised = np.where((np.abs(total - 1.0) > ROUNDING)[:, None], table / total[:, None], table)
    n_rows = int((np.abs(total - 1.0) > ROUNDING).sum())
    return renormalised, f"{node}: {n_rows} of {len(table)} rows renormalised; the worst summed to {total[worst]:.9g}"


def _beyond_rounding(table: FloatArray, total: FloatArray) -> int | None:
    """The worst row whose sum is farther from 1 than the rounding of its entries explains; None if there is none.

    Rounding changes an entry by half a unit of its last digit: three times 0.333 may be thirds, 0.5 and 0.505 are a
    mistake. The digits are those of the entry with the most decimals.
    """
    off = np.abs(total - 1.0)
    for row in np.argsort(-off, kind="stable").tolist():
        if off[row] <= TOLERANCE:
            return None
        digits = max(_decimals(float(p)) for p in table[row])
        if digits < FEWEST_DIGITS or off[row] > 0.5 * 10.0**-digits * table.shape[1] * (1.0 + 1e-6):
            return int(row)
    return None


def _decimals(number: float) -> int:
    """The number of decimals in the shortest representation of a number.

    >>> _decimals(0.333333), _decimals(1.0), _decimals(2.5e-7)
    (6, 0, 8)
    """
    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _given(levels: Sequence[Vocabulary], row: int) -> str:
    return f" given {configuration(levels, row)!r}" if levels else ""


# -- states that are intervals of numbers ---------------------------------------------------------------------


def intervals(cuts: Sequence[float], *, exact: bool = False) -> list[str]:
    """Intervals as text; each begins with its lower cut. `exact` ones have all digits of the cuts.

    >>> intervals([2.5]), intervals([]), intervals([1.23456, 7], exact=True)
    (['< 2.5', '>= 2.5'], ['any number'], ['< 1.23456', '1.23456 to 7', '>= 7'])
    """
    if not len(cuts):
        return ["any number"]
    shown = cut_texts(cuts, exact=exact)
    inner = [f"{low} to {high}" for low, high in pairwise(shown)]
    return [f"< {shown[0]}", *inner, f">= {shown[-1]}"]


def cut_texts(cuts: Sequence[float], *, exact: bool = False) -> list[str]:
    """As few digits as distinguish the cuts, without exponents up to 1e16.

    >>> cut_texts([8550, 12550]), cut_texts([123456789, 123456790])
    (['8550', '12550'], ['123456789', '123456790'])
    """
    for digits in range(4, 18):
        shown = [_plain(f"{cut:.{digits}g}") for cut in cuts]
        if len(set(shown)) == len(shown) and (not exact or list(map(float, shown)) == list(cuts)):
            break
    return shown


def _plain(number: str) -> str:
    """A large number without its exponent: 1.255e+04 is 12550."""
    return f"{Decimal(number):f}" if "e+" in number and abs(float(number)) < LARGEST_WITHOUT_EXPONENT else number


def cuts_of(states: Sequence[Any]) -> tuple[float, ...] | None:
    """The cuts between states that are named intervals, however their numbers are written; None for other states.

    >>> cuts_of(["< 2.5", "2.5 to 7", ">= 7"]), cuts_of(["< 9e+03", ">= 9000"]), cuts_of(["low", "high"])
    ((2.5, 7.0), (9000.0,), None)
    """
    if list(states) == intervals(()):
        return ()
    if len(states) < 2 or not all(isinstance(state, str) for state in states):
        return None
    first, *inner, last = states
    if not first.startswith("< ") or not last.startswith(">= "):
        return None
    try:
        upper = [float(first[2:]), *(float(state.partition(" to ")[2]) for state in inner)]
        lower = [*(float(state.partition(" to ")[0]) for state in inner), float(last[3:])]
    except ValueError:
        return None
    ascending = all(low < high for low, high in pairwise(lower)) and all(map(math.isfinite, lower))
    return tuple(lower) if lower == upper and ascending else None


def interval_with(states: Sequence[Any], value: object) -> int:
    """The position of the interval that contains a number, which may be text; -1 if there is none.

    >>> interval_with(["< 2.5", ">= 2.5"], 2.5), interval_with(["< 2.5", ">= 2.5"], "warm")
    (1, -1)
    """
    cuts = cuts_of(states)
    if cuts is None or isinstance(value, bool):
        return -1
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return -1
    return -1 if math.isnan(number) else bisect_right(cuts, number)


def place_of_state(states: Vocabulary, label: Any) -> int:
    """The position of a state, or of the interval that contains a number; -1 if there is none.

    Files and the command line have text only: where no state equals the label, 12 and "12" are the same state.

    >>> place_of_state(Vocabulary([6, 12]), "12"), place_of_state(Vocabulary(["6", "12"]), 12)
    (1, 1)
    >>> place_of_state(Vocabulary([False, True]), "true"), place_of_state(Vocabulary([False, True]), 1)
    (1, -1)
    """
    try:
        place = states.code_of_equal(label)
    except SchemaError:  # an infinite number lies in an interval, and is not a state
        return interval_with(states, label)
    if place < 0:
        place = interval_with(states, label)
    if place >= 0:
        return place
    if isinstance(label, str):
        return next((k for k, state in enumerate(states) if _is_written(label, state)), -1)
    texts = [state for state in states if isinstance(state, str)]
    found = (k for k, text in enumerate(texts) if _is_written(text, label))
    return next(found, -1) if len(texts) == len(states) else -1


def _is_written(text: str, label: Any) -> bool:
    """Whether a text spells this number or boolean."""
    if isinstance(label, str) or is_padded(text):
        return False
    return as_label(text, label_type_of([label]), textual=True) == label_of(label)


def is_padded(text: str) -> bool:
    """Whether digits have a leading zero, like a postal code: such a text is a name and not a number.

    >>> [is_padded(text) for text in ("007", "0", "0.5", "7")]
    [True, False, False, False]
    """
    digits = text.lstrip("+-")
    return digits[:1] == "0" and digits[1:2].isdigit()
