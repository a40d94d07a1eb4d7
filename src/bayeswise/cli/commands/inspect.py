"""bayeswise inspect MODEL: what a model file holds."""

from __future__ import annotations

from typing import Annotated, Any

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
    from bayeswise.cli.output.table_text import as_json as json_text

    fitted, described = load_with_facts("inspect", model, "schema")
    about_file = {name: described[name] for name in ("kind", "format", "checksum", "size")}
    facts = {"model": model, **about_file, **about_model(fitted)}
    if as_json:
        print(json_text(facts, indent=2))
        return
    from bayeswise.cli.output.inspect_page import show

    show(facts)


def about_model(model: Any) -> dict[str, Any]:
    """What the model knows; of one without rows only what it looks at."""
    from bayeswise.cli.output.model_facts import (
        calibration_of,
        class_prior,
        class_weights,
        columns_of,
        convention_of,
        mixture_of,
        parameters_of,
        regression_of,
        settings_of,
        temper_of,
    )

    schema = model.schema
    regression = regression_of(model) if knows_rows(model) else {}
    classes = class_weights(model)
    learned = parameters_of(model) if classes else {}
    policies = {column.name: {"missing": column.missing, "unseen": column.unseen} for column in schema}
    counted = classes or "weights" in regression
    return {
        "target": None if schema.target is None else schema.target.name,
        "weight": schema.weight,
        "null_words": None if schema.null_words is None else list(schema.null_words),
        "classes": classes,
        "prior": class_prior(model) if classes else {},
        "convention": convention_of(model),
        **calibration_of(model),
        "settings": settings_of(model.settings),
        "n_free_parameters": model.n_free_parameters() if counted else 0,
        "columns": [
            {**column, **policies[column["name"]], "learned": learned.get(column["name"])}
            for column in columns_of(model)
        ],
        **temper_of(model),
        **regression,
        **mixture_of(model),
    }


def knows_rows(model: Any) -> bool:
    """Whether anything was learned: a model may have forgotten all its rows."""
    rows: float | None = None if model.capabilities.classes else model.rows_learned
    return rows is None or rows > 0
