"""bayeswise inspect MODEL: what a model file holds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayeswise.cli.options.reading import ModelFile, load_with_facts
from bayeswise.cli.output.writing import Picture, check_picture, json_document, say
from bayeswise.foundation.errors import KindError


def run(
    model: ModelFile,
    png: Picture = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show the contents of a model file: columns, what was learned about each, and settings.

    \b
    bayeswise inspect play.bayeswise
    bayeswise inspect play.bayeswise --json | jq .columns
    bayeswise inspect tree.bayeswise --png tree.png
    """
    from bayeswise.models.base.facts import about_model, selection_lines
    from bayeswise.models.files import inner_of, kind_of
    from bayeswise.models.forgetting import forgotten_by

    check_picture(png, [model])
    fitted, described = load_with_facts("inspect", model)
    about_file = {name: described[name] for name in ("kind", "format", "checksum", "size")}
    facts = {"model": model, **about_file, **about_model(fitted)}
    if png is not None:
        tree = inner_of(fitted)
        if not tree.capabilities.questions:
            raise KindError(
                f"--png draws a tree, and {model} holds a {kind_of(tree)} model",
                fix="leave it out; explain, densities and network show draw other models",
            )
        tree.plot().save(png)
    if as_json:
        print(json_document({**facts, "columns": [_with_earlier_names(column) for column in facts["columns"]]}))
    else:
        from bayeswise.cli.output.inspect_page import show

        show(facts)
    if fitted.capabilities.classes and forgotten_by(fitted):
        say(*selection_lines(fitted.selected_by_rows))
    say(*([f"Saved {png}."] if png is not None else []))


def _with_earlier_names(column: dict[str, Any]) -> dict[str, Any]:
    """A column with the parameters of a student-t also by the name that scripts of earlier versions read."""
    learned = column["learned"] or {}
    return {**column, "learned": {**learned, "freedom": learned["df"]}} if "df" in learned else column
