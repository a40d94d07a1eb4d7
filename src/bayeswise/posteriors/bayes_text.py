"""The steps of an inference, and a joint table with its marginals, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from bayeswise.render.labels import shown
from bayeswise.render.numbers import decimal_text, fraction_text
from bayeswise.render.terminal import aligned
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.posteriors.bayes_rule import Inference
    from bayeswise.posteriors.joint_table import JointTable

Write = Callable[[Fraction], str]

_NAME_WIDTH = 20


def inference_text(inference: Inference, *, exact: bool = False, width: int = 80) -> str:
    """Prior, likelihoods, joint and posterior by state, then each posterior as the ratio that it is.

    >>> from bayeswise.posteriors.bayes_rule import bayes
    >>> test = {"positive": {"disease": ".8", "healthy": ".1"}}
    >>> print(inference_text(bayes({"disease": ".004"}, test, "positive"), exact=True))
    healthy = 1 - 0.004 = 0.996 is filled in: the other of two states
    <BLANKLINE>
                           disease   healthy       sum
    prior                    1/250   249/250         1
    x P(positive | state)      4/5      1/10
    = joint                  2/625  249/2500  257/2500
    posterior                8/257   249/257         1
    <BLANKLINE>
    evidence: P(positive) = 257/2500
    P(disease | positive) = (2/625) / (257/2500) = 8/257
    P(healthy | positive) = (249/2500) / (257/2500) = 249/257
    most probable: healthy
    """
    write = _short_fraction if exact else decimal_text
    blocks = ["\n".join(inference.notes)] if inference.notes else []
    blocks.extend(_step_tables(inference, write, width))
    blocks.append("\n".join([*_ratios(inference, write), f"most probable: {shown(inference.most_probable)}"]))
    return "\n\n".join(blocks)


def joint_table_text(table: JointTable, *, evidence: Mapping[str, Label], exact: bool = False) -> str:
    """The joint table, every marginal (sum rule), and what follows from the evidence (product rule)."""
    write = _short_fraction if exact else decimal_text
    header = [shown(name, _NAME_WIDTH) for name in table.variables] + ["P"]
    lines = [[*(shown(level, _NAME_WIDTH) for level in cell), write(p)] for cell, p in table.exact.items()]
    blocks = ["\n".join(aligned([header, *lines], [len(table.variables)]))]
    marginals = (table.marginal(name) for name in table.variables)
    blocks.append("\n".join(_distribution(f"P({part.variables[0]})", part, write) for part in marginals))
    if evidence:
        given = ", ".join(f"{name} = {shown(level)}" for name, level in evidence.items())
        rest = table.given(evidence)
        blocks.append(_distribution(f"P({', '.join(rest.variables)} | {given})", rest, write))
    return "\n\n".join(blocks)


def _step_tables(inference: Inference, write: Write, width: int) -> list[str]:
    """One table, or several of as many states as fit into a line; the last one has the sums."""
    steps = inference.exact
    likelihoods = [(f"x P({shown(o, _NAME_WIDTH)} | state)", steps.likelihood[o]) for o in inference.observed]
    named = [("prior", steps.prior), *likelihoods, ("= joint", steps.joint), ("posterior", steps.posterior)]
    tables = []
    for states in _groups(inference.states, width):
        rows = [["", *(shown(state, _NAME_WIDTH) for state in states)]]
        rows += [[name, *(write(terms[state]) for state in states)] for name, terms in named]
        if states[-1] == inference.states[-1]:
            sums = ["sum", *("" if n.startswith("x") else write(sum(terms.values(), Fraction())) for n, terms in named)]
            rows = [[*row, total] for row, total in zip(rows, sums, strict=True)]
        tables.append("\n".join(aligned(rows)))
    return tables


def _groups(states: Sequence[Label], width: int) -> list[Sequence[Label]]:
    size = max(1, (width - 36) // 11)
    return [states[start : start + size] for start in range(0, len(states), size)]


def _ratios(inference: Inference, write: Write) -> list[str]:
    steps = inference.exact
    seen = shown(", ".join(map(str, inference.observed)), 2 * _NAME_WIDTH)
    evidence = _bracketed(write(steps.evidence))
    return [f"evidence: P({seen}) = {write(steps.evidence)}"] + [
        f"P({shown(state, _NAME_WIDTH)} | {seen})"
        f" = {_bracketed(write(steps.joint[state]))} / {evidence} = {write(steps.posterior[state])}"
        for state in inference.states
    ]


def _bracketed(number: str) -> str:
    return f"({number})" if "/" in number else number


def _distribution(name: str, table: JointTable, write: Write) -> str:
    terms = (f"{', '.join(map(shown, cell))} {write(p)}" for cell, p in table.exact.items())
    return f"{name}:  {'   '.join(terms)}"


def _short_fraction(number: Fraction) -> str:
    """The fraction if it can be read, else its digits."""
    ratio = fraction_text(number)
    return ratio if len(ratio) <= 40 else f"~{decimal_text(number, 12)}"
