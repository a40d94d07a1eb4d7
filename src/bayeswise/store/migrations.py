"""How a file of an older format becomes one of today's: one step for each format that was ever released.

    format 1    the first
    format 2    the columns of a schema by name and form, so that thousands of equal columns are written once

To change what a document looks like: raise `FORMAT`, and add the function that takes a document of the format before to
the new one under the number of the old format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from bayeswise.foundation.errors import StoreError
from bayeswise.store.document import DAMAGE, Document
from bayeswise.store.strict_json import Tree, tree_bytes

Migration: TypeAlias = Callable[
    [str, Document], tuple[str, Document]
]  # kind and document, to the next format


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


# -- from format 1 to 2 -------------------------------------------------------------------------------------
def _columns_by_form(kind: str, document: Document) -> tuple[str, Document]:
    return kind, Document(_with_forms(document.tree), document.tensors)


def _with_forms(tree: Tree) -> Tree:
    """The tree with the columns of every schema as names, forms and the form of each."""
    if isinstance(tree, list):
        return [_with_forms(each) for each in tree]
    if not isinstance(tree, dict):
        return tree
    changed = {name: _with_forms(member) for name, member in tree.items()}
    if changed.get("$type") == "Schema":
        changed["columns"] = {"$type": "Columns", "$plain": _forms_of(changed["columns"])}
    return changed


def _forms_of(columns: list[dict[str, Tree]]) -> Tree:
    if any(each["$type"] != "Column" for each in columns):
        raise ValueError("a column of the schema is none")
    known: dict[bytes, int] = {}
    forms: list[Tree] = []
    form_of: list[int] = []
    for column in columns:
        key = tree_bytes({name: member for name, member in column.items() if name != "name"})
        form_of.append(known.setdefault(key, len(known)))
        if len(known) > len(forms):
            forms.append(column)
    return [[column["name"] for column in columns], forms, form_of]


FORMAT = 2
MIGRATIONS: dict[int, Migration] = {1: _columns_by_form}
