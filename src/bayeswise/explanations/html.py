"""An account as HTML: the weights as bars, and all states where there are more than two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.explanations.balance import factor_text, remarks_of, value_text, weight_text
from bayeswise.render.labels import markup, shown
from bayeswise.render.numbers import number
from bayeswise.render.page import bar_table, fragment, label, page, share_bar, two_sided_bar

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account
    from bayeswise.explanations.balance import Balance

_MOST_COLUMNS = 40
_MOST_STATES = 8


def account_fragment(account: Account, balance: Balance) -> str:
    """A block for a notebook."""
    return fragment(*_parts(account, balance))


def account_page(account: Account, balance: Balance) -> str:
    """A whole document, which may load nothing."""
    return page(account.title or f"Why {balance.state}?", *_parts(account, balance))


def headed_parts(account: Account, balance: Balance, head: str, lines: Sequence[str]) -> list[str]:
    """The account below a headline and lines of text of its own."""
    return [f"<h2>{markup(head)}</h2>", *(f"<p>{markup(line)}</p>" for line in lines), *_parts(account, balance)[1:]]


def _parts(account: Account, balance: Balance) -> list[str]:
    remarks = markup(shown(" · ".join(remarks_of(account))))
    return [
        f"<h2>Why {label(balance.state)}, not {label(balance.rival)}?</h2>",
        f'<p class="quiet">{remarks}</p>' if remarks else "",
        _weights_table(balance),
        _states_table(account) if len(account.states) > 2 else "",
    ]


def _weights_table(balance: Balance) -> str:
    weights = balance.strongest(_MOST_COLUMNS)
    top, before = balance.largest(weights), balance.log_prior_odds
    rows = [_row("prior", balance.share(balance.prior), two_sided_bar(before, top), before)]
    rows += [
        _row(each.column, value_text(each.value, each.note), two_sided_bar(each.log_ratio, top), each.log_ratio)
        for each in weights
    ]
    end = balance.share(balance.probability, 4)
    rows.append(_row("posterior", end, share_bar(balance.probability), balance.log_odds, kind=' class="end"'))
    sides = f"<span>◄ {label(balance.rival)}</span><span>{label(balance.state)} ►</span>"
    head = f'<th></th><th></th><th>{sides}</th><th class="n">weight</th><th class="n">factor</th>'
    return bar_table((20, 20, 39, 9, 12), head, rows)


def _row(name: str, value: str, bar: str, log_ratio: float, kind: str = "") -> str:
    return (
        f"<tr{kind}><td>{label(name)}</td><td>{label(value)}</td><td>{bar}</td>"
        f'<td class="n">{weight_text(log_ratio)}</td><td class="n">{factor_text(log_ratio)}</td></tr>'
    )


def _states_table(account: Account) -> str:
    posterior = account.posterior
    order = np.argsort(-posterior, kind="stable")[:_MOST_STATES]
    rows = [
        f"<tr><td>{label(account.states[k])}</td><td>{share_bar(float(posterior[k]))}</td>"
        f'<td class="n">{number(posterior[k])}</td></tr>'
        for k in order
    ]
    rest = len(posterior) - len(order)
    more = [f"<tr><td>and {rest:,} more</td><td></td><td></td></tr>"] if rest else []
    return bar_table((30, 55, 15), '<th>state</th><th></th><th class="n">posterior</th>', [*rows, *more])
