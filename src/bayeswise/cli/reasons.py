"""What `explain` shows: the rival, the bars, the picture and the least change."""

from __future__ import annotations

from typing import Any

from bayeswise.cli.look import keyed
from bayeswise.cli.pairs import class_of
from bayeswise.explanations import Account, Flip, alternatives_of, least_change
from bayeswise.explanations.plain import balance_dict, json_number, json_value
from bayeswise.explanations.wording import value_text
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.regression.score_account import ScoreAccount
from bayeswise.posteriors.wording import shown
from bayeswise.store.atomic import replacing
from bayeswise.tables.batch import Batch
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


def show_score(account: ScoreAccount, as_json: bool) -> None:
    """What the columns add to a number."""
    from bayeswise.cli.table_text import as_json as json_text

    print(json_text(account.to_dict(), indent=2) if as_json else account.to_text())


def distances_of(model: Any, batch: Batch) -> dict[str, Any]:
    """How far the row lies from the mean of each class, in units of its spread; for Gaussian classes only."""
    if not hasattr(model, "mahalanobis"):
        return {}
    distances = [json_number(distance) for distance in model.mahalanobis(batch)[0].tolist()]
    return {"mahalanobis": keyed(zip(model.classes, distances, strict=True))}


def show(account: Account, rival: Label, distances: dict[str, Any]) -> None:
    """Bars in colour on a terminal, plain in a pipe."""
    from rich.console import Console

    from bayeswise.explanations.text import Bars

    console = Console(highlight=False, emoji=False)
    if console.is_terminal:
        console.print(Bars(account, account.weigh(account.most_probable, rival)))
    else:
        print(account.to_text(account.most_probable, rival, width=console.width))
    for far in distances.values():
        listed = ", ".join(f"{shown(label)} {float(distance):.4g}" for label, distance in list(far.items())[:8])
        print("", f"Mahalanobis distance to the mean of {listed}", sep="\n")


def draw(account: Account, rival: Label, path: str) -> None:
    from bayeswise.explanations.displays import WaterfallDisplay

    display = WaterfallDisplay.from_account(account, account.most_probable, rival).plot()
    with replacing(path) as file:
        display.figure_.savefig(file, format="png", dpi=150, bbox_inches="tight")


# -- the least change ---------------------------------------------------------------------------------------


def change_to(model: Any, account: Account, to: Label | None) -> Flip | None:
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
