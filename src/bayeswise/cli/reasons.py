"""What `explain` shows: the rival, the bars, the picture and the least change."""

from __future__ import annotations

from typing import Any

from bayeswise.cli.pairs import class_of
from bayeswise.explanations import Account, Flip, alternatives_of, least_change
from bayeswise.explanations.plain import balance_dict, json_value
from bayeswise.explanations.wording import value_text
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.naive_bayes import NaiveBayesModel
from bayeswise.posteriors.wording import shown
from bayeswise.store.atomic import replacing
from bayeswise.tables.labels import Label


def rival_in(account: Account, against: str | None) -> Label:
    if against is None:
        return account.rival_of(account.most_probable)
    rival = class_of(against, account.states)
    if rival == account.most_probable:
        raise ParameterError(
            f"{against!r} is the answer itself", fix="name another class, or leave out --against"
        )
    return rival


def show(account: Account, rival: Label) -> None:
    """Bars in colour on a terminal, plain in a pipe."""
    from rich.console import Console

    from bayeswise.explanations.text import Bars

    console = Console(highlight=False, emoji=False)
    if console.is_terminal:
        console.print(Bars(account, account.weigh(account.most_probable, rival)))
    else:
        print(account.to_text(account.most_probable, rival, width=console.width))


def draw(account: Account, rival: Label, path: str) -> None:
    from bayeswise.explanations.displays import WaterfallDisplay

    display = WaterfallDisplay.from_account(account, account.most_probable, rival).plot()
    with replacing(path) as file:
        display.figure_.savefig(file, format="png", dpi=150, bbox_inches="tight")


# -- the least change ---------------------------------------------------------------------------------------


def change_to(model: NaiveBayesModel, account: Account, to: Label | None) -> Flip | None:
    return least_change(account, alternatives_of(model, account.columns), to)


def change_text(change: Flip | None, against: str | None) -> str:
    if change is None:
        to = "the answer" if against is None else f"the answer to {against}"
        return f"No change of the columns changes {to}."
    steps = [f"{shown(c.column)}: {value_text(c.before)} -> {value_text(c.after)}" for c in change.changes]
    least = "Least change" if change.proven else "A change"
    share = float(change.account.posterior[change.account.states.index(change.to)])
    return f"{least} that makes it {shown(change.to)} ({share:.4g}): " + "; ".join(steps)


def facts_of(account: Account, rival: Label, flip: bool, change: Flip | None) -> dict[str, Any]:
    facts = account.to_dict()
    facts["balance"] = balance_dict(account.weigh(account.most_probable, rival))
    if flip:
        facts["flip"] = None if change is None else _flip_facts(change)
    return facts


def _flip_facts(change: Flip) -> dict[str, Any]:
    return {
        "to": json_value(change.to),
        "proven": change.proven,
        "changes": [
            {"column": step.column, "before": json_value(step.before), "after": json_value(step.after)}
            for step in change.changes
        ],
        "posterior": [float(share) for share in change.account.posterior],
    }
