"""`bayeswise network convert`: the same network in another format."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeswise.cli.commands.network import NetworkFile, network_from
from bayeswise.cli.output.writing import check_output, saved, say


def convert(
    file: NetworkFile,
    new: Annotated[str, typer.Argument(help="Output file; the suffix chooses the format.")],
) -> None:
    """Convert a network to another file format; all probabilities stay the same to the last bit.

    bayeswise network convert asia.bif asia.xdsl
    """
    network = network_from(file)
    check_output(new, [file])
    for lost in network.write(new):
        say(lost)
    say(saved(new, False))
