"""Files of networks and diagrams: formats by suffix, reading with size limits, atomic writing.

description.py  the content of a file, before it becomes a network or a diagram
bif.py          the Interchange Format
xmlbif.py       BIF in XML
hugin.py        Hugin .net files
xdsl.py         the files of GeNIe and SMILE
dne.py          the files of Netica
uai.py          the files of the UAI competitions
tokens.py       tokenizer of BIF, Hugin and Netica files
elements.py     XML as a tree of elements
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bayeswise.foundation.atomic import write_bytes
from bayeswise.foundation.errors import (
    BayeswiseError,
    KindError,
    NetworkError,
    ParameterError,
    SourceError,
    TooLargeError,
)
from bayeswise.foundation.file_bytes import content_of, is_stream, name_of
from bayeswise.networks.formats import bif, dne, hugin, uai, xdsl, xmlbif
from bayeswise.networks.formats.description import DescribedDecision, DescribedUtility, Description
from bayeswise.render.labels import guess

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

__all__ = [
    "FORMATS",
    "MODEL_SUFFIX",
    "DescribedDecision",
    "DescribedUtility",
    "Description",
    "content",
    "describe",
    "described",
    "form_suffix",
    "network_of",
    "packed",
    "read",
    "suffix_of",
    "write",
    "write_description",
]

LARGEST_FILE = 64 << 20  # bytes
MODEL_SUFFIX = ".bayeswise"
_PACKED_SUFFIX = ".gz"
_GZIP = b"\x1f\x8b"
_HEAD = 1 << 16  # characters that are searched for the first word
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/|%[^\n]*", re.DOTALL)
_FIRST_WORD = re.compile(r"\s*([A-Za-z]+)\b")
_FIRST_WORDS = {
    "network": ".bif",
    "bnet": ".dne",
    "net": ".net",
    "node": ".net",
    "class": ".net",
    "BAYES": ".uai",
    "MARKOV": ".uai",
}


class Format(NamedTuple):
    """How the text of a file is read and written; `loses` is what it cannot store, `noisy` if it keeps noisy nodes."""

    parse: Callable[[str, str], Description]
    text: Callable[[Description], str]
    loses: str = ""
    noisy: bool = False


_XML = Format(xmlbif.parse, xmlbif.text)
FORMATS: dict[str, Format] = {
    ".bif": Format(bif.parse, bif.text),
    ".xmlbif": _XML,
    ".bifxml": _XML,
    ".xml": _XML,
    ".net": Format(hugin.parse, hugin.text),
    ".xdsl": Format(xdsl.parse, xdsl.text, noisy=True),
    ".dne": Format(dne.parse, dne.text),
    ".uai": Format(uai.parse, uai.text, "UAI files have numbers only: the names of nodes and states are lost"),
}


def read(path: str | os.PathLike[str]) -> BeliefNetwork:
    """The network in a file; its suffix gives the format, and .bayeswise is a model file."""
    _refuse_what_is_not_a_path(path)
    if Path(path).suffix.lower() == MODEL_SUFFIX:
        return _loaded(path)
    if not is_stream(path):
        _format_of(path)
        return network_of(_text(path), Path(path).name)
    name, described_there = name_of(path), _from_stream(path)
    with _located(name):
        return described_there.network(name)


def network_of(text: str, name: str) -> BeliefNetwork:
    """The network that the text of a file describes; the file's name gives the format."""
    with _located(name):
        return _format_of(name).parse(text, name).network(name)


def describe(path: str | os.PathLike[str]) -> Description:
    """The content of a file, a network or an influence diagram."""
    if is_stream(path):
        return _from_stream(path)
    form, name = _format_of(path), Path(path).name
    with _located(name):
        return form.parse(_text(path), name)


def _from_stream(path: str | os.PathLike[str]) -> Description:
    """The content of a stream, whose format is recognised by its first words."""
    name = name_of(path)
    text = _text(path)
    suffix = suffix_of(text)
    if suffix is None:
        raise SourceError(
            f"{name} does not begin like a network file",
            fix=f"give the content of a file that ends in {', '.join(FORMATS)}; a model file is named, not piped",
        )
    return described(text, name, suffix)


def described(text: str, name: str, suffix: str) -> Description:
    """The content of a text in the format of a suffix."""
    with _located(name):
        return FORMATS[suffix].parse(text, name)


def suffix_of(text: str) -> str | None:
    """The suffix of the format of a text, by its first words; None if it is unknown.

    >>> suffix_of("// made by hand\\nnetwork asia {"), suffix_of("net { }"), suffix_of('<?xml version="1.0"?> <BIF>')
    ('.bif', '.net', '.xmlbif')
    >>> suffix_of("a,b"), suffix_of("BAYES 2")
    (None, '.uai')
    """
    if text.lstrip().startswith("<"):
        return ".xdsl" if "<smile" in text[:_HEAD] else ".xmlbif"
    bare = _COMMENTS.sub(" ", text[:_HEAD])
    first = _FIRST_WORD.match(bare)
    return _FIRST_WORDS.get(first[1]) if first else None


def write(network: BeliefNetwork, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a file atomically; returns what the format cannot store, or few programs read."""
    _refuse_what_is_not_a_path(path)
    if Path(path).suffix.lower() == MODEL_SUFFIX:
        network.save(path)
        return ()
    return write_description(Description.of_network(network, keep_noisy=_format_of(path).noisy), path)


def write_description(described: Description, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a network or a diagram in the format of the suffix; returns what that loses, or few programs read."""
    form = _format_of(path)
    try:
        content = form.text(described).encode("utf-8")
    except UnicodeEncodeError as error:
        raise NetworkError(
            f"a name has the lone surrogate {error.object[error.start]!r}, which a text file cannot store",
            fix="rename it, or save a model file: network.save('network.bayeswise')",
        ) from None
    if len(content) > LARGEST_FILE:
        raise TooLargeError(
            f"the network takes {len(content) >> 20} MB in this format; at most {LARGEST_FILE >> 20} MB are read",
            fix="save it as a model file: network.save('network.bayeswise')",
        )
    write_bytes(path, packed(content, path))
    if form.text is bif.text:
        return bif.quoted_names(described)
    return (form.loses,) if form.loses else ()


@contextmanager
def _located(where: str) -> Iterator[None]:
    """Put the name of the file before errors of nodes and tables."""
    try:
        yield
    except (SourceError, KindError):
        raise
    except BayeswiseError as error:
        raise type(error)(f"{where}: {error.what}", fix=error.fix) from None


def _loaded(path: str | os.PathLike[str]) -> BeliefNetwork:
    from bayeswise.models.files import load
    from bayeswise.networks.network import BeliefNetwork

    model = load(path)
    network = getattr(model, "network", model)  # a classifier has one inside
    if not isinstance(network, BeliefNetwork):
        what = f"{os.fspath(path)!r} holds a {type(model).__name__}, not a network of states"
        raise KindError(what, fix="use bw.load; networks with numbers: bayeswise network query, show")
    return network


def _refuse_what_is_not_a_path(path: object) -> None:
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"the path of a network file is {path!r:.80}", fix="give a text or a pathlib.Path")


def form_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of the format, without that of compression.

    >>> form_suffix("oil.XDSL"), form_suffix("oil.xdsl.gz")
    ('.xdsl', '.xdsl')
    """
    place = Path(path)
    return Path(place.stem if _is_packed(place) else place).suffix.lower()


def _is_packed(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() == _PACKED_SUFFIX


def packed(content: bytes, path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file of this name: compressed if it ends in .gz."""
    return gzip.compress(content, mtime=0) if _is_packed(path) else content


def _format_of(path: str | os.PathLike[str]) -> Format:
    suffix = form_suffix(path)
    if suffix not in FORMATS:
        raise ParameterError(
            f"{os.fspath(path)!r} has an unknown suffix for a network file",
            fix=guess(suffix, [*FORMATS, MODEL_SUFFIX]),
        )
    return FORMATS[suffix]


def content(path: str | os.PathLike[str], largest: int, what: str) -> bytes:
    """The content of a file or a stream, decompressed."""
    data = content_of(path, largest, what)
    if _is_packed(path) or (is_stream(path) and data.startswith(_GZIP)):
        data = _unpacked(data, path, largest)
    if len(data) > largest:
        raise SourceError(f"{os.fspath(path)!r} is larger than {largest >> 20} MB", fix=f"give {what} that is smaller")
    return data


def _text(path: str | os.PathLike[str]) -> str:
    data = content(path, LARGEST_FILE, "a network")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _unpacked(data: bytes, path: str | os.PathLike[str], largest: int) -> bytes:
    """Decompress at most one byte more than is allowed."""
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        content = unpacker.decompress(data, largest + 1)
    except zlib.error as error:
        raise SourceError(f"{os.fspath(path)!r} is not a gzip file: {error}", fix="give the packed file") from None
    if not unpacker.eof and len(content) <= largest:
        raise SourceError(f"{os.fspath(path)!r} ends too early", fix="give the whole file")
    return content
