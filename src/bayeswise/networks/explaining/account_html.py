"""An account of a network as HTML that needs nothing else: inline SVG, every label escaped, no script."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bayeswise.networks.explaining.account_text import MOST_ASKED, change_text, conflict_text, finding_text
from bayeswise.render.graph.lettering import percent, safe
from bayeswise.render.labels import shown

if TYPE_CHECKING:
    from bayeswise.networks.explaining.account import FindingWeight, NetworkAccount

_MOST_DRAWN = 120  # nodes
_HALF = 120  # units of the drawing on each side of the middle
_FOR, _AGAINST, _REST = "#2f6fb5", "#d9822b", "#8886"
_STYLE = """
.bw-network{font:14px/1.45 system-ui,sans-serif;color:inherit}
.bw-network h3{font-size:1.1em;margin:0 0 .4em}
.bw-network h4{font-size:1em;margin:1em 0 .2em;font-weight:600}
.bw-network p{margin:.3em 0;max-width:52rem}
.bw-network table{border-collapse:collapse;max-width:52rem;width:100%}
.bw-network td,.bw-network th{padding:.15em .4em;text-align:left;border:0;background:none;color:inherit}
.bw-network td{overflow-wrap:anywhere}
.bw-network th{font-weight:400;opacity:.75}
.bw-network .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.bw-network td svg{display:block;width:100%;min-width:8em;height:1.1em}
.bw-network .c{text-align:center}
.bw-network .picture{overflow:auto;margin-top:1em}
"""


def fragment(account: NetworkAccount) -> str:
    """A block for a notebook or a page."""
    state = f"{_label(account.node)} = {_label(account.state)}"
    before, after = percent(account.prior[account.state]), percent(account.posterior[account.state])
    parts = [
        f"<style>{_STYLE}</style>",
        f"<h3>Why {state}: {after}, and {before} before the evidence?</h3>",
        _weights(account),
        f"<p>{safe(conflict_text(account))}</p>" if len(account.findings) > 1 else "",
        _questions(account),
        _best(account),
    ]
    return f'<div class="bw-network">{"".join(parts)}</div>'


def page(account: NetworkAccount) -> str:
    """A whole document, which may load nothing, with the network drawn below the words."""
    title = f"Why {safe(shown(account.node))} = {safe(shown(account.state))}?"
    picture = ""
    if len(account.network) <= _MOST_DRAWN:
        drawing = account.network.picture(account.evidence, soft=account.soft).svg()
        picture = f'<div class="bw-network"><div class="picture">{drawing}</div></div>'
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title></head><body>{fragment(account)}{picture}</body></html>\n"
    )


def _weights(account: NetworkAccount) -> str:
    if not account.findings:
        return "<p>Nothing was observed.</p>"
    sizes = [abs(f.beside) for f in account.findings if f.beside is not None and math.isfinite(f.beside)]
    top = max(sizes, default=0.0) or 1.0
    head = (
        '<tr><th>finding</th><th class="n" colspan="2">alone</th><th class="n" colspan="2">with the others</th>'
        '<th class="c">against · for</th></tr>'
    )
    return f"<table>{head}{''.join(_finding(finding, top) for finding in account.findings)}</table>"


def _finding(finding: FindingWeight, top: float) -> str:
    cells = [*change_text(finding.alone), *change_text(finding.beside)]
    if not finding.relevant:
        cells[2:] = ["says nothing", ""]
    numbers = "".join(f'<td class="n">{safe(cell)}</td>' for cell in cells)
    return f"<tr><td>{_label(finding_text(finding))}</td>{numbers}<td>{_two_sided(finding.beside, top)}</td></tr>"


def _two_sided(weight: float | None, top: float) -> str:
    length = _HALF * min(1.0, abs(weight or 0.0) / top)
    start, colour = (0.0, _FOR) if (weight or 0.0) > 0 else (-length, _AGAINST)
    axis = '<line x1="0" x2="0" y1="0" y2="16" stroke="currentColor" stroke-opacity=".5"/>'
    bar = f'<rect x="{start:.2f}" y="2" width="{length:.2f}" height="12" fill="{colour}"/>'
    return f'<svg viewBox="{-_HALF} 0 {2 * _HALF} 16" preserveAspectRatio="none" aria-hidden="true">{bar}{axis}</svg>'


def _questions(account: NetworkAccount) -> str:
    asked = [(name, bits) for name, bits in account.information.items() if bits > 0.0][:MOST_ASKED]
    head = f"<h4>What to ask next (of {account.uncertainty:.3g} bits that are open)</h4>"
    if not asked:
        return f"{head}<p>Nothing else says anything about it.</p>"
    rows = "".join(
        f'<tr><td>{_label(name)}</td><td class="n">{bits:.3g}</td><td>{_share(bits / account.uncertainty)}</td></tr>'
        for name, bits in asked
    )
    return f'{head}<table><tr><th>node</th><th class="n">bits</th><th></th></tr>{rows}</table>'


def _share(share: float) -> str:
    full = 2 * _HALF
    bars = f'<rect y="2" width="{full}" height="12" fill="{_REST}"/>'
    bars += f'<rect y="2" width="{full * min(1.0, share):.2f}" height="12" fill="{_FOR}"/>'
    return f'<svg viewBox="0 0 {full} 16" preserveAspectRatio="none" aria-hidden="true">{bars}</svg>'


def _best(account: NetworkAccount) -> str:
    states = account.most_probable.states.items()
    words = ", ".join(f"{_label(name)} = {_label(state)}" for name, state in states if name not in account.evidence)
    return (
        f"<h4>Most probable together ({account.most_probable.probability:.3g})</h4><p>{words or 'nothing is open'}</p>"
    )


def _label(label: object) -> str:
    text = shown(label)
    return f"<bdi>{safe(text if len(text) <= 60 else text[:59] + chr(0x2026))}</bdi>"
