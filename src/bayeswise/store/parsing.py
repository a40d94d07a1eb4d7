r"""JSON and TOML from a file, measured before they are parsed; JSON is believed only in the form that is written here.

>>> parse_json(b'{"a":[1,2.5,null]}', "the note", most_nodes=10, deepest=2)
{'a': [1, 2.5, None]}
>>> check_toml("[costs.keep]\nspam = 1.5", deepest=8, most_keys=100)
>>> check_toml("a.b.c.d = 1", deepest=3, most_keys=100)
Traceback (most recent call last):
ValueError: a key has more than 3 parts
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.errors import StoreError

Tree: TypeAlias = Any  # what JSON can hold

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKETS = b"[]{}"
_STEPS = bytes.maketrans(_BRACKETS, b"\x01\xff\x01\xff")
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))


def tree_bytes(tree: Tree) -> bytes:
    """The tree as JSON without spaces; keys keep their order, which is part of the value."""
    return json.dumps(tree, separators=(",", ":"), allow_nan=False).encode("ascii")


def parse_json(data: bytes, what: str, *, most_nodes: int, deepest: int) -> Tree:
    """The tree whose `tree_bytes` are these bytes, or a `StoreError`."""
    check_size(data, what, most_nodes=most_nodes, deepest=deepest)
    try:
        text = data.decode("ascii")
        tree = json.loads(text, object_pairs_hook=_object, parse_constant=refuse_constant)
        canonical = tree_bytes(tree)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{what} is not JSON as it is written here: {error}") from error
    if canonical != data:
        raise StoreError(f"{what} is not in canonical form")
    return tree


def check_size(data: bytes, what: str, *, most_nodes: int, deepest: int) -> None:
    """Refuse a tree that is too large or too deep while it is still text."""
    n_opened = data.count(b"[") + data.count(b"{")
    if n_opened <= deepest and n_opened + data.count(b",") < most_nodes:
        return  # strings only make these counts larger, and cutting a million labels out takes half a second
    skeleton = _STRING.sub(b"", data)
    n_nodes = 1 + sum(map(skeleton.count, (b",", b"[", b"{")))
    if n_nodes > most_nodes:
        raise StoreError(f"{what} has {n_nodes} parts, more than {most_nodes}")
    steps = np.frombuffer(skeleton.translate(_STEPS, _NO_BRACKETS), dtype=np.int8)
    depth = int(np.cumsum(steps, dtype=np.int32).max(initial=0))
    if depth > deepest:
        raise StoreError(f"{what} is nested {depth} levels deep, more than {deepest}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that occurs twice is ambiguous."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key occurs twice")
    return members


def refuse_constant(name: str) -> None:
    """NaN and Infinity, which Python reads as JSON."""
    raise ValueError(f"{name} is not a number in JSON")


# Each of them ends at the end of the text at the latest, so that a hostile text is passed over once.
_TOML_STRINGS = (
    r'"""(?:[^"\\]++|\\(?:.|\Z)|"(?!""))*+(?:"""|\Z)',
    r"'''(?:[^']++|'(?!''))*+(?:'''|\Z)",
    r'"(?:[^"\\\n]++|\\(?:.|\Z))*+(?:"|(?=\n)|\Z)',
    r"'[^'\n]*+(?:'|(?=\n)|\Z)",
)
_TOML_STRING = re.compile(rf"(?P<comment>#[^\n]*+)|{'|'.join(_TOML_STRINGS)}", re.DOTALL)
_PART = re.compile(r"(?<![\w-])[\w-]++(?=[ \t]*+\.)")  # what stands before a dot: a part of a key, or of a number
_BRACKET = re.compile(r"[\[\]{}]")


def check_toml(text: str, *, deepest: int, most_keys: int) -> None:
    """Refuse a text whose tables nest too deeply, or that has too many keys, with `ValueError`."""
    skeleton = _TOML_STRING.sub(lambda found: "" if found["comment"] else "q", text)
    if re.search(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{deepest}}}", skeleton):
        raise ValueError(f"a key has more than {deepest} parts")
    depth = most = 0
    for mark in _BRACKET.findall(skeleton):
        depth = depth + 1 if mark in "[{" else max(depth - 1, 0)
        most = max(most, depth)
    if most > deepest:
        raise ValueError(f"lists and tables are nested too deeply: {most} levels; {deepest} are allowed")
    n_dotted = sum(not part.lstrip("+-").isdigit() for part in _PART.findall(skeleton))
    n_keys = skeleton.count("=") + skeleton.count("[") + 10 * n_dotted
    if n_keys > most_keys:
        raise ValueError(f"there are too many keys and lists: {n_keys:,}, where one with a dot counts for ten")
