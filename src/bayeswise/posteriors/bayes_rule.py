"""Bayes' rule for problems of two lines, in exact fractions, with every step kept and shown as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, PriorError
from bayeswise.posteriors.prior import SUM_TOLERANCE
from bayeswise.render.labels import guess, shown
from bayeswise.render.numbers import Number, decimal_text, exact, fraction_text
from bayeswise.render.terminal import aligned
from bayeswise.tables.schema.labels import Label, find_state, label_key, label_of

if TYPE_CHECKING:
    from bayeswise.posteriors.joint_table import JointTable


N = TypeVar("N", float, Fraction)


@dataclass(frozen=True)
class Steps(Generic[N]):
    """joint = prior x likelihoods; evidence = sum of the joints; posterior = joint / evidence."""

    prior: Mapping[Label, N]
    likelihood: Mapping[Label, Mapping[Label, N]]  # observation -> state -> P(observation | state)
    joint: Mapping[Label, N]
    evidence: N
    posterior: Mapping[Label, N]


@dataclass(frozen=True)
class Inference(Steps[float]):
    """What was known, what was observed, and what follows; `exact` holds the same steps as fractions."""

    states: tuple[Label, ...]
    observed: tuple[Label, ...]
    exact: Steps[Fraction]
    notes: tuple[str, ...] = ()

    @property
    def most_probable(self) -> Label:
        """The state of the largest posterior; of equal ones the first that was named."""
        return max(self.states, key=lambda state: self.exact.joint[state])

    @property
    def posterior_after(self) -> tuple[dict[Label, float], ...]:
        """The posterior after each observation: the posterior so far is the prior of the next."""
        path = []
        joint = dict(self.exact.prior)
        for observation in self.observed:
            joint = {state: joint[state] * self.exact.likelihood[observation][state] for state in self.states}
            total = sum(joint.values(), Fraction())
            path.append({state: float(term / total) for state, term in joint.items()})
        return tuple(path)

    def likelihood_ratio(self, state: Label, against: Label) -> float:
        """P(observed | state) / P(observed | against); the state wins above P(against) / P(state)."""
        for_, rival = (self._likelihood_of(label) for label in (state, against))
        if rival == 0:
            return math.inf if for_ > 0 else math.nan
        return _float(for_ / rival)

    def _likelihood_of(self, label: Label) -> Fraction:
        state = self.states[find_state(label, self.states)]
        return math.prod((self.exact.likelihood[seen][state] for seen in self.observed), start=Fraction(1))

    def to_dict(self) -> dict[str, Any]:
        """Every step as plain data; `exact` has the fractions as text."""
        return {
            "states": list(self.states),
            "observed": list(self.observed),
            "notes": list(self.notes),
            **_plain(self, _json_number),
            "most_probable": self.most_probable,
            "posterior_after": [_keyed(after, _json_number) for after in self.posterior_after],
            "exact": _plain(self.exact, fraction_text),
        }

    def __str__(self) -> str:

        return inference_text(self)

    def __repr__(self) -> str:
        terms = ", ".join(f"{state}={decimal_text(p, 4)}" for state, p in self.exact.posterior.items())
        return f"Inference({terms} | {', '.join(map(str, self.observed))})"


def bayes(
    prior: Mapping[Any, Number],
    likelihood: Mapping[Any, Mapping[Any, Number]],
    observe: Any,
    *,
    density: bool = False,
) -> Inference:
    """P(state | observed) = P(observed | state) P(state) / P(observed).

    `likelihood` is written {observation: {state: P(observation | state)}}; several observations are taken as
    mutually independent given the state. A problem with two states may leave out the prior of the second.
    Numbers may be texts ('.004', '1/250', '0.4%'); a likelihood above 1 is a density and has to be called so.

    prior        {state: P(state)}
    likelihood   {observation: {state: P(observation | state)}}
    observe      what was observed: one observation, or several
    density      likelihoods are densities, which may be above 1

    >>> test = {"positive": {"disease": ".8", "healthy": ".1"}}
    >>> answer = bayes(prior={"disease": ".004"}, likelihood=test, observe="positive")
    >>> answer
    Inference(disease=0.03113, healthy=0.9689 | positive)
    >>> answer.joint["disease"], answer.evidence, answer.exact.posterior["disease"], answer.most_probable
    (0.0032, 0.1028, Fraction(8, 257), 'healthy')
    """
    _check_mappings(prior, likelihood)
    table = {label_of(seen): {label_of(state): p for state, p in row.items()} for seen, row in likelihood.items()}
    known, notes = _complete_prior({label_of(state): p for state, p in prior.items()}, table)
    states = tuple(known)
    likelihoods = {seen: _likelihood_row(seen, row, states, density) for seen, row in table.items()}
    observed = _observed(observe, tuple(likelihoods))
    for seen in observed:
        _check_row(seen, likelihoods[seen], states)
    return _infer(known, {seen: likelihoods[seen] for seen in observed}, observed, notes)


def _infer(
    prior: dict[Label, Fraction],
    likelihood: dict[Label, dict[Label, Fraction]],
    observed: tuple[Label, ...],
    notes: tuple[str, ...],
) -> Inference:
    joint = {state: p * math.prod(likelihood[seen][state] for seen in observed) for state, p in prior.items()}
    evidence = sum(joint.values(), Fraction())
    if evidence == 0:
        raise ImpossibleEvidenceError(
            f"P({', '.join(map(str, observed))}) is 0: it is impossible in every state, the posterior is 0/0",
            fix="give one of the states a prior and likelihoods above 0",
        )
    posterior = {state: term / evidence for state, term in joint.items()}
    steps = Steps(prior, likelihood, joint, evidence, posterior)
    return Inference(
        prior=_floats(prior),
        likelihood={seen: _floats(row) for seen, row in likelihood.items()},
        joint=_floats(joint),
        evidence=_float(evidence),
        posterior=_floats(posterior),
        states=tuple(prior),
        observed=observed,
        exact=steps,
        notes=notes,
    )


# -- the border: what was typed becomes fractions by state --------------------------------------------------


def _check_mappings(prior: object, likelihood: object) -> None:
    if not isinstance(prior, Mapping) or not prior:
        raise PriorError(f"a prior is given by name; found {prior!r}", fix='write {"disease": .004}')
    rows = likelihood.values() if isinstance(likelihood, Mapping) else [None]
    if not all(isinstance(row, Mapping) for row in rows):
        raise ParameterError(
            f"likelihoods are given by name; found {likelihood!r}",
            fix='write {"positive": {"disease": .8, "healthy": .1}}',
        )


def _complete_prior(
    given: dict[Label, Number], table: Mapping[Label, Mapping[Label, Number]]
) -> tuple[dict[Label, Fraction], tuple[str, ...]]:
    """The prior as fractions; the second of two states is what the first leaves."""
    prior = {state: _prior_of(state, value) for state, value in given.items()}
    keys = [label_key(state) for state in prior]
    named = {label_key(state): state for row in table.values() for state in row}
    others = [state for key, state in named.items() if key not in keys]
    if len(prior) == 1 and len(others) == 1:
        (first, share), (second,) = next(iter(prior.items())), others
        rest = 1 - share
        sum_ = f"1 - {decimal_text(share)} = {decimal_text(rest)}"
        return {first: share, second: rest}, (f"{second} = {sum_} is filled in: the other of two states",)
    if others:
        raise PriorError(f"the prior has no entry for state {others[0]!r}", fix=guess(others[0], list(prior)))
    total = sum(prior.values(), Fraction())
    if abs(total - 1) > SUM_TOLERANCE:
        terms = " + ".join(decimal_text(share) for share in prior.values())
        raise PriorError(f"the prior sums to {decimal_text(total, 12)}, not to 1: {terms}", fix="make the sum 1")
    return prior, ()


def _prior_of(state: Label, value: Number) -> Fraction:
    share = exact(value, f"the prior of {state!r}", PriorError)
    if not 0 <= share <= 1:
        raise PriorError(f"the prior of {state!r} must be from 0 to 1; found {value}", fix="give a probability")
    return share


def _likelihood_row(
    seen: Label, row: Mapping[Label, Number], states: Sequence[Label], density: bool
) -> dict[Label, Fraction]:
    checked = {}
    for label, value in row.items():
        what = f"P({seen} | {label})"
        state = states[find_state(label, states, what=f"the likelihood {what} is of the unknown state")]
        number = exact(value, what)
        if number < 0 or (number > 1 and not density):
            remedy = "give a probability; for a density say density=True (--density)"
            raise ParameterError(f"{what} must be from 0 to 1; found {value}", fix=remedy)
        checked[state] = number
    return checked


def _observed(observe: Any, known: tuple[Label, ...]) -> tuple[Label, ...]:
    several = not isinstance(observe, str) and isinstance(observe, Iterable)
    labels = list(observe) if several else [observe]
    if not labels:
        names = ", ".join(map(repr, known)) or "what has a likelihood"
        raise ParameterError("nothing was observed", fix=f"observe one or several of: {names}")
    return tuple(known[find_state(label, known, what="there is no likelihood for the observation")] for label in labels)


def _check_row(seen: Label, row: Mapping[Label, Fraction], states: Iterable[Label]) -> None:
    for state in states:
        if state not in row:
            raise ParameterError(f"there is no likelihood P({seen} | {state})", fix=f"add {seen}:{state}=...")


# -- plain data ---------------------------------------------------------------------------------------------


def _floats(terms: Mapping[Label, Fraction]) -> dict[Label, float]:
    return {label: _float(term) for label, term in terms.items()}


def _float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:  # a product of densities
        return math.inf


def _json_number(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _keyed(terms: Mapping[Label, Any], write: Any) -> dict[str, Any]:
    return {str(label): write(term) for label, term in terms.items()}


def _plain(steps: Steps[Any], write: Any) -> dict[str, Any]:
    return {
        "prior": _keyed(steps.prior, write),
        "likelihood": {str(seen): _keyed(row, write) for seen, row in steps.likelihood.items()},
        "joint": _keyed(steps.joint, write),
        "evidence": write(steps.evidence),
        "posterior": _keyed(steps.posterior, write),
    }


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
