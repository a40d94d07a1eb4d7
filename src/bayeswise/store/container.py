"""The safetensors container: the length of a header, the header in JSON, then one tensor after the other.

Writing and taking apart is the work of the `safetensors` package. Here stands what it does not promise:
equal content gives equal bytes, and a header is measured before it is believed.

>>> import numpy as np
>>> data = container_bytes({"/": np.array([1.5])}, note="{}")
>>> header = read_header(data, Limits())
>>> header.note, header.entries, read_tensors(data, header)
('{}', (Entry(name='/', type='F64', shape=(1,)),), {'/': array([1.5])})
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import StoreError
from bayeswise.store.parsing import parse_json

Tensor: TypeAlias = np.ndarray[Any, Any]
Tensors: TypeAlias = dict[str, Tensor]

# Name in the file -> type in memory.
FILE_TYPES = {
    "F64": "float64",
    "I64": "int64",
    "I32": "int32",
    "U32": "uint32",
    "U8": "uint8",
    "BOOL": "bool",
}


@cache
def type_name(dtype: np.dtype[Any]) -> str:
    """The name of a type, which NumPy composes again on each access."""
    return dtype.name


def packable(array: Tensor) -> Tensor:
    """The array, contiguous and in native byte order; a `TypeError` if its type is not supported."""
    if type_name(array.dtype) not in FILE_TYPES.values():
        raise TypeError(
            f"an array of type {array.dtype.name} is not plain data; use {', '.join(sorted(FILE_TYPES.values()))}"
        )
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def little_endian(tensor: Tensor) -> Tensor:
    """The entries side by side in the byte order of the file."""
    return np.asarray(tensor, dtype=tensor.dtype.newbyteorder("<"), order="C")


def same_bytes(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are one in a file: type, shape and every bit, so that 0.0 is not -0.0 and NaN is NaN.

    >>> same_bytes(np.array([0.0]), np.array([-0.0])), same_bytes(np.array([np.nan]), np.array([np.nan]))
    (False, True)
    """
    if one is other:
        return True
    if type_name(one.dtype) != type_name(other.dtype) or one.shape != other.shape:
        return False
    bits, others = (little_endian(each).reshape(-1).view("u1") for each in (one, other))
    return bool(np.array_equal(bits, others))


def tensor_of(data: bytes | bytearray, file_type: str, shape: tuple[int, ...]) -> Tensor:
    """The bytes of a file as a read-only array; a flag is one of the bytes 0 and 1."""
    dtype = np.dtype(FILE_TYPES[file_type])
    flat = np.frombuffer(data, dtype=dtype.newbyteorder("<"))
    if dtype == np.bool_ and flat.view(np.uint8).max(initial=0) > 1:
        raise ValueError("a flag is neither 0 nor 1")
    tensor = np.asarray(flat, dtype=dtype).reshape(shape)
    tensor.setflags(write=False)
    return tensor


@dataclass(frozen=True)
class Limits:
    """The largest file that is read, and written; a larger model needs larger limits on both sides.

    >>> Limits(file_bytes=1 << 34).tensors
    262144
    """

    file_bytes: int = 1 << 31
    header_bytes: int = 1 << 26
    tensors: int = 1 << 18
    elements: int = 1 << 28  # of all tensors together
    empty_elements: int = 1 << 24  # entries of exact sums that are all zero: they take no bytes in the file
    dimensions: int = 64  # of one tensor
    tree_bytes: int = 1 << 28
    tree_nodes: int = 1 << 24
    tree_depth: int = 200


LIMITS = Limits()


# The package writes several notes in random order, so there is one.
NOTE = "bayeswise"
HEAD_BYTES = 9  # the length of the header and its opening brace

_NAME = re.compile(r"[A-Za-z0-9_/]{1,4000}")
_DEEPEST = 4
_OURS = "give a file that bayeswise wrote; the model comes first, then the table"
RESTORE = "fit the model again, or restore the file from a copy"


@dataclass(frozen=True)
class Entry:
    """What the header says about one tensor."""

    name: str
    type: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Header:
    """Our note and the members of the tensors, which are checked on access."""

    note: str
    members: dict[str, Any]

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(_entry(name, member) for name, member in self.members.items())

    def check(self, limits: Limits) -> None:
        """Refuse what would take more memory than the limits allow."""
        if len(self.members) > limits.tensors:
            raise StoreError(f"it has {len(self.members)} tensors, more than {limits.tensors}")
        entries = self.entries
        deepest = max((len(entry.shape) for entry in entries), default=0)
        if deepest > limits.dimensions:
            raise StoreError(f"a tensor has {deepest} dimensions, more than {limits.dimensions}")
        n_elements = sum(math.prod(entry.shape) for entry in entries)
        if n_elements > limits.elements:
            raise StoreError(f"its tensors have {_about(n_elements)} elements, more than {limits.elements}")
        # A shape such as (10**12, 0) takes no bytes in the file, but a sum over its rows needs them all.
        n_empty = sum(math.prod(filter(None, entry.shape)) for entry in entries if 0 in entry.shape)
        if n_empty > limits.empty_elements:
            found = _about(n_empty)
            raise StoreError(f"its empty tensors have {found} rows, more than {limits.empty_elements}")


def container_bytes(tensors: Tensors, note: str) -> bytes:
    """A file of these tensors; the same ones give the same bytes, in whatever order they are named."""
    from safetensors.numpy import save

    # The package copies the memory of an array as it is, so it must be contiguous and little-endian.
    settled = {name: little_endian(tensor) for name, tensor in tensors.items()}
    data: bytes = save(settled, metadata={NOTE: note})
    return data


def check_head(head: bytes, n_bytes: int, limits: Limits) -> int:
    """The length of the header, from the first bytes of a file of `n_bytes`."""
    length = int.from_bytes(head[:8], "little")
    if n_bytes < HEAD_BYTES or head[8:HEAD_BYTES] != b"{":
        raise StoreError(f"it is not a model file: {_impression(head, n_bytes)}", fix=_OURS)
    if n_bytes > limits.file_bytes:
        raise StoreError(f"it has {n_bytes} bytes, more than {limits.file_bytes}")
    if length > min(limits.header_bytes, n_bytes - 8):
        raise StoreError(
            f"it is cut short or damaged: it has {n_bytes} bytes and a header of {length} bytes", fix=RESTORE
        )
    return length


def read_header(data: bytes, limits: Limits) -> Header:
    """The header of a file, as far as it must be known to see who wrote the file."""
    length = check_head(data[:HEAD_BYTES], len(data), limits)
    text = data[8 : 8 + length].rstrip(b" ")  # the package fills up to a multiple of 8
    members = parse_json(text, "the header", most_nodes=limits.tree_nodes, deepest=_DEEPEST)
    note = members.pop("__metadata__", None)
    if not isinstance(note, dict) or list(note) != [NOTE] or not isinstance(note[NOTE], str):
        raise StoreError("it is a safetensors file, but not one of bayeswise", fix=_OURS)
    if length % 8 or length - len(text) > 7:
        raise StoreError("the header is not in canonical form")
    return Header(note[NOTE], members)


def read_tensors(data: bytes, header: Header) -> Tensors:
    """The tensors of a file whose header was checked."""
    import safetensors

    take_apart: Any = safetensors.deserialize
    try:
        found = {name: each["data"] for name, each in take_apart(data)}
        return {entry.name: tensor_of(found[entry.name], entry.type, entry.shape) for entry in header.entries}
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise StoreError(f"its tensors are damaged: {error}") from error


def _entry(name: str, member: Any) -> Entry:
    where = f"the tensor {name!r:.80}"
    if not _NAME.fullmatch(name) or not isinstance(member, dict):
        raise StoreError(f"{where} is not one of a model file")
    if list(member) != ["dtype", "shape", "data_offsets"]:
        raise StoreError(f"{where} has the members {', '.join(member)!r:.80}")
    kind, shape = member["dtype"], member["shape"]
    if not isinstance(kind, str) or kind not in FILE_TYPES:
        raise StoreError(f"{where} has the type {kind!r:.80}; allowed are {', '.join(FILE_TYPES)}")
    if not isinstance(shape, list) or any(type(length) is not int or length < 0 for length in shape):
        raise StoreError(f"{where} has the shape {shape!r:.80}")
    return Entry(name, kind, tuple(shape))


def _about(count: int) -> str:
    return f"{float(min(count, 10**300)):.3g}"


def _impression(head: bytes, n_bytes: int) -> str:
    if not n_bytes:
        return "it is empty"
    for begin, what in _OTHERS.items():
        if head.startswith(begin):
            return f"it looks like {what}"
    printable = all(32 <= byte < 127 or byte in b"\t\r\n" for byte in head)
    return f"it looks like text ({head!r}...)" if printable else f"it begins with {head!r}"


_OTHERS = {
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x80": "a pickle, which is never loaded",
    b"PAR1": "a Parquet file",
    b"\x93NUMPY": "a NumPy array",
}
