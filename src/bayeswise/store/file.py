"""The model file: one safetensors file with a document, its tensors, and a note of format, kind and checksum.

The same model is the same bytes: no time, no version of the package, no order of a dict that is not part of
the model. The tree of the document is a tensor of bytes, since a header could not hold a million labels.

>>> from bayeswise.store.document import pack
>>> data = model_bytes(pack({"smoothing": 1.0}), kind="example")
>>> kind, document = read_bytes(data)
>>> kind, unpack(document, types=())
('example', {'smoothing': 1.0})
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, StoreError
from bayeswise.foundation.exact import ExactArray, side_by_side
from bayeswise.foundation.sparse import ALWAYS_DENSE, SparseExact, fitting
from bayeswise.store.container import (
    FILE_TYPES,
    HEAD_BYTES,
    LIMITS,
    RESTORE,
    Header,
    Limits,
    Tensors,
    check_head,
    container_bytes,
    read_header,
    read_tensors,
)
from bayeswise.store.document import DAMAGE, Document, Types, canonical_parts, unpack
from bayeswise.store.parsing import Tree, check_size, parse_json, tree_bytes

PathLike: TypeAlias = str | os.PathLike[str]

_DOCUMENT = "document"  # no path, so no tensor of a document can have this name
_KIND = re.compile(r"[a-z][a-z0-9-]{0,63}")
_CHECKSUM = re.compile(r"[0-9a-f]{64}")
_PIECE = 1 << 20


@dataclass(frozen=True)
class Note:
    """Who wrote the file: the format, the kind of model, and the SHA-256 of both and of the content."""

    format: int
    kind: str
    checksum: str

    def text(self) -> str:
        return tree_bytes({"format": self.format, "kind": self.kind, "sha256": self.checksum}).decode()


# -- values and models --------------------------------------------------------------------------------------
def read_value(
    path: PathLike, types: Mapping[str, Types], limits: Limits = LIMITS, data: bytes | None = None
) -> tuple[str, Any]:
    """The kind of a model file and its value, made of the types that are allowed for this kind.

    `data` are its contents, where they have been read already.
    """
    kind, document = read_bytes(contents(path, limits) if data is None else data, name=path, limits=limits)
    with _naming(path):
        if kind not in types:
            known = " or ".join(map(repr, types))
            raise StoreError(f"it holds a model of kind {kind!r}; expected {known}", fix="name another file")
        return kind, unpack(document, types[kind])


def model_bytes(document: Document, kind: str, limits: Limits = LIMITS) -> bytes:
    """The model file as bytes, equal for equal models; what could not be read again is not written."""
    if not _KIND.fullmatch(kind):
        raise ParameterError(f"a kind of model is called {kind!r}", fix="use small letters and hyphens")
    tree = document.text
    note = Note(FORMAT, kind, _checksum(FORMAT, kind, tree, document.tensors))
    try:
        _check_length(tree, limits)
        check_size(tree, "the document", most_nodes=limits.tree_nodes, deepest=limits.tree_depth)
        tensors = {**document.tensors, _DOCUMENT: np.frombuffer(tree, dtype=np.uint8)}
        data = container_bytes(tensors, note.text())
        read_header(data, limits).check(limits)
    except StoreError as error:
        raise StoreError(f"the model cannot be saved: {error.what}", fix="give larger limits") from error
    return data


def read_bytes(data: bytes, *, name: PathLike = "the model", limits: Limits = LIMITS) -> tuple[str, Document]:
    """The kind and the document of a model file, checked; `name` is what errors call it."""
    with _naming(name):
        note, _, tree, tensors = _opened(data, limits)
        _check_length(tree, limits)
        parsed = parse_json(tree, "the document", most_nodes=limits.tree_nodes, deepest=limits.tree_depth)
        return migrated(note.kind, Document.parsed(parsed, tree, tensors), note.format)


def describe(path: PathLike, limits: Limits = LIMITS, data: bytes | None = None) -> dict[str, Any]:
    """What a model file says about itself, after its checksum is verified; the model is not built."""
    data = contents(path, limits) if data is None else data
    with _naming(path):
        note, header, tree, _ = _opened(data, limits)
    entries = sorted(header.entries, key=lambda entry: entry.name)
    return {
        "kind": note.kind,
        "format": note.format,
        "checksum": note.checksum,
        "size": len(data),
        "document": len(tree),
        "tensors": [
            {"name": entry.name, "type": FILE_TYPES[entry.type], "shape": list(entry.shape)}
            for entry in entries
            if entry.name != _DOCUMENT
        ],
    }


# -- what is inside -----------------------------------------------------------------------------------------
def _opened(data: bytes, limits: Limits) -> tuple[Note, Header, bytes, Tensors]:
    """Note, header, tree and tensors of a file whose checksum is right."""
    header = read_header(data, limits)
    note = _note(header.note)
    header.check(limits)
    tensors = read_tensors(data, header)
    tree = tensors.pop(_DOCUMENT, None)
    if tree is None or tree.dtype != np.uint8 or tree.ndim != 1:
        raise StoreError("it is damaged: there is no document in it", fix=RESTORE)
    raw = tree.tobytes()
    if _checksum(note.format, note.kind, raw, tensors) != note.checksum:
        raise StoreError("it is damaged: the checksum does not match", fix=RESTORE)
    return note, header, raw, tensors


def _note(text: str) -> Note:
    members = parse_json(text.encode("utf-8", "surrogatepass"), "the note", most_nodes=100, deepest=4)
    written = members.get("format") if isinstance(members, dict) else None
    if type(written) is not int or written < 1:
        raise StoreError("it is damaged: its format is missing", fix=RESTORE)
    check_format(written)
    kind, checksum = members.get("kind"), members.get("sha256")
    if len(members) != 3 or not _matches(_KIND, kind) or not _matches(_CHECKSUM, checksum):
        raise StoreError("it is damaged: its note is invalid", fix=RESTORE)
    return Note(written, kind, checksum)


def _matches(pattern: re.Pattern[str], text: Any) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _checksum(written: int, kind: str, tree: bytes, tensors: Tensors) -> str:
    sha256 = hashlib.sha256(f"bayeswise {written} {kind}\n".encode())
    for part in canonical_parts(tree, tensors):
        sha256.update(part)
    return sha256.hexdigest()


def _check_length(tree: bytes, limits: Limits) -> None:
    if len(tree) > limits.tree_bytes:
        raise StoreError(f"the document has {len(tree)} bytes, more than {limits.tree_bytes}")


# -- files --------------------------------------------------------------------------------------------------
@contextmanager
def _naming(name: PathLike) -> Iterator[None]:
    """Let an error say which file it is about."""
    try:
        yield
    except StoreError as error:
        raise StoreError(f"cannot load {os.fspath(name)!r}: {error.what}", fix=error.fix or RESTORE) from error


def contents(path: PathLike, limits: Limits = LIMITS) -> bytes:
    """The bytes of a file, which is looked at before it is read: it may be a table of 50 GB."""
    with _naming(path):
        try:
            if Path(path).is_dir():
                raise StoreError("it is a directory", fix="give the model file in it")
            with Path(path).open("rb") as file:
                return _read(file, limits)
        except FileNotFoundError as error:
            raise StoreError("there is no such file", fix="check the path") from error
        except StoreError:
            raise
        except (OSError, ValueError) as error:  # a ValueError is a zero byte in the path
            what = f"it cannot be read ({getattr(error, 'strerror', None) or error})"
            raise StoreError(what, fix="check the file and its permissions") from error


def _read(file: BinaryIO, limits: Limits) -> bytes:
    status = os.fstat(file.fileno())
    head = file.read(HEAD_BYTES)
    if stat.S_ISREG(status.st_mode):
        check_head(head, status.st_size, limits)
        return head + file.read()
    if not stat.S_ISFIFO(status.st_mode):
        raise StoreError("it is not a file", fix="give the path of a model file")
    check_head(head, limits.file_bytes if len(head) == HEAD_BYTES else len(head), limits)
    return b"".join(_pieces(head, file, limits))


def _pieces(head: bytes, file: BinaryIO, limits: Limits) -> Iterator[bytes]:
    """What comes through a pipe, up to the limit."""
    n_bytes = 0
    piece = head
    while piece:
        n_bytes += len(piece)
        if n_bytes > limits.file_bytes:
            raise StoreError(f"it has more than {limits.file_bytes} bytes")
        yield piece
        piece = file.read(_PIECE)


Migration: TypeAlias = Callable[[str, Document], tuple[str, Document]]  # kind and document, to the next format


def check_format(written: int) -> None:
    """Refuse a file of a format that is not known yet."""
    if written > FORMAT:
        raise StoreError(
            f"it was written by a later version of bayeswise (format {written}; this one reads up to {FORMAT})",
            fix="pip install --upgrade bayeswise",
        )


def migrated(kind: str, document: Document, written: int) -> tuple[str, Document]:
    """The document in today's format, through every format in between."""
    try:
        for number in range(written, FORMAT):
            kind, document = MIGRATIONS[number](kind, document)
        return kind, _without_zeros(document)
    except DAMAGE as error:
        raise StoreError(f"it is damaged: {type(error).__name__}: {error}") from error


def _rewritten(tree: Tree, kind: str, member: str, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with one member of every object of a type changed, from the inside to the outside."""
    if isinstance(tree, list):
        nested = any(isinstance(each, list | dict) for each in tree)
        return [_rewritten(each, kind, member, change) for each in tree] if nested else tree
    if not isinstance(tree, dict):
        return tree
    changed = {name: _rewritten(each, kind, member, change) for name, each in tree.items()}
    if changed.get("$type") == kind:
        changed[member] = change(changed[member])
    return changed


# -- from format 1 to 2: the columns of every schema as names, forms and the form of each ---------------------
def _columns_by_form(kind: str, document: Document) -> tuple[str, Document]:
    return kind, Document(_rewritten(document.tree, "Schema", "columns", _forms_of), document.tensors)


def _forms_of(columns: list[dict[str, Tree]]) -> Tree:
    if any(each["$type"] != "Column" for each in columns):
        raise ValueError("a column of the schema is not a Column")
    known: dict[bytes, int] = {}
    forms: list[Tree] = []
    form_of: list[int] = []
    for column in columns:
        key = tree_bytes({name: member for name, member in column.items() if name != "name"})
        form_of.append(known.setdefault(key, len(known)))
        if len(known) > len(forms):
            forms.append(column)
    return {"$type": "Columns", "$plain": [[column["name"] for column in columns], forms, form_of]}


# -- from format 2 to 3 -------------------------------------------------------------------------------------
def _counts_in_one_table(kind: str, document: Document) -> tuple[str, Document]:
    tensors = dict(document.tensors)
    return kind, Document(_with_tables(document.tree, "", tensors), tensors)


def _with_tables(tree: Tree, path: str, tensors: Tensors) -> Tree:
    """The tree with the counts of all columns as one table where each had its own."""
    if isinstance(tree, list):
        nested = any(isinstance(each, list | dict) for each in tree)
        return [_with_tables(each, f"{path}/{n}", tensors) for n, each in enumerate(tree)] if nested else tree
    if not isinstance(tree, dict):
        return tree
    if "$map" in tree:
        pairs = enumerate(tree["$map"])
        return {"$map": [[key, _with_tables(each, f"{path}/{n}", tensors)] for n, (key, each) in pairs]}
    parts = tree["parts"]["$map"] if tree.get("$type") == "Product" else []
    if parts and all(isinstance(each, dict) and each.get("$type") == "Counts" for _, each in parts):
        return _table_of(parts, path, tensors)
    inside = {name: path if name.startswith("$") else f"{path}/{name}" for name in tree}
    return {name: _with_tables(member, inside[name], tensors) for name, member in tree.items()}


def _table_of(parts: list[Any], path: str, tensors: Tensors) -> Tree:
    known: dict[bytes, int] = {}
    forms: list[Tree] = []
    form_of: list[int] = []
    tables: list[ExactArray] = []
    for _, counts in parts:
        form = [counts["levels"], counts["declared"]]
        form_of.append(known.setdefault(tree_bytes(form), len(known)))
        if len(known) > len(forms):
            forms.append(form)
        for exact in (counts["weight"], counts["missing"]):
            table = ExactArray.from_words(tensors.pop(exact["$exact"]["$tensor"]), exact["low"])
            tables.append(table if len(table.shape) > 1 else table[:, None])
    table = side_by_side(tables)
    tensors[f"{path}/table"] = table.words()
    levels = {"$type": "ColumnLevels", "names": [name for name, _ in parts], "forms": forms, "form_of": form_of}
    exact_table = {"$exact": {"$tensor": f"{path}/table"}, "low": table.low}
    return {"$type": "ColumnCounts", "levels": levels, "table": exact_table}


# -- large tables of format 3 that were written with all their zeros -----------------------------------------
def _without_zeros(document: Document) -> Document:
    shapes = {name: tensor.shape for name, tensor in document.tensors.items() if name.endswith("/table")}
    large = {name for name, shape in shapes.items() if len(shape) == 3 and shape[0] * shape[1] > ALWAYS_DENSE}
    if not large:
        return document
    tensors = dict(document.tensors)
    by_place = partial(_by_place, large=large, tensors=tensors)
    return Document(_rewritten(document.tree, "ColumnCounts", "table", by_place), tensors)


def _by_place(exact: dict[str, Any], *, large: set[str], tensors: Tensors) -> Tree:
    """The counts of these tensors by place, where most of them are zero."""
    if "$exact" not in exact:
        return exact
    name = exact["$exact"]["$tensor"]
    table = fitting(ExactArray.from_words(tensors[name], exact["low"])) if name in large else None
    if not isinstance(table, SparseExact):
        return exact
    del tensors[name]
    tensors[f"{name}/places"], tensors[f"{name}/values"] = table.places, table.values.words()
    values = {"$exact": {"$tensor": f"{name}/values"}, "low": table.values.low}
    return {"$sparse": list(table.shape), "places": {"$tensor": f"{name}/places"}, "values": values}


FORMAT = 3
MIGRATIONS: dict[int, Migration] = {1: _columns_by_form, 2: _counts_in_one_table}
