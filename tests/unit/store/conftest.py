"""A small model, and a forger who knows the checksum."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayeswise.foundation.exact import ExactArray
from bayeswise.store import file as store_file
from bayeswise.store.container import container_bytes
from bayeswise.store.document import Document, pack
from bayeswise.store.file import Note, _checksum, model_bytes

Forger = Callable[..., bytes]


@pytest.fixture
def document() -> Document:
    """A tree, text beyond ASCII, exact sums, floats and flags."""
    return pack(
        {
            "classes": ("yes", "no", "größer", 1, True),
            "sums": ExactArray.from_floats([[0.1, 1e200], [-3.0, 0.0]]),
            "nothing": ExactArray.zeros((2, 3)),
            "floats": np.array([1.5, -0.0]),
            "flags": np.array([True, False, True]),
            "smoothing": 1.0,
        }
    )


@pytest.fixture
def model(document: Document) -> bytes:
    return model_bytes(document, "example")


@pytest.fixture
def forged() -> Forger:
    """A file of any tree and tensors with the right checksum."""

    def forge(tree: Any, tensors: dict[str, np.ndarray] | None = None, kind: str = "example") -> bytes:
        raw = tree if isinstance(tree, bytes) else json.dumps(tree, separators=(",", ":")).encode()
        parts = tensors or {}
        note = Note(store_file.FORMAT, kind, _checksum(store_file.FORMAT, kind, raw, parts))
        return container_bytes({**parts, "document": np.frombuffer(raw, dtype=np.uint8)}, note.text())

    return forge


@pytest.fixture
def container() -> Forger:
    """A container with any header, honest or not."""

    def build(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
        text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        return (len(text) if length is None else length).to_bytes(8, "little") + text + data

    return build
