"""bayeswise likelihood FAMILY: the log-likelihood of a sample, its maximum, its gradient there and its curvature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.options import reading
from bayeswise.cli.options.pairs import numbers_by_name
from bayeswise.cli.options.typed_sample import Data, InColumn, Rows, family_of, numbers_of
from bayeswise.cli.output.writing import Picture, check_picture, json_document, say
from bayeswise.render.numbers import count, number
from bayeswise.render.terminal import aligned

if TYPE_CHECKING:
    from bayeswise.families.likelihood import Likelihood, Stationary


def run(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="normal, poisson, bernoulli, binomial:trials=5, ...")],
    data: Data = None,
    rows: Rows = None,
    column: InColumn = None,
    over: Annotated[
        list[str] | None,
        typer.Option("--over", metavar="NAME ...", help="One or two parameters to draw (default: the first two)."),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="NAME=NUMBER ...", help="Also show value, gradient and curvature here."),
    ] = None,
    png: Picture = None,
    *,
    reader: reading.Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show the log-likelihood of a sample: its maximum, the gradient 0 there, the curvature and standard errors.

    \b
    bayeswise likelihood bernoulli --data 1 1 0 1 0 1 1 0 1 1 --png coin.png
    bayeswise likelihood normal --rows houses.csv --column price --over mean stddev --png price.png
    bayeswise likelihood poisson --data 2 4 3 --at rate=2.5

    Parameters that are not drawn are fixed at the maximum, or at --at.
    """
    from bayeswise.families.likelihood import Likelihood

    check_picture(png, [] if rows is None else [rows])
    found = Likelihood(family_of(family), numbers_of(data, rows, column, reader))
    fixed = numbers_by_name(at or [], "--at", "stddev=2")
    chosen, point = found.over(*(over or ()), fixed=fixed)
    places = [("maximum", found.check())] + ([("at", found.check(**point))] if fixed else [])
    if png is not None:
        found.plot(*chosen, fixed=fixed).save(png)
    if as_json:
        sample = {"family": found.family.name, "values": len(found.data)}
        print(json_document({**sample, **{name: _facts(found, place) for name, place in places}}))
    else:
        print("\n\n".join("\n".join(_lines(found, name, place)) for name, place in places))
    say(*([f"Saved {png}."] if png is not None else []))


def _facts(likelihood: Likelihood, place: Stationary) -> dict[str, Any]:
    from bayeswise.render.plain import json_number

    errors = place.standard_errors.tolist() if place.is_maximum else [None] * len(place.parameters)
    return {
        "parameters": dict(place.parameters),
        "log_likelihood": json_number(likelihood.at(**place.parameters)),
        "gradient": {name: json_number(value) for name, value in place.gradient.items()},
        "curvature": [[json_number(value) for value in row] for row in place.curvature.tolist()],
        "is_maximum": place.is_maximum,
        "standard_errors": dict(zip(place.parameters, errors, strict=True)),
    }


def _lines(likelihood: Likelihood, name: str, place: Stationary) -> list[str]:
    word = "maximum" if name == "maximum" else "at these parameters"
    value = number(likelihood.at(**place.parameters), 6)
    head = f"{likelihood.family.name}, {count(len(likelihood.data))} values; log-likelihood {value} {word}"
    rows = [["parameter", "value", "gradient", "second derivative", "standard error"]]
    for k, (parameter, at) in enumerate(place.parameters.items()):
        slope = "0" if place.is_maximum else number(place.gradient[parameter], 6)
        error = number(float(place.standard_errors[k]), 6) if place.is_maximum else ""
        rows.append([parameter, number(at, 6), slope, number(float(place.curvature[k, k]), 6), error])
    return [head, "", *aligned(rows)]
