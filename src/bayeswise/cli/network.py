"""`bayeswise network`: ask, show, convert and learn belief networks."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.pairs import by_name, by_number
from bayeswise.cli.writing import check_output, saved, say
from bayeswise.foundation.errors import ParameterError, UsageError

if TYPE_CHECKING:
    from bayeswise.networks import BeliefNetwork, Distribution


class Action(StrEnum):
    """What to do with a network."""

    query = "query"
    show = "show"
    convert = "convert"
    learn = "learn"


def run(
    action: Annotated[Action, typer.Argument(help="What to do.")],
    file: Annotated[str, typer.Argument(help="A network (.bif, .xmlbif, .net); for learn, a table.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="query: the nodes asked for, else all; convert: the new file.")
    ] = None,
    given: Annotated[list[str] | None, typer.Option(metavar="NODE=STATE ...", help="query: what was observed.")] = None,
    soft: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE:STATE=LIKELIHOOD ...", help="query: evidence that is not certain, for each state."),
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="query: the joint distribution of the nodes.")] = False,
    best: Annotated[bool, typer.Option("--best", help="query: the most probable states together.")] = False,
    dot: Annotated[bool, typer.Option("--dot", help="show: the graph in the language of Graphviz.")] = False,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="learn: where the network goes.")
    ] = None,
    method: Annotated[str, typer.Option(help="learn: hill-climbing, k2 or chow-liu.")] = "hill-climbing",
    score: Annotated[str, typer.Option(help="learn: bic, aic, bdeu or k2.")] = "bic",
    order: Annotated[str | None, typer.Option(metavar="A,B,...", help="learn: the order of k2, causes first.")] = None,
    max_parents: Annotated[int | None, typer.Option(min=0, help="learn: how many parents a node may have.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="learn: leave a column out.")] = None,
    missing: Annotated[str, typer.Option(help="learn: rows with holes are an error, or drop them.")] = "error",
    strength: Annotated[float, typer.Option(min=0.0, help="learn: imagined rows of the prior.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Ask, show, convert or learn a belief network.

    bayeswise network query asia.bif tub lung --given asia=yes dysp=yes

    bayeswise network show asia.bif

    bayeswise network convert asia.bif asia.net

    bayeswise network learn table.csv -o table.bif --score bdeu
    """
    from bayeswise.networks import BeliefNetwork

    if action is Action.learn:
        wishes = {
            "method": method,
            "score": score,
            "order": order.split(",") if order else None,
            "max_parents": max_parents,
            "ignore": ignore or (),
            "missing": missing,
            "strength": strength,
        }
        _learn(file, output, wishes, as_json)
        return
    network = BeliefNetwork.read(file)
    if network.notes:
        say(f"{len(network.notes)} tables were off by rounding and have been renormalised; `network show` lists them.")
    if action is Action.convert:
        _convert(network, file, names or [])
    elif action is Action.show:
        print(_dot(network) if dot else _shown(network, as_json))
    else:
        print(
            _answer(
                network, names or [], _evidence(network, given or []), _soft(network, soft or []), joint, best, as_json
            )
        )


def _learn(table: str, output: str | None, wishes: dict[str, Any], as_json: bool) -> None:
    from bayeswise.networks import BeliefNetwork

    if output is None:
        raise UsageError("the network needs a place", fix="add -o network.bif")
    check_output(output, [table])
    network = BeliefNetwork.learn(table, **wishes)
    network.write(output)
    if as_json:
        print(_json({"nodes": list(network.names), "edges": [list(edge) for edge in network.edges], "file": output}))
    else:
        for parent, child in network.edges:
            print(f"{parent} -> {child}")
    say(saved(output, False))


def _convert(network: BeliefNetwork, file: str, names: list[str]) -> None:
    if len(names) != 1:
        raise UsageError("convert needs the new file", fix=f"write: bayeswise network convert {file} NEW.net")
    check_output(names[0], [file])
    network.write(names[0])
    say(saved(names[0], False))


# -- what is shown --------------------------------------------------------------------------------------------


def _shown(network: BeliefNetwork, as_json: bool) -> str:
    nodes: list[dict[str, Any]] = [
        {
            "name": name,
            "states": list(network.states(name)),
            "parents": list(network.parents(name)),
            "rows": len(network.table(name)),
        }
        for name in network
    ]
    if as_json:
        facts = {"name": network.name, "nodes": nodes, "parameters": network.n_parameters, "notes": list(network.notes)}
        return _json(facts)
    lines = [f"{len(network)} nodes, {len(network.edges)} edges, {network.n_parameters} free numbers"]
    for node in nodes:
        above = f" | {', '.join(node['parents'])}" if node["parents"] else ""
        lines.append(f"  {node['name']}{above}: {', '.join(map(str, node['states']))}")
    return "\n".join([*lines, *(f"note: {note}" for note in network.notes)])


def _dot(network: BeliefNetwork) -> str:
    def word(name: str) -> str:
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    lines = [f"  {word(name)};" for name in network]
    lines += [f"  {word(parent)} -> {word(child)};" for parent, child in network.edges]
    return "\n".join(["digraph network {", *lines, "}"])


# -- questions ------------------------------------------------------------------------------------------------


def _evidence(network: BeliefNetwork, pieces: list[str]) -> dict[str, str]:
    return by_name(pieces, network.names, "--given", "NODE=STATE")


def _soft(network: BeliefNetwork, pieces: list[str]) -> dict[str, dict[str, float]]:
    """'wet:yes=.8' -> {'wet': {'yes': .8}}; names may contain colons."""
    found: dict[str, dict[str, float]] = {}
    for word, number in by_number(pieces, "--soft", "NODE:STATE=.8").items():
        node = next((n for n in sorted(network.names, key=len, reverse=True) if word.startswith(f"{n}:")), None)
        try:
            likelihood = float(number)
        except ValueError:
            likelihood = math.nan
        if node is None or math.isnan(likelihood):
            raise ParameterError(f"--soft {word}={number} is not NODE:STATE=LIKELIHOOD", fix="write it as wet:yes=.8")
        found.setdefault(node, {})[word[len(node) + 1 :]] = likelihood
    return found


def _answer(
    network: BeliefNetwork,
    names: list[str],
    evidence: dict[str, str],
    soft: dict[str, dict[str, float]],
    joint: bool,
    best: bool,
    as_json: bool,
) -> str:
    if best:
        found = network.most_probable(evidence, nodes=names or None, soft=soft)
        if as_json:
            return _json({"states": found.states, "probability": found.probability, "log_joint": found.log_joint})
        lines = [f"{name} = {state}" for name, state in found.states.items()]
        return "\n".join([*lines, f"together {found.probability:.6g} given the evidence"])
    if joint:
        if not names:
            raise UsageError("a joint distribution needs nodes", fix="name two or three")
        answers = {" x ".join(names): network.query(names, evidence, soft=soft)}
    elif names:
        answers = {name: network.query(name, evidence, soft=soft) for name in names}
    else:
        answers = network.marginals(evidence, soft=soft)
    return _json(_facts(answers)) if as_json else "\n".join(_lines(answers))


def _facts(answers: dict[str, Distribution]) -> dict[str, Any]:
    log_evidence = next(iter(answers.values())).log_evidence
    posterior = {name: {_key(key): p for key, p in answer.items()} for name, answer in answers.items()}
    return {"posterior": posterior, "log_evidence": log_evidence}


def _lines(answers: dict[str, Distribution]) -> list[str]:
    width = max(len(_key(key)) for answer in answers.values() for key in answer)
    lines: list[str] = []
    for name, answer in answers.items():
        lines.append(name)
        lines += [f"  {_key(key).ljust(width)}  {p:.6f}" for key, p in answer.items()]
    return lines


def _key(key: Any) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _json(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False, allow_nan=False, indent=2)
