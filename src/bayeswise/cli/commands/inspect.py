"""bayeswise inspect MODEL: what a model file holds."""

from __future__ import annotations

from typing import Annotated

import typer


def run(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show the contents of a model file: columns, what was learned about each, and settings.

    \b
    bayeswise inspect play.bayeswise
    bayeswise inspect play.bayeswise --json | jq .columns
    """
    from bayeswise.cli.options.reading import load_with_facts
    from bayeswise.cli.output.writing import json_document
    from bayeswise.models.facts import about_model

    fitted, described = load_with_facts("inspect", model, "schema")
    about_file = {name: described[name] for name in ("kind", "format", "checksum", "size")}
    facts = {"model": model, **about_file, **about_model(fitted)}
    if as_json:
        print(json_document(facts))
        return
    from bayeswise.cli.output.inspect_page import show

    show(facts)
