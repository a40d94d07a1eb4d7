"""`bayeswise bayes`: Bayes' rule for problems of two lines, step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from bayeswise.cli.output.writing import json_document
from bayeswise.foundation.errors import ParameterError

if TYPE_CHECKING:
    from bayeswise.posteriors.joint_table import JointTable


def run(
    prior: Annotated[
        list[str] | None, typer.Option(metavar="STATE=P ...", help="P(state), for example disease=.004.")
    ] = None,
    likelihood: Annotated[
        list[str] | None,
        typer.Option(metavar="SEEN:STATE=P ...", help="P(observation | state), for example positive:disease=.8."),
    ] = None,
    observe: Annotated[list[str] | None, typer.Option(metavar="SEEN ...", help="Observed states (evidence).")] = None,
    joint: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B=P ...", help="Joint table, for example sun,hot=.4; --observe hot conditions on it."),
    ] = None,
    variables: Annotated[
        list[str] | None, typer.Option(metavar="NAME ...", help="Names of the variables of the joint table.")
    ] = None,
    density: Annotated[bool, typer.Option("--density", help="Likelihoods are densities, which may exceed 1.")] = False,
    exact: Annotated[bool, typer.Option("--exact", help="Print fractions instead of decimals.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every step as JSON.")] = False,
) -> None:
    """Apply Bayes' rule and show every step: posterior = prior x likelihood / evidence.

    bayeswise bayes --prior disease=.004 --likelihood positive:disease=.8 positive:healthy=.1
    --observe positive

    Numbers may be written .004, 1/250, 0.4% or 4e-3; the arithmetic is exact. With two states, one prior may be
    omitted. Several observations are assumed independent given the state. Each option takes several values.
    """
    if joint:
        _refuse_both(prior, likelihood)
        print(_joint_answer(_joint_table(joint, variables), observe or [], exact, as_json))
        return
    from bayeswise.posteriors.bayes_rule import bayes, inference_text

    if not prior:
        raise ParameterError("there is no prior", fix="add --prior STATE=P, as in --prior disease=.004")
    priors = _mapping((_split(piece, "prior", "disease=.004") for piece in prior), "prior")
    answer = bayes(priors, _likelihoods(likelihood or [], list(priors)), observe or [], density=density)
    print(json_document(answer.to_dict()) if as_json else inference_text(answer, exact=exact))


def _joint_answer(table: JointTable, observe: list[str], exact: bool, as_json: bool) -> str:
    from bayeswise.posteriors.bayes_rule import joint_table_text

    evidence = _evidence(observe, table)
    if not as_json:
        return joint_table_text(table, evidence=evidence, exact=exact)
    answer = {
        **table.to_dict(),
        "marginals": {name: table.marginal(name).to_dict()["joint"] for name in table.variables},
        "observed": evidence,
        "conditional": table.given(evidence).to_dict()["joint"] if evidence else None,
    }
    return json_document(answer)


# -- the pieces of the command line -------------------------------------------------------------------------


def _split(piece: str, what: str, example: str) -> tuple[str, str]:
    """'disease=.004' -> ('disease', '.004'); a name may itself contain '='."""
    name, equals, number = piece.rpartition("=")
    if not equals or not name:
        raise ParameterError(f"the {what} {piece!r} is not written NAME=NUMBER", fix=f"write it as {example}")
    return name, number


def _mapping(pairs: Iterable[tuple[str, str]], what: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, number in pairs:
        if name in found:
            twice = f"the {what} of {name!r} is given twice: {found[name]} and {number}"
            raise ParameterError(twice, fix="give it once")
        found[name] = number
    return found


def _likelihoods(pieces: list[str], states: list[str]) -> dict[str, dict[str, str]]:
    pairs = _mapping((_split(piece, "likelihood", "positive:disease=.8") for piece in pieces), "likelihood")
    table: dict[str, dict[str, str]] = {}
    for name, number in pairs.items():
        seen, state = _seen_and_state(name, states)
        table.setdefault(seen, {})[state] = number
    return table


def _seen_and_state(name: str, states: list[str]) -> tuple[str, str]:
    """'positive:disease' -> ('positive', 'disease'); with several colons a known state decides."""
    known = [state for state in states if name.endswith(f":{state}") and len(name) > len(state) + 1]
    state = max(known, key=len) if known else name.rpartition(":")[2]
    seen = name[: -len(state) - 1]
    if not seen or not state:
        raise ParameterError(
            f"the likelihood {name!r} is not written SEEN:STATE=NUMBER", fix="write it as positive:disease=.8"
        )
    return seen, state


def _joint_table(pieces: list[str], variables: list[str] | None) -> JointTable:
    from bayeswise.posteriors.joint_table import JointTable

    pairs = _mapping((_split(piece, "joint probability", "sun,hot=.4") for piece in pieces), "joint probability")
    cells = {tuple(name.split(",")): number for name, number in pairs.items()}
    names = [name for given in variables or [] for name in given.split(",")]
    return JointTable(names or [f"variable {k + 1}" for k in range(len(next(iter(cells))))], cells)


def _evidence(observe: list[str], table: JointTable) -> dict[str, str]:
    """'hot' or 'temperature=hot' -> {'temperature': 'hot'}."""
    evidence: dict[str, str] = {}
    for piece in observe:
        variable, level = _variable_of(piece, table)
        if variable in evidence:
            twice = f"{variable} is observed twice: {evidence[variable]} and {level}"
            raise ParameterError(twice, fix="observe it once")
        evidence[variable] = level
    return evidence


def _variable_of(piece: str, table: JointTable) -> tuple[str, str]:
    name, equals, level = piece.partition("=")
    if equals and name in table.variables:
        return name, level
    holders = [variable for variable, levels in table.levels.items() if piece in levels]
    if len(holders) == 1:
        return holders[0], piece
    found = f"is a level of {' and '.join(holders)}" if holders else "is a level of no variable"
    raise ParameterError(f"the observation {piece!r} {found}", fix=f"write {table.variables[0]}=LEVEL")


def _refuse_both(prior: list[str] | None, likelihood: list[str] | None) -> None:
    if prior or likelihood:
        raise ParameterError(
            "a joint table already holds prior and likelihood",
            fix="give either --joint, or --prior and --likelihood",
        )
