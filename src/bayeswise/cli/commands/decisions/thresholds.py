"""bayeswise thresholds decision.toml: the policy that the costs make, in words and numbers."""

from __future__ import annotations

from shlex import quote
from typing import Annotated, Any

import typer

from bayeswise.cli.options import costs as costs_option
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.options.pairs import numbers_by_name
from bayeswise.cli.output.writing import json_document
from bayeswise.foundation.errors import UsageError


def run(
    file: Annotated[str | None, typer.Argument(metavar="COSTS", help="decision.toml or a CSV of costs.")] = None,
    costs: Annotated[str | None, typer.Option("--costs", metavar="FILE", help="Same as the argument.")] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", metavar="CLASS=P ...", help="Also show the rule as a likelihood-ratio test."),
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option("--row", metavar="COL=VALUE ...", help="Values of the columns on which the costs depend."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which action is best at which probability.

    \b
    bayeswise thresholds decision.toml
    bayeswise thresholds decision.toml --prior spam=.2 ham=.8
    bayeswise thresholds loan.toml --row amount=5000
    """
    from bayeswise.decisions.policy.rule import rule

    if (file is None) == (costs is None):
        raise UsageError("one file of costs is needed", fix="bayeswise thresholds decision.toml")
    decision = costs_option.read_decision(file or costs or "")
    if not decision.costs.constant and not row:
        names = decision.costs.columns
        typed = " ".join(quote(f"{name}=5") if quote(name) != name else f"{name}=..." for name in names)
        raise UsageError(f"the costs depend on the row: {' '.join(names)}", fix=f"add --row {typed}")
    policy = rule(decision.costs, row=numbers_by_name(row, "--row", "amount=5") if row else None)
    if prior and len(policy.costs.states) != 2:
        found = len(policy.costs.states)
        raise UsageError(f"--prior is for the likelihood ratio of two states; there are {found}", fix="leave it out")
    facts = _facts(policy, _prior(prior, decision, policy.costs.states))
    print(json_document(facts) if as_json else "\n".join(_lines(facts)))


def _prior(typed: list[str] | None, decision: Any, states: tuple[Any, ...]) -> dict[Any, float] | None:
    found = costs_option.new_prior(decision, typed, states)
    return None if found is None else dict(zip(states, found.tolist(), strict=True))


def _facts(policy: Any, prior: dict[Any, float] | None) -> dict[str, Any]:
    from bayeswise.render.plain import json_value

    two = len(policy.costs.states) == 2
    return {
        "rule": str(policy),
        "of": json_value(policy.costs.states[0]) if two else None,
        "pieces": [
            {"action": json_value(piece.action), "from": float(piece.low), "to": float(piece.high)}
            for piece in policy.pieces
        ],
        "likelihood_ratio": policy.likelihood_ratio(prior) if two and prior is not None else None,
        "warnings": list(policy.costs.warnings),
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [facts["rule"]]
    if facts["likelihood_ratio"] is not None:
        lines.append(facts["likelihood_ratio"])
    return lines
