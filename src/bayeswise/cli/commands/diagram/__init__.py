"""`bayeswise diagram`: what to do, what knowing more is worth, and what the answer depends on.

output.py  what it shows: facts for JSON, and lines for a reader
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bayeswise.cli.options.command import AsJson, as_command
from bayeswise.cli.options.pairs import ManyPairs, by_name, group_of_verbs, numbers_by_name
from bayeswise.cli.output.writing import Picture, check_output, check_picture, json_document, saved, say
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import UsageError
from bayeswise.render.numbers import exact

if TYPE_CHECKING:
    from bayeswise.diagrams import InfluenceDiagram

File: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE", help="Diagram file: .toml, .json, .xdsl, .net, .dne, .xmlbif (also .gz).")
]
Given: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="NODE=STATE ...", help="Observed states, and decisions already made.")
]


@dataclass(frozen=True)
class Answering:
    """The options of every verb that solves: whose attitude to risk it is, and the form of the answer."""

    risk_tolerance: Annotated[
        float | None,
        typer.Option(
            "--risk-tolerance",
            metavar="SUM",
            help="Maximize exponential utility with this risk tolerance: the largest SUM at which winning SUM or "
            "losing SUM/2 at even odds is acceptable (below 0: risk-seeking).",
        ),
    ] = None
    utility_points: Annotated[
        str | None,
        typer.Option(
            "--utility-points",
            metavar="X:U,X:U,...",
            help="Maximize a utility interpolated between these points, as in -100:-2,0:0,100:1.",
        ),
    ] = None
    as_json: AsJson = False

    def read(self, file: str, given: list[str] | None) -> tuple[InfluenceDiagram, dict[str, Any]]:
        """The diagram, for the attitude that is typed, else the one in the file; and what is observed in it."""
        from bayeswise.diagrams import Exponential, InfluenceDiagram, PiecewiseLinear

        if self.risk_tolerance is not None and self.utility_points is not None:
            raise UsageError("--risk-tolerance and --utility-points exclude each other", fix="give one of them")
        diagram = InfluenceDiagram.read(file)
        if self.risk_tolerance is not None:
            diagram = diagram.with_attitude(Exponential(self.risk_tolerance))
        if self.utility_points is not None:
            diagram = diagram.with_attitude(PiecewiseLinear(_points(self.utility_points)))
        return diagram, _states(diagram, given, "--given", diagram.names)

    def print(self, answer: tuple[Any, list[str]]) -> None:
        """Facts as JSON, or lines for a reader."""
        facts, lines = answer
        document = facts if isinstance(facts, dict) else {"rows": facts}
        print(json_document(document) if self.as_json else "\n".join(lines))


def application(words: Sequence[str]) -> typer.Typer:
    """The group of verbs."""
    group = group_of_verbs(run)
    for verb, (command, line) in VERBS.items():
        group.command(verb, short_help=line, cls=ManyPairs)(as_command(command))
    return group


def run() -> None:
    """Solve an influence diagram: optimal policy, value of information, sensitivity.

    bayeswise diagram solve oil.toml --risk

    bayeswise diagram evaluate oil.toml --policy test=no

    bayeswise diagram value oil.toml oil --before drill --price oil=5

    bayeswise diagram tornado oil.toml --spread .2

    bayeswise diagram sensitivity oil.toml report open --case test=yes oil=dry

    bayeswise diagram show oil.toml -o oil.svg

    bayeswise diagram convert oil.toml oil.xdsl
    """


def solve(
    file: File,
    given: Given = None,
    policy: Annotated[
        list[str] | None, typer.Option(metavar="DECISION=OPTION ...", help="Fix decisions at these options.")
    ] = None,
    scenarios: Annotated[
        bool, typer.Option("--scenarios", help="Add all scenarios with their probability and utility.")
    ] = False,
    risk: Annotated[
        bool, typer.Option("--risk", help="Add the risk profile: the distribution of the utility.")
    ] = False,
    png: Annotated[
        str | None,
        typer.Option("--png", metavar="OUT", help="Also write a picture of the risk profile (needs matplotlib)."),
    ] = None,
    starts: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="Starts of the policy search, where no policy is provably optimal."),
    ] = 20,
    recall: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of earlier decisions that a decision remembers, with what became known since; the utility is "
            "bounded (default: all, or as many as fit).",
        ),
    ] = None,
    *,
    answering: Answering,
) -> None:
    """Show the optimal policy of each decision, and its expected utility.

    bayeswise diagram solve oil.toml --given test=yes report=open

    bayeswise diagram solve oil.toml --policy test=no --risk --scenarios
    """
    from bayeswise.cli.commands.diagram.output import solved

    diagram, evidence = answering.read(file, given)
    rules = _states(diagram, policy, "--policy", diagram.decisions)
    solution = diagram.solve(evidence, policies=rules, starts=starts, recall=recall)
    _draw(file, png, lambda: solution.risk().plot())
    answering.print(solved(solution, scenarios=scenarios, risk=risk))


def evaluate(
    file: File,
    policy: Annotated[
        list[str] | None, typer.Option(metavar="DECISION=OPTION ...", help="Fix decisions at these options.")
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Policies of decisions (.toml, .json): options, or probabilities of them."),
    ] = None,
    softmax: Annotated[
        float | None,
        typer.Option(
            metavar="TEMPERATURE",
            help="The other decisions err: P(option) ~ exp(utility / TEMPERATURE). Default: they are optimal.",
        ),
    ] = None,
    given: Given = None,
    *,
    answering: Answering,
) -> None:
    """Show what given policies lead to, beside the optimal ones.

    bayeswise diagram evaluate oil.toml --policy test=no drill=yes

    bayeswise diagram evaluate oil.toml --policies habits.toml

    bayeswise diagram evaluate oil.toml --softmax 20
    """
    from bayeswise.cli.commands.diagram.output import compared
    from bayeswise.diagrams.files import read_policies

    diagram, evidence = answering.read(file, given)
    rules = _states(diagram, policy, "--policy", diagram.decisions)
    read = {} if policies is None else read_policies(diagram, policies)
    for name in read:
        if name in rules:
            raise UsageError(f"{name!r} has a policy in --policy and in {policies}", fix="give one of them")
    rules = {**read, **rules}
    if softmax is not None:
        rules = {**diagram.solve(evidence, policies=rules).softmax(softmax), **rules}
    if not rules:
        raise UsageError("there is no policy to evaluate", fix="add --policy DECISION=OPTION, --policies or --softmax")
    answering.print(compared(diagram.compare(rules, evidence)))


def value(
    file: File,
    nodes: Annotated[
        list[str] | None, typer.Argument(metavar="NODE", help="Nodes observed together (default: each one alone).")
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            metavar="DECISION",
            help="Decision that is made after the observation (default: the first one; without NODE, each).",
        ),
    ] = None,
    price: Annotated[list[str] | None, typer.Option(metavar="NODE=PRICE ...", help="Price of an observation.")] = None,
    given: Given = None,
    *,
    answering: Answering,
) -> None:
    """Compute the value of observing a node before a decision.

    bayeswise diagram value oil.toml oil --before drill --price oil=5
    """
    from bayeswise.cli.commands.diagram.output import valued

    diagram, evidence = answering.read(file, given)
    prices = numbers_by_name(price or [], "--price", "lab=5")
    answering.print(valued(diagram, nodes or [], before, prices, evidence))


def tornado(
    file: File,
    spread: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Range of each entry, as a share of its value.")
    ] = 0.1,
    given: Given = None,
    png: Picture = None,
    *,
    answering: Answering,
) -> None:
    """Show the table entries to which the expected utility is most sensitive.

    bayeswise diagram tornado oil.toml --spread .2
    """
    from bayeswise.cli.commands.diagram.output import columns

    diagram, evidence = answering.read(file, given)
    found = diagram.tornado(spread, evidence=evidence)
    _draw(file, png, found.plot)
    answering.print(columns(found.to_columns()))


def sensitivity(
    file: File,
    node: Annotated[str | None, typer.Argument(metavar="NODE", help="Chance node or utility.")] = None,
    state: Annotated[str | None, typer.Argument(metavar="STATE", help="State of the chance node.")] = None,
    case: Annotated[
        list[str] | None, typer.Option(metavar="PARENT=STATE ...", help="Row of its table: the states of its parents.")
    ] = None,
    low: Annotated[float | None, typer.Option(help="Lowest value of the entry (0 for a probability).")] = None,
    high: Annotated[float | None, typer.Option(help="Highest value of the entry (1 for a probability).")] = None,
    weight: Annotated[
        str | None,
        typer.Option("--weight", metavar="ATTRIBUTE", help="The weight of an attribute instead of an entry."),
    ] = None,
    given: Given = None,
    png: Picture = None,
    *,
    answering: Answering,
) -> None:
    """Show at which values of one table entry the optimal policy changes.

    bayeswise diagram sensitivity oil.toml report open --case test=yes oil=dry

    bayeswise diagram sensitivity oil.toml gain --case drill=yes oil=dry --low -100 --high 0

    bayeswise diagram sensitivity care.toml --weight pain
    """
    from bayeswise.cli.commands.diagram.output import sensitive
    from bayeswise.tables.schema.labels import label_of_text

    diagram, evidence = answering.read(file, given)
    row = _states(diagram, case, "--case", diagram.names)
    if (node is None) == (weight is None):
        raise UsageError("one of NODE and --weight is needed", fix="name a node, or an attribute after --weight")
    if weight is not None:
        found = diagram.weight_sensitivity(weight, low=low, high=high, evidence=evidence)
    elif node is not None:
        meant = None
        if state is not None:
            diagram.place(node)
            meant = label_of_text(state, diagram.states(node), f"{node!r} has no state")
        found = diagram.sensitivity(node, meant, given=row, low=low, high=high, evidence=evidence)
    _draw(file, png, found.plot)
    answering.print(sensitive(found))


def show(
    file: File,
    given: Given = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Draw the solved diagram into a .svg, .html or .dot file."),
    ] = None,
    *,
    answering: Answering,
) -> None:
    """List the nodes, or draw the diagram under the optimal policy.

    bayeswise diagram show oil.toml -o oil.svg
    """
    from bayeswise.cli.commands.diagram.output import shown

    if output is not None:
        check_output(output, [file])
    diagram, evidence = answering.read(file, given)
    if evidence and output is None:
        raise UsageError("--given changes the picture only", fix="add -o picture.svg, or use `diagram solve`")
    if output is not None:
        diagram.solve(evidence).picture(title=diagram.name).save(output)
        say(saved(output, False))
    answering.print(shown(diagram))


def convert(
    file: File,
    new: Annotated[str, typer.Argument(metavar="NEW", help="Output file; the suffix chooses the format.")],
) -> None:
    """Convert a diagram to another file format, and list what that format cannot hold.

    bayeswise diagram convert oil.toml oil.xdsl
    """
    from bayeswise.diagrams import InfluenceDiagram

    check_output(new, [file])
    for lost in InfluenceDiagram.read(file).write(new):
        say(lost)
    say(saved(new, False))


VERBS: dict[str, tuple[Callable[..., None], str]] = {
    "solve": (solve, "Show the optimal policy of each decision."),
    "evaluate": (evaluate, "Show what given policies lead to."),
    "value": (value, "Compute the value of information."),
    "tornado": (tornado, "Show the most influential table entries."),
    "sensitivity": (sensitivity, "Show where one entry changes the policy."),
    "show": (show, "List or draw the nodes."),
    "convert": (convert, "Convert a diagram to another file format."),
}


def _points(text: str) -> list[tuple[float, float]]:
    """X:U,X:U,... as pairs of numbers."""
    found = []
    for piece in text.split(","):
        x, colon, u = piece.partition(":")
        if not colon:
            raise UsageError(f"--utility-points has {piece!r}", fix="write X:U,X:U, as in -100:-2,0:0,100:1")
        found.append((float(exact(x.strip(), "--utility-points")), float(exact(u.strip(), "--utility-points"))))
    return found


def _states(diagram: InfluenceDiagram, pieces: list[str] | None, option: str, known: Iterable[str]) -> dict[str, Any]:
    """NODE=STATE as the labels that the nodes have."""
    from bayeswise.tables.schema.labels import label_of_text

    found = by_name(pieces or [], known, option, "NODE=STATE")
    return {name: label_of_text(text, diagram.states(name), f"{name!r} has no state") for name, text in found.items()}


def _draw(file: str, path: str | None, make: Callable[[], Any]) -> None:
    """Write a display as a picture, atomically."""
    if path is None:
        return
    check_picture(path, [file])
    make().save(path)
    say(saved(path, False))
