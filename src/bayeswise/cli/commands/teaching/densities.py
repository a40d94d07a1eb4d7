"""bayeswise densities MODEL: classes along one column, their regions, and how often a rule errs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.options import costs as costs_option
from bayeswise.cli.options.reading import load_for
from bayeswise.cli.options.typed_sample import named_numbers
from bayeswise.cli.output.writing import Picture, check_picture, json_document, say
from bayeswise.foundation.errors import UsageError
from bayeswise.render.labels import shown
from bayeswise.render.numbers import number, percent
from bayeswise.render.terminal import aligned

if TYPE_CHECKING:
    from bayeswise.decisions.policy.feature_rule import FeatureRule
    from bayeswise.explanations.class_densities import ClassDensities
    from bayeswise.posteriors.line_regions import Regions
    from bayeswise.render.display import Display

_EXAMPLE = "--class a=normal:mean=15,stddev=3 b=normal:mean=25,stddev=4"


def run(
    model: Annotated[
        str | None, typer.Argument(metavar="MODEL", help="Model file; without one, --class gives the classes.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME", help="Column to show (default: the only one); repeat for two."),
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option(
            "--class",
            metavar="CLASS=FAMILY:NAME=NUMBER,... ...",
            help="A class by its parameters, as in a=normal:mean=15,stddev=3.",
        ),
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            "--prior", metavar="CLASS=P ...", help="Class priors (default: those of the model; with --class, equal)."
        ),
    ] = None,
    boundary: Annotated[
        list[float] | None,
        typer.Option("--boundary", metavar="X", help="Also evaluate a rule with a boundary here; may be repeated."),
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option("--costs", metavar="FILE", help="decision.toml; regions of actions instead of classes."),
    ] = None,
    rows: Annotated[
        str | None, typer.Option("--rows", metavar="FILE", help="Table whose rows are drawn over two columns.")
    ] = None,
    png: Picture = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the regions, errors and curves as JSON.")] = False,
) -> None:
    """Show the classes along one column: p(x | class), p(class) p(x | class), p(class | x), and the Bayes error.

    \b
    bayeswise densities iris.bayeswise --column petal_width --png classes.png
    bayeswise densities --class a=normal:mean=15,stddev=3 b=normal:mean=25,stddev=4 --prior a=.75 --boundary 24
    bayeswise densities iris.bayeswise --column petal_width --column petal_length --rows iris.csv --png regions.png

    The error of the best rule is irreducible; a boundary chosen by hand adds a reducible part. Two columns are drawn as
    a plane, with the regions of classes, or of actions with --costs.
    """
    if (model is None) == (not classes):
        raise UsageError("a model or classes are needed", fix=f"name a model file, or add {_EXAMPLE}")
    if boundary and costs is not None:
        raise UsageError(
            "--boundary separates classes, and --costs makes regions of actions", fix="leave one of them out"
        )
    check_picture(png, [] if model is None else [model])
    names = list(column or ())
    if len(names) > 1 or rows is not None:
        _plane(model, names, rows, costs, png, as_json, {"--prior": prior, "--boundary": boundary})
        return
    one = names[0] if names else None
    densities = _given(classes, one) if model is None else _of_model(model, one)
    decision = None if costs is None else costs_option.read_decision(costs)
    shares = costs_option.new_prior(decision, prior, densities.classes)
    if shares is not None:
        densities = type(densities)(
            densities.column, densities.classes, shares, densities.likelihoods, densities.levels
        )
    rule = None if decision is None else _rule(densities, decision)
    cuts = sorted(boundary or ())
    facts = _facts(densities, rule, cuts)
    if png is not None:
        _draw(densities, rule, cuts).save(png)
    print(json_document({**facts, "curves": _curves(densities)}) if as_json else "\n".join(_lines(facts)))
    say(*([f"Saved {png}."] if png is not None else []))


def _plane(
    model: str | None,
    columns: list[str],
    rows: str | None,
    costs: str | None,
    png: str | None,
    as_json: bool,
    others: dict[str, Any],
) -> None:
    """Two columns of a model: the share of the plane that each class or action has, and the picture."""
    from collections import Counter

    from bayeswise.render.plain import json_value

    typed = [name for name, value in others.items() if value]
    if model is None or typed or len(columns) != 2:
        what = f"{typed[0]} is about one column" if typed else "a plane has two columns of a model"
        raise UsageError(what, fix="name a MODEL, --column X and --column Y")
    fitted = load_for("densities", model, "classes")
    decision = None if costs is None else costs_option.read_decision(costs, fitted)
    plane = fitted.class_plane(columns, rows, costs=None if decision is None else decision.costs)
    if png is not None:
        plane.plot().save(png)
    found = Counter(plane.winners().ravel().tolist())
    word = "class" if decision is None else "action"
    shares = [(name, found[k] / plane.winners().size) for k, name in enumerate(plane.decisions)]
    if as_json:
        regions = [{word: json_value(name), "share": share} for name, share in shares]
        print(json_document({"columns": list(plane.columns), "regions": regions}))
    else:
        head = [word, f"share of the plane of {shown(plane.columns[0])} and {shown(plane.columns[1])}"]
        print("\n".join(aligned([head, *([shown(name), percent(share)] for name, share in shares)])))
    say(*([f"Saved {png}."] if png is not None else []))


def _draw(densities: ClassDensities, rule: FeatureRule | None, cuts: list[float]) -> Display:
    if rule is not None:
        return rule.plot(column=densities.column)
    return densities.plot_error(cuts) if cuts else densities.plot()


def _of_model(path: str, column: str | None) -> ClassDensities:
    found: ClassDensities = load_for("densities", path, "row_probability").class_densities(column)
    return found


def _given(typed: list[str] | None, column: str | None) -> ClassDensities:
    """CLASS=FAMILY:NAME=NUMBER,..., each once."""
    from bayeswise.explanations.class_densities import ClassDensities
    from bayeswise.families.distributions import distribution

    found: dict[str, Any] = {}
    for text in typed or ():
        name, _, rest = text.partition("=")
        if not name or ":" not in rest or name in found:
            raise UsageError(f"--class {text} does not describe one more class", fix=f"type it as in {_EXAMPLE}")
        family, values = named_numbers(rest, f"--class {name}", _EXAMPLE)
        found[name] = distribution(family, **values)
    return ClassDensities.of(found, column=column or "x")


def _rule(densities: ClassDensities, decision: Any) -> FeatureRule:
    from bayeswise.decisions.policy.feature_rule import FeatureRule

    if densities.kind != "number":
        raise UsageError(
            f"{densities.column} is a {densities.kind}, and actions are drawn over numbers", fix="omit --costs"
        )
    by_name = dict(zip(densities.classes, densities.likelihoods, strict=True))
    return FeatureRule.of(by_name, dict(zip(densities.classes, densities.prior.tolist(), strict=True)), decision.costs)


def _facts(densities: ClassDensities, rule: FeatureRule | None, cuts: list[float]) -> dict[str, Any]:
    from bayeswise.render.plain import json_value

    best = densities.regions
    facts: dict[str, Any] = {
        "column": densities.column,
        "kind": densities.kind,
        "classes": [
            {"class": json_value(state), "prior": share}
            for state, share in zip(densities.classes, densities.prior.tolist(), strict=True)
        ],
        "regions": _pieces(densities, best) if rule is None else _actions(rule),
        "irreducible": densities.error.error,
    }
    if rule is not None:
        facts["risk"] = rule.risk
    if cuts:
        error = densities.error_of(cuts)
        states = densities.rule_of(cuts)[1]
        facts["rule"] = {"boundaries": cuts, "states": [json_value(state) for state in states]}
        facts |= {"error": error.error, "reducible": error.reducible}
    return facts


def _curves(densities: ClassDensities) -> dict[str, list[Any]]:
    """The curves for JSON, which has no infinity: text there, and null where no class has any density."""
    from bayeswise.render.plain import json_number, json_value

    def cell(value: Any) -> Any:
        if not isinstance(value, float):
            return json_value(value)
        return None if value != value else json_number(value)  # NaN

    return {name: [cell(value) for value in values] for name, values in densities.to_columns().items()}


def _pieces(densities: ClassDensities, found: Regions) -> list[dict[str, Any]]:
    """Intervals, or the levels of a category, each with the decision."""
    from bayeswise.render.plain import json_value

    if densities.kind == "category":
        winners = densities.winners(densities.points()).tolist()
        best = zip(densities.levels, winners, strict=True)
        return [{"level": json_value(level), "class": json_value(densities.classes[k])} for level, k in best]
    edges: list[float | None] = [None, *found.thresholds.tolist(), None]
    decided = zip(edges[:-1], edges[1:], found.states, strict=True)
    return [{"from": low, "to": high, "class": json_value(state)} for low, high, state in decided]


def _actions(rule: FeatureRule) -> list[dict[str, Any]]:
    from bayeswise.render.plain import json_value

    edges: list[float | None] = [None, *rule.edges, None]
    decided = zip(edges[:-1], edges[1:], rule.actions, strict=True)
    return [{"from": low, "to": high, "action": json_value(action)} for low, high, action in decided]


def _lines(facts: dict[str, Any]) -> list[str]:
    decided = "action" if "risk" in facts else "class"
    rows = [[shown(facts["column"]), f"best {decided}"]]
    for piece in facts["regions"]:
        rows.append([_interval(piece), shown(piece[decided])])
    lines = aligned(rows, right=())
    found = [["error of the best rule (irreducible)", number(facts["irreducible"])]]
    if "risk" in facts:
        found.append(["expected cost of the best actions", number(facts["risk"])])
    if "rule" in facts:
        between = ", ".join(number(cut) for cut in facts["rule"]["boundaries"])
        taken = ", ".join(shown(state) for state in facts["rule"]["states"])
        found.append([f"error with the boundary {between} ({taken})", number(facts["error"])])
        found.append(["reducible part of it", number(facts["reducible"])])
    return [*lines, "", *aligned(found)]


def _interval(piece: dict[str, Any]) -> str:
    if "level" in piece:
        return shown(piece["level"])
    low, high = piece["from"], piece["to"]
    if low is None and high is None:
        return "everywhere"
    if low is None:
        return f"below {number(high)}"
    return f"from {number(low)}" + ("" if high is None else f" to {number(high)}")
