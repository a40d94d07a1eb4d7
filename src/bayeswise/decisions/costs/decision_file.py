"""One file for a decision: what is decided about, what actions cost, what is believed, what tests cost."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from bayeswise.decisions.costs.cost_cells import plain_number
from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.costs.number_costs import NumberCosts
from bayeswise.decisions.costs.tables import costs_in, costs_of_document, read_document, refuse_misplaced
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError, PriorError, listed
from bayeswise.foundation.file_bytes import is_stream, name_of
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.render.labels import guess, refuse_unknown, shown
from bayeswise.tables.schema.columns import KINDS
from bayeswise.tables.schema.labels import Label

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEYS = ("target", "kinds", "costs", "utilities", "number", "reject", "unit", "prior", "priors", "prices")


@dataclass(frozen=True)
class DecisionFile:
    """A decision.toml, read and checked; `bw.fit(table, target=d.target, kinds=d.kinds)` takes its parts.

    target = "loan"
    kinds.zip = "category"
    reject = "ask"                  # the action that refuses, if one does
    unit = "EUR"                    # what the costs are counted in
    costs.ask = 2
    costs.grant = { good = "-0.1 * amount", bad = "amount" }
    prior = { good = 0.9, bad = 0.1 }
    prices = { history = 5 }
    """

    costs: Costs
    target: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    prior: Mapping[str, float] | None = None
    prices: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | os.PathLike[str], classes: Sequence[Label] | None = None) -> DecisionFile:
        """Read a TOML file; any other table holds costs alone. A name that is not one of the `classes` is refused."""
        where = name_of(path) if is_stream(path) else str(path)
        document = read_document(path)
        if not isinstance(document, dict):
            return cls(costs_in(document, path))
        return cls.of_document(document, where, classes)

    @classmethod
    def of_document(
        cls, document: Mapping[str, Any], where: str, classes: Sequence[Label] | None = None
    ) -> DecisionFile:
        """What a TOML document says; `where` is what messages call it."""
        _refuse_unknown(document, where)
        if classes is not None:
            _refuse_other_classes(document, classes, where)
        prices = _table(document, "prices", where)
        return cls(
            costs_of_document(document, where),
            *columns_of(document, where),
            _prior(document, where),
            {name: _number(f"prices.{name}", price, where) for name, price in prices.items()},
        )

    def prior_of(self, states: Sequence[Label]) -> FloatArray | None:
        """(n_states,) the prior by text, in the order of a model's states."""
        if self.prior is None:
            return None
        by_text = {str(state): state for state in states}
        for name in self.prior:
            refuse_unknown(name, by_text, "the prior names the unknown state", PriorError)
        return prior_by_state({by_text[name]: p for name, p in self.prior.items()}, states)


def read_columns(path: str | os.PathLike[str]) -> tuple[str | None, dict[str, str]]:
    """The target and the kinds of columns of a decision file, whatever it says about costs."""
    document = _tables_of(path)
    _refuse_unknown(document, str(path))
    return columns_of(document, str(path))


def read_number(path: str | os.PathLike[str]) -> tuple[str | None, NumberCosts]:
    """The target of a decision file, and what a number that is chosen costs; the file is read once."""
    document = _tables_of(path)
    _refuse_unknown(document, str(path))
    return _text(document, "target", str(path)), NumberCosts.of_document(document, str(path))


def _tables_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of a TOML file; a table of costs has costs only."""
    if not is_stream(path) and Path(path).suffix.lower() != ".toml":
        return {}
    document = read_document(path)
    return document if isinstance(document, dict) else {}


def columns_of(document: Mapping[str, Any], where: str) -> tuple[str | None, dict[str, str]]:
    """The same of a document that is read."""
    kinds = {name: _kind(name, kind, where) for name, kind in _table(document, "kinds", where).items()}
    return _text(document, "target", where), kinds


def _refuse_unknown(document: Mapping[str, Any], where: str) -> None:
    for key in document:
        refuse_unknown(key, _KEYS, f"{where} has the unknown entry", CostError)
    refuse_misplaced(document, where)


def _refuse_other_classes(document: Mapping[str, Any], classes: Sequence[Label], where: str) -> None:
    """A state that is not a class is misspelled, or the table is turned round: checked before costs are completed."""
    known = [str(label) for label in classes]
    for key in ("costs", "utilities"):
        tables = (
            {a: e for a, e in _table(document, key, where).items() if isinstance(e, dict)} if key in document else {}
        )
        states = [state for entries in tables.values() for state in entries]
        if tables and all(action in known for action in tables) and not any(state in known for state in states):
            raise CostError(
                f"{where}: {key}.{next(iter(tables))} is named like a class, and has no entry for one: the table is "
                "turned round",
                fix=f"write [{key}.ACTION] with {known[0]} = COST lines",
            )
        for action, entries in tables.items():
            for state in entries:
                if state not in known:
                    fix = guess(state, known)
                    raise CostError(
                        f"{where}: {state!r} in {key}.{action} is not a class; the classes are "
                        f"{listed(map(repr, known))}",
                        fix=fix,
                    )


def _text(document: Mapping[str, Any], key: str, where: str) -> str | None:
    value = document.get(key)
    if value is not None and not isinstance(value, str):
        raise CostError(f"{where}: {key} must be a text; found {value!r}", fix=f'write {key} = "..."')
    return value


def _table(document: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise CostError(f"{where}: {key} must be a table; found {value!r}", fix=f"write [{key}] and NAME = VALUE lines")
    return value


def _kind(column: str, kind: Any, where: str) -> str:
    named = "ignored" if kind == "ignore" else kind
    refuse_unknown(named, KINDS, f"{where}: kinds.{column} is the unknown kind", CostError)
    return str(named)


def _prior(document: Mapping[str, Any], where: str) -> dict[str, float] | None:
    key = "priors" if "priors" in document else "prior"
    if key not in document:
        return None
    return {name: _number(f"{key}.{name}", p, where) for name, p in _table(document, key, where).items()}


def _number(what: str, value: Any, where: str) -> float:
    number = plain_number(value)
    if number is None or not 0.0 <= number < np.inf:
        found = shown(value, 40)
        raise CostError(f"{where}: {what} must be a number from 0 on; found {found}", fix="correct that entry")
    return number


# -- writing --------------------------------------------------------------------------------------------------------


def decision_text(document: Mapping[str, Any]) -> str:
    """A decision as TOML: entries first, then costs with one line for each action, then the other tables.

    >>> print(decision_text({"target": "play", "costs": {"go": {"no": 3, "yes": "-0.1 * fee"}, "stay": 1}}), end="")
    target = "play"
    <BLANKLINE>
    [costs]
    go = { no = 3, yes = "-0.1 * fee" }
    stay = 1
    """
    lines = [f"{toml_key(key)} = {_value(value)}" for key, value in document.items() if not isinstance(value, Mapping)]
    for key, table in document.items():
        if isinstance(table, Mapping) and table:
            lines += ["", f"[{toml_key(key)}]"]
            lines += [f"{toml_key(name)} = {_value(value)}" for name, value in table.items()]
    return "\n".join(lines).lstrip("\n") + "\n"


def toml_key(name: Label) -> str:
    """A key of TOML, quoted where it must be.

    >>> toml_key("amount"), toml_key("not paid")
    ('amount', '"not paid"')
    """
    return str(name) if _BARE.fullmatch(str(name)) else toml_string(str(name))


def toml_string(text: str) -> str:
    """A text in quotes: JSON's escapes are TOML's too, but for DEL, which TOML escapes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{toml_key(name)} = {_value(each)}' for name, each in value.items())} }}"
    if isinstance(value, str):
        return toml_string(value)
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
