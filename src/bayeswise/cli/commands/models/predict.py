"""bayeswise predict MODEL FILE: the table, with a prediction in each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.options import reading
from bayeswise.cli.output.writing import TableOutput, say, write_rows
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, UsageError
from bayeswise.foundation.progress import Bar
from bayeswise.render.labels import quoted

if TYPE_CHECKING:
    from bayeswise.cli.output.answer_stream import Answers, Layout, Tally


def run(
    model: reading.ModelFile,
    files: reading.Files,
    proba: Annotated[bool, typer.Option("--proba", help="Append the probability of each class: p_CLASS.")] = False,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Append log_evidence: small for rows unlike the training rows.")
    ] = False,
    quantiles: Annotated[
        str | None,
        typer.Option("--quantiles", metavar=".05,.95", help="Append quantiles of a number, as q_0.05 and q_0.95."),
    ] = None,
    *,
    output: TableOutput,
    reader: reading.Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document: rows and counts.")] = False,
) -> None:
    """Append predictions to a table.

    \b
    bayeswise predict play.bayeswise new.csv > answers.csv
    cat new.csv | bayeswise predict play.bayeswise - --proba | head

    The new column has the name of the target, or `predicted` if the table already has that column. For a number it
    holds the mean, and stddev is appended as well. Cells and the order of rows are unchanged. Counts of missing and
    unseen values go to stderr.
    """
    from bayeswise.cli.output.answer_stream import kept_columns

    fitted = reading.load_for("predict", model)
    routes = answering(fitted, model, proba=proba, evidence=evidence, quantiles=quantiles)
    written = output.checked([model, *files], as_json=as_json)
    source = reader.open(files, like=fitted.schema, once=True)
    kept, opaque = kept_columns(output.keep, source.columns, source.description)
    target = fitted.schema.target.name
    layout = routes.layout(kept, target)
    with Bar(f"predicting {source.description}", shown=output.out is not None) as bar:
        answers = routes.answers(reading.Watched(source, bar, also=layout.kept), layout)
        about = {"target": target, "answer": layout.answer, **routes.about}
        text = written.text(
            source, fitted.schema, as_json=as_json, raw=output.raw, about=about, totals=answers.tally.to_dict
        )
        write_rows(answers, layout.names, text, output.out)
    say(*_remarks(layout, target, opaque, answers.tally))
    if output.is_file:
        say(f"Saved {output.out}: {answers.tally.rows:,} rows, the answer in column {layout.answer!r}.")


@dataclass(frozen=True)
class Route:
    """How a kind of model answers: which columns come out, and what fills them."""

    layout: Callable[[list[str], str], Layout]
    answers: Callable[[Any, Any], Answers]
    about: dict[str, Any]


def answering(model: Any, path: str, *, proba: bool, evidence: bool, quantiles: str | None) -> Route:
    """How a classifier answers, or a regression of a number; options that it does not have are refused."""
    from bayeswise.cli.output.answer_stream import Answers, Layout, NumberAnswers, NumberLayout, quantiles_of

    if model.capabilities.classes:
        if quantiles is not None:
            raise UsageError("--quantiles is about numbers, and this model answers with a class", fix="use --proba")
        if evidence and not model.capabilities.row_probability:
            raise KindError(
                f"{path} holds a model of classes given rows, which has no p(row)",
                fix="leave out --evidence, or fit --model gaussian or naive-bayes",
            )
        return Route(
            lambda kept, target: Layout.of(kept, target, model.classes, proba=proba, evidence=evidence),
            lambda source, layout: Answers(model, source, layout),
            {"classes": list(model.classes)},
        )
    if proba or evidence:
        option = "--proba" if proba else "--evidence"
        what = f"{option} is about classes, and this model answers with a number"
        raise UsageError(what, fix="use --quantiles .05,.95")
    shares = quantiles_of(quantiles)
    return Route(
        lambda kept, target: NumberLayout.named(kept, target, shares),
        lambda source, layout: NumberAnswers(model, source, layout, shares),
        {"quantiles": shares},
    )


def _remarks(layout: Layout, target: str, opaque: list[str], tally: Tally) -> Iterator[str]:
    from bayeswise.tables.schema.notes import cells_of

    if layout.answer != target:
        yield f"The table has a column {target!r} already: the answer is in {layout.answer!r}."
    for name in opaque:
        yield f"{quoted(name)}: lists and bytes are not cells of a text table; left out."
    names = dict.fromkeys([*tally.missing, *tally.unseen, *tally.invalid])
    for name in names:
        found: list[str] = []
        if name in tally.missing:
            found.append(f"{cells_of(tally.missing[name])} missing")
        if name in tally.invalid:
            found.append(f"of these {tally.invalid[name]}")
        if name in tally.unseen:
            found.append(f"{cells_of(tally.unseen[name])} unseen: a level that the model never saw")
        yield f"{quoted(name)}: {'; '.join(found)}."
