"""An account of a network in a terminal, without colour in 80 columns, and as HTML."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.cells import cell_len

from bayeswise.explanations.balance import factor_text, weight_text
from bayeswise.render import page as shell
from bayeswise.render.labels import markup, padded, shown
from bayeswise.render.numbers import number, percent
from bayeswise.render.page import bar_table, label, share_bar
from bayeswise.render.page import two_sided_bar as html_bar
from bayeswise.render.terminal import aligned, bar, two_sided_bar

if TYPE_CHECKING:
    from bayeswise.networks.explaining.account import FindingWeight, NetworkAccount


MOST_INFORMATIVE = 10
_LONGEST = 30


def text(account: NetworkAccount, width: int = 80) -> str:
    """Paragraphs: the change, the findings, whether they agree, the best explanation, what to observe next."""
    return "\n".join(line.rstrip() for line in _lines(account, width))


def _lines(account: NetworkAccount, width: int) -> Iterator[str]:
    state, before, after = account.state, account.prior[account.state], account.posterior[account.state]
    yield f"Why {shown(account.node)} = {shown(state)}: {number(after)}, and {number(before)} before the evidence?"
    relevant = [finding for finding in account.findings if finding.relevant]
    if relevant:
        yield ""
        yield from _weights(relevant, width)
    irrelevant = [finding_text(finding) for finding in account.findings if not finding.relevant]
    if irrelevant:
        yield ""
        yield from _wrapped(f"No effect given the others: {'; '.join(irrelevant)}.", width)
    if len(account.findings) > 1:
        yield ""
        yield conflict_text(account)
    yield ""
    states = [f"{shown(n)} = {shown(s)}" for n, s in account.most_probable.states.items() if n not in account.evidence]
    best = f"Most probable explanation ({number(account.most_probable.probability, 3)}): "
    yield from _wrapped(best + (", ".join(states) or "every node is observed") + ".", width)
    if account.information:
        yield ""
        yield from _next_nodes(account, width)


def finding_text(finding: FindingWeight) -> str:
    """A finding as text.

    >>> from bayeswise.networks.explaining.account import FindingWeight
    >>> finding_text(FindingWeight("x-ray", {"yes": 0.5, "no": 1.0}, 0.0, 0.0, True))
    'x-ray: yes 0.5, no 1'
    """
    if isinstance(finding.value, Mapping):
        return f"{shown(finding.node)}: {', '.join(f'{shown(s)} {number(p, 3)}' for s, p in finding.value.items())}"
    return f"{shown(finding.node)} = {shown(finding.value)}"


def change_text(weight: float | None) -> tuple[str, str]:
    """The weight and the factor of the odds."""
    return ("certain", "") if weight is None else (weight_text(weight), factor_text(weight))


def conflict_text(account: NetworkAccount) -> str:
    """How probable the findings are together, compared with independent ones."""
    how = "conflict" if account.conflict > 0.0 else "agree"
    times = factor_text(-account.conflict).removeprefix("\N{MULTIPLICATION SIGN} ")
    return f"The findings {how}: together {times} times as likely as if they were independent."


def _weights(findings: list[FindingWeight], width: int) -> Iterator[str]:
    labels = [shown(finding_text(finding), _LONGEST) for finding in findings]
    alone, beside = (
        aligned([change_text(w) for w in weights], (0, 1))
        for weights in ([f.alone for f in findings], [f.beside for f in findings])
    )
    left = aligned([("", "alone", "with the others"), *zip(labels, alone, beside, strict=True)])
    room = max(map(cell_len, left))
    sizes = [abs(f.beside) for f in findings if f.beside is not None and abs(f.beside) < 1e300]
    top = max(sizes, default=0.0) or 1.0
    half = max(3, (width - room - 3) // 2)
    yield left[0]
    for line, finding in zip(left[1:], findings, strict=True):
        bars = two_sided_bar((finding.beside or 0.0) / top, half)  # to the right for the state, to the left against it
        yield f"{padded(line, room)}  {'│'.join(bars)}"


def _next_nodes(account: NetworkAccount, width: int) -> Iterator[str]:
    informative = [(n, bits) for n, bits in account.information.items() if bits > 0.0][:MOST_INFORMATIVE]
    yield f"What to observe next (remaining uncertainty {number(account.uncertainty, 3)} bits):"
    if not informative:
        yield "  no other node is informative"
        return
    cells = max(8, width - max(cell_len(shown(name, _LONGEST)) for name, _ in informative) - 18)
    shares = [bits / account.uncertainty if account.uncertainty > 0.0 else 0.0 for _, bits in informative]
    rows = [
        (shown(name, _LONGEST), number(bits, 3), bar(share, cells))
        for (name, bits), share in zip(informative, shares, strict=True)
    ]
    yield from aligned(rows, [1], indent="  ")
    rest = sum(bits > 0.0 for bits in account.information.values()) - len(informative)
    irrelevant = sum(bits == 0.0 for bits in account.information.values())
    if rest or irrelevant:
        yield f"  less informative: {rest} more; not informative: {irrelevant}"


def _wrapped(words: str, width: int) -> list[str]:
    return textwrap.wrap(words, width, subsequent_indent="  ", break_long_words=False)


_MOST_DRAWN = 120  # nodes


def fragment(account: NetworkAccount) -> str:
    """A block for a notebook."""
    return shell.fragment(*_parts(account))


def page(account: NetworkAccount) -> str:
    """A self-contained document, with the network drawn below the text."""
    drawn = len(account.network) <= _MOST_DRAWN
    drawing = [shell.picture(account.network.picture(account.evidence, soft=account.soft).svg())] if drawn else []
    return shell.page(f"Why {account.node} = {account.state}?", *_parts(account), *drawing)


def _parts(account: NetworkAccount) -> list[str]:
    state = f"{label(account.node)} = {label(account.state)}"
    before, after = percent(account.prior[account.state]), percent(account.posterior[account.state])
    return [
        f"<h2>Why {state}: {after}, and {before} before the evidence?</h2>",
        _html_weights(account),
        f"<p>{markup(conflict_text(account))}</p>" if len(account.findings) > 1 else "",
        _html_next_nodes(account),
        _best(account),
    ]


def _html_weights(account: NetworkAccount) -> str:
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
        cells[2:] = ["no effect", ""]
    numbers = "".join(f'<td class="n">{markup(cell)}</td>' for cell in cells)
    bar = html_bar(finding.beside or 0.0, top)
    return f"<tr><td>{label(finding_text(finding))}</td>{numbers}<td>{bar}</td></tr>"


def _html_next_nodes(account: NetworkAccount) -> str:
    informative = [(name, bits) for name, bits in account.information.items() if bits > 0.0][:MOST_INFORMATIVE]
    head = f"<h3>What to observe next (remaining uncertainty {number(account.uncertainty, 3)} bits)</h3>"
    if not informative:
        return f"{head}<p>No other node is informative.</p>"
    rows = (
        f'<tr><td>{label(name)}</td><td class="n">{number(bits, 3)}</td>'
        f"<td>{share_bar(bits / account.uncertainty)}</td></tr>"
        for name, bits in informative
    )
    return head + bar_table((30, 15, 55), '<th>node</th><th class="n">bits</th><th></th>', rows)


def _best(account: NetworkAccount) -> str:
    best = account.most_probable
    words = ", ".join(f"{label(n)} = {label(state)}" for n, state in best.states.items() if n not in account.evidence)
    return (
        f"<h3>Most probable explanation ({number(best.probability, 3)})</h3><p>{words or 'every node is observed'}</p>"
    )
