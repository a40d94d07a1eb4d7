"""bayeswise fit FILE -t TARGET -o MODEL: from a table to a model file."""

from __future__ import annotations

import shlex
from typing import Annotated, Literal

import typer

from bayeswise.cli.options import columns, reading
from bayeswise.cli.options import costs as decision_option
from bayeswise.cli.output.writing import check_model_output, default_model_name, saved, say, told_warnings
from bayeswise.foundation.errors import UsageError
from bayeswise.foundation.progress import Bar
from bayeswise.models.registry import NAMES, kind_of_name


def run(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="A table: files, globs, or - for stdin.")],
    target: Annotated[str | None, typer.Option("-t", "--target", metavar="COL", help="The column to predict.")] = None,
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
    weight: Annotated[str | None, typer.Option("--weight", metavar="COL", help="The weight of each row.")] = None,
    null: columns.NullWords = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            "--missing",
            metavar="[COL=]ignore|level|error|em",
            help="How missing values are treated [ignore]; em: networks only; regressions: error or mean [error].",
        ),
    ] = None,
    unseen: Annotated[
        list[str] | None,
        typer.Option(
            "--unseen",
            metavar="[COL=]smooth|ignore|error",
            help="How levels that were never seen are treated [smooth].",
        ),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option("--family", metavar="[COL=]FAMILY", help="normal, poisson, gamma, ...; for text bernoulli, ..."),
    ] = None,
    convention: Annotated[
        str | None,
        typer.Option("--convention", metavar="NAME", help="laplace, exact, weka, scikit-learn, ..."),
    ] = None,
    smoothing: Annotated[
        float | None, typer.Option("--smoothing", metavar="A", help="Pseudo-counts of each level [1].")
    ] = None,
    m_estimate: Annotated[
        float | None, typer.Option("--m-estimate", metavar="M", help="Pseudo-counts shared by all levels.")
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            "--prior",
            metavar="CLASS=P ...",
            help="Prior of the classes [their shares]; regressions: prior of the weights, gaussian, laplace, none or, "
            "logistic only, student-t [gaussian].",
        ),
    ] = None,
    prior_smoothing: Annotated[
        float | None, typer.Option("--prior-smoothing", metavar="A", help="Pseudo-counts of each class [0].")
    ] = None,
    variance_divisor: Annotated[
        Literal["n", "n-1", "n-K"] | None,
        typer.Option("--variance-divisor", help="Divisor of variances [n]; n-K, with K classes, is for gaussian."),
    ] = None,
    shared_variance: Annotated[
        bool, typer.Option("--shared-variance", help="One variance for all classes: the log-odds are linear.")
    ] = False,
    kind: Annotated[
        str,
        typer.Option(
            "--model",
            autocompletion=lambda: list(NAMES),
            metavar="KIND",
            help="naive-bayes, its average over all subsets of relevant columns (averaged), Gaussian classes with "
            "correlated columns (gaussian), the regression of classes (logistic) or of a number (linear), or a "
            "network in which columns depend on each other (tan, aode, k-dependence, markov-blanket).",
        ),
    ] = "naive-bayes",
    relevance: Annotated[
        float | None,
        typer.Option("--relevance", metavar="P", help="averaged: prior probability that a column is relevant [1/2]."),
    ] = None,
    temper: Annotated[
        str | None,
        typer.Option(
            "--temper",
            metavar="HOW",
            help="averaged: count once what columns say together, by their pairs: auto (numbers, while rows are few), "
            "pairs (always, and categories too), or an exponent of numbers [auto].",
        ),
    ] = None,
    covariance: Annotated[
        Literal["per-class", "shared", "diagonal", "shared-diagonal", "spherical"] | None,
        typer.Option(
            "--covariance",
            metavar="FORM",
            help="per-class, shared (log-odds are linear), diagonal, shared-diagonal, spherical [per-class].",
        ),
    ] = None,
    shrinkage: Annotated[
        str | None, typer.Option("--shrinkage", metavar="A|auto", help="Shrinkage of correlations, from 0 to 1 [0].")
    ] = None,
    predictive: Annotated[
        Literal["plug-in", "student-t"] | None,
        typer.Option("--predictive", help="student-t integrates the parameters out [plug-in]."),
    ] = None,
    likelihood: Annotated[
        Literal["gaussian", "student-t", "laplace", "poisson", "exponential"] | None,
        typer.Option(
            "--likelihood",
            metavar="NAME",
            help="linear: distribution of the target: gaussian, student-t, laplace, poisson, exponential [gaussian].",
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale",
            metavar="X|evidence|cv",
            help="Scale of the prior of the weights, for standardised columns; learned by evidence (gaussian "
            "prior; not for student-t and laplace likelihoods) or cv [linear, gaussian: evidence; otherwise 1].",
        ),
    ] = None,
    df: Annotated[
        float | None, typer.Option("--df", metavar="F", help="Degrees of freedom of a student-t [4].")
    ] = None,
    marginalize: Annotated[
        bool,
        typer.Option("--marginalize", help="logistic: average probabilities over the posterior of the weights."),
    ] = False,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Fit no intercept.")] = False,
    no_standardise: Annotated[
        bool, typer.Option("--no-standardise", help="Apply the prior to the columns as they are.")
    ] = False,
    bdeu: Annotated[
        float | None, typer.Option("--bdeu", metavar="S", help="Pseudo-counts of each whole table.")
    ] = None,
    cuts: Annotated[
        list[str] | None,
        typer.Option("--cuts", metavar="COL=5,7", help="Cut points of a number column [found by the classes]."),
    ] = None,
    parents: Annotated[
        int | None,
        typer.Option("--parents", metavar="N", help="k-dependence, markov-blanket: maximum number of parents [2, 3]."),
    ] = None,
    min_frequency: Annotated[
        float | None,
        typer.Option(
            "--min-frequency", metavar="N", help="aode: minimum number of rows of a level that is a superparent [1]."
        ),
    ] = None,
    criterion: Annotated[
        Literal["bic", "aic", "mdl", "bdeu", "k2"] | None,
        typer.Option("--criterion", help="markov-blanket: score that the search maximises [bic]."),
    ] = None,
    calibrate: Annotated[
        str | None,
        typer.Option(
            "--calibrate",
            metavar="HOW",
            help="Calibrate posteriors on left-out rows, saved with the model: auto, sigmoid, isotonic, dirichlet, "
            "temperature, none [none].",
        ),
    ] = None,
    decision: decision_option.Decision = None,
    like: Annotated[
        str | None,
        typer.Option("--like", metavar="MODEL", help="The columns and settings of this model, to merge with it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is not a model.")] = False,
    delimiter: reading.Delimiter = None,
    decimal: reading.Decimal = None,
    encoding: reading.Encoding = None,
    table: reading.TableName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was learned as JSON.")] = False,
) -> None:
    """Learn a model from a table and save it.

    \b
    bayeswise fit golf.csv -t play -o play.bayeswise
    bayeswise fit 'visits-*.csv' -t ill --count visits --category zip
    bayeswise fit iris.csv -t species --model gaussian --covariance shared
    bayeswise fit houses.csv -t price --model linear --scale evidence
    bayeswise fit patients.csv -t ill --model tan

    Kinds and families of columns are found out (see `bayeswise look`) unless they are asked for. The same
    rows give the same file, byte for byte, in any order. A model that is there already is replaced when the
    new one is whole.
    """
    from bayeswise.cli.options.settings import beliefs, is_setting, what_was_typed

    typed = {name: value for name, value in locals().items() if is_setting(name)}
    from bayeswise.cli.options.fitting import FitRequest, facts_of
    from bayeswise.cli.options.loading import load_for
    from bayeswise.cli.output.table_text import as_json as json_text
    from bayeswise.models.fitting import learned_like, with_calibration

    model_like = None if like is None else load_for("fit --like", like, "schema", "settings")
    columns_typed = {
        "category": category,
        "number": number,
        "count": count,
        "binary": binary,
        "text": text,
        "ignore": ignore,
    }
    target, kinds = decision_option.target_and_kinds(decision, target, columns_typed)
    model_name = kind_of_name(kind).name
    wanted = FitRequest(
        model_name,
        kinds,
        levels=levels,
        weight=weight,
        missing=missing,
        unseen=unseen,
        family=family,
        beliefs=what_was_typed(typed) if like is not None else beliefs(model_name, typed),
        prior=prior,
    )
    if model_like is not None:
        wanted.nothing_beside(model_like, target)
        target = model_like.schema.target.name
    if target is None:
        raise UsageError("there is no target", fix="add -t COL; `bayeswise look FILE` shows the columns")
    path = default_model_name(target) if out is None else out
    replaced = check_model_output(path, [*files, *([] if like is None else [like])], force=force)
    with Bar("learning") as bar:
        opened = reading.open_table(
            files,
            null=null,
            delimiter=delimiter,
            decimal=decimal,
            encoding=encoding,
            table=table,
            like=model_like and model_like.schema,
        )
        source = reading.Watched(opened, bar)
        with told_warnings():
            if model_like is None:
                model, report = wanted.learned(source, target)
            else:
                model, report = learned_like(model_like, source)
            model = with_calibration(model, opened, calibrate, model_like)
    facts = facts_of(model, report, source.description, path, replaced)  # finds all that is wrong before it is saved
    model.save(path)
    if as_json:
        print(json_text(facts, indent=2))
        return
    from bayeswise.cli.output.fit_page import show

    show(facts)
    say(saved(path, replaced), f"Next: bayeswise predict {shlex.quote(path)} NEW.csv > answers.csv")
