"""Evidence on the command line: NODE=STATE for what was seen, NODE:STATE=LIKELIHOOD for what is not certain."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import typer

from bayeswise.cli.pairs import by_name, by_number
from bayeswise.foundation.errors import ParameterError

if TYPE_CHECKING:
    from bayeswise.networks import BeliefNetwork

GIVEN = typer.Option("--given", "--evidence", metavar="NODE=STATE ...", help="What was observed.")
SOFT = typer.Option("--soft", metavar="NODE:STATE=LIKELIHOOD ...", help="Evidence that is not certain, for each state.")


BELIEF = typer.Option(
    "--belief", metavar="NODE:STATE=P ...", help="What shall be believed of a node afterwards, for each state."
)


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
