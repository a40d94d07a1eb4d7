"""The arrays that a document holds: few types, one byte order, no gaps."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np

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
    """The name of a type, which NumPy puts together anew each time it is asked."""
    return dtype.name


def packable(array: Tensor) -> Tensor:
    """The array without gaps in native byte order, a `TypeError` if its type is not among ours."""
    if type_name(array.dtype) not in FILE_TYPES.values():
        raise TypeError(f"an array of type {array.dtype.name} is not plain data; use {_types()}")
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


def _types() -> str:
    return ", ".join(sorted(FILE_TYPES.values()))
