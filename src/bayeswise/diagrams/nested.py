"""Tables nested by the states of the parents, as people write them: {"no": 0, "yes": {"dry": -70, "wet": 50}}."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from bayeswise.decisions import Costs
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import CostError, DataError, NetworkError, ParameterError, UsageError
from bayeswise.networks.canonical import NoisyMax
from bayeswise.networks.node import LARGEST_TABLE, configuration, table_of
from bayeswise.render.labels import guess
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state

Parents: TypeAlias = Sequence[tuple[str, Vocabulary]]
Leaf: TypeAlias = Callable[[Any, Parents, str], FloatArray]


def utility_values(name: str, parents: Parents, given: Any, *, is_cost: bool = False) -> FloatArray:
    """(states of each parent ...) the utility; the sign of a cost is inverted.

    >>> oil = ("oil", Vocabulary(["dry", "wet"]))
    >>> utility_values("gain", [("drill", Vocabulary(["yes", "no"])), oil], {"no": 0, "yes": [-70, 50]}).tolist()
    [[-70.0, 50.0], [0.0, 0.0]]
    """
    sizes = _sizes(name, parents, 1)
    if isinstance(given, Costs):
        if is_cost:
            raise CostError(f"{name!r} inverts the sign of costs twice", fix="write Utility(name, costs, parents)")
        return 0.0 - _costs_table(name, parents, given)

    def leaf(value: Any, rest: Parents, where: str) -> FloatArray:
        return _utility_leaf(name, value, rest, where)

    values = _nested(f"the utility {name!r}", parents, given, sizes, leaf, CostError)
    return np.asarray((-values if is_cost else values) + 0.0)  # no -0.0; a table without parents stays an array


def chance_table(name: str, states: Vocabulary, parents: Parents, given: Any) -> FloatArray:
    """(n_configurations, n_states) from any table of a network node, or a nested one; a state alone is certain.

    >>> test = ("test", Vocabulary(["yes", "no"]))
    >>> chance_table("report", Vocabulary(["bad", "good", "not done"]), [test],
    ...     {"yes": [0.4, 0.6, 0], "no": "not done"}).tolist()
    [[0.4, 0.6, 0.0], [0.0, 0.0, 1.0]]
    """
    sizes = _sizes(name, parents, len(states))
    if isinstance(given, NoisyMax):
        given.check_parents(name, sizes, len(states))
        return given.table()
    if isinstance(given, str):
        return np.tile(_certain(name, states, given), (math.prod(sizes), 1))
    if not isinstance(given, Mapping) or not parents:
        return table_of(name, states, parents, given)

    def leaf(value: Any, rest: Parents, where: str) -> FloatArray:
        if isinstance(value, str):
            return _certain(name, states, value, where)
        with _at_case(where):
            if rest and isinstance(value, list | tuple | np.ndarray) and np.ndim(value[0]) > 0:
                return table_of(name, states, rest, value).reshape(*(len(levels) for _, levels in rest), -1)
            return table_of(name, states, [], value).ravel()

    table = _nested(f"the table of {name!r}", parents, given, (*sizes, len(states)), leaf, NetworkError)
    return table.reshape(-1, len(states))


def option_table(name: str, options: Vocabulary, parents: Parents, given: Any) -> FloatArray:
    """(n_configurations, n_options) a policy: an option for each case, or probabilities of them."""
    if not isinstance(given, Mapping) and _is_option(given, options):
        row = _one_of(len(options), find_state(given, options))
        return np.broadcast_to(row, (math.prod(len(s) for _, s in parents), len(options))).copy()
    if not parents or not isinstance(given, Mapping):
        return chance_table(name, options, parents, given)

    def leaf(value: Any, rest: Parents, where: str) -> FloatArray:
        if _is_option(value, options):
            return _one_of(len(options), find_state(value, options))
        if isinstance(value, str):
            raise NetworkError(f"the policy of {name!r}{where} is {value!r}", fix=guess(value, options))
        with _at_case(where):
            return table_of(name, options, [], value).ravel()

    sizes = _sizes(name, parents, len(options))
    table = _nested(f"the policy of {name!r}", parents, given, (*sizes, len(options)), leaf, NetworkError)
    return table.reshape(-1, len(options))


def _is_option(value: Any, options: Vocabulary) -> bool:
    return isinstance(value, str | int | float | bool | np.generic) and value in options


# -- levels ---------------------------------------------------------------------------------------------------


def _nested(
    what: str,
    parents: Parents,
    given: Any,
    shape: tuple[int, ...],
    leaf: Leaf,
    error: type[DataError | UsageError],
) -> FloatArray:
    table = np.full(shape, np.nan)
    _fill(what, parents, given, table, leaf, (), error)
    empty = np.argwhere(np.isnan(table))
    if len(empty):
        place = tuple(map(int, empty[0][: len(parents)]))
        case = tuple(levels[code] for (_, levels), code in zip(parents, place, strict=True))
        raise error(f"{what} has no entry for {_case(parents, case)}", fix="add it")
    return table


def _fill(
    what: str,
    parents: Parents,
    given: Any,
    view: FloatArray,
    leaf: Leaf,
    case: tuple[Label, ...],
    error: type[DataError | UsageError],
) -> None:
    rest = parents[len(case) :]
    if not rest or not isinstance(given, Mapping):
        if not np.isnan(view).all():
            raise error(f"{what} has two entries for {_case(parents, case)}", fix="give it once")
        view[...] = leaf(given, rest, f" given {_case(parents, case)}" if case else "")
        return
    for key, value in given.items():
        labels = key if isinstance(key, tuple) else (key,)
        if not labels or len(labels) > len(rest):
            names = ", ".join(name for name, _ in rest)
            raise error(
                f"{what} has an entry for {key!r}; the parents still to be named are {names}",
                fix="name a state of each",
            )
        codes: list[Any] = []
        for label, (name, levels) in zip(labels, rest, strict=False):
            codes.append(state_code(label, levels, f"{what} has an entry for a state that {name!r} does not have:"))
        states = tuple(levels[code] for code, (_, levels) in zip(codes, rest, strict=False))
        place: tuple[Any, ...] = (*codes, ...)
        _fill(what, parents, value, view[place], leaf, (*case, *states), error)


def state_code(label: Any, levels: Vocabulary, what: str) -> int:
    """The position of a state; keys of files are always text, even for states such as true and 1."""
    if isinstance(label, str) and label not in levels:
        as_text = [k for k, level in enumerate(levels) if label in (str(level), json.dumps(level))]
        if as_text:
            return as_text[0]
    return find_state(label, levels, what=what)


def _case(parents: Parents, states: tuple[Label, ...]) -> str:
    return ", ".join(f"{name} = {state}" for (name, _), state in zip(parents, states, strict=False)) or "all cases"


def _sizes(name: str, parents: Parents, n_states: int) -> tuple[int, ...]:
    sizes = tuple(len(levels) for _, levels in parents)
    if math.prod(sizes) * n_states > LARGEST_TABLE or len(sizes) > 60:
        raise NetworkError(
            f"the table of {name!r} would have {math.prod(sizes) * n_states:.3g} cells",
            fix="give it fewer parents",
        )
    return sizes


# -- leaves ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _at_case(where: str) -> Iterator[None]:
    """Add the case of a row to its errors."""
    try:
        yield
    except (NetworkError, ParameterError) as error:
        raise type(error)(f"{error.what}{where}", fix=error.fix) from None
    except (TypeError, ValueError, IndexError):
        raise NetworkError(f"a row is not a list of numbers{where}", fix="give a probability for each state") from None


def _certain(name: str, states: Vocabulary, state: str, where: str = "") -> FloatArray:
    if state not in states:
        raise NetworkError(f"the table of {name!r} has the entry {state!r}{where}", fix=guess(state, states))
    return _one_of(len(states), find_state(state, states))


def _one_of(n_states: int, code: int) -> FloatArray:
    row = np.zeros(n_states)
    row[code] = 1.0
    return row


def _utility_leaf(name: str, value: Any, rest: Parents, where: str) -> FloatArray:
    sizes = tuple(len(levels) for _, levels in rest)
    what = f"the utility {name!r}{where}"
    if isinstance(value, str | bytes | bool) or value is None or isinstance(value, Mapping):
        raise CostError(f"{what} must be a number; found {value!r}", fix="write a number")
    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise CostError(f"{what} must be a number; found {value!r:.80}", fix="write a number") from None
    if numbers.ndim and numbers.shape != sizes and numbers.shape != (math.prod(sizes),):
        raise CostError(
            f"{what} has the shape {numbers.shape}; its parents make {sizes}",
            fix="give one number for each combination of their states, the last parent changing fastest",
        )
    if not np.isfinite(numbers).all():
        place = int(np.argmin(np.isfinite(numbers.ravel())))
        case = configuration([levels for _, levels in rest], place) if numbers.ndim else ()
        raise CostError(
            f"{what}{f' at {case!r}' if case else ''} must be finite; found {numbers.ravel()[place]}",
            fix="write a large number for what must not happen",
        )
    return numbers.reshape(sizes) if numbers.ndim else numbers


def _costs_table(name: str, parents: Parents, costs: Costs) -> FloatArray:
    """(states of each parent) of a cost table: one parent has its actions, the other its states."""
    if len(parents) != 2:
        raise CostError(
            f"the costs of {name!r} are about an action and a state; its parents are {[n for n, _ in parents]}",
            fix="name a decision and a chance node as parents",
        )
    known = {str(action) for action in costs.actions}
    first = {str(option) for option in parents[0][1]} == known
    turned = not first and {str(option) for option in parents[1][1]} == known
    (decision, options), (_, states) = parents[::-1] if turned else parents
    for option in options:
        if str(option) not in known:
            raise CostError(
                f"the costs of {name!r} have no action {option!r}, which {decision!r} offers",
                fix=guess(str(option), sorted(known)),
            )
    for action in costs.actions:
        if str(action) not in {str(option) for option in options}:
            raise CostError(
                f"the costs of {name!r} have the action {action!r}, which {decision!r} does not offer",
                fix=guess(action, list(options)),
            )
    rows = {str(action): k for k, action in enumerate(costs.actions)}
    table = costs.aligned(states).table[[rows[str(option)] for option in options]]
    return table.T if turned else table
