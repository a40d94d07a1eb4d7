"""Frozen values as plain data and back: a JSON tree beside named tensors.

Equal values give equal documents, so a hash of a document names the value. Only types that are handed in
can be rebuilt: a document is data, it cannot name code.

>>> document = pack({"a": (1, 2.5, None), "b": ExactArray.from_floats([0.5])})
>>> unpack(document, types=())
{'a': (1, 2.5, None), 'b': ExactArray([0.5])}
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bayeswise.foundation.errors import BayeswiseError, StoreError
from bayeswise.foundation.exact import ExactArray
from bayeswise.store.packing import Packer
from bayeswise.store.strict_json import Tree, tree_bytes
from bayeswise.store.tensors import Tensors, little_endian, same_bytes, type_name
from bayeswise.store.unpacking import Unpacker

__all__ = ["DAMAGE", "Document", "ExactArray", "canonical_parts", "pack", "tree_bytes", "unpack"]

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

    def canonical_bytes(self) -> bytes:
        """Bytes that are equal exactly when the packed values are equal."""
        return b"".join(canonical_parts(self.text, self.tensors))

    def digest(self) -> str:
        """The SHA-256 of the canonical bytes."""
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


def unpack(document: Document, types: Iterable[type]) -> Any:
    """The value of a document; `types` are the only classes it may contain.

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
