"""An account as bars in a terminal and as HTML: the start first, the strongest column next, posterior last.

The bars are in log-odds: to the right they speak for the answer, to the left for its rival. In a terminal they can be
read without colour, in 80 columns.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from bayeswise.explanations.balance import factor_text, remarks_of, value_text, weight_text
from bayeswise.render.labels import markup, padded, shown
from bayeswise.render.numbers import number
from bayeswise.render.page import bar_table, fragment, label, page, share_bar
from bayeswise.render.page import two_sided_bar as html_bar
from bayeswise.render.terminal import plain_table, two_sided_bar

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table

    from bayeswise.explanations.account import Account
    from bayeswise.explanations.balance import Balance, Weight

FOR, AGAINST = "blue", "dark_orange"
WIDEST = 110  # a wider terminal does not get wider bars

_MOST_COLUMNS, _MOST_COLUMNS_OF_PAGE = 20, 40
_MOST_STATES, _MOST_STATES_OF_PAGE = 6, 8
_NUMBERS = 20  # cells for weight and factor, and the gaps between the columns


def account_text(account: Account, balance: Balance, *, width: int = 80, question: str | None = None) -> str:
    """The bars as text without colour; no line is longer than `width` cells."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(Bars(account, balance, question))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


class Bars:
    """What `rich` prints."""

    def __init__(self, account: Account, balance: Balance, question: str | None = None) -> None:
        self.account = account
        self.balance = balance
        self.question = question  # the first line, where it is not about the state

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, WIDEST)
        yield from self._heading(width)
        yield self._table(width)
        if len(self.account.states) > 2:
            yield self._all_states(width)

    def _heading(self, width: int) -> Iterator[RenderableType]:
        state, rival = shown(self.balance.state, 24), shown(self.balance.rival, 24)
        if self.question is not None:
            yield Text(self.question)
        else:
            yield Text.assemble("Why ", (state, f"bold {FOR}"), ", not ", (rival, f"bold {AGAINST}"), "?")
        for remark in remarks_of(self.account):
            yield Text(shown(remark, width), style="dim")

    def _table(self, width: int) -> Table:
        weights = self.balance.strongest(_MOST_COLUMNS)
        name_width, value_width = self._label_widths(weights, width)
        half = max(4, (width - name_width - value_width - _NUMBERS - 1) // 2)
        table = plain_table(gap=1, style="dim")
        table.add_column("", width=name_width, no_wrap=True)
        table.add_column("", width=value_width, no_wrap=True)
        table.add_column(self._axis(half), width=2 * half + 1, no_wrap=True)
        table.add_column("weight", justify="right", width=7, no_wrap=True)
        table.add_column("factor", justify="right", width=9, no_wrap=True)
        top = self.balance.largest(weights)

        def line(name: str, value: str, bar: Text, log_ratio: float, style: str = "") -> None:
            # Text, not str: a label like "[/b]" is not markup
            labels = (Text(shown(name, name_width), style), Text(shown(value, value_width), style))
            table.add_row(*labels, bar, weight_text(log_ratio), factor_text(log_ratio))

        prior = self.balance.log_prior_odds
        line(self.balance.start, self.balance.share(self.balance.prior), _two_sided(prior / top, half), prior)
        for weight in weights:
            value = value_text(weight.value, weight.note)
            line(weight.column, value, _two_sided(weight.log_ratio / top, half), weight.log_ratio)
        whole = _share(self.balance.probability, 2 * half + 1)
        line("posterior", self.balance.share(self.balance.probability, 4), whole, self.balance.log_odds, "bold")
        return table

    def _label_widths(self, weights: tuple[Weight, ...], width: int) -> tuple[int, int]:
        """As wide as the labels, up to a quarter of the line each; the posterior has to fit."""
        most = width // 4
        names = [cell_len(shown(weight.column, most)) for weight in weights]
        values = [cell_len(shown(value_text(weight.value, weight.note), most)) for weight in weights]
        shares = self.balance.share(self.balance.prior), self.balance.share(self.balance.probability, 4)
        return max([9, len(self.balance.start), *names]), max(
            [len(self.balance.share(0.1234, 4)), *map(len, shares), *values]
        )

    def _axis(self, half: int) -> Text:
        rival = "◄ " + shown(self.balance.rival, half - 3)
        state = shown(self.balance.state, half - 3) + " ►"
        return Text(f"{padded(rival, half)}│{padded(state, half, right=True)}")

    def _all_states(self, width: int) -> Table:
        posterior = self.account.posterior
        order = np.argsort(-posterior, kind="stable")[:_MOST_STATES]
        heading = "all states" if len(posterior) == len(order) else f"{len(order)} of {len(posterior)} states"
        table = plain_table(gap=1, style="dim")
        table.add_column(heading, no_wrap=True)
        table.add_column("", no_wrap=True)
        table.add_column("posterior", justify="right", no_wrap=True)
        for k in order:
            share = _share(float(posterior[k]), max(4, width - 50))
            table.add_row(Text(shown(self.account.states[k], 30)), share, number(posterior[k]))
        return table


def _two_sided(share: float, half: int) -> Text:
    against, for_ = two_sided_bar(share, half)
    return Text.assemble((against, AGAINST), "│", (for_, FOR))


def _share(probability: float, width: int) -> Text:
    full = round(width * probability)
    return Text.assemble(("█" * full, FOR), ("░" * (width - full), AGAINST))


# -- as HTML ------------------------------------------------------------------------------------------------
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
    weights = balance.strongest(_MOST_COLUMNS_OF_PAGE)
    top, before = balance.largest(weights), balance.log_prior_odds
    rows = [_row(balance.start, balance.share(balance.prior), html_bar(before, top), before)]
    rows += [
        _row(each.column, value_text(each.value, each.note), html_bar(each.log_ratio, top), each.log_ratio)
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
    order = np.argsort(-posterior, kind="stable")[:_MOST_STATES_OF_PAGE]
    rows = [
        f"<tr><td>{label(account.states[k])}</td><td>{share_bar(float(posterior[k]))}</td>"
        f'<td class="n">{number(posterior[k])}</td></tr>'
        for k in order
    ]
    rest = len(posterior) - len(order)
    more = [f"<tr><td>and {rest:,} more</td><td></td><td></td></tr>"] if rest else []
    return bar_table((30, 55, 15), '<th>state</th><th></th><th class="n">posterior</th>', [*rows, *more])
