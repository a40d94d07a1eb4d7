"""`bayeswise network convert`: the same network in another format."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeswise.cli.commands.network import network_from
from bayeswise.cli.output.writing import check_output, saved, say


def convert(
    file: Annotated[str, typer.Argument(help="A network (.bif, .xmlbif, .net, .xdsl, .uai, .gz; .bayeswise).")],
    new: Annotated[str, typer.Argument(help="The new file; its suffix says the format.")],
) -> None:
    """Write a network in another format; the tables stay the same to the last bit.

    bayeswise network convert asia.bif asia.xdsl
    """
    network = network_from(file)
    check_output(new, [file])
    for lost in network.write(new):
        say(lost)
    say(saved(new, False))
