"""`bayeswise network predict`: a table of cases, with the belief in nodes that each row does not show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.commands.network import NetworkFile, network_from
from bayeswise.cli.options import reading
from bayeswise.cli.output.writing import TableOutput, say, write_rows
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import UsageError
from bayeswise.foundation.progress import Bar
from bayeswise.render.labels import probability_names
from bayeswise.tables.schema.names import free_name, normal_name

if TYPE_CHECKING:
    from bayeswise.networks import BeliefNetwork
    from bayeswise.tables.schema.schema import Schema


def predict(
    file: NetworkFile,
    files: Annotated[list[str], typer.Argument(metavar="TABLE", help="Cases: files, globs, or - for stdin.")],
    nodes: Annotated[
        list[str] | None,
        typer.Option("--node", metavar="NODE", help="Node to predict; repeat for more [nodes without a column]."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Append the probability of each state: p_STATE.")] = False,
    *,
    output: TableOutput,
    reader: reading.Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Append the most probable state of nodes to each row of a table, given the row's other cells.

    bayeswise network predict asia.bif cases.csv --node lung --proba

    Columns are matched to nodes by name; other columns are kept and not used. An empty cell is not evidence;
    a cell may hold a likelihood for each state (soft evidence), written as yes=0.7;no=0.3.
    """
    from bayeswise.cli.output.answer_stream import kept_columns
    from bayeswise.networks.inference.row_posteriors import null_words_for

    network = network_from(file)
    written = output.checked([file, *files], as_json=as_json)
    null = reader.null if reader.null is not None else list(null_words_for(network))
    source = replace(reader, null=null).open(files, once=True)
    kept, opaque = kept_columns(output.keep, source.columns, source.description)
    chosen = _chosen(network, nodes, [column.name for column in source.columns])
    layout = _Layout.of(network, chosen, kept, proba)
    with Bar(f"predicting {source.description}", shown=output.out is not None) as bar:
        watched = reading.Watched(source, bar, also=kept)
        about = {"nodes": chosen, "states": {name: list(network.states(name)) for name in chosen}}
        text = written.text(
            source,
            _schema(network),
            as_json=as_json,
            raw=output.raw,
            about=about,
            totals=lambda: {"n_rows": watched.rows},
        )
        write_rows(_rows(network, watched, layout), layout.names, text, output.out)
    say(*(f"{name}: lists and bytes are not cells of a text table; left out." for name in opaque))
    renamed = [f"{node!r} in {answer!r}" for node, answer in zip(chosen, layout.answers, strict=True) if node != answer]
    say(*([f"The table has these columns already: the answer for {', '.join(renamed)}."] if renamed else []))
    if output.is_file:
        say(f"Saved {output.out}: {watched.rows:,} rows, answers in {', '.join(layout.answers)}.")


@dataclass(frozen=True)
class _Layout:
    """Which columns come out: those that are kept, and for each node its answer and probabilities."""

    kept: tuple[str, ...]
    nodes: tuple[str, ...]
    answers: tuple[str, ...]
    probabilities: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        of_nodes = zip(self.answers, self.probabilities, strict=True)
        return (*self.kept, *(name for answer, shares in of_nodes for name in (answer, *shares)))

    @classmethod
    def of(cls, network: BeliefNetwork, nodes: Sequence[str], kept: Sequence[str], proba: bool) -> _Layout:
        """Answers are named like their node, `predicted_NODE` where the table has that name."""
        taken = {normal_name(name) for name in kept}
        answers = tuple(free_name([node, f"predicted_{node}"], taken) for node in nodes)
        shares = []
        for node in nodes:
            names = probability_names(network.states(node)) if proba else []
            prefixed = names if len(nodes) == 1 else [f"p_{node}_{name.removeprefix('p_')}" for name in names]
            shares.append(tuple(free_name([name], taken) for name in prefixed))
        return cls(tuple(kept), tuple(nodes), answers, tuple(shares))


def _chosen(network: BeliefNetwork, nodes: list[str] | None, columns: Sequence[str]) -> list[str]:
    """The nodes that were named, or those without a column."""
    if nodes:
        return list(dict.fromkeys(network.names[network.place(name)] for name in nodes))
    there = {normal_name(name) for name in columns}
    absent = [name for name in network if normal_name(name) not in there]
    if not absent:
        raise UsageError("every node has a column: which one is to be predicted?", fix="add --node NODE")
    if len(absent) == len(network):
        raise UsageError("no column has the name of a node", fix=f"name a column like a node: {network.names[0]}, ...")
    return absent


def _schema(network: BeliefNetwork) -> Schema:
    """Which columns are numbers when rows are written as JSON: those of nodes whose states all are."""
    from bayeswise.render.numbers import reads_as_number
    from bayeswise.tables.schema.columns import Column
    from bayeswise.tables.schema.schema import Schema

    numeric = [name for name in network if all(map(reads_as_number, network.states(name)))]
    return Schema(tuple(Column(name, "category", "number") for name in numeric), None)


def _rows(
    network: BeliefNetwork, source: reading.Watched, layout: _Layout
) -> Iterator[tuple[list[Sequence[Any]], list[bool]]]:
    """The columns of a chunk, and which of them need no guard."""
    import numpy as np

    from bayeswise.networks.inference.row_posteriors import encoded, posterior_of_cases

    for cases in encoded(network, source):
        chunk = source.chunk
        assert chunk is not None
        cells: list[Sequence[Any]] = [chunk.cells(name) for name in layout.kept]
        safe = [False] * len(cells)
        for node, shares in zip(layout.nodes, layout.probabilities, strict=True):
            target = network.place(node)
            posterior = posterior_of_cases(network, target, cases.without(target))
            cells.append([network.states(node)[code] for code in np.argmax(posterior, axis=1).tolist()])
            safe.append(False)
            cells += posterior.T.tolist() if shares else []
            safe += [True] * len(shares)
        yield cells, safe
