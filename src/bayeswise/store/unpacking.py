"""From a tree and tensors back to the value.

Here is refused what has no meaning or would run away with memory; whether a document has the one form that
packing writes is seen afterwards, by packing the value again. A class whose values cannot be anything that its fields
can hold (a count is not negative) says so in `refuse_impossible`: it is called for what comes from a file, since what
was made of rows is right by the way it was made, and looking it through again would take longer than making it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.exact import ExactArray
from bayeswise.store.fields import check_field, expected
from bayeswise.store.strict_json import Tree
from bayeswise.store.tensors import Tensor, Tensors

_NESTED = frozenset({list, dict})
_FARTHEST = 400  # limbs of 32 bits on either side of the point: far beyond any product of three floats


class Unpacker:
    """Rebuilds one value from the tensors and types that it is given."""

    def __init__(self, tensors: Tensors, types: Iterable[type]) -> None:
        self.tensors = tensors
        self.types: dict[str, type] = {}
        for kind in types:
            if self.types.setdefault(kind.__name__, kind) is not kind:
                raise TypeError(f"two types are called {kind.__name__}")
        self._path = ""

    def where(self) -> str:
        """The path to what was being rebuilt."""
        return self._path or "/"

    def unpacked(self, tree: Tree, path: str = "") -> Any:
        self._path = path
        if isinstance(tree, list):
            return self._items(tree, path)
        if not isinstance(tree, dict):
            return tree
        tag = next(iter(tree), "")
        if tag == "$type":
            return self._object(tree, path)
        if tag == "$exact":
            words, low = _members(tree, "$exact", "low")
            return _exact(self.unpacked(words, path), low)
        (content,) = _members(tree, tag)
        if tag == "$tensor":
            return self._tensor(content, path)
        if tag == "$list":
            return list(self._items(content, path))
        if tag == "$map":
            return self._mapping(content, path)
        return _SCALARS[tag](content)

    def _items(self, items: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(items, list):
            raise TypeError(f"{items!r:.80} is not a list")
        if _NESTED.isdisjoint(map(type, items)):
            return tuple(items)
        return tuple(self.unpacked(item, f"{path}/{n}") for n, item in enumerate(items))

    def _mapping(self, pairs: Any, path: str) -> dict[Any, Any]:
        mapping = {key: self.unpacked(item, f"{path}/{n}") for n, (key, item) in enumerate(pairs)}
        if len(mapping) != len(pairs):
            raise ValueError("a key is there twice")
        return mapping

    def _tensor(self, name: Any, path: str) -> Tensor:
        if name != (path or "/"):  # or a small file could ask for one tensor a million times
            raise ValueError(f"a reference leads to the tensor {name!r:.80}")
        return self.tensors[name]

    def _object(self, tree: dict[str, Tree], path: str) -> Any:
        name = tree["$type"]
        if not isinstance(name, str) or name not in self.types:
            known = ", ".join(sorted(self.types)) or "none"
            raise TypeError(f"{name!r:.80} is none of the types that belong here ({known})")
        kind = self.types[name]
        if hasattr(kind, "from_plain"):
            _, plain = _members(tree, "$type", "$plain")
            return kind.from_plain(self.unpacked(plain, path))
        return self._dataclass(kind, tree, path)

    def _dataclass(self, kind: type, tree: dict[str, Tree], path: str) -> Any:
        if not is_dataclass(kind):
            raise TypeError(f"{kind.__name__} is not a dataclass and has no from_plain")
        names = expected(kind, tree)
        _, *members = _members(tree, "$type", *names)
        values = {name: self.unpacked(member, f"{path}/{name}") for name, member in zip(names, members, strict=True)}
        self._path = path
        for name, value in values.items():
            check_field(kind, name, value)
        built: Any = kind(**values)
        if hasattr(kind, "refuse_impossible"):
            built.refuse_impossible()
        return built


def _members(tree: dict[str, Tree], *names: str) -> list[Tree]:
    """The members of an object that has exactly these, in this order."""
    if tuple(tree) != names:
        raise ValueError(f"found the members {', '.join(tree)!r:.200} in place of {', '.join(names)}")
    return list(tree.values())


def _exact(words: Any, low: Any) -> ExactArray:
    if not isinstance(words, np.ndarray) or words.dtype != np.uint32:
        raise TypeError("an exact sum is not made of 32-bit words")
    if type(low) is not int or not -_FARTHEST <= low <= low + words.shape[-1] <= _FARTHEST:
        raise ValueError(f"an exact sum has {words.shape[-1]} limbs from limb {low!r:.80}")
    return ExactArray.from_words(words, low)


def _float(text: Any) -> float:
    if text not in ("inf", "-inf", "nan"):
        raise ValueError(f"{text!r:.80} is not a number that JSON cannot write")
    return float(text)


def _integer(digits: Any) -> int:
    return int(digits, 16)


def _text(digits: Any) -> str:
    return bytes.fromhex(digits).decode("utf-8", "surrogatepass")


_SCALARS: dict[str, Callable[[Any], Any]] = {"$float": _float, "$int": _integer, "$text": _text}
