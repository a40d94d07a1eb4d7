"""How a file of an older format becomes one of today's: one step for each format that was ever released.

Format 1 is the first. To change what a document looks like: raise `FORMAT`, and add the function that takes a
document of the format before to the new one under the number of the old format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from bayeswise.foundation.errors import StoreError
from bayeswise.store.document import DAMAGE, Document

Migration: TypeAlias = Callable[
    [str, Document], tuple[str, Document]
]  # kind and document, to the next format

FORMAT = 1
MIGRATIONS: dict[int, Migration] = {}


def check_format(written: int) -> None:
    """Refuse a file of a format that is not known yet."""
    if written > FORMAT:
        raise StoreError(
            f"it was written by a later version of bayeswise (format {written}; "
            f"this one reads up to {FORMAT})",
            fix="pip install --upgrade bayeswise",
        )


def migrated(kind: str, document: Document, written: int) -> tuple[str, Document]:
    """The document in today's format, through every format in between."""
    try:
        for number in range(written, FORMAT):
            kind, document = MIGRATIONS[number](kind, document)
    except DAMAGE as error:
        raise StoreError(f"it is damaged: {type(error).__name__}: {error}") from error
    return kind, document
