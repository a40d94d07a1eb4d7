"""bayeswise concept FILE -t TARGET: which combinations of levels make up a class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from bayeswise.cli.options import reading
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.output.writing import json_document
from bayeswise.foundation.errors import row_number
from bayeswise.render.labels import shown
from bayeswise.render.numbers import number

_MOST_SHOWN = 20


def run(
    files: reading.Files,
    target: Annotated[str, typer.Option("-t", "--target", metavar="COL", help="Column of the class.")],
    positive: Annotated[
        str | None, typer.Option("--positive", metavar="CLASS", help="Positive class (default: yes, true or 1).")
    ] = None,
    noise: Annotated[
        float, typer.Option("--noise", metavar="P", help="Share of wrong labels, from 0 to below 0.5.")
    ] = 0.0,
    prior: Annotated[
        Literal["uniform", "specific", "general"],
        typer.Option("--prior", help="Prior over concepts: uniform, or in favour of specific or general ones."),
    ] = "uniform",
    *,
    category: reading.Categories = None,
    ignore: reading.Ignored = None,
    reader: reading.Reading,
    as_json: AsJson = False,
) -> None:
    """Find the conjunctions of levels that are consistent with a table (version space); "?" stands for any level.

    \b
    bayeswise concept enjoy.csv -t enjoy
    bayeswise concept enjoy.csv -t enjoy --noise .05 --json

    S holds the most specific concepts that cover every positive row and no other row, G the most general ones. If rows
    contradict each other the version space is empty and the rows are listed; --noise allows for wrong labels.
    """
    from bayeswise.models.hypotheses.concepts import as_plain, learn_concept

    source = reader.open(files)
    overrides = reading.Kinds(category=category, ignore=ignore).overrides([each.name for each in source.columns])
    model = learn_concept(
        source, target, positive=_label(positive, source, target), noise=noise, prior=prior, **overrides
    )
    facts = as_plain(model)
    print(json_document(facts) if as_json else "\n".join(_page(facts, target)))


def _label(positive: str | None, source: Any, target: str) -> Any:
    """What was typed, as a label of the column's own type."""
    if positive is None:
        return None
    from bayeswise.tables.schema.inference import examine

    examined = examine(source, target).target
    classes = [] if examined is None else [label for label, _ in examined.classes]
    return next((label for label in classes if str(label) == positive), positive)


def _page(facts: Mapping[str, Any], target: str) -> Iterator[str]:
    rows = "1 row" if facts["rows"] == 1 else f"{facts['rows']:,} rows"
    yield f"{target} = {facts['positive']}: {rows}, {facts['concepts']:,} concepts"
    if facts["collapsed"]:
        yield "No concept agrees with every row. In the way:"
        for conflict in facts["conflicts"][:_MOST_SHOWN]:
            alike = ", ".join(str(row_number(row)) for row in conflict["same_cells"])
            note = f", though row {alike} with the same cells is" if alike else ""
            row, cells = row_number(conflict["row"]), _concept_text(conflict["cells"])
            yield f"  row {row} {cells} is not {facts['positive']}{note}"
        if len(facts["conflicts"]) > _MOST_SHOWN:
            yield f"  ... and {len(facts['conflicts']) - _MOST_SHOWN:,} more"
        if facts["noise"] == 0:
            yield "Go on with --noise .05: labels may then be wrong now and then."
    else:
        known = "" if facts["consistent"] is None else f" ({_agreeing(facts['consistent'])} with every row)"
        yield f"Most specific{known}:"
        yield from (f"  {_concept_text(concept)}" for concept in facts["S"])
        yield "Most general:"
        yield from _general(facts["G"])
    if facts["map"] is not None:
        yield f"Most probable, with p = {number(facts['p_map'])} ({facts['prior']} prior):"
        yield f"  {_concept_text(facts['map'])}"


def _general(concepts: Sequence[Mapping[str, Any]] | None) -> Iterator[str]:
    if concepts is None:
        yield "  too many to list; more rows of the class, or fewer columns, would leave less open"
        return
    yield from (f"  {_concept_text(concept)}" for concept in concepts[:_MOST_SHOWN])
    if len(concepts) > _MOST_SHOWN:
        yield f"  ... and {len(concepts) - _MOST_SHOWN:,} more"


def _agreeing(n_concepts: int) -> str:
    return "1 concept agrees" if n_concepts == 1 else f"{n_concepts:,} concepts agree"


def _concept_text(concept: Mapping[str, Any]) -> str:
    if all(level is None for level in concept.values()):
        return "(nothing)"
    demands = [f"{shown(name)} = {shown(level)}" for name, level in concept.items() if level != "?"]
    return ", ".join(demands) or "(everything)"
