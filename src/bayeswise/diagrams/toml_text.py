"""Tables of plain values as TOML: what `tomllib` reads back as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDEST = 100


def toml_text(document: Mapping[str, Any]) -> str:
    """A table for each node, and below it what it holds.

    >>> print(toml_text({"name": "a", "chance": {"oil": {"states": ["dry", "wet"], "table": [0.5, 0.5]}}}))
    name = "a"
    <BLANKLINE>
    [chance.oil]
    states = ["dry", "wet"]
    table = [0.5, 0.5]
    <BLANKLINE>
    """
    lines = [f"{_key(key)} = {_value(value)}" for key, value in document.items() if not isinstance(value, Mapping)]
    for kind, nodes in document.items():
        if isinstance(nodes, Mapping):
            for name, fields in nodes.items():
                lines += _node(f"{_key(kind)}.{_key(name)}", fields)
    return "\n".join(lines) + "\n"


def _node(path: str, fields: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n[{path}]"
    nested = []
    for key, value in fields.items():
        line = f"{_key(key)} = {_value(value)}"
        if isinstance(value, Mapping) and len(line) > _WIDEST:
            nested.append((key, value))
        elif value != []:
            yield line
    for key, value in nested:
        yield f"[{path}.{_key(key)}]"
        yield from _branches("", value)


def _branches(path: str, table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        here = f"{path}{_key(key)}"
        line = f"{here} = {_value(value)}"
        if isinstance(value, Mapping) and len(line) > _WIDEST:
            yield from _branches(f"{here}.", value)
        else:
            yield line


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    """JSON's escapes are TOML's too, but for DEL, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)
