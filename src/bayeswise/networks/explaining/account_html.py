"""An account of a network as HTML: the weights of the findings, what to ask next, the most probable states."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bayeswise.networks.explaining.account_text import MOST_ASKED, change_text, conflict_text, finding_text
from bayeswise.render import page as shell
from bayeswise.render.labels import markup
from bayeswise.render.numbers import number, percent
from bayeswise.render.page import bar_table, label, share_bar, two_sided_bar

if TYPE_CHECKING:
    from bayeswise.networks.explaining.account import FindingWeight, NetworkAccount

_MOST_DRAWN = 120  # nodes


def fragment(account: NetworkAccount) -> str:
    """A block for a notebook."""
    return shell.fragment(*_parts(account))


def page(account: NetworkAccount) -> str:
    """A whole document, which may load nothing, with the network drawn below the words."""
    drawn = len(account.network) <= _MOST_DRAWN
    drawing = [shell.picture(account.network.picture(account.evidence, soft=account.soft).svg())] if drawn else []
    return shell.page(f"Why {account.node} = {account.state}?", *_parts(account), *drawing)


def _parts(account: NetworkAccount) -> list[str]:
    state = f"{label(account.node)} = {label(account.state)}"
    before, after = percent(account.prior[account.state]), percent(account.posterior[account.state])
    return [
        f"<h2>Why {state}: {after}, and {before} before the evidence?</h2>",
        _weights(account),
        f"<p>{markup(conflict_text(account))}</p>" if len(account.findings) > 1 else "",
        _questions(account),
        _best(account),
    ]


def _weights(account: NetworkAccount) -> str:
    if not account.findings:
        return "<p>Nothing was observed.</p>"
    sizes = [abs(f.beside) for f in account.findings if f.beside is not None and math.isfinite(f.beside)]
    top = max(sizes, default=0.0) or 1.0
    head = (
        '<th>finding</th><th class="n" colspan="2">alone</th><th class="n" colspan="2">with the others</th>'
        '<th class="c">against · for</th>'
    )
    return bar_table((26, 9, 12, 9, 12, 32), head, (_finding(finding, top) for finding in account.findings))


def _finding(finding: FindingWeight, top: float) -> str:
    cells = [*change_text(finding.alone), *change_text(finding.beside)]
    if not finding.relevant:
        cells[2:] = ["says nothing", ""]
    numbers = "".join(f'<td class="n">{markup(cell)}</td>' for cell in cells)
    bar = two_sided_bar(finding.beside or 0.0, top)
    return f"<tr><td>{label(finding_text(finding))}</td>{numbers}<td>{bar}</td></tr>"


def _questions(account: NetworkAccount) -> str:
    asked = [(name, bits) for name, bits in account.information.items() if bits > 0.0][:MOST_ASKED]
    head = f"<h3>What to ask next (of {number(account.uncertainty, 3)} bits that are open)</h3>"
    if not asked:
        return f"{head}<p>Nothing else says anything about it.</p>"
    rows = (
        f'<tr><td>{label(name)}</td><td class="n">{number(bits, 3)}</td>'
        f"<td>{share_bar(bits / account.uncertainty)}</td></tr>"
        for name, bits in asked
    )
    return head + bar_table((30, 15, 55), '<th>node</th><th class="n">bits</th><th></th>', rows)


def _best(account: NetworkAccount) -> str:
    best = account.most_probable
    words = ", ".join(f"{label(n)} = {label(state)}" for n, state in best.states.items() if n not in account.evidence)
    return f"<h3>Most probable together ({number(best.probability, 3)})</h3><p>{words or 'nothing is open'}</p>"
