"""bayeswise fit FILE -t TARGET -o MODEL: from a table to a model file."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Annotated, Literal

import typer

from bayeswise.cli import columns, reading
from bayeswise.cli.progress import Bar
from bayeswise.cli.writing import check_model_output, default_model_name, saved, say
from bayeswise.foundation.errors import UsageError


def run(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="A table: files, globs, or - for stdin.")
    ],
    target: Annotated[
        str | None, typer.Option("-t", "--target", metavar="COL", help="The column to predict.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("-o", "--output", metavar="MODEL", help="The model file [TARGET.bayeswise].")
    ] = None,
    category: columns.Categories = None,
    number: columns.Numbers = None,
    count: columns.Counts = None,
    binary: columns.Flags = None,
    text: columns.Texts = None,
    ignore: columns.Ignored = None,
    levels: Annotated[
        list[str] | None, typer.Option("--levels", metavar="COL=A,B,C", help="All levels a column can have.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option("--weight", metavar="COL", help="The weight of each row.")
    ] = None,
    null: columns.NullWords = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            "--missing", metavar="[COL=]ignore|level|error", help="What a missing cell means [ignore]."
        ),
    ] = None,
    unseen: Annotated[
        list[str] | None,
        typer.Option(
            "--unseen", metavar="[COL=]smooth|ignore|error", help="What a new level means later [smooth]."
        ),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(
            "--family", metavar="[COL=]FAMILY", help="normal, poisson, gamma, ...; for text bernoulli, ..."
        ),
    ] = None,
    convention: Annotated[
        str | None,
        typer.Option("--convention", metavar="NAME", help="laplace, exact, weka, scikit-learn, ..."),
    ] = None,
    smoothing: Annotated[
        float | None, typer.Option("--smoothing", metavar="A", help="Imagined rows of each level [1].")
    ] = None,
    m_estimate: Annotated[
        float | None, typer.Option("--m-estimate", metavar="M", help="Imagined rows shared by all levels.")
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", metavar="CLASS=P ...", help="The prior, if it is not to be counted."),
    ] = None,
    prior_smoothing: Annotated[
        float | None, typer.Option("--prior-smoothing", metavar="A", help="Imagined rows of each class [0].")
    ] = None,
    variance_divisor: Annotated[
        Literal["n", "n-1"] | None, typer.Option("--variance-divisor", help="Of normal columns [n].")
    ] = None,
    shared_variance: Annotated[
        bool, typer.Option("--shared-variance", help="One variance for all classes: the log-odds are linear.")
    ] = False,
    kind: Annotated[
        Literal["naive-bayes", "averaged"],
        typer.Option("--model", help="One naive Bayes, or the average over all subsets of relevant columns."),
    ] = "naive-bayes",
    like: Annotated[
        str | None,
        typer.Option(
            "--like", metavar="MODEL", help="The columns and settings of this model, to merge with it."
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", min=1, help="At most so many.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is no model.")] = False,
    delimiter: reading.Delimiter = None,
    decimal: reading.Decimal = None,
    encoding: reading.Encoding = None,
    table: reading.TableName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was learned as JSON.")] = False,
) -> None:
    """Learn naive Bayes from a table and save the model.

    \b
    bayeswise fit golf.csv -t play -o play.bayeswise
    bayeswise fit 'visits-*.csv' -t ill --count visits --category zip

    Kinds and families of columns are found out (see `bayeswise look`) unless they are asked for. The same
    rows give the same file, byte for byte, in any order. A model that is there already is replaced when the
    new one is whole.
    """
    from bayeswise.cli.loading import load_for
    from bayeswise.cli.table_text import as_json as json_text
    from bayeswise.cli.wanted import Wanted, beliefs, facts_of
    from bayeswise.models.naive_bayes.learning import learned_like

    typed = beliefs(
        smoothing=smoothing,
        m_estimate=m_estimate,
        prior_smoothing=prior_smoothing,
        variance_divisor=variance_divisor,
        shared_variance=shared_variance,
        convention=convention,
    )
    wanted = Wanted(
        {
            "category": category,
            "number": number,
            "count": count,
            "binary": binary,
            "text": text,
            "ignore": ignore,
        },
        levels=levels,
        weight=weight,
        missing=missing,
        unseen=unseen,
        family=family,
        beliefs=typed,
        prior=prior,
    )
    model_like = None if like is None else load_for("fit --like", like, "factors")
    if model_like is not None:
        wanted.nothing_beside(model_like, target)
        target = model_like.schema.target.name
    if target is None:
        raise UsageError("there is no target", fix="add -t COL; `bayeswise look FILE` shows the columns")
    asking = None
    if kind == "averaged":
        from bayeswise.models.averaged_naive_bayes import averaged, with_pairs

        asking = with_pairs
    path = out or default_model_name(target)
    replaced = check_model_output(path, [*files, *([] if like is None else [like])], force=force)
    with Bar("learning") as bar:
        opened = reading.open_table(
            files, null=null, delimiter=delimiter, decimal=decimal, encoding=encoding, table=table
        )
        source = reading.Watched(opened, bar)
        if model_like is None:
            model, report = wanted.learned(source, target, threads, asking)
        else:
            model, report = learned_like(model_like, source, threads=threads)
            model = replace(model_like, statistics=model.statistics)
    model = wanted.with_prior(model)
    if kind == "averaged" and model_like is None:
        model = averaged(model)
    facts = facts_of(
        model, report, source.description, path, replaced
    )  # finds all that is wrong before it is saved
    model.save(path)
    if as_json:
        print(json_text(facts, indent=2))
        return
    from bayeswise.cli.fit_page import show

    show(facts)
    say(saved(path, replaced), f"Next: bayeswise predict {shlex.quote(path)} NEW.csv > answers.csv")
