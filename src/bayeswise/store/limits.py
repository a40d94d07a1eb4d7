"""How much a model file may ask for before it is believed."""

from __future__ import annotations

from dataclasses import dataclass


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
