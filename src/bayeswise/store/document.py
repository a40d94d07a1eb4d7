"""Frozen values as plain data and back: a JSON tree beside named tensors.

Equal values give equal documents, so a hash of a document names the value. Only types that are handed in can be
rebuilt: a document is data, it cannot name code.

>>> document = pack({"a": (1, 2.5, None), "b": ExactArray.from_floats([0.5])})
>>> unpack(document, types=())
{'a': (1, 2.5, None), 'b': ExactArray([0.5])}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.errors import BayeswiseError, StoreError
from bayeswise.foundation.exact import ExactArray

Tree: TypeAlias = Any  # what JSON can hold
Tensors: TypeAlias = dict[str, np.ndarray[Any, Any]]

_DTYPES = {"uint32", "int64", "int32", "uint8", "float64"}
_DEEPEST = 40


@dataclass(frozen=True)
class Document:
    """A tree in which arrays stand as references to tensors."""

    tree: Tree
    tensors: Tensors

    def canonical_bytes(self) -> bytes:
        """Bytes that are equal exactly when the packed values are equal."""
        parts = [tree_bytes(self.tree)]
        for name in sorted(self.tensors):
            tensor = self.tensors[name]
            parts.append(f"{name} {tensor.dtype.name} {tensor.shape}\n".encode())
            parts.append(np.ascontiguousarray(tensor).astype(tensor.dtype.newbyteorder("<")).tobytes())
        return b"".join(parts)

    def digest(self) -> str:
        """The SHA-256 of the canonical bytes."""
        return hashlib.sha256(self.canonical_bytes()).hexdigest()


def tree_bytes(tree: Tree) -> bytes:
    """The tree as JSON without spaces; keys keep their order, which is part of the value."""
    return json.dumps(tree, separators=(",", ":"), allow_nan=False).encode("ascii")


def pack(value: Any) -> Document:
    """A document of a frozen value made of dataclasses, mappings, tuples, arrays and scalars."""
    tensors: Tensors = {}
    return Document(_packed(value, tensors, ""), tensors)


def _packed(value: Any, tensors: Tensors, path: str) -> Tree:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, ExactArray):
        return {"$exact": _packed(value.words(), tensors, path), "low": value.low}
    if isinstance(value, np.ndarray):
        tensors[path or "value"] = value
        return {"$tensor": path or "value"}
    if isinstance(value, Mapping):
        return {"$map": [[key, _packed(item, tensors, f"{path}/{n}")] for n, (key, item) in enumerate(value.items())]}
    if isinstance(value, (tuple, list)):
        return [_packed(item, tensors, f"{path}/{n}") for n, item in enumerate(value)]
    if hasattr(value, "to_plain"):
        return {"$type": type(value).__name__, "plain": _packed(value.to_plain(), tensors, path)}
    if is_dataclass(value):
        inside = {f.name: _packed(getattr(value, f.name), tensors, f"{path}/{f.name}") for f in fields(value) if f.init}
        return {"$type": type(value).__name__, **inside}
    raise TypeError(f"{type(value).__name__} is not plain data")


def unpack(document: Document, types: Iterable[type]) -> Any:
    """The value of a document; `types` are the only classes it may contain."""
    known = {kind.__name__: kind for kind in types}
    try:
        return _unpacked(document.tree, document.tensors, known, 0)
    except BayeswiseError as error:
        raise StoreError(f"the document is damaged: {error.what}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise StoreError(f"the document is damaged: {type(error).__name__}: {error}") from error


def _unpacked(tree: Tree, tensors: Tensors, types: Mapping[str, type], depth: int) -> Any:
    if depth > _DEEPEST:
        raise StoreError(f"the document is nested deeper than {_DEEPEST} levels")
    if isinstance(tree, list):
        return tuple(_unpacked(item, tensors, types, depth + 1) for item in tree)
    if not isinstance(tree, dict):
        return tree
    if "$float" in tree:
        return float(tree["$float"])
    if "$exact" in tree:
        return _exact(_unpacked(tree["$exact"], tensors, types, depth + 1), tree["low"])
    if "$tensor" in tree:
        return _tensor(tensors[tree["$tensor"]])
    if "$map" in tree:
        return {key: _unpacked(item, tensors, types, depth + 1) for key, item in tree["$map"]}
    kind = types[tree["$type"]]
    if "plain" in tree:
        return kind.from_plain(_unpacked(tree["plain"], tensors, types, depth + 1))  # type: ignore[attr-defined]
    inside = {key: _unpacked(item, tensors, types, depth + 1) for key, item in tree.items() if key != "$type"}
    return kind(**inside)


def _tensor(tensor: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if tensor.dtype.name not in _DTYPES:
        raise StoreError(f"a tensor has the type {tensor.dtype.name}; allowed are {', '.join(sorted(_DTYPES))}")
    return tensor


def _exact(words: np.ndarray[Any, Any], low: Any) -> ExactArray:
    if words.dtype != np.uint32 or type(low) is not int or not -400 <= low <= 400:
        raise StoreError("an exact sum is not made of 32-bit words in range")
    exact = ExactArray.from_words(words, low)
    if not np.array_equal(exact.words(), words) or exact.low != low:
        raise StoreError("an exact sum is not in canonical form")
    return exact
