"""Frozen values as plain data and back: a JSON tree beside named tensors.

Equal values give equal documents, so a hash of a document names the value. Only types that are handed in
can be rebuilt: a document is data, it cannot name code.

What JSON gives back unchanged stands for itself, a tuple is a list; everything else is an object whose first key, which
begins with `$`, says what it is. Unpacking refuses what has no meaning or runs away with memory; whether a document
has the one form that packing writes is seen afterwards, by packing the value again. A class whose values cannot be
anything that its fields can hold (a count is not negative) says so in `refuse_impossible`: it is called for what comes
from a file, since what was made of rows is right by the way it was made.

>>> document = pack({"a": (1, 2.5, None), "b": ExactArray.from_floats([0.5])})
>>> unpack(document, types=())
{'a': (1, 2.5, None), 'b': ExactArray([0.5])}
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, StoreError
from bayeswise.foundation.exact import ExactArray
from bayeswise.foundation.sparse import SparseExact
from bayeswise.store.container import Tensor, Tensors, little_endian, packable, same_bytes, type_name
from bayeswise.store.fields import by_stored_name, check_field, expected, stored_name, written
from bayeswise.store.parsing import Tree, tree_bytes

__all__ = ["DAMAGE", "Document", "ExactArray", "canonical_parts", "pack", "tree_bytes", "unpack"]


_NESTED = frozenset({list, dict})
_FARTHEST = 400  # limbs of 32 bits on either side of the point: far beyond any product of three floats


Types: TypeAlias = Iterable[type] | Mapping[str, type]


class Unpacker:
    """Rebuilds one value from the tensors and types that it is given."""

    def __init__(self, tensors: Tensors, types: Types) -> None:
        self.tensors = tensors
        self.types = types if isinstance(types, Mapping) else by_stored_name(types)
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
        if tag == "$sparse":
            shape, places, values = _members(tree, "$sparse", "places", "values")
            held = (self.unpacked(places, f"{path}/places"), self.unpacked(values, f"{path}/values"))
            self._path = path
            return _sparse(shape, *held)
        (content,) = _members(tree, tag)
        if tag == "$tensor":
            return self._tensor(content, path)
        if tag == "$list":
            return list(self._items(content, path))
        if tag == "$map":
            return self._mapping(content, path)
        return _READ_SCALARS[tag](content)

    def _items(self, items: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(items, list):
            raise TypeError(f"{items!r:.80} is not a list")
        if _NESTED.isdisjoint(map(type, items)):
            return tuple(items)
        return tuple(self.unpacked(item, f"{path}/{n}") for n, item in enumerate(items))

    def _mapping(self, pairs: Any, path: str) -> dict[Any, Any]:
        mapping = {key: self.unpacked(item, f"{path}/{n}") for n, (key, item) in enumerate(pairs)}
        if len(mapping) != len(pairs):
            raise ValueError("a key occurs twice")
        return mapping

    def _tensor(self, name: Any, path: str) -> Tensor:
        if name != (path or "/"):  # or a small file could ask for one tensor a million times
            raise ValueError(f"a reference leads to the tensor {name!r:.80}")
        return self.tensors[name]

    def _object(self, tree: dict[str, Tree], path: str) -> Any:
        name = tree["$type"]
        if not isinstance(name, str) or name not in self.types:
            known = ", ".join(sorted(self.types)) or "none"
            raise TypeError(f"{name!r:.80} is not one of the expected types ({known})")
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
        values = {
            name: self.unpacked(member, f"{path}/{stored}")
            for (stored, name), member in zip(names.items(), members, strict=True)
        }
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


def _sparse(shape: Any, places: Any, values: Any) -> SparseExact:
    if not isinstance(shape, list) or [type(n) for n in shape] != [int, int] or not min(shape) >= 0:
        raise TypeError(f"{shape!r:.80} is not the shape of a table")
    if not isinstance(places, np.ndarray) or places.dtype != np.int64 or not isinstance(values, ExactArray):
        raise TypeError("a sparse table is not made of places and exact sums")
    if places.ndim != 1 or values.shape != places.shape or values.is_zero().any():
        raise ValueError("a sparse table has a place without a sum, or a sum of zero")
    if len(places) and not (places[0] >= 0 and places[-1] < shape[0] * shape[1] and (np.diff(places) > 0).all()):
        raise ValueError("the places of a sparse table are out of order")
    return SparseExact((shape[0], shape[1]), places, values)


def _float(text: Any) -> float:
    if text not in ("inf", "-inf", "nan"):
        raise ValueError(f"{text!r:.80} is not a number that JSON cannot write")
    return float(text)


_READ_SCALARS: dict[str, Callable[[Any], Any]] = {
    "$float": _float,
    "$int": lambda digits: int(digits, 16),
    "$text": lambda digits: bytes.fromhex(digits).decode("utf-8", "surrogatepass"),
}


DEEPEST = 40
WIDEST = 1 << 63  # integers beyond are written in hexadecimal: reading decimal digits takes quadratic time
SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")  # JSON would join the two into one character

_STANDS_FOR_ITSELF: dict[type, Callable[[Any], bool]] = {
    type(None): lambda value: True,
    bool: lambda value: True,
    int: lambda value: -WIDEST <= value < WIDEST,
    float: math.isfinite,
    str: lambda value: value.isascii() or not SPLIT_PAIR.search(value),
}


def stands_for_itself(value: Any) -> bool:
    """Whether JSON gives the scalar back as it is.

    >>> [stands_for_itself(value) for value in (1, 1.0, "a", None, float("inf"), 1 << 80, (1,))]
    [True, True, True, True, False, False, False]
    """
    check = _STANDS_FOR_ITSELF.get(type(value))
    return check is not None and check(value)


def _all_stand(items: Sequence[Any]) -> bool:
    """Whether each item stands for itself; long lists of plain text or of integers are seen at once."""
    kinds = set(map(type, items))
    if kinds <= {str} and "".join(items).isascii():
        return True
    if kinds == {int}:
        return bool(min(items) >= -WIDEST and max(items) < WIDEST)
    return kinds <= _STANDS_FOR_ITSELF.keys() and all(map(stands_for_itself, items))


class Packer:
    """Packs one value; its arrays gather in `tensors` under the path that leads to them."""

    def __init__(self) -> None:
        self.tensors: Tensors = {}

    def packed(self, value: Any, path: str = "", depth: int = 0) -> Tree:
        if depth > DEEPEST:
            raise TypeError(f"a value nested deeper than {DEEPEST} levels is not plain data")
        if isinstance(value, np.generic):
            value = value.item()
        if stands_for_itself(value):
            return value
        if type(value) in _SCALARS:
            return _SCALARS[type(value)](value)
        if isinstance(value, np.ndarray):
            return self._tensor(value, path)
        if isinstance(value, ExactArray):
            return {"$exact": self._tensor(value.words(), path), "low": value.low}
        if isinstance(value, SparseExact):
            places = self._tensor(value.places, f"{path}/places")
            return {
                "$sparse": list(value.shape),
                "places": places,
                "values": self.packed(value.values, f"{path}/values"),
            }
        if type(value) is tuple:
            return self._items(value, path, depth)
        if type(value) is list:
            return {"$list": self._items(value, path, depth)}
        if isinstance(value, Mapping):
            return self._mapping(value, path, depth)
        return self._object(value, path, depth)

    def _items(self, items: Sequence[Any], path: str, depth: int) -> Tree:
        if _all_stand(items):
            return list(items)
        return [self.packed(item, f"{path}/{n}", depth + 1) for n, item in enumerate(items)]

    def _mapping(self, value: Mapping[Any, Any], path: str, depth: int) -> Tree:
        pairs = []
        for n, (key, item) in enumerate(value.items()):
            if not stands_for_itself(key):
                raise TypeError(f"the key {key!r} is not plain data; use text, a number or a flag")
            pairs.append([key, self.packed(item, f"{path}/{n}", depth + 1)])
        return {"$map": pairs}

    def _tensor(self, array: Tensor, path: str) -> Tree:
        name = path or "/"
        self.tensors[name] = packable(array)
        return {"$tensor": name}

    def _object(self, value: Any, path: str, depth: int) -> Tree:
        name = stored_name(type(value))
        if hasattr(type(value), "to_plain"):
            return {"$type": name, "$plain": self.packed(value.to_plain(), path, depth + 1)}
        if not is_dataclass(value) or isinstance(value, type):
            raise TypeError(f"{value!r:.80} of type {name} is not plain data")
        tree = {"$type": name}
        for stored, field in written(value).items():
            item = getattr(value, field)
            check_field(type(value), field, item)
            tree[stored] = self.packed(item, f"{path}/{stored}", depth + 1)
        return tree


# The scalars that JSON would lose.
_SCALARS: dict[type, Callable[[Any], Tree]] = {
    float: lambda value: {"$float": repr(value)},
    int: lambda value: {"$int": hex(value)},
    str: lambda value: {"$text": value.encode("utf-8", "surrogatepass").hex()},
}


# What code that trusts its input raises when it is given nonsense.
DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """A tree in which arrays stand as references to tensors."""

    tree: Tree
    tensors: Tensors

    @classmethod
    def parsed(cls, tree: Tree, text: bytes, tensors: Tensors) -> Document:
        """A document whose tree was parsed from its `tree_bytes`, which are not written again."""
        document = cls(tree, tensors)
        document.__dict__["text"] = text
        return document

    @cached_property
    def text(self) -> bytes:
        """The tree as JSON."""
        return tree_bytes(self.tree)

    def digest(self) -> str:
        """The SHA-256 of the canonical bytes, which are equal exactly when the packed values are."""
        sha256 = hashlib.sha256()
        for part in canonical_parts(self.text, self.tensors):
            sha256.update(part)
        return sha256.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Document):
            return NotImplemented
        if self.text != other.text or self.tensors.keys() != other.tensors.keys():
            return False
        return all(same_bytes(tensor, other.tensors[name]) for name, tensor in self.tensors.items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Document({len(self.text)} bytes, {len(self.tensors)} tensors)"


def canonical_parts(tree: bytes, tensors: Tensors) -> Iterator[bytes | memoryview]:
    """The tree, then the tensors by name, each after its type and shape; nothing large is copied."""
    yield tree
    for name in sorted(tensors):
        tensor = tensors[name]
        yield f"{name} {type_name(tensor.dtype)} {tensor.shape}\n".encode()
        yield little_endian(tensor).reshape(-1).view("u1").data


def pack(value: Any) -> Document:
    """A document of a frozen value made of dataclasses, mappings, tuples, arrays and scalars.

    A dataclass is packed by its fields; another class says by `to_plain` what it is made of, and `from_plain`
    rebuilds it. A value that could not be rebuilt is a `TypeError` now, and not when it is loaded.

    >>> pack((1.5, "a")).tree
    [1.5, 'a']
    """
    packer = Packer()
    tree = packer.packed(value)
    return Document(tree, packer.tensors)


def unpack(document: Document, types: Types) -> Any:
    """The value of a document; `types` are the only classes it may contain, with or without their names.

    What is read is what would be written: a document that the value would not be packed to is an error.
    """
    unpacker = Unpacker(document.tensors, types)
    try:
        value = unpacker.unpacked(document.tree)
        canonical = pack(value) == document
    except BayeswiseError as error:
        raise StoreError(f"the document is damaged at {unpacker.where()}: {error.what}") from error
    except DAMAGE as error:
        what = f"{type(error).__name__}: {error}"
        raise StoreError(f"the document is damaged at {unpacker.where()}: {what}") from error
    if not canonical:
        raise StoreError("the document is damaged: it is not in canonical form")
    return value
