"""bayeswise beliefs PRIOR: a belief in the parameters of a distribution, datum by datum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayeswise.cli.options import reading
from bayeswise.cli.options.typed_sample import Data, InColumn, Rows, family_of, labels_of, named_numbers, numbers_of
from bayeswise.cli.output.writing import Picture, check_output, check_picture, json_document, say
from bayeswise.foundation.errors import ParameterError, UsageError
from bayeswise.render.labels import shown
from bayeswise.render.numbers import number
from bayeswise.render.terminal import aligned

if TYPE_CHECKING:
    from bayeswise.families.belief_history import BeliefHistory
    from bayeswise.render.display import Chosen

_EXAMPLE = "beta:successes=1,failures=1, gamma:shape=2,rate=1, normal:mean=0,stddev=1 or dirichlet:red=1,blue=1"
_MOST_SHOWN = 40
# The class of a prior, and the family whose parameter it is about unless another one is typed.
_PRIORS = {
    "beta": ("BetaPrior", "bernoulli"),
    "gamma": ("GammaPrior", "poisson"),
    "normal": ("NormalPrior", ""),
    "normal-inverse-gamma": ("NormalInverseGamma", "normal"),
}


def run(
    prior: Annotated[str, typer.Argument(metavar="PRIOR", help=f"The prior: {_EXAMPLE}.")],
    data: Data = None,
    rows: Rows = None,
    column: InColumn = None,
    family: Annotated[
        str | None,
        typer.Option(
            "--family",
            metavar="NAME",
            help="Family of the data (default: bernoulli for beta, poisson for gamma); normal-mean:stddev=2 for "
            "normal.",
        ),
    ] = None,
    parameter: Annotated[
        Literal["mean", "variance"] | None,
        typer.Option("--parameter", help="Parameter of a normal-inverse-gamma prior to show (default: the mean)."),
    ] = None,
    steps: Annotated[
        list[str] | None,
        typer.Option(
            "--steps", metavar="N ...|all", help="Numbers of observations after which to draw (default: four of them)."
        ),
    ] = None,
    png: Picture = None,
    animation: Annotated[
        str | None, typer.Option("--animation", metavar="OUT", help="Also write a GIF, one frame per observation.")
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="Seconds per frame of the GIF.")] = 0.8,
    *,
    reader: reading.Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print every step as JSON.")] = False,
) -> None:
    """Show how the distribution of a parameter changes with the data: prior, posterior after one observation, two, ...

    \b
    bayeswise beliefs beta:successes=1,failures=1 --data 1 1 0 1 --png coin.png --animation coin.gif
    bayeswise beliefs gamma:shape=2,rate=1 --data 3 5 2
    bayeswise beliefs normal:mean=0,stddev=10 --family normal-mean:stddev=2 --rows weights.csv --column grams
    bayeswise beliefs dirichlet:red=1,blue=1 --data red red blue

    The interval holds the parameter with probability 95 %.
    """
    from bayeswise.families.belief_history import BeliefHistory

    inputs = [] if rows is None else [rows]
    check_picture(png, inputs)
    if animation is not None:
        check_output(animation, inputs, "gif")
    about, believed = _prior(prior, family)
    sample = (labels_of if hasattr(believed, "levels") else numbers_of)(data, rows, column, reader)
    history = BeliefHistory.of(about, believed, sample)
    drawn = _steps(steps)
    if png is not None:
        history.plot(steps=drawn, parameter=parameter).save(png)
    if animation is not None:
        history.animate(animation, steps=drawn, seconds=seconds, parameter=parameter)
    columns = history.to_columns(parameter)
    if as_json:
        named = {"prior": repr(history.beliefs[0]), "posterior": repr(history.beliefs[-1])}
        print(json_document({**named, "family": about.name, "steps": _records(columns)}))
    else:
        print("\n".join(_lines(history, columns)))
    say(*(f"Saved {out}." for out in (png, animation) if out is not None))


def _prior(text: str, family: str | None) -> tuple[Any, Any]:
    """The family of the data, and what is believed of its parameter."""
    from dataclasses import fields

    from bayeswise import families

    name, given = named_numbers(text, "the prior", _EXAMPLE)
    if name == "dirichlet" and given and family is None:
        return families.Categorical(), families.Dirichlet.of(dict(given.items()))
    if name not in _PRIORS or not given:
        raise UsageError(f"{text!r} is not a prior", fix=f"type {_EXAMPLE}")
    kind, usual = _PRIORS[name]
    if not family and not usual:
        raise UsageError(
            "a normal prior is about a mean, and the spread of the data is not known",
            fix="add --family normal-mean:stddev=2, or begin with a normal-inverse-gamma prior",
        )
    needed = [field.name for field in fields(getattr(families, kind)) if field.repr]
    if set(given) != set(needed):
        raise ParameterError(
            f"a {name} prior has the parameters {', '.join(needed)}; found {', '.join(given)}",
            fix=f"type {name}:{','.join(f'{each}={given.get(each, 1):g}' for each in needed)}",
        )
    return family_of(family or usual), getattr(families, kind)(**given)


def _steps(typed: list[str] | None) -> Chosen:
    if not typed:
        return None
    if typed == ["all"]:
        return "all"
    if not all(word.isdigit() for word in typed):
        raise UsageError(f"--steps {' '.join(typed)} are not numbers of data", fix="type --steps 0 1 5, or --steps all")
    return [int(word) for word in typed]


def _records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    from bayeswise.render.plain import json_value

    return [dict(zip(columns, map(json_value, row), strict=True)) for row in zip(*columns.values(), strict=True)]


def _lines(history: BeliefHistory, columns: dict[str, list[Any]]) -> list[str]:
    n = len(history.beliefs)
    places = list(range(n)) if n <= _MOST_SHOWN else [*range(_MOST_SHOWN // 2), *range(n - _MOST_SHOWN // 2, n)]
    rows = [list(columns)]
    for k in places:
        datum = columns["datum"][k]
        numbers = [number(columns[name][k], 6) for name in list(columns)[2:]]
        rows.append([str(k), "" if datum is None else shown(datum), *numbers])
    left_out = [f"({n - len(places):,} steps are left out; --json has all)"] if len(places) < n else []
    return [*aligned(rows), *left_out, "", f"prior      {history.beliefs[0]!r}", f"posterior  {history.beliefs[-1]!r}"]
