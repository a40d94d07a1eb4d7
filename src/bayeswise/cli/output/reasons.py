"""What `explain` shows: the rival, the bars, the picture and the least change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.cli.options.costs import new_prior
from bayeswise.cli.options.one_row import OneRow
from bayeswise.cli.output.writing import json_document, say
from bayeswise.explanations import Account, Flip, Steps
from bayeswise.explanations.flip import no_other_texts
from bayeswise.foundation.atomic import replacing_text
from bayeswise.foundation.errors import KindError, ParameterError, listed
from bayeswise.models.base.classifier import Classifier
from bayeswise.render.labels import keyed, shown
from bayeswise.render.numbers import exact, number
from bayeswise.render.plain import json_number
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label, label_of_text

if TYPE_CHECKING:
    from bayeswise.decisions.costs.decision_file import DecisionFile


def rival_in(account: Account, against: str | None) -> Label:
    if against is None:
        return account.rival_of(account.most_probable)
    rival = label_of_text(against, account.states)
    if rival == account.most_probable:
        raise ParameterError(f"{against!r} is the answer itself", fix="name another class, or leave out --against")
    return rival


def distances_of(model: Any, batch: Batch) -> dict[str, Any]:
    """How far the row lies from the mean of each class, in units of its spread; for Gaussian classes only."""
    if not model.capabilities.distances:
        return {}
    distances = [json_number(distance) for distance in model.mahalanobis(batch)[0].tolist()]
    return {"mahalanobis": keyed(zip(model.classes, distances, strict=True))}


def show(account: Account, rival: Label, distances: dict[str, Any]) -> None:
    """Bars in colour on a terminal, plain in a pipe."""
    from rich.console import Console

    from bayeswise.explanations.account_views import Bars

    console = Console(highlight=False, emoji=False)
    if console.is_terminal:
        console.print(Bars(account, account.weigh(account.most_probable, rival)))
    else:
        print(account.to_text(account.most_probable, rival, width=console.width))
    for far in distances.values():
        means = listed(f"{shown(label)} {number(float(distance))}" for label, distance in far.items())
        print("", f"Mahalanobis distance to the mean of {means}", sep="\n")


def steps_of(model: Any, batch: Batch) -> Steps:
    """The calculation, for a model that multiplies factors."""
    if not isinstance(model, Classifier):
        raise KindError(
            "--steps shows a product of factors, and this model has none",
            fix="leave it out, or use a model of fit --model naive-bayes or gaussian-bayes",
        )
    return model.steps(batch)


# -- an action --------------------------------------------------------------------------------------------------


def action_explained(
    model: Any,
    one: OneRow,
    account: Account,
    decision: DecisionFile,
    prior: list[str] | None,
    against: str | None,
    flip: bool,
    as_json: bool,
    html: str | None,
    png: str | None,
) -> None:
    """Why this action, what would change it, and the page or picture of the states that decide it."""
    from rich.console import Console

    from bayeswise.decisions.policy.action_account import ActionAccount, action_named, with_change, with_prior

    _refuse_other_posterior(model, one, account)
    table = decision.costs
    if not table.constant:
        table = table.for_row({name: _number(name, one.cells[name]) for name in table.columns if name in one.cells})
    shifted = new_prior(decision, prior, account.states)
    if shifted is not None:
        account = with_prior(account, np.exp(model.log_prior), shifted)
    story = ActionAccount.of(account, table, None if against is None else action_named(against, table))
    keep = [name for name in decision.costs.columns if name in account.columns]
    if flip:
        story = with_change(model, story, story.rival if against else None, keep=keep)
    if html is not None:
        with replacing_text(html) as page:
            page.write(story.to_html())
    if png is not None:
        account.plot_panels().save(png)
    if as_json:
        facts = {**facts_of(account, story.states[1], False, None, story.states[0]), "decision": story.to_dict()}
        if flip:
            facts["flip"] = None if story.change is None else story.change.to_dict()
        print(json_document(facts))
        return
    print(story.to_text(width=Console(highlight=False, emoji=False).width))
    if flip and keep:
        say(f"{', '.join(map(shown, keep))}: not changed, because the costs depend on it.")
    say(*(f"Saved {out}." for out in (html, png) if out is not None))


def _number(name: str, cell: Any) -> float | None:
    if isinstance(cell, float):
        return None if np.isnan(cell) else cell
    return None if cell is None else float(exact(cell, f"--row {name}"))


def _refuse_other_posterior(model: Any, one: OneRow, account: Account) -> None:
    """A model whose answers are not those of its account: actions would be explained by the wrong posterior."""
    said = np.asarray(model.predict_proba(one.batch))[0]
    if not np.allclose(said, account.posterior, rtol=1e-6, atol=1e-9):
        raise KindError(
            "the columns of this model do not add up to its posterior, so they do not explain the action",
            fix="leave out --costs, or fit it without --marginalize",
        )


# -- the least change ---------------------------------------------------------------------------------------


def change_text(change: Flip | None, against: str | None, *, proven: bool, texts: Sequence[str] = ()) -> str:
    """The change in words; where there is none, whether that is `proven`: of columns that add up it is."""
    if change is None:
        to = "the answer" if against is None else f"the answer to {against}"
        found = "changes" if proven else "was found that changes"
        return f"No change of the columns {found} {to}{no_other_texts(texts)}."
    share = float(change.account.posterior[change.account.states.index(change.to)])
    return change.sentence(f" ({number(share)})") + no_other_texts(texts)


def facts_of(
    account: Account, rival: Label, flip: bool, change: Flip | None, state: Label | None = None
) -> dict[str, Any]:
    facts = account.to_dict()
    facts["balance"] = account.weigh(account.most_probable if state is None else state, rival).to_dict()
    if flip:
        facts["flip"] = None if change is None else change.to_dict()
    return facts
