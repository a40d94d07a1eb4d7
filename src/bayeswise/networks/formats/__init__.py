"""Files that hold networks: which format a path has, reading under caps, writing whole or not at all.

bif.py     the Interchange Format
hugin.py   Hugin .net files
xmlbif.py  BIF in XML
tokens.py  words, strings and marks of BIF and Hugin files
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bayeswise.foundation.atomic import write_bytes
from bayeswise.foundation.errors import KindError, NetworkError, ParameterError, SourceError, TooLargeError
from bayeswise.networks.formats import bif, hugin, xmlbif
from bayeswise.render.labels import guess

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

LARGEST_FILE = 64 << 20  # bytes
MODEL_SUFFIX = ".bayeswise"

_FORMATS: dict[str, tuple[Callable[[str, str], BeliefNetwork], Callable[[BeliefNetwork], str]]] = {
    ".bif": (bif.parse, bif.text),
    ".xmlbif": (xmlbif.parse, xmlbif.text),
    ".xml": (xmlbif.parse, xmlbif.text),
    ".net": (hugin.parse, hugin.text),
}


def read(path: str | os.PathLike[str]) -> BeliefNetwork:
    """The network in a file; its suffix says the format, and .bayeswise is a model file."""
    if Path(path).suffix.lower() == MODEL_SUFFIX:
        return _loaded(path)
    parse, _ = _format_of(path)
    return parse(_content(path), Path(path).name)


def write(network: BeliefNetwork, path: str | os.PathLike[str]) -> None:
    """The file is there when all of it is."""
    if Path(path).suffix.lower() == MODEL_SUFFIX:
        network.save(path)
        return
    _, text = _format_of(path)
    try:
        content = text(network).encode("utf-8")
    except UnicodeEncodeError as error:
        raise NetworkError(
            f"a name has half of a character, {error.object[error.start]!r}, which a file of text cannot hold",
            fix="rename it, or save a model file: network.save('network.bayeswise')",
        ) from None
    if len(content) > LARGEST_FILE:
        raise TooLargeError(
            f"the network takes {len(content) >> 20} MB in this format; {LARGEST_FILE >> 20} MB are read again at most",
            fix="save it as a model file: network.save('network.bayeswise')",
        )
    write_bytes(path, content)


def _loaded(path: str | os.PathLike[str]) -> BeliefNetwork:
    from bayeswise.models.files import load
    from bayeswise.networks.network import BeliefNetwork

    model = load(path)
    found = getattr(model, "network", model)  # a classifier has one inside
    if not isinstance(found, BeliefNetwork):
        raise KindError(f"{os.fspath(path)!r} holds no network, but a {type(model).__name__}", fix="use bw.load")
    return found


def _format_of(path: str | os.PathLike[str]) -> tuple[Callable[[str, str], BeliefNetwork], Callable[..., str]]:
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise ParameterError(
            f"{os.fspath(path)!r} has a suffix that stands for no format of networks",
            fix=guess(suffix, [*_FORMATS, MODEL_SUFFIX]),
        )
    return _FORMATS[suffix]


def _content(path: str | os.PathLike[str]) -> str:
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise SourceError(f"cannot read {os.fspath(path)!r}: {error.strerror}", fix="give a file") from None
    if len(data) > LARGEST_FILE:
        raise SourceError(f"{os.fspath(path)!r} is larger than {LARGEST_FILE >> 20} MB", fix="give a smaller network")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
