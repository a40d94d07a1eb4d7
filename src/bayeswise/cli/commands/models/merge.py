"""bayeswise merge A B -o C: the model of all rows, from models of some."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

import typer

from bayeswise.cli.options.command import AsJson
from bayeswise.cli.options.reading import load_for
from bayeswise.cli.output.writing import check_model_output, json_document, reported_warnings, saved, say
from bayeswise.foundation.errors import KindError, UsageError
from bayeswise.render.labels import quoted, with_article
from bayeswise.render.terminal import plain_table


def run(
    models: Annotated[list[str], typer.Argument(metavar="MODEL", help="Two or more model files.")],
    out: Annotated[str, typer.Option("-o", "--output", metavar="MODEL", help="Output file.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is not a model.")] = False,
    as_json: AsJson = False,
) -> None:
    """Merge models of several tables: the result is the model of all rows together, byte for byte.

    \b
    bayeswise fit north.csv -t ill -o north.bayeswise
    bayeswise fit south.csv --like north.bayeswise -o south.bayeswise
    bayeswise merge north.bayeswise south.bayeswise -o both.bayeswise

    The models must have the same columns and settings; use `fit --like`.
    """
    from bayeswise.models.base.facts import calibration_lines, calibration_of, class_weights, count_of, weight_of
    from bayeswise.models.base.table_model import capabilities_of

    if len(models) < 2:
        raise UsageError("merge takes two models or more", fix="name another one")
    replaced = check_model_output(out, [], force=force, updated=models)
    loaded = [load_for("merge", path, "forgets") for path in models]
    refuse_other_kinds(models, loaded)
    say(*(f"{path} is named twice: its rows count twice." for path, times in Counter(models).items() if times > 1))
    first_calibrated = sorted(loaded, key=lambda each: not capabilities_of(each).calibrated)
    with reported_warnings():
        merged = reduce(lambda one, other: one.merge(other), first_calibrated)
    merged.save(out)
    facts: dict[str, Any] = {
        "model": out,
        "replaced": replaced,
        "merged": models,
        "target": merged.schema.target.name,
        "rows": count_of(weight_of(merged)),
        "classes": class_weights(merged),
        **calibration_of(merged),
    }
    if as_json:
        print(json_document(facts))
        return
    show(facts, loaded)
    say(*calibration_lines(facts))
    say(saved(out, replaced))


def refuse_other_kinds(paths: list[str], loaded: list[Any]) -> None:
    """Models of one kind only can be added up."""
    from bayeswise.models.files import inner_of, kind_of

    for path, model in zip(paths, loaded, strict=True):
        one, other = kind_of(inner_of(loaded[0])), kind_of(inner_of(model))
        if one != other:
            raise KindError(
                f"{paths[0]} is {with_article(one)} model and {path} {with_article(other)} model",
                fix="merge models of one kind",
            )


def show(facts: dict[str, Any], loaded: list[Any]) -> None:
    """The weight of each model, and the classes of all."""
    from rich.console import Console
    from rich.text import Text

    from bayeswise.cli.output.look_page import class_table
    from bayeswise.models.base.facts import weight_of

    unit = "rows" if loaded[0].schema.weight is None else "weight"
    lines = plain_table()
    lines.add_column("model", overflow="fold")
    lines.add_column(unit, justify="right")
    totals = [weight_of(model) for model in loaded]
    for path, total in zip(facts["merged"], totals, strict=True):
        lines.add_row(Text(quoted(Path(path).name, 60)), f"{total:,.10g}")
    lines.add_row(Text("together", "bold"), f"{sum(totals):,.10g}")
    classes = ["", class_table(facts, unit)] if facts["classes"] else []
    Console(highlight=False, emoji=False).print(lines, *classes, sep="\n")
