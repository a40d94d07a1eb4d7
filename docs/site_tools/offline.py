"""A built page loads nothing from elsewhere: links may lead away, but no script, style, font, picture or frame does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ELSEWHERE = r"""["'(]?\s*(?:https?:)?//[\w.-]+\.\w+"""
LOADS = {
    ".html": (
        re.compile(
            rf"<(?:script|img|iframe|source|video|audio|embed|object|image|use)\b[^>]*\s(?:src|data|href)={ELSEWHERE}"
        ),
        re.compile(rf"<link\b(?![^>]*rel=[\"']?(?:canonical|license|author))[^>]*\shref={ELSEWHERE}"),
        re.compile(rf"@import\s+(?:url)?{ELSEWHERE}|url\({ELSEWHERE}"),
    ),
    ".css": (re.compile(rf"@import\s+(?:url)?{ELSEWHERE}|url\({ELSEWHERE}"),),
    ".js": (re.compile(rf"(?:fetch|import|importScripts|XMLHttpRequest\.open|\.src\s*=|@import)\s*\(?\s*{ELSEWHERE}"),),
}


def loads(text: str, suffix: str) -> list[str]:
    """What a file with this suffix would load from elsewhere.

    >>> loads('<script src="https://cdn.example/x.js"></script> <a href="https://example.org">a link</a>', ".html")
    ['<script src="https://cdn.example']
    >>> loads("@font-face { src: url(//fonts.example/a.woff2) }", ".css")
    ['url(//fonts.example']
    >>> loads('<img src="picture.png"><link rel="stylesheet" href="site.css">', ".html")
    []
    """
    return [found[0] for pattern in LOADS.get(suffix, ()) for found in pattern.finditer(text)]


def scan(folder: Path) -> list[str]:
    """Each file below the folder with what it would load."""
    return [
        f"{path.relative_to(folder)}: {load}"
        for path in sorted(folder.rglob("*"))
        if path.suffix in LOADS
        for load in loads(path.read_text(encoding="utf-8", errors="replace"), path.suffix)
    ]


def finished(app: Sphinx, error: Exception | None) -> None:
    from sphinx.util import logging

    if error is None and app.builder.format == "html":
        for found in scan(Path(app.outdir)):
            logging.getLogger(__name__).warning("a built page loads something from elsewhere: %s", found)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
