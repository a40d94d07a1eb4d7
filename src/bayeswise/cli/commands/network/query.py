"""`bayeswise network query`: the belief in nodes, given what was observed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.commands.network import (
    Given,
    NetworkFile,
    Soft,
    evidence_from,
    mixed_network_from,
    network_from,
    soft_from,
)
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.options.pairs import by_name
from bayeswise.cli.output.writing import json_document
from bayeswise.foundation.errors import UsageError, listed
from bayeswise.render.numbers import number
from bayeswise.render.terminal import aligned

if TYPE_CHECKING:
    from bayeswise.networks import BeliefNetwork, Distribution
    from bayeswise.networks.inference.estimate import Estimate
    from bayeswise.networks.mixed import MixedNetwork


def query(
    file: NetworkFile,
    names: Annotated[list[str] | None, typer.Argument(help="Nodes to query (default: all).")] = None,
    given: Given = None,
    soft: Soft = None,
    belief: Annotated[
        list[str] | None,
        typer.Option(
            "--belief",
            metavar="NODE:STATE=P ...",
            help="Soft evidence, given as the node's distribution after the update (Jeffrey's rule).",
        ),
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="Show the joint distribution of the nodes.")] = False,
    do: Annotated[
        list[str] | None,
        typer.Option("--do", metavar="NODE=STATE ...", help="Nodes that are set from outside (interventions)."),
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, max=10_000, metavar="K", help="Show the K most probable explanations.")
    ] = None,
    best: Annotated[bool, typer.Option("--best", help="Show the most probable explanation (MPE).")] = False,
    method: Annotated[
        str, typer.Option(help="exact, importance, likelihood-weighting, gibbs, loopy; auto: exact if memory allows.")
    ] = "exact",
    rows: Annotated[int, typer.Option(min=1, help="Number of rows to sample.")] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    memory: Annotated[
        float | None, typer.Option(metavar="GB", min=0.001, help="Memory for exact answers, in gigabytes [2].")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute the posterior of nodes, given evidence.

    bayeswise network query asia.bif tub lung --given asia=yes dysp=yes

    bayeswise network query asia.bif lung --do smoke=no

    bayeswise network query huge.bif goal --given a=yes --method auto

    bayeswise network query people.bayeswise height --given sex=f weight=60
    """
    _refuse_ignored(names, top, method, joint, best)
    mixed = mixed_network_from(file)
    if mixed is not None:
        plain = not (soft or belief or joint or best or top is not None or method != "exact")
        print(_of_mixed(mixed, names or [], given, do, as_json, plain))
        return
    network = network_from(file)
    if memory is not None:
        network.engine.memory_limit = int(memory * 1e9)
    if do:
        network = network.do(by_name(do, network.names, "--do", "NODE=STATE"))
    evidence, likelihoods = evidence_from(network, given), _likelihoods(network, given, soft, belief)
    if top is not None:
        print(_top(network, top, evidence, likelihoods, as_json))
        return
    if method != "exact":
        if joint or best or not names:
            raise UsageError("sampling answers for single nodes", fix="name nodes, without --joint and --best")
        overrides: dict[str, Any] = {"soft": likelihoods, "method": method, "n_rows": rows, "seed": seed}
        estimates = {name: network.estimate(name, evidence, **overrides) for name in names}
        print(json_document(_sampled_facts(estimates)) if as_json else "\n".join(_sampled_lines(estimates)))
        return
    if best:
        print(_best(network, names or [], evidence, likelihoods, as_json))
        return
    answers = _answers(network, names or [], evidence, likelihoods, joint)
    print(json_document(_facts(answers)) if as_json else "\n".join(_lines(answers)))


def _refuse_ignored(names: list[str] | None, top: int | None, method: str, joint: bool, best: bool) -> None:
    """Options that would change nothing: beside --top, and --joint beside --best."""
    if top is None:
        if joint and best:
            raise UsageError("--joint and --best exclude each other", fix="give one of them")
        return
    beside = {"--joint": joint, "--best": best, f"--method {method}": method != "exact", "names of nodes": bool(names)}
    ignored = [each for each, is_typed in beside.items() if is_typed]
    if ignored:
        raise UsageError(
            f"--top shows explanations of all nodes, exactly, and makes no use of {listed(ignored)}",
            fix="leave them out, or leave out --top",
        )


def _of_mixed(
    network: MixedNetwork,
    names: list[str],
    given: list[str] | None,
    do: list[str] | None,
    as_json: bool,
    plain: bool,
) -> str:
    """The belief in states as for any network, in numbers as mean, standard deviation and an interval of 95 %."""
    from bayeswise.networks.mixed import NormalMixture

    if not plain:
        raise UsageError(
            "a network with numbers answers for single nodes, exactly",
            fix="use --given and --do only; bw.load(...) has estimate(...) and moments(...)",
        )
    evidence = by_name(given or [], network.names, "--given", "NODE=STATE")
    by_hand = by_name(do or [], network.names, "--do", "NODE=STATE")
    answers = {name: network.query(name, evidence, do=by_hand) for name in names or network.names}
    facts: dict[str, Any] = {}
    lines: list[str] = []
    for name, found in answers.items():
        if isinstance(found, NormalMixture):
            low, high = found.interval(0.95)
            facts[name] = {"mean": found.mean, "stddev": found.stddev, "low": low, "high": high}
            spread = f"{found.mean:.6g} \N{PLUS-MINUS SIGN} {found.stddev:.6g}"
            lines += [name, f"  {spread}, 95 % from {low:.6g} to {high:.6g}"]
        else:
            facts[name] = {_key(key): p for key, p in found.items()}
            lines += _lines({name: found})
    log_evidence = next(iter(answers.values())).log_evidence
    return json_document({"posterior": facts, "log_evidence": log_evidence}) if as_json else "\n".join(lines)


def _likelihoods(
    network: BeliefNetwork, given: list[str] | None, soft: list[str] | None, belief: list[str] | None
) -> Mapping[str, Mapping[Any, float]]:
    """Soft evidence, with the likelihoods under which each --belief holds."""
    likelihoods = soft_from(network, soft)
    beliefs = soft_from(network, belief, "--belief")
    if not beliefs:
        return likelihoods
    from bayeswise.networks.soft_evidence import likelihoods_for

    return likelihoods_for(network, beliefs, evidence_from(network, given), likelihoods)


def _best(
    network: BeliefNetwork,
    names: list[str],
    evidence: dict[str, str],
    soft: Mapping[str, Mapping[Any, float]],
    as_json: bool,
) -> str:
    found = network.most_probable(evidence, nodes=names or None, soft=soft)
    if as_json:
        return json_document({"states": found.states, "probability": found.probability, "log_joint": found.log_joint})
    lines = [f"{name} = {state}" for name, state in found.states.items()]
    return "\n".join([*lines, f"together {number(found.probability, 6)} given the evidence"])


def _top(
    network: BeliefNetwork,
    count: int,
    evidence: dict[str, str],
    soft: Mapping[str, Mapping[Any, float]],
    as_json: bool,
) -> str:
    found = network.most_probable_of(count, evidence, soft=soft)
    if as_json:
        return json_document({"explanations": [{"states": e.states, "probability": e.probability} for e in found]})
    free = [name for name in network if name not in evidence]
    rows = [["probability", *free], *([f"{e.probability:.6f}", *(str(e.states[n]) for n in free)] for e in found)]
    return "\n".join(aligned(rows))


def _answers(
    network: BeliefNetwork,
    names: list[str],
    evidence: dict[str, str],
    soft: Mapping[str, Mapping[Any, float]],
    joint: bool,
) -> dict[str, Distribution]:
    if joint:
        if not names:
            raise UsageError("a joint distribution needs nodes", fix="name two or three")
        return {" x ".join(names): network.query(names, evidence, soft=soft)}
    if names:
        return {name: network.query(name, evidence, soft=soft) for name in names}
    return network.marginals(evidence, soft=soft)


def _facts(answers: dict[str, Distribution]) -> dict[str, Any]:
    log_evidence = next(iter(answers.values())).log_evidence
    posterior = {name: {_key(key): p for key, p in answer.items()} for name, answer in answers.items()}
    return {"posterior": posterior, "log_evidence": log_evidence}


def _lines(answers: dict[str, Distribution]) -> list[str]:
    rows = [(_key(key), f"{p:.6f}") for answer in answers.values() for key, p in answer.items()]
    lines = iter(aligned(rows, indent="  "))
    return [line for name, answer in answers.items() for line in (name, *islice(lines, len(answer)))]


def _sampled_facts(answers: dict[str, Estimate]) -> dict[str, Any]:
    return {
        "posterior": {name: {str(s): p for s, p in found.probability.items()} for name, found in answers.items()},
        "standard_error": {
            name: {str(s): None if math.isnan(error) else error for s, error in found.standard_error.items()}
            for name, found in answers.items()
        },
        "method": {name: found.method for name, found in answers.items()},
        "effective_rows": {
            name: None if math.isinf(found.effective_rows) else found.effective_rows for name, found in answers.items()
        },
        "r_hat": {name: found.r_hat for name, found in answers.items()},
        "notes": {name: list(found.notes) for name, found in answers.items()},
    }


def _sampled_lines(answers: dict[str, Estimate]) -> list[str]:
    lines: list[str] = []
    for name, found in answers.items():
        lines.append(f"{name} ({found.worth})")
        errors = {state: found.standard_error[state] for state in found.probability}
        said = {s: "" if math.isnan(e) else f" \N{PLUS-MINUS SIGN} {e:.6f}" for s, e in errors.items()}
        states = [(str(state), f"{p:.6f}{said[state]}") for state, p in found.probability.items()]
        lines += [*aligned(states, (), indent="  "), *(f"  {note}" for note in found.notes)]
    return lines


def _key(key: Any) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
