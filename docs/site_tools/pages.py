"""Pages of other folders, and links that lead to files in a clone and to pages on the site.

The pages are read on a forge and by the tests as well, so that their links name files. On the site `gallery/costs.py`
is the page of that script, and a file of the folder above is the page that includes it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygments.lexers.special import TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
INCLUDED = re.compile(r"```\{include\} \.\./(\w+\.md)\n```\n")
SCRIPT = re.compile(r"\]\(((?:\.\./)*)(gallery|lectures)/(\w+)\.py\)")
ABOVE = re.compile(rf"\]\(((?:\.\./)+)({'|'.join(PAGES)})\)".replace(".md", r"\.md"))


def on_the_site(text: str) -> str:
    """Links to scripts and to files of the folder above, as links to their pages.

    >>> on_the_site("[one](gallery/costs.py), [two](../CONTRIBUTING.md), [three](../../CHANGELOG.md)")
    '[one](generated/gallery/costs.rst), [two](contributing.md), [three](../changelog.md)'
    """
    text = SCRIPT.sub(r"](\1generated/\2/\3.rst)", text)
    return ABOVE.sub(lambda found: f"]({found[1][3:]}{PAGES[found[2]]})", text)


def from_above(text: str) -> str:
    """The links of a file of the folder above, as seen from docs/.

    >>> from_above("[a](docs/why.md), [b](docs/adr), [c](CONTRIBUTING.md)")
    '[a](why.md), [b](adr/index.md), [c](contributing.md)'
    """
    text = text.replace("](docs/adr)", "](adr/index.md)").replace("](docs/", "](")
    for name, page in PAGES.items():
        text = text.replace(f"]({name})", f"]({page})")
    return text


def read(app: Sphinx, name: str, source: list[str]) -> None:
    if included := INCLUDED.fullmatch(source[0]):
        source[0] = from_above((Path(app.srcdir).parent / included[1]).read_text(encoding="utf-8"))
    source[0] = on_the_site(source[0])


class Walk(TextLexer):
    name, aliases = "walk", ["walk"]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", read)
    app.add_lexer("walk", Walk)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
