"""From a tree and tensors back to the value; only the form that packing writes is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.errors import StoreError
from bayeswise.foundation.exact import ExactArray
from bayeswise.store.annotations import check_field
from bayeswise.store.packing import DEEPEST, stands_for_itself
from bayeswise.store.strict_json import Tree
from bayeswise.store.tensors import FILE_TYPES, Tensor, Tensors

_NESTED = frozenset({list, dict})
_LOWEST, _HIGHEST = -400, 400  # limbs of 32 bits: far beyond any product of two floats


class Unpacker:
    """Rebuilds one value from the tensors and types that it is given."""

    def __init__(self, tensors: Tensors, types: Iterable[type]) -> None:
        self.tensors = tensors
        self.types: dict[str, type] = {}
        for kind in types:
            if self.types.setdefault(kind.__name__, kind) is not kind:
                raise TypeError(f"two types are called {kind.__name__}")
        self._n_used = 0
        self._path = ""

    def where(self) -> str:
        """The path to what was being rebuilt."""
        return self._path or "/"

    def refuse_leftovers(self) -> None:
        """Each tensor has its place in the tree; paths are unique, so counting them is enough."""
        if self._n_used != len(self.tensors):
            n_left = len(self.tensors) - self._n_used
            raise StoreError(f"the document is damaged: {n_left} tensors have no place in it")

    def unpacked(self, tree: Tree, path: str = "", depth: int = 0) -> Any:
        self._path = path
        if depth > DEEPEST:
            raise ValueError(f"nested deeper than {DEEPEST} levels")
        if isinstance(tree, list):
            return self._items(tree, path, depth)
        if not isinstance(tree, dict):
            return tree
        tag = next(iter(tree), "")
        if tag == "$type":
            return self._object(tree, path, depth)
        if tag == "$exact":
            words, low = _members(tree, "$exact", "low")
            return _exact(self.unpacked(words, path, depth), low)
        (content,) = _members(tree, tag)
        if tag == "$tensor":
            return self._tensor(content, path)
        if tag == "$list":
            return list(self._items(content, path, depth))
        if tag == "$map":
            return self._mapping(content, path, depth)
        return _SCALARS[tag](content)

    def _items(self, items: Any, path: str, depth: int) -> tuple[Any, ...]:
        if not isinstance(items, list):
            raise TypeError(f"{items!r:.80} is no list")
        if _NESTED.isdisjoint(map(type, items)):
            return tuple(items)
        return tuple(self.unpacked(item, f"{path}/{n}", depth + 1) for n, item in enumerate(items))

    def _mapping(self, pairs: Any, path: str, depth: int) -> dict[Any, Any]:
        mapping = {key: self.unpacked(item, f"{path}/{n}", depth + 1) for n, (key, item) in enumerate(pairs)}
        if len(mapping) != len(pairs):
            raise ValueError("a key is there twice")
        return mapping

    def _tensor(self, name: Any, path: str) -> Tensor:
        if name != (path or "/"):
            raise ValueError(f"a reference leads to the tensor {name!r:.80}")
        tensor = self.tensors[name]
        if tensor.dtype.name not in FILE_TYPES.values():
            raise TypeError(f"a tensor has the type {tensor.dtype.name}")
        self._n_used += 1
        return tensor

    def _object(self, tree: dict[str, Tree], path: str, depth: int) -> Any:
        name = tree["$type"]
        if not isinstance(name, str) or name not in self.types:
            known = ", ".join(sorted(self.types)) or "none"
            raise TypeError(f"{name!r:.80} is none of the types that belong here ({known})")
        kind = self.types[name]
        if hasattr(kind, "from_plain"):
            _, plain = _members(tree, "$type", "$plain")
            return kind.from_plain(self.unpacked(plain, path, depth + 1))
        return self._dataclass(kind, tree, path, depth)

    def _dataclass(self, kind: type, tree: dict[str, Tree], path: str, depth: int) -> Any:
        if not is_dataclass(kind):
            raise TypeError(f"{kind.__name__} is no dataclass and has no from_plain")
        names = [field.name for field in fields(kind) if field.init]
        _, *members = _members(tree, "$type", *names)
        values = {
            name: self.unpacked(member, f"{path}/{name}", depth + 1)
            for name, member in zip(names, members, strict=True)
        }
        self._path = path
        for name, value in values.items():
            check_field(kind, name, value)
        return kind(**values)


def _members(tree: dict[str, Tree], *names: str) -> list[Tree]:
    """The members of an object that has exactly these, in this order."""
    if tuple(tree) != names:
        raise ValueError(f"found the members {', '.join(tree)!r:.200} in place of {', '.join(names)}")
    return list(tree.values())


def _exact(words: Any, low: Any) -> ExactArray:
    if not isinstance(words, np.ndarray) or words.dtype != np.uint32:
        raise TypeError("an exact sum is not made of 32-bit words")
    if type(low) is not int or not _LOWEST <= low <= _HIGHEST:
        raise ValueError(f"an exact sum begins at the limb {low!r:.80}")
    exact = ExactArray.from_words(words, low)
    if exact.low != low or not np.array_equal(exact.words(), words):
        raise ValueError("an exact sum is not in canonical form")
    return exact


def _float(text: Any) -> float:
    if text not in ("inf", "-inf", "nan"):
        raise ValueError(f"{text!r:.80} is no number that JSON cannot write")
    return float(text)


def _integer(text: Any) -> int:
    value = int(text, 16)
    if hex(value) != text or stands_for_itself(value):
        raise ValueError("a large integer is not in canonical form")
    return value


def _text(digits: Any) -> str:
    raw = bytes.fromhex(digits)
    value = raw.decode("utf-8", "surrogatepass")
    if raw.hex() != digits or stands_for_itself(value):
        raise ValueError("a text is not in canonical form")
    return value


_SCALARS: dict[str, Callable[[Any], Any]] = {"$float": _float, "$int": _integer, "$text": _text}
