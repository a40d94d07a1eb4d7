"""bayeswise init-decision TABLE -t TARGET: a decision.toml to fill in, from the classes of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Annotated

import typer

from bayeswise.cli.options import reading
from bayeswise.cli.output.writing import check_output, json_document, say
from bayeswise.decisions.costs.decision_file import toml_key, toml_string
from bayeswise.foundation.atomic import replacing_text
from bayeswise.foundation.errors import UsageError
from bayeswise.render.labels import keyed, shown
from bayeswise.tables.schema.inference import Examination, examine

_MOST_LISTED = 8


def run(
    files: reading.Files,
    target: Annotated[str, typer.Option("-t", "--target", metavar="COL", help="The column to predict.")],
    out: Annotated[
        str | None, typer.Option("-o", "--output", metavar="OUT", help="Output file (default: stdout).")
    ] = None,
    *,
    reader: reading.Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the target, its classes and the file.")] = False,
) -> None:
    """Write a commented decision.toml to fill in, from the classes of a table.

    \b
    bayeswise init-decision loans.csv -t repaid > decision.toml
    bayeswise init-decision loans.csv -t repaid -o decision.toml

    As written, every mistake costs 1, so that `decide` takes the most probable class. Change the numbers to your costs,
    rename the actions, and add your own. For a target that is a number, the file has the costs of choosing a number.
    """
    if out is not None:
        check_output(out, files, "toml")
    source = reader.open(files)
    examination = examine(source, target)
    text = "\n".join(decision_lines(examination)) + "\n"
    found = examination.target
    assert found is not None
    if as_json:
        facts = {"target": found.target.name, "classes": keyed(found.classes), "file": text}
        print(json_document(facts))
    elif out is None:
        print(text, end="")
    if out is not None:
        with replacing_text(out) as file:
            file.write(text)
        say(
            f"Saved {out}.",
            f"Next: edit it, then bayeswise fit ... --decision {out}; bayeswise decide ... --costs {out}",
        )


def decision_lines(examination: Examination) -> Iterator[str]:
    """The file, line by line."""
    found = examination.target
    if found is None:
        raise UsageError("there is no target", fix="add -t COL; `bayeswise look FILE` shows the columns")
    name = found.target.name
    if name in examination.problems:
        if "measurement" not in examination.problems[name].what:
            raise examination.problems[name]
        yield from _of_number(name)
        return
    labels = [label for label, _ in found.classes]
    yield f"# What to do about {shown(name)}, and what that costs. Lines that begin with # are comments."
    yield f"target = {toml_string(name)}"
    yield ""
    yield "# Kinds of columns that `fit --decision` should not guess: number, count, category, binary, text, ignored."
    yield from _kind_lines(examination)
    yield ""
    yield "# The action below that stands for `I do not know`, if there is one:"
    yield '# reject = "ask"'
    yield ""
    yield "# What the costs below are counted in, for headings:"
    yield '# unit = "EUR"'
    yield ""
    counts = [count for _, count in found.classes]
    total = sum(counts)
    yield f"# How frequent each class is where you decide, if not as in this table ({total:,} rows):"
    shares = ", ".join(f"{toml_key(label)} = {p}" for label, p in zip(labels, shares_of(counts), strict=True))
    yield f"# prior = {{ {shares} }}"
    yield ""
    yield "# What each action costs in each true state; gains are negative. One line for each action: name it as you"
    yield "# call it, and add those that you have. A cost may be a formula over columns, as in the comments."
    yield "[costs]"
    for action in labels:
        cells = ", ".join(f"{toml_key(state)} = {int(state != action)}" for state in labels)
        yield f"{toml_key(action)} = {{ {cells} }}"
    yield "# ask = 0.25                       # the same cost in every state: somebody finds out"
    numbers = [f.column.name for f in examination.findings if f.column.kind in ("number", "count")]
    formula = f"0.1 * {numbers[0]}" if numbers and numbers[0].isidentifier() else "0.1 * amount"
    formulas = ", ".join(f"{toml_key(state)} = {toml_string(formula)}" for state in labels)
    yield f"# other = {{ {formulas} }}"
    yield ""
    yield "# What it costs to find out the value of a column, for `bayeswise next-test`:"
    first = next((f.column.name for f in examination.findings), "column")
    yield "# [prices]"
    yield f"# {toml_key(first)} = 5"


def shares_of(counts: Sequence[float]) -> list[str]:
    """Shares of four digits whose sum is 1: the largest takes what rounding leaves.

    >>> shares_of([157, 3]), shares_of([1, 1, 1])
    (['0.98125', '0.01875'], ['0.3334', '0.3333', '0.3333'])
    """
    total = sum(counts)
    rounded = [Decimal(f"{count / total:.4g}" if total else "0") for count in counts]
    largest = max(range(len(counts)), key=counts.__getitem__)
    rounded[largest] = 1 - sum(rounded[:largest] + rounded[largest + 1 :], Decimal(0))
    return [f"{share:f}" for share in rounded]


def _of_number(name: str) -> Iterator[str]:
    yield f"# What choosing a number for {shown(name)} costs. Lines that begin with # are comments."
    yield f"target = {toml_string(name)}"
    yield ""
    yield "# What each unit costs that the choice is too low (under) or too high (over): the best choice is the"
    yield "# quantile under / (under + over). Instead of both, loss may be squared (the mean) or absolute (the median)."
    yield "[number]"
    yield "under = 1"
    yield "over = 1"


def _kind_lines(examination: Examination) -> Iterator[str]:
    found = [(finding.column.name, finding.column.kind) for finding in examination.findings]
    for name, kind in found[:_MOST_LISTED]:
        yield f"# kinds.{toml_key(name)} = {toml_string(kind)}"
    if len(found) > _MOST_LISTED:
        yield f"# ... and {len(found) - _MOST_LISTED} more: bayeswise look shows them"
