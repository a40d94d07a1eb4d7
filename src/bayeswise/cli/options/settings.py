"""What `fit` is told to believe: which options have a say in which model, and what they mean there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayeswise.foundation.errors import ParameterError, UsageError
from bayeswise.models.registry import MODELS, ModelKind, kind_of_name, names_in

# Options whose name is not that of the setting, with the settings that they give.
_GIVES: dict[str, tuple[str, ...]] = {
    "m_estimate": ("smoothing",),
    "bdeu": ("cuts",),  # of networks only
    "family": ("families",),
    "no_intercept": ("fit_intercept",),
    "no_standardise": ("standardise",),
    "parents": ("k", "max_parents"),
}
REGRESSIONS = names_in("regression")
NETWORKS = names_in("network")
_PRIORS = {"logistic": ("gaussian", "laplace", "student-t", "none"), "linear": ("gaussian", "laplace", "none")}


def beliefs(kind: str, typed: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a model from the options that were typed, and no others.

    >>> beliefs("naive-bayes", {"m_estimate": 2.0, "shared_variance": True, "scale": None})
    {'shared_variance': True, 'smoothing': MEstimate(m=2.0, p={})}
    >>> beliefs("linear", {"scale": "evidence", "no_intercept": True})
    {'scale': 'evidence', 'intercept': False}
    """
    given = what_was_typed(typed)
    for name in given:
        if not has_option(kind_of_name(kind), name):
            others = " or ".join(f"--model {other.name}" for other in MODELS if has_option(other, name))
            raise UsageError(f"{option(name)} has no say in a {kind} model", fix=f"leave it out, or choose {others}")
    given.pop("family", None)
    return _as_settings(kind, given)


def has_option(kind: ModelKind, name: str) -> bool:
    """Whether an option gives a setting of a kind of model.

    >>> [kind.name for kind in MODELS if has_option(kind, "parents")]
    ['k-dependence', 'markov-blanket']
    """
    return any(setting in kind.options for setting in _GIVES.get(name, (name,)))


def is_setting(name: str) -> bool:
    """Whether an option gives a setting of any kind of model; the prior is read with the classes at hand.

    >>> is_setting("smoothing"), is_setting("target"), is_setting("prior")
    (True, False, False)
    """
    return name != "prior" and any(has_option(kind, name) for kind in MODELS)


def what_was_typed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are there.

    >>> what_was_typed({"smoothing": 0.0, "scale": None, "marginalize": False})
    {'smoothing': 0.0}
    """
    return {name: value for name, value in options.items() if value is not None and value is not False}


def option(name: str) -> str:
    """How a setting is typed.

    >>> option("prior_smoothing")
    '--prior-smoothing'
    """
    return f"--{name.replace('_', '-')}"


def _of_network(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """Pseudo-counts as a prior with its strength; parents as the structure calls them."""
    priors = {"smoothing": "laplace", "m_estimate": "m-estimate", "bdeu": "bdeu"}
    typed = [name for name in priors if name in given]
    if len(typed) > 1:
        raise ParameterError(f"{option(typed[0])} and {option(typed[1])} exclude each other", fix="give one of them")
    for name in typed:
        given |= {"prior": priors[name], "strength": given.pop(name)}
    if "parents" in given:
        given["k" if kind == "k-dependence" else "max_parents"] = given.pop("parents")
    return given


def _as_settings(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    if kind in NETWORKS:
        return _of_network(kind, given)
    if "m_estimate" in given:
        from bayeswise.models.naive_bayes import MEstimate

        if "smoothing" in given:
            raise ParameterError("--smoothing and --m-estimate exclude each other", fix="give one of them")
        given["smoothing"] = MEstimate(given.pop("m_estimate"))
    if kind == "gaussian" and "variance_divisor" in given:
        given["divisor"] = given.pop("variance_divisor")
    for negated in ("intercept", "standardise"):
        if given.pop(f"no_{negated}", False):
            given[negated] = False
    for name, field in (("df", "freedom"), ("marginalize", "moderated")):
        if name in given:
            given[field] = given.pop(name)
    for name, word in (("scale", "evidence or cv or auto"), ("shrinkage", "auto"), ("temper", "auto or pairs")):
        if name in given:
            given[name] = number_or_word(given[name], option(name), word)
    return given


def number_or_word(text: str, what: str, words: str) -> float | str:
    """A number where it is one; the model knows which words mean something.

    >>> number_or_word("0.5", "--shrinkage", "auto"), number_or_word("auto", "--shrinkage", "auto")
    (0.5, 'auto')
    """
    try:
        return float(text)
    except ValueError:
        if text in words.split(" or "):
            return text
        raise UsageError(f"{what} is {text!r}", fix=f"give a number, or {words}") from None


def numbers_of(text: str, what: str) -> list[float]:
    """Numbers with commas between them.

    >>> numbers_of("30,50.5", "--cuts age=30,50.5")
    [30.0, 50.5]
    """
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise UsageError(f"{what} is not a list of numbers", fix="write for example 30,50") from None


def weights_prior(kind: str, pieces: Sequence[str] | None) -> dict[str, Any]:
    """The prior of the weights of a regression, which is named and not counted.

    >>> weights_prior("linear", ["none"]), weights_prior("logistic", None)
    ({'prior': None}, {})
    """
    if not pieces:
        return {}
    if len(pieces) > 1 or pieces[0] not in _PRIORS[kind]:
        raise UsageError(
            f"--prior {' '.join(pieces)}: the prior of a {kind} regression is that of its weights",
            fix=f"write one of {', '.join(_PRIORS[kind])}",
        )
    return {"prior": None if pieces[0] == "none" else pieces[0]}


def missing_of(pieces: Sequence[str] | None) -> dict[str, Any]:
    """What a missing cell means to a regression: one word for all columns.

    >>> missing_of(["mean"])
    {'missing': 'mean'}
    """
    if not pieces:
        return {}
    if len(pieces) > 1 or pieces[0] not in ("error", "mean"):
        raise UsageError(
            f"--missing {' '.join(pieces)} means nothing in a regression", fix="write --missing mean, or leave it out"
        )
    return {"missing": pieces[0]}
