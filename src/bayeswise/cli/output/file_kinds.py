"""The kinds of files that verbs write: their suffixes, and how they begin; what is of another kind is not replaced."""

from __future__ import annotations

import bz2
import re
import zlib
from collections.abc import Callable
from pathlib import Path

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import UsageError, shortened

_HEAD = 1 << 16  # bytes that are looked at
_UTF_8 = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its name, its suffixes, and whether the first bytes of a file are those of one."""

    name: str
    suffixes: tuple[str, ...]
    begins: Callable[[bytes], bool]
    rows: bool = False  # tables of text have each other's suffixes: --format jsonl -o rows.txt, --json


def _pattern(pattern: bytes) -> Callable[[bytes], bool]:
    found = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda head: found.match(head.removeprefix(_UTF_8)) is not None


def _network(suffix: str) -> Callable[[bytes], bool]:
    def begins(head: bytes) -> bool:
        from bayeswise.networks.formats import FORMATS, suffix_of

        found = suffix_of(head.decode("utf-8-sig", errors="replace"))
        return found is not None and FORMATS[found] is FORMATS[suffix]

    return begins


def _is_delimited(head: bytes) -> bool:
    """Whether it is text, and not that of another kind: a table may begin with any word."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16
        return True
    return b"\0" not in head and not any(FILE_KINDS[name].begins(head) for name in _NOT_DELIMITED)


def _never(_head: bytes) -> bool:
    return False


_NOT_DELIMITED = ("model", "html", "svg", "png", "pdf", "gif", "dot", "xmlbif", "xdsl", "onnx", "json", "parquet")
_XML = (".xmlbif", ".bifxml", ".xml")
_OTHERS = (
    *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".db", ".sqlite", ".sqlite3", ".duckdb", ".arrow", ".feather"),
    *(".ipc", ".zip", ".7z", ".avro", ".orc", ".h5", ".dta", ".sav", ".sas7bdat", ".rds", ".pkl", ".pickle", ".npy"),
    ".npz",
)

FILE_KINDS: dict[str, FileKind] = {
    "model": FileKind("a model", (".bayeswise",), _pattern(rb'.{8}\{"__metadata__"')),
    "html": FileKind("an HTML page", (".html", ".htm"), _pattern(rb"\s*<(!doctype html|html)")),
    "svg": FileKind("an SVG picture", (".svg",), _pattern(rb"\s*<(\?xml|!--|!doctype svg|svg)(?=.*<svg)|\s*<svg")),
    "png": FileKind("a PNG picture", (".png",), _pattern(rb"\x89PNG")),
    "pdf": FileKind("a PDF file", (".pdf",), _pattern(rb"%PDF")),
    "gif": FileKind("a GIF", (".gif",), _pattern(rb"GIF8")),
    "dot": FileKind("a DOT graph", (".dot", ".gv"), _pattern(rb"\s*(strict\s+)?(di)?graph\b[^,;\n]*\{")),
    "bif": FileKind("a BIF network", (".bif",), _network(".bif")),
    "xmlbif": FileKind("an XMLBIF network", _XML, _network(".xmlbif")),
    "net": FileKind("a Hugin network", (".net",), _network(".net")),
    "xdsl": FileKind("an XDSL network", (".xdsl",), _network(".xdsl")),
    "dne": FileKind("a Netica network", (".dne",), _network(".dne")),
    "uai": FileKind("a UAI network", (".uai",), _network(".uai")),
    "onnx": FileKind("an ONNX graph", (".onnx",), _pattern(rb"\x08.\x12")),
    "sql": FileKind("a SQL query", (".sql",), _pattern(rb"\s*(--|/\*|with\b|select\b|create\b)")),
    "toml": FileKind("a TOML file", (".toml",), _pattern(rb"\s*(#|\[[\w\"'. -]+\]|[\w\"'. -]+=)|\s*$")),
    "csv": FileKind("a table of text", (".csv", ".tsv", ".tab"), _is_delimited, rows=True),
    "json": FileKind("a JSON file", (".json",), _pattern(rb"\s*(\{\s*[\"}]|\[\s*[\[{\]\"\d])"), rows=True),
    "jsonl": FileKind("JSON lines", (".jsonl", ".ndjson"), _pattern(rb"\s*\{\s*[\"}]"), rows=True),
    "parquet": FileKind("a Parquet file", (".parquet", ".pq"), _pattern(rb"PAR1")),
    "other": FileKind("a file of another program", _OTHERS, _never),
}


def kind_of_suffix(path: str) -> str | None:
    """The kind that the suffix of a file says, compressed or not; None for a suffix that says nothing.

    >>> kind_of_suffix("rows.csv.gz"), kind_of_suffix("net.BIF"), kind_of_suffix("report")
    ('csv', 'bif', None)
    """
    place = Path(path)
    suffix = place.suffix.lower()
    if suffix in (".gz", ".bz2"):
        suffix = place.with_suffix("").suffix.lower()
    return next((name for name, kind in FILE_KINDS.items() if suffix in kind.suffixes), None)


def refuse_other_suffix(path: str, name: str) -> None:
    """Refuse a suffix that belongs to another kind of file than the one that will be written.

    >>> refuse_other_suffix("report.html", "html")
    """
    said, kind = kind_of_suffix(path), FILE_KINDS[name]
    if said is None or said == name or (kind.rows and FILE_KINDS[said].rows):
        return
    raise UsageError(
        f"{shortened(path)} would hold {kind.name}, and {Path(path).suffix} is the suffix of {FILE_KINDS[said].name}",
        fix=f"name a file that ends in {kind.suffixes[0]}",
    )


def refuse_other_content(path: str, name: str) -> None:
    """Refuse to replace a file that does not begin like one of the kind that will be written; an empty one is free."""
    place = Path(path)
    if not place.is_file() or place.stat().st_size == 0:
        return
    with place.open("rb") as file:
        head = _unpacked(file.read(_HEAD))
    if not FILE_KINDS[name].begins(head):
        raise UsageError(
            f"{shortened(path)} exists and is not {FILE_KINDS[name].name}",
            fix="name another output, or remove it first",
        )


def _unpacked(head: bytes) -> bytes:
    """The first bytes of what is compressed."""
    try:
        if head.startswith(b"\x1f\x8b"):
            return zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        if head.startswith(b"BZh"):
            return bz2.BZ2Decompressor().decompress(head, _HEAD)
    except (zlib.error, OSError):
        return head
    return head
