"""bayeswise export MODEL: the model as a SQL query, or as an ONNX graph."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bayeswise.cli.options.costs import read_decision
from bayeswise.cli.options.reading import STDIN, ModelFile, load_for
from bayeswise.cli.output.writing import check_output, json_document, output, say, size_text
from bayeswise.foundation.errors import KindError, UsageError


def run(
    model: ModelFile,
    dialect: Annotated[
        Literal["duckdb", "sqlite", "postgres", "spark", "snowflake", "bigquery"] | None,
        typer.Option("--sql", help="Write a SELECT for this database."),
    ] = None,
    onnx: Annotated[str | None, typer.Option("--onnx", metavar="FILE", help="Write an ONNX graph.")] = None,
    costs: Annotated[
        str | None,
        typer.Option(
            "--costs",
            metavar="FILE",
            help="decision.toml, or a CSV with action,STATE,... columns: action and expected_cost are added.",
        ),
    ] = None,
    table: Annotated[
        str,
        typer.Option("--table", metavar="NAME", help="Table to read: NAME or SCHEMA.NAME."),
    ] = "rows",
    keep: Annotated[
        str | None,
        typer.Option(
            "--columns", metavar="none|A,B", help="Columns of the table to keep (default: those that the model reads)."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Output file of --sql (default: stdout)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: what was written, and the query.")] = False,
) -> None:
    """Write a model as a SQL query or an ONNX graph, to predict and decide where the data is.

    \b
    bayeswise export play.bayeswise --sql duckdb --table games | duckdb games.db
    bayeswise export loan.bayeswise --sql postgres --costs decision.toml --columns id -o loans.sql
    bayeswise export loan.bayeswise --onnx loan.onnx

    The query keeps columns of the table and appends the prediction and p_CLASS, with --costs action, expected_cost and
    p_CLASS. Missing values (NULL) and unseen levels are treated as by the model; rows that the model would refuse have
    NULL. A belief network is written in other formats by `bayeswise network convert`.
    """
    fitted = _loaded(model)  # first: a belief network is neither
    if (dialect is None) == (onnx is None):
        raise UsageError("export writes a query or a graph", fix="add --sql DIALECT or --onnx FILE")
    for path, form in ((out, "sql"), (onnx, "onnx")):
        if path is not None and path != STDIN:
            check_output(path, [model, *([costs] if costs else [])], form)
    decision = None if costs is None else read_decision(costs, _of_classes(fitted, model))
    if onnx is not None:
        _write_graph(fitted, onnx, decision, as_json)
        return
    columns = None if keep is None else [] if keep == "none" else keep.split(",")
    query = fitted.to_sql(dialect, decision, table=table, columns=columns)
    facts = {"dialect": dialect, "table": table, "sql": query}
    if out is not None and out != STDIN:
        with output(out) as file:
            file.write(query.encode())
        say(f"Saved {out}: {size_text(len(query.encode()))} of SQL for {dialect}.")
        if as_json:
            _print_json({**facts, "output": out})
    elif as_json:
        _print_json(facts)
    else:
        with output(None) as stream:
            stream.write(query.encode())


def _loaded(path: str) -> Any:
    from bayeswise.networks.formats import FORMATS

    if Path(path).suffix.lower() in FORMATS or Path(path).suffix.lower() == ".gz":
        raise KindError(
            f"{path} holds a belief network, which is not exported", fix=f"bayeswise network convert {path} NEW.bif"
        )
    return load_for("export", path)


def _of_classes(model: Any, path: str) -> Any:
    if not model.capabilities.classes:
        raise UsageError(
            f"{path} answers with a number, and --costs of an export are by class", fix="leave out --costs"
        )
    return model


def _write_graph(model: Any, path: str, decision: Any, as_json: bool) -> None:
    made = model.to_onnx(None, decision)
    if path == STDIN and as_json:
        raise UsageError("a graph and JSON cannot both go to standard output", fix="name a file: --onnx FILE")
    with output(path) as file:
        file.write(made)
    if path != STDIN:
        say(f"Saved {path}: {size_text(len(made))} of ONNX.")
    if as_json:
        _print_json({"onnx": path, "bytes": len(made)})


def _print_json(facts: dict[str, Any]) -> None:
    sys.stdout.write(json_document(facts) + "\n")
