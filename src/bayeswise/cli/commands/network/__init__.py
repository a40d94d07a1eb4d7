"""`bayeswise network`: its verbs.

query.py     the posteriors of nodes, given what was observed
predict.py   the posteriors of nodes for every row of a table
show.py      nodes in words, or a drawing
explain.py   why a node has its posterior, what setting one does to another, whether findings go together
edit.py      nodes, states and edges removed, renamed and added; the same network in another format
learn.py     a network from a table
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bayeswise.cli.options.command import as_command
from bayeswise.cli.options.pairs import ManyPairs, by_name, by_number, group_of_verbs
from bayeswise.cli.options.settings import LearnCommand
from bayeswise.cli.output.writing import say
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.labels import guess

if TYPE_CHECKING:
    from bayeswise.networks import BeliefNetwork
    from bayeswise.networks.learning import EdgeStrengths
    from bayeswise.networks.mixed import MixedNetwork


# Each verb is the function of its name in a file of this folder: VERB.py, or one that it shares.
VERBS: dict[str, str] = {
    "query": "Compute the posterior of nodes, given evidence.",
    "predict": "Append predictions of nodes to a table.",
    "show": "List or draw the nodes.",
    "explain": "Explain the posterior of a node.",
    "effect": "Compare intervening on a node with observing it.",
    "conflict": "Measure the conflict between findings.",
    "convert": "Convert a network to another file format.",
    "edit": "Remove, rename and add nodes, states and edges.",
    "learn": "Learn a network from a table.",
}


FILES = {"effect": "explain", "conflict": "explain", "convert": "edit"}


def application(words: Sequence[str]) -> typer.Typer:
    """The group of verbs, in which only those among `words` are real."""
    group = group_of_verbs(run)
    for verb, line in VERBS.items():
        command = getattr(import_module(f"{__name__}.{FILES.get(verb, verb)}"), verb) if verb in words else unloaded
        group.command(verb, short_help=line, cls=LearnCommand if verb == "learn" else ManyPairs)(as_command(command))
    return group


def unloaded() -> None:
    """Stand in for a verb that is not run."""


def run() -> None:
    """Query, show, explain, convert, edit or learn a belief network, or predict with it.

    bayeswise network query asia.bif tub lung --given asia=yes dysp=yes

    bayeswise network show asia.bif --svg asia.svg

    bayeswise network explain asia.bif lung --given dysp=yes

    bayeswise network predict asia.bif cases.csv --node lung --proba

    bayeswise network convert asia.bif asia.net

    bayeswise network edit asia.bif -o new.bif --rename-node lung=cancer

    bayeswise network learn table.csv -o table.bif --score bdeu
    """


def network_from(file: str) -> BeliefNetwork:
    """The network in a file; what had to be changed to read it is printed on stderr."""
    from bayeswise.networks import BeliefNetwork

    network = BeliefNetwork.read(file)
    if network.notes:
        say(
            f"{len(network.notes)} tables did not sum to 1 (rounding) and were renormalised; `network show` lists them."
        )
    return network


def mixed_network_from(file: str) -> MixedNetwork | None:
    """The network in a model file, if some of its nodes are numbers."""
    if not file.lower().endswith(".bayeswise"):
        return None
    from bayeswise.models.files import load
    from bayeswise.networks.mixed import MixedNetwork

    model = load(file)
    return model if isinstance(model, MixedNetwork) else None


def strength_facts(found: EdgeStrengths) -> list[dict[str, Any]]:
    """The strengths of edges for JSON: null for what was not measured."""
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(edge).items()
        }
        for edge in found
    ]


NetworkFile: TypeAlias = Annotated[
    str, typer.Argument(help="Network file: .bif, .xmlbif, .net, .xdsl, .dne, .uai (also .gz), or .bayeswise.")
]
Given: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--given", "--evidence", metavar="NODE=STATE ...", help="Observed states (evidence)."),
]
Soft: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--soft", metavar="NODE:STATE=LIKELIHOOD ...", help="Soft evidence: a likelihood for each state of a node."
    ),
]


def edge_from(text: str, names: Sequence[str], option: str, what: str = "column") -> tuple[str, str]:
    """'A -> B' or 'A->B'; names may contain arrows themselves."""
    for place in range(len(text)):
        parent, child = text[:place].strip(), text[place + 2 :].strip()
        if text.startswith("->", place) and parent in names and child in names:
            return parent, child
    parent, arrow, child = (part.strip() for part in text.partition("->"))
    if not arrow:
        raise ParameterError(f"{option} takes an edge; found {text!r}", fix=f"write it as {option} 'A -> B'")
    unknown = parent if parent not in names else child
    raise ParameterError(f"{option} {text!r}: there is no {what} {unknown!r}", fix=guess(unknown, list(names)))


def evidence_from(network: BeliefNetwork, pieces: list[str] | None) -> dict[str, str]:
    """'storm=yes' -> {'storm': 'yes'}; names and states may contain '='."""
    return by_name(pieces or [], network.names, "--given", "NODE=STATE")


def soft_from(network: BeliefNetwork, pieces: list[str] | None, option: str = "--soft") -> dict[str, dict[str, float]]:
    """'wet:yes=.8' -> {'wet': {'yes': .8}}; names may contain colons."""
    found: dict[str, dict[str, float]] = {}
    for word, number in by_number(pieces or [], option, "NODE:STATE=.8").items():
        node = next((n for n in sorted(network.names, key=len, reverse=True) if word.startswith(f"{n}:")), None)
        try:
            likelihood = float(number)
        except ValueError:
            likelihood = math.nan
        if node is None or math.isnan(likelihood):
            raise ParameterError(f"{option} {word}={number} is not NODE:STATE=NUMBER", fix="write it as wet:yes=.8")
        found.setdefault(node, {})[word[len(node) + 1 :]] = likelihood
    return found
