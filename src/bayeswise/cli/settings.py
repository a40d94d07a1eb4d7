"""What `fit` is asked to believe: families, smoothing and priors, from what was typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayeswise.cli.pairs import by_name, by_number, class_of
from bayeswise.foundation.errors import ParameterError, PriorError
from bayeswise.models.naive_bayes import MEstimate
from bayeswise.posteriors.exact import exact
from bayeswise.tables.labels import Label


def beliefs(
    *,
    smoothing: float | None = None,
    m_estimate: float | None = None,
    prior_smoothing: float | None = None,
    variance_divisor: str | None = None,
    shared_variance: bool = False,
    convention: str | None = None,
) -> dict[str, Any]:
    """The settings that were typed, and no others.

    >>> beliefs(m_estimate=2.0, shared_variance=True)
    {'smoothing': MEstimate(m=2.0, p={}), 'shared_variance': True}
    """
    if smoothing is not None and m_estimate is not None:
        raise ParameterError("--smoothing and --m-estimate exclude each other", fix="give one of them")
    found = {
        "smoothing": smoothing if m_estimate is None else MEstimate(m_estimate),
        "prior_smoothing": prior_smoothing,
        "variance_divisor": variance_divisor,
        "shared_variance": shared_variance or None,
        "convention": convention,
    }
    return {name: value for name, value in found.items() if value is not None}


def families(pieces: Sequence[str] | None) -> str | dict[str, str]:
    """COL=FAMILY for some columns, or one FAMILY for all numbers.

    >>> families(["visits=poisson", "age=gamma"]), families(["laplace"]), families(None)
    ({'visits': 'poisson', 'age': 'gamma'}, 'laplace', 'auto')
    """
    if not pieces:
        return "auto"
    if len(pieces) == 1 and "=" not in pieces[0]:
        return pieces[0]
    return by_number(pieces, "--family", "visits=poisson")


def policies(pieces: Sequence[str] | None, names: Sequence[str], option: str) -> dict[str, str]:
    """POLICY for all columns, COL=POLICY for one.

    >>> policies(["level", "age=ignore"], ["age", "wind"], "--missing")
    {'age': 'ignore', 'wind': 'level'}
    """
    general = [piece for piece in pieces or () if "=" not in piece]
    if len(general) > 1:
        raise ParameterError(f"{option} is given twice: {general[0]} and {general[1]}", fix="give it once")
    special = by_name([piece for piece in pieces or () if "=" in piece], names, option, f"COL={'ignore'}")
    return {**(dict.fromkeys(names, general[0]) if general else {}), **special}


def check_prior(pieces: Sequence[str]) -> None:
    """Refuse what is no number before the rows are read."""
    for text, number in by_number(pieces, "--prior", "yes=.6").items():
        exact(number, f"the prior of {text}", PriorError)


def prior_of(pieces: Sequence[str], classes: tuple[Label, ...]) -> Mapping[Label, float]:
    """CLASS=P for all classes but at most one, which gets the rest.

    >>> prior_of(["yes=3/5"], ("no", "yes"))
    {'yes': 0.6, 'no': 0.4}
    """
    typed = by_number(pieces, "--prior", "yes=.6")
    given: dict[Label, Fraction] = {}
    for text, number in typed.items():
        label = class_of(text, classes, what="--prior names a class that the rows do not have:")
        given[label] = exact(number, f"the prior of {text}", PriorError)
    left = [label for label in classes if label not in given]
    total = sum(given.values(), Fraction(0))
    if len(left) == 1 and total <= 1:
        given[left[0]] = 1 - total
    return {label: float(number) for label, number in given.items()}
