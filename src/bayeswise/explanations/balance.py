"""One state against another: the weight of evidence, which adds up to the log-odds, and how it is put into words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, listed
from bayeswise.foundation.logspace import log_sum_exp
from bayeswise.posteriors.normalise import odds_of, probability_of
from bayeswise.render.labels import shown
from bayeswise.render.numbers import probability as probability_text
from bayeswise.render.plain import json_number, json_value
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account

PRIOR, AT_THE_MEANS = "prior", "at the means"  # what the first line of an account is


@dataclass(frozen=True)
class Weight:
    """log p(value | state) / p(value | against): above 0 it speaks for the state."""

    column: str
    value: Any
    log_ratio: float
    note: str = ""


@dataclass(frozen=True)
class Balance:
    """log-odds = prior log-odds + sum of the weights."""

    state: Label
    against: Label | None  # None: all other states together
    log_prior_odds: float
    weights: tuple[Weight, ...]  # in the order of the columns
    log_odds: float
    rival: str  # `against` in words
    complete: bool = True  # whether there is no third state
    start: str = PRIOR  # what `log_prior_odds` are

    @property
    def prior(self) -> float:
        """The probability of the state before the columns were seen, among the states compared."""
        return float(probability_of(self.log_prior_odds))

    @property
    def probability(self) -> float:
        """The probability of the state after that, among the states compared."""
        return float(probability_of(self.log_odds))

    def share(self, probability: float, digits: int = 3) -> str:
        """A probability of the state in words: of all states, or of the two that are compared."""
        return f"{'P' if self.complete else 'of the two'} = {probability_text(probability, digits)}"

    @cached_property
    def ranked(self) -> tuple[Weight, ...]:
        """The strongest first; of equal ones the first column."""
        return tuple(sorted(self.weights, key=lambda weight: -abs(weight.log_ratio)))

    def strongest(self, n: int) -> tuple[Weight, ...]:
        """The n strongest; if there are more, the last line is the sum of the others."""
        if len(self.ranked) <= n:
            return self.ranked
        head, tail = self.ranked[: n - 1], self.ranked[n - 1 :]
        rest = math.fsum(weight.log_ratio for weight in tail)
        return (*head, Weight(f"{len(tail):,} other columns", "", rest))

    def largest(self, weights: Iterable[Weight]) -> float:
        """The size of the largest finite number among the prior log-odds and some weights; 1 if all are 0."""
        sizes = [abs(self.log_prior_odds), *(abs(weight.log_ratio) for weight in weights)]
        return max(filter(math.isfinite, sizes), default=0.0) or 1.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; infinities are text."""
        return {
            "state": json_value(self.state),
            "against": json_value(self.against),
            "start": self.start,
            "log_prior_odds": json_number(self.log_prior_odds),
            "weights": [
                {"column": each.column, "value": json_value(each.value), "log_ratio": json_number(each.log_ratio)}
                for each in self.weights
            ],
            "log_odds": json_number(self.log_odds),
        }


def weigh(account: Account, state: int, against: int | None) -> Balance:
    """Weigh one state (a position) against another, or against all others together.

    Against one state a weight is the log-likelihood ratio of the column alone. Against several it is that of
    the value given the columns before it, log p(x_j | state) - log p(x_j | the others, x_1 ... x_{j-1}): what
    was seen so far shifts the shares of the others. The sum is the log-odds in both cases.
    """
    others = [k for k in range(len(account.states)) if k != state]
    if against is not None:
        others = [against]
    if not others or state in others:
        raise ParameterError(f"{account.states[state]!r} has no rival", fix="name two different states")
    log_odds = _log_odds(account, state, others)
    named = list(_lines(account))
    terms = np.array([account.log_prior, *(log_terms for _, log_terms in named)])  # (1 + n_lines, n_states)
    log_for, log_others = terms[:, state], terms[:, others]
    prior, *ratios = (log_for - log_others[:, 0]).tolist() if len(others) == 1 else _chain_ratios(log_for, log_others)
    weights = (replace(line, log_ratio=ratio) for (line, _), ratio in zip(named, ratios, strict=True))
    single = len(others) == 1
    rival = str(account.states[others[0]]) if single else "all others"
    rival_state = account.states[others[0]] if single else None
    complete = len(others) == len(account.states) - 1
    return Balance(account.states[state], rival_state, prior, tuple(weights), log_odds, rival, complete, account.start)


def _log_odds(account: Account, state: int, others: list[int]) -> float:
    """log p(state, row) - log sum p(other, row), each difference of sums rounded once."""
    terms = account.log_terms  # (1 + n_columns, n_states)
    log_joint = account.log_joint
    alive = [k for k in others if log_joint[k] > -np.inf]
    if log_joint[state] == -np.inf and not alive:
        names = listed((repr(account.states[k]) for k in [state, *others]), 6)
        raise ImpossibleEvidenceError(
            f"this case has probability 0 in all states compared ({names}), so that their odds are 0/0",
            fix="use smoothing above 0, or compare with another state",
        )
    if log_joint[state] == -np.inf or not alive:
        return math.inf if not alive else -math.inf
    log_odds = [math.fsum([*terms[:, k], *-terms[:, state]]) for k in alive]
    return -float(log_sum_exp(np.array(log_odds)))


def _lines(account: Account) -> Iterator[tuple[Weight, FloatArray]]:
    """A line for each column and what it says of each state, (n_states,); for each word of a text."""
    for each in account.contributions:
        if not each.parts:
            yield Weight(each.column, each.value, 0.0, each.note), each.log_likelihood
        for word, log_likelihood in each.parts:
            yield Weight(each.column, word, 0.0, each.note), log_likelihood


def _chain_ratios(log_for: FloatArray, log_others: FloatArray) -> Iterator[float]:
    """The prior log-odds and then one ratio for each column; (n_terms,), (n_terms, n_others)."""
    log_share = np.zeros(log_others.shape[1])  # log p(other | any other, columns so far)
    alive = True
    for log_term, log_rest in zip(log_for, log_others, strict=True):
        log_share = log_share + log_rest
        log_predicted = float(log_sum_exp(log_share))
        if log_predicted == -math.inf:  # the last rival is ruled out, once
            yield math.inf if alive else 0.0
            alive = False
            continue
        yield float(log_term) - log_predicted
        log_share = log_share - log_predicted


# -- in words -------------------------------------------------------------------------------------------------


def remarks_of(account: Account) -> list[str]:
    """The title of the case, and the convention by which it was computed."""
    return [remark for remark in (account.title, account.convention) if remark]


def value_text(value: Any, note: str = "") -> str:
    """The value, with its note if there is one; a missing one is a question mark.

    >>> value_text("sunny"), value_text(None, "missing: skipped")
    ('sunny', '? (missing: skipped)')
    """
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    text = "?" if missing else shown(value)
    return f"{text} ({note})" if note else text


def weight_text(log_ratio: float) -> str:
    """The weight with its sign, in at most 7 characters.

    >>> weight_text(0.9933), weight_text(-48120.33), weight_text(4.5e17), weight_text(-math.inf)
    ('+0.99', '-48,120', '+4.5e17', '-∞')
    """
    if math.isinf(log_ratio):
        return "+∞" if log_ratio > 0 else "-∞"
    forms = (f"{log_ratio:+.2f}", f"{log_ratio:+,.0f}", f"{log_ratio:+.2g}".replace("e+0", "e").replace("e+", "e"))
    return next((text for text in forms if len(text) <= 7), f"{log_ratio:+.0e}".replace("e+", "e"))


def factor_text(log_ratio: float) -> str:
    """What the odds are multiplied by, in three digits, or two where it is below 0.001 or from a million on.

    >>> factor_text(math.log(2.7)), factor_text(7.507), factor_text(28.8), factor_text(-math.inf)
    ('× 2.7', '× 1,821', '× 3.2e12', '× 0')
    >>> factor_text(-7.0), factor_text(-11.3)
    ('× 0.00091', '× 1.2e-05')
    """
    factor = odds_of(log_ratio)
    if log_ratio == -math.inf or math.isinf(factor):
        return "× 0" if log_ratio < 0 else "× ∞"
    if factor < 1e-99:
        return "× < 1e-99"
    if 1e3 <= factor < 1e6:
        return f"× {factor:,.0f}"
    return f"× {factor:.3g}" if 1e-3 <= factor < 1e3 else f"× {factor:.2g}".replace("e+", "e")
