"""An account as HTML that needs nothing else: inline SVG, every label escaped, no script, no network."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.explanations.wording import factor_text, value_text, weight_text
from bayeswise.render.labels import shown

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account
    from bayeswise.explanations.balance import Balance

_MOST_COLUMNS = 40
_MOST_STATES = 8
_LONGEST = 48  # characters of a label; the whole one is its tooltip
_HALF = 120  # units of the drawing on each side of the middle

_FOR, _AGAINST, _REST = "#2f6fb5", "#d9822b", "#8886"
_STYLE = """
.bw-account{font:14px/1.45 system-ui,sans-serif;max-width:52rem;color:inherit}
.bw-account h3{font-size:1.1em;margin:0 0 .2em}
.bw-account p{margin:0 0 .6em;opacity:.75}
.bw-account table{table-layout:fixed;border-collapse:collapse;width:100%;margin:0 0 .8em}
.bw-account th,.bw-account td{padding:.15em .4em;text-align:left;border:0;background:none;color:inherit}
.bw-account td{overflow-wrap:anywhere}
.bw-account td.n,.bw-account th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.bw-account th{font-weight:400;opacity:.75}
.bw-account th span{float:left}.bw-account th span+span{float:right}
.bw-account tr.end td{border-top:1px solid currentColor;border-bottom:1px solid currentColor;font-weight:600}
.bw-account svg{display:block;width:100%;height:1.1em}
"""


def account_fragment(account: Account, balance: Balance) -> str:
    """A block for a notebook or a page."""
    state, rival = _label(balance.state), _label(balance.rival)
    remarks = " · ".join(escape(shown(remark)) for remark in (account.title, account.convention) if remark)
    parts = [
        f"<style>{_STYLE}</style>",
        f"<h3>Why {state}, not {rival}?</h3>",
        f"<p>{remarks}</p>" if remarks else "",
        _weights_table(balance),
        _states_table(account) if len(account.states) > 2 else "",
    ]
    return f'<div class="bw-account">{"".join(parts)}</div>'


def account_page(account: Account, balance: Balance) -> str:
    """A whole document, which may load nothing."""
    title = escape(shown(account.title or f"Why {balance.state}?"))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title></head><body>{account_fragment(account, balance)}</body></html>\n"
    )


def _weights_table(balance: Balance) -> str:
    weights = balance.strongest(_MOST_COLUMNS)
    sizes = [balance.log_prior_odds, *(weight.log_ratio for weight in weights)]
    top = max((abs(size) for size in sizes if math.isfinite(size)), default=0.0) or 1.0
    before = balance.log_prior_odds
    rows = [_row("prior", balance.share(balance.prior), _two_sided(before, top), before)]
    rows += [
        _row(
            weight.column,
            value_text(weight.value, weight.note),
            _two_sided(weight.log_ratio, top),
            weight.log_ratio,
        )
        for weight in weights
    ]
    end = balance.share(balance.probability, 4)
    rows.append(_row("posterior", end, _share(balance.probability), balance.log_odds, kind=' class="end"'))
    sides = f"<span>◄ {_label(balance.rival)}</span><span>{_label(balance.state)} ►</span>"
    head = f'<tr><th></th><th></th><th>{sides}</th><th class="n">weight</th><th class="n">factor</th></tr>'
    return f"<table>{_widths(20, 20, 39, 9, 12)}{head}{''.join(rows)}</table>"


def _states_table(account: Account) -> str:
    posterior = account.posterior
    order = np.argsort(-posterior, kind="stable")[:_MOST_STATES]
    rows = (
        f"<tr><td>{_label(account.states[k])}</td><td>{_share(float(posterior[k]))}</td>"
        f'<td class="n">{posterior[k]:.4g}</td></tr>'
        for k in order
    )
    rest = len(posterior) - len(order)
    more = f"<tr><td>and {rest:,} more</td><td></td><td></td></tr>" if rest else ""
    head = '<tr><th>state</th><th></th><th class="n">posterior</th></tr>'
    return f"<table>{_widths(30, 55, 15)}{head}{''.join(rows)}{more}</table>"


def _widths(*percents: int) -> str:
    return "".join(f'<col style="width:{percent}%">' for percent in percents)


def _row(name: str, value: str, bar: str, log_ratio: float, kind: str = "") -> str:
    return (
        f"<tr{kind}><td>{_label(name)}</td><td>{_label(value)}</td><td>{bar}</td>"
        f'<td class="n">{weight_text(log_ratio)}</td><td class="n">{factor_text(log_ratio)}</td></tr>'
    )


def _two_sided(log_ratio: float, top: float) -> str:
    length = _HALF * min(abs(log_ratio) / top, 1.0) if math.isfinite(log_ratio) else _HALF
    start, colour = (0.0, _FOR) if log_ratio > 0 else (-length, _AGAINST)
    axis = '<line x1="0" x2="0" y1="0" y2="16" stroke="currentColor" stroke-opacity=".5"/>'
    return _svg(-_HALF, _bar(start, length, colour) + axis)


def _share(probability: float) -> str:
    return _svg(0, _bar(0.0, 2.0 * _HALF, _REST) + _bar(0.0, 2.0 * _HALF * probability, _FOR))


def _bar(start: float, length: float, colour: str) -> str:
    return f'<rect x="{start:.2f}" y="2" width="{length:.2f}" height="12" fill="{colour}"/>'


def _svg(left: int, shapes: str) -> str:
    box = f'viewBox="{left} 0 {2 * _HALF} 16" preserveAspectRatio="none" aria-hidden="true"'
    return f"<svg {box}>{shapes}</svg>"


def _label(label: object) -> str:
    """Escaped, isolated from the direction of its neighbours, cut, with the whole text as tooltip."""
    text = shown(label)
    if len(text) <= _LONGEST:
        return f"<bdi>{escape(text)}</bdi>"
    return f'<bdi title="{escape(text[:1000])}">{escape(text[: _LONGEST - 1])}…</bdi>'
