"""The one shell of everything that is HTML: a page or a fragment of a notebook, its style, tables, bars and labels.

Nothing in it is fetched or run, and every label is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bayeswise.render.labels import markup, shown
from bayeswise.render.theme import AGAINST, DARK_GROUND, FOR, GROUND, INK, mixed

_LONGEST = 48  # characters of a label; the whole one is its tooltip
_HALF = 120  # units of a bar's drawing on each side of the middle
_REST = "#8886"  # seen on white and on black
STYLE = """
.bw{font:14px/1.45 system-ui,sans-serif;color:inherit;max-width:62rem}
.bw h1,.bw h2,.bw h3{font-size:1.1em;font-weight:600;margin:0 0 .4em;overflow-wrap:anywhere}
.bw h1{font-size:1.5em}.bw h3{font-size:1em;margin-top:1em}.bw .wide+h2{margin-top:1.2em}
.bw section{margin:1.6em 0}.bw p{margin:.3em 0 .6em;max-width:52rem}.bw small,.bw th,.bw .quiet{opacity:.75}
.bw .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr));gap:1.5rem}
.bw .pair>div{min-width:0}.bw .wide{overflow-x:auto}
.bw table{border-collapse:collapse;margin:0 0 .8em}.bw th{font-weight:400}
.bw th,.bw td{padding:.2em .6em;text-align:left;border:0;background:none;color:inherit}
.bw tr{background:none}.bw tr+tr td{border-top:1px solid rgba(128,128,128,.25)}
.bw .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.bw .c{text-align:center}
.bw tr.end td{border-top:1px solid currentColor;border-bottom:1px solid currentColor;font-weight:600}
.bw table.bars{table-layout:fixed;width:100%;max-width:52rem}.bw .bars td{overflow-wrap:anywhere}
.bw .bars th span{float:left}.bw .bars th span+span{float:right}
.bw svg.bar{display:block;width:100%;height:1.1em}
.bw svg.chart{width:100%;max-width:34rem;height:auto}
.bw .legend{margin:0;font-size:.85em}.bw .legend span{margin-right:1em;display:inline-block;white-space:nowrap}
.bw .legend i{display:inline-block;width:.8em;height:.8em;margin-right:.3em}
.bw pre{white-space:pre-wrap;background:rgba(128,128,128,.12);padding:.7em;border-radius:4px}
.bw .picture{overflow:auto}.bw .picture svg{max-width:100%;height:auto}
"""
_BODY = f"""
body{{margin:2rem auto;max-width:62rem;padding:0 1rem;color:{INK};background:{GROUND}}}
@media(prefers-color-scheme:dark){{body{{color:{mixed(INK, 0.15)};background:{DARK_GROUND}}}}}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, *parts: str) -> str:
    """A whole document, which may load nothing; the title is not escaped yet, the parts are HTML."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{markup(shown(title))}</title><style>{_BODY}{STYLE}</style></head>"
        f'<body><div class="bw">{"".join(parts)}</div></body></html>\n'
    )


def fragment(*parts: str) -> str:
    """A block for a notebook."""
    return f'<div class="bw"><style>{STYLE}</style>{"".join(parts)}</div>'


def text_block(text: str) -> str:
    """Lines of text as they are.

    >>> text_block("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{markup(text)}</pre>"


def picture(svg: str) -> str:
    """A drawing that may be wider than the page."""
    return f'<div class="picture">{svg}</div>'


def table(heads: Sequence[object], rows: Iterable[Sequence[object]], *, left: int = 1) -> str:
    """A table of texts, the first columns to the left and numbers to the right; it scrolls where it is too wide."""

    def line(tag: str, cells: Sequence[object]) -> str:
        kinds = ("" if k < left else ' class="n"' for k in range(len(cells)))
        return "".join(f"<{tag}{kind}>{label(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{line("th", heads)}</tr>{body}</table></div>'


def bar_table(widths: Sequence[int], head: str, rows: Iterable[str]) -> str:
    """A table of rows that hold bars, its columns as wide as these percentages."""
    columns = "".join(f'<col style="width:{width}%">' for width in widths)
    return f'<table class="bars">{columns}<tr>{head}</tr>{"".join(rows)}</table>'


def two_sided_bar(weight: float, top: float) -> str:
    """A bar from the middle, to the right if positive; `top` fills one side, and so does an infinite weight."""
    length = _HALF * min(abs(weight) / top, 1.0) if math.isfinite(weight) else _HALF
    start, colour = (0.0, FOR) if weight > 0 else (-length, AGAINST)
    axis = '<line x1="0" x2="0" y1="0" y2="16" stroke="currentColor" stroke-opacity=".5"/>'
    return _bar(-_HALF, _rect(start, length, colour) + axis)


def share_bar(share: float) -> str:
    """A share of the whole width."""
    return _bar(0, _rect(0.0, 2.0 * _HALF, _REST) + _rect(0.0, 2.0 * _HALF * min(1.0, share), FOR))


def _rect(start: float, length: float, colour: str) -> str:
    return f'<rect x="{start:.2f}" y="2" width="{length:.2f}" height="12" fill="{colour}"/>'


def _bar(left: int, shapes: str) -> str:
    box = f'class="bar" viewBox="{left} 0 {2 * _HALF} 16" preserveAspectRatio="none" aria-hidden="true"'
    return f"<svg {box}>{shapes}</svg>"


def label(text: object) -> str:
    """Escaped, isolated from the direction of its neighbours, cut, with the whole text as tooltip.

    >>> label("<b>")
    '<bdi>&lt;b&gt;</bdi>'
    """
    line = shown(text)
    if len(line) <= _LONGEST:
        return f"<bdi>{markup(line)}</bdi>"
    return f'<bdi title="{markup(line[:1000])}">{markup(line[: _LONGEST - 1])}…</bdi>'
