"""bayeswise serve FOLDER: the workbench, a local page on a folder, and the service of its models."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from bayeswise.cli.output.writing import say
from bayeswise.foundation.errors import NotInstalledError, UsageError


def run(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A folder of tables and models.")] = ".",
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65_535, metavar="PORT", help="Port [8642, else a free one].")
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow an address that other machines can reach.")
    ] = False,
    name: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Host name that requests may use, besides the address."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Open the workbench of a folder in the browser, and serve predictions of its models.

    \b
    bayeswise serve examples/
    bayeswise serve models/ --port 8000 --no-browser

    The server listens on this machine only, and accepts only requests with the token in the URL that it prints; the
    environment variable BAYESWISE_TOKEN sets the token. Files outside FOLDER are never read or written.
    """
    try:
        from bayeswise.workbench.app import Address, serve
    except ModuleNotFoundError as missing:
        if missing.name is not None and missing.name.startswith("bayeswise"):
            raise
        raise NotInstalledError(f"`bayeswise serve` needs {missing.name}", fix="pip install 'bayeswise[web]'") from None
    address = Address(host, port, tuple(name or ()))
    if not address.is_loopback:
        if not allow_remote:
            raise UsageError(
                f"{host} can be reached from other machines",
                fix="leave --host out, or add --allow-remote if anyone with the token may read and write the folder",
            )
        say(
            f"{host} can be reached from other machines, without encryption: anyone who has or intercepts the "
            "token can read and write the tables and models of this folder. Put a proxy with TLS before it."
        )
    token = os.environ.get("BAYESWISE_TOKEN")
    if token is not None and len(token) < 16:
        raise UsageError("BAYESWISE_TOKEN is shorter than 16 characters", fix="choose a long random word, or unset it")
    serve(folder, address, browser=not no_browser, token=token)
