"""Why this answer, as plain data: log joint = log prior + one contribution for each column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeswise.explanations.balance import PRIOR, Balance, weigh, weight_text
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, listed
from bayeswise.posteriors.normalise import log_posterior, normalise
from bayeswise.render.labels import shown
from bayeswise.render.numbers import plural, probability
from bayeswise.render.plain import Tabular, json_number, json_value
from bayeswise.tables.schema.labels import Label, find_state

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bayeswise.explanations.plots import ThreePanelDisplay, WaterfallDisplay


REST_OF_TEXT = "(the rest of the text)"  # what belongs to no word: words that are absent, or an average


def counted_word(word: object, times: float) -> str:
    """A word of a text, with how often it stands there.

    >>> counted_word("cash", 1), counted_word("cash", 3)
    ('cash', 'cash (3 times)')
    """
    return str(word) if times == 1 else f"{word} ({times:g} times)"


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one column's value says of each state: log p(value | state); zero for all if it was skipped."""

    column: str
    value: Any
    log_likelihood: FloatArray  # (n_states,)
    note: str = ""  # "missing: skipped", "unseen: smoothed"
    parts: tuple[tuple[str, FloatArray], ...] = ()  # of a text: each word, and what it says; they add up to the whole

    def __post_init__(self) -> None:
        log_likelihood = _frozen(self.log_likelihood, f"the log-likelihood of column {self.column!r}")
        object.__setattr__(self, "log_likelihood", log_likelihood)


@dataclass(frozen=True, eq=False)
class Account(Tabular):
    """The whole calculation of one case: prior x contributions = posterior, up to the evidence.

    >>> golf = Account(
    ...     states=("yes", "no"),
    ...     log_prior=np.log([9 / 14, 5 / 14]),
    ...     contributions=(
    ...         Contribution("outlook", "sunny", np.log([2 / 9, 3 / 5])),
    ...         Contribution("wind", "strong", np.log([3 / 9, 3 / 5])),
    ...     ),
    ... )
    >>> golf.most_probable, golf.posterior.round(4).tolist(), round(golf.log_odds("no"), 4)
    ('no', [0.2703, 0.7297], 0.9933)
    >>> [(weight.column, round(weight.log_ratio, 4)) for weight in golf.weigh("no").weights]
    [('outlook', 0.9933), ('wind', 0.5878)]
    """

    states: tuple[Label, ...]
    log_prior: FloatArray  # (n_states,)
    contributions: tuple[Contribution, ...]
    convention: str = ""  # which smoothing and prior are in force, in words
    title: str = field(default="", kw_only=True)
    start: str = field(default=PRIOR, kw_only=True)  # what `log_prior` is: that of the classes, or of a row of means

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", tuple(self.states))
        object.__setattr__(self, "contributions", tuple(self.contributions))
        object.__setattr__(self, "log_prior", _frozen(self.log_prior, "the log prior"))
        self._check_shapes()

    def _check_shapes(self) -> None:
        n_states = len(self.states)
        parts = {"the log prior": self.log_prior} | {c.column: c.log_likelihood for c in self.contributions}
        if len(parts) <= len(self.contributions):
            twice = next(c.column for c in self.contributions if self.columns.count(c.column) > 1)
            raise ParameterError(f"column {twice!r} contributes twice", fix="give one contribution for each column")
        for name, terms in parts.items():
            if terms.shape != (n_states,):
                raise ParameterError(
                    f"{name!r} has the shape {terms.shape}; there are {n_states} states",
                    fix="give one number for each state",
                )

    # -- the sum --
    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(contribution.column for contribution in self.contributions)

    @cached_property
    def log_terms(self) -> FloatArray:
        """The prior and every contribution, one below the other, (1 + n_columns, n_states)."""
        return np.stack([self.log_prior, *(c.log_likelihood for c in self.contributions)])

    @cached_property
    def log_joint(self) -> FloatArray:
        """log p(state, row), (n_states,), each sum rounded once."""
        return np.array([math.fsum(terms) for terms in self.log_terms.T])

    @property
    def prior(self) -> FloatArray:
        """p(state), (n_states,)."""
        return np.asarray(normalise(self.log_prior[None, :]).probability[0])

    @property
    def posterior(self) -> FloatArray:
        """p(state | row), (n_states,)."""
        self._check_possible()
        return np.asarray(normalise(self.log_joint[None, :]).probability[0])

    @property
    def most_probable(self) -> Label:
        """The state of the largest posterior; of equal ones the first."""
        self._check_possible()
        return self.states[int(np.argmax(self.log_joint))]

    def rival_of(self, state: Label) -> Label:
        """The most probable of the other states."""
        if len(self.states) < 2:
            raise ParameterError(f"there is no state beside {state!r}", fix="explain a model with two states or more")
        position = find_state(state, self.states)
        others = [k for k in range(len(self.states)) if k != position]
        return self.states[max(others, key=lambda k: self.log_joint[k])]

    def log_odds(self, state: Label, against: Label | None = None) -> float:
        """log p(state | row) / p(against | row); None is all other states together."""
        return self.weigh(state, against).log_odds

    def weigh(self, state: Label | None = None, against: Label | None = None) -> Balance:
        """What speaks for a state, and what against: the weight of evidence of every column.

        Without a state, the most probable one against its strongest rival; `against` None: all other states.
        """
        if state is None:
            state = self.most_probable
            against = self.rival_of(state) if against is None else against
        rival = None if against is None else find_state(against, self.states)
        return weigh(self, find_state(state, self.states), rival)

    def with_changes(self, changes: Mapping[str, Contribution]) -> Account:
        """The same case with other values in some columns."""
        unknown = [column for column in changes if column not in self.columns]
        if unknown:
            find_state(unknown[0], self.columns, what="there is no column")
        return replace(self, contributions=tuple(changes.get(c.column, c) for c in self.contributions))

    def shifted(self, log_ratio: FloatArray) -> Account:
        """The account under another prior, larger by these factors: the same evidence."""
        return replace(self, log_prior=self.log_prior + log_ratio)

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns that are cells of the case; a calibration is not."""
        return self.columns

    @property
    def additive(self) -> bool:
        """Whether what a column adds to the log joint does not depend on the others."""
        return True

    @property
    def equation(self) -> str:
        """What the lines are, in words; a line is a likelihood where the others do not change it."""
        factors = "likelihoods" if self.additive and self.start == PRIOR else "a factor for each column"
        return f"{self.start} × {factors} = posterior"

    @property
    def greedy_is_least(self) -> bool:
        """Whether changing the most effective columns first changes the fewest, wherever the boundary is.

        Of two states the log-odds are one number; a calibration must not turn it round.
        """
        return len(self.states) == 2

    @property
    def column_terms(self) -> FloatArray:
        """(1 + n_columns, n_states) the prior and the columns."""
        return self.log_terms

    def log_joint_of(self, sums: FloatArray) -> FloatArray:
        """(n, n_states) log joints from sums of terms such as `column_terms`."""
        return sums

    def _check_possible(self) -> None:
        if np.isneginf(self.log_joint).all():
            first = np.argmax(np.isneginf(self.log_terms), axis=0)  # (n_states,)
            far = any(k > 0 and isinstance(self.contributions[k - 1].value, float) for k in first.tolist())
            raise ImpossibleEvidenceError(
                f"this case has probability 0 in every state: {self._excluded(first)}",
                fix="give numbers nearer to the training rows" if far else "use smoothing above 0",
            )

    def _excluded(self, first: IntArray) -> str:
        names = [
            "its prior" if self.start == PRIOR else self.start,
            *(f"{c.column} = {c.value!r}" for c in self.contributions),
        ]
        return "; ".join(f"{state!r} by {names[k]}" for state, k in list(zip(self.states, first, strict=True))[:5])

    # -- as data, text, pages and pictures --
    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; minus infinity is the text "-inf"."""
        return {
            "title": self.title,
            "convention": self.convention,
            "states": [json_value(state) for state in self.states],
            "start": self.start,
            "log_prior": _json_numbers(self.log_prior),
            "contributions": [
                {
                    "column": c.column,
                    "value": json_value(c.value),
                    "log_likelihood": _json_numbers(c.log_likelihood),
                    "note": c.note,
                }
                for c in self.contributions
            ],
            "log_joint": _json_numbers(self.log_joint),
            "posterior": _json_numbers(self.posterior),
            "most_probable": json_value(self.most_probable),
            "balance": self.weigh().to_dict() if len(self.states) > 1 else None,
        }

    def to_columns(self) -> dict[str, list[Any]]:
        """One line for the start, each column and the joint: column, value (as text), log_STATE ..., note."""
        names = [f"log_{state}" for state in self.states]
        if len(set(names)) < len(names):
            names = [f"log_{state!r}" for state in self.states]
        lines = [*self.log_terms, self.log_joint]
        return {
            "column": [f"({self.start})", *self.columns, "(joint)"],
            "value": ["", *(shown(c.value) for c in self.contributions), ""],
            **{name: [float(line[k]) for line in lines] for k, name in enumerate(names)},
            "note": ["", *(c.note for c in self.contributions), ""],
        }

    def to_text(self, state: Label | None = None, against: Label | None = None, *, width: int = 80) -> str:
        """Bars for a terminal of that width, without colour."""
        from bayeswise.explanations.account_views import account_text

        return account_text(self, self.weigh(state, against), width=width)

    def to_html(self, state: Label | None = None, against: Label | None = None) -> str:
        """A page that needs nothing else: no script, no network."""
        from bayeswise.explanations.account_views import account_page

        return account_page(self, self.weigh(state, against))

    def plot(
        self, ax: Any = None, *, state: Label | None = None, against: Label | None = None, most_columns: int = 15
    ) -> WaterfallDisplay:
        """Draw the steps from the prior log-odds to the posterior log-odds."""
        from bayeswise.explanations.plots import WaterfallDisplay

        return WaterfallDisplay.from_account(self, state, against, most_columns=most_columns).plot(ax)

    def plot_panels(self, ax: Any = None, *, most_columns: int = 12, most_states: int = 5) -> ThreePanelDisplay:
        """Draw prior x contributions = posterior."""
        from bayeswise.explanations.plots import ThreePanelDisplay

        return ThreePanelDisplay(self, most_columns=most_columns, most_states=most_states).plot(ax)

    def _repr_html_(self) -> str:
        from bayeswise.explanations.account_views import account_fragment

        return account_fragment(self, self.weigh())

    def __rich__(self) -> RenderableType:
        from bayeswise.explanations.account_views import Bars

        return Bars(self, self.weigh())

    def __repr__(self) -> str:
        size = plural(len(self.contributions), "column")
        if len(self.states) < 2 or np.isneginf(self.log_joint).all():
            return f"Account({size})"
        place = int(np.argmax(self.log_joint))
        before, after = (probability(float(p[place]), 4) for p in (self.prior, self.posterior))
        moved = listed((f"{shown(each.column, 24)} {weight_text(each.log_ratio)}" for each in self.weigh().ranked), 3)
        return f"Account({shown(self.states[place], 24)}: {self.start} {before}, posterior {after}; {size}: {moved})"


def _frozen(log_terms: Any, what: str) -> FloatArray:
    """A read-only copy, checked: a log-probability is a number or minus infinity."""
    terms = np.array(log_terms, dtype=np.float64)
    if np.isnan(terms).any() or np.isposinf(terms).any():
        raise ParameterError(f"{what} must be numbers or -inf; found {terms.tolist()}", fix="look at that cell")
    terms.setflags(write=False)
    return terms


def _json_numbers(array: FloatArray) -> list[float | str]:
    return [json_number(number) for number in array.tolist()]


# -- a calibrated posterior -----------------------------------------------------------------------------------


class LogMap(Protocol):
    """A map of log posteriors, such as a calibration."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def rising(self) -> bool:
        """Whether, of two states, more probability before never means less after."""

    def apply_log(self, log_probability: FloatArray) -> FloatArray:
        """(n_rows, n_states) the logarithm of the posterior after it."""


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedAccount(Account):
    """An account whose last line is the calibration: what it adds to the log joint, so that the sum stays the answer.

    What it adds depends on the posterior of the columns, so that it is computed again for a case with other values.
    """

    calibration: LogMap = field(kw_only=True)
    log_model_prior: FloatArray = field(kw_only=True)  # (n_states,) under which the posterior is calibrated
    log_shift: FloatArray = field(kw_only=True)  # (n_states,) of the prior, after that

    @classmethod
    def of(cls, account: Account, calibration: LogMap) -> CalibratedAccount:
        """The account of a model, and a calibration of its posterior."""
        name = "calibration"
        while name in account.columns:
            name = f"({name})"
        line = Contribution(name, calibration.name, calibrated_by(account.log_joint[None], calibration)[0])
        return cls(
            account.states,
            account.log_prior,
            (*account.contributions, line),
            account.convention,
            title=account.title,
            start=account.start,
            calibration=calibration,
            log_model_prior=account.log_prior,
            log_shift=np.zeros(len(account.states)),
        )

    def with_changes(self, changes: Mapping[str, Contribution]) -> Account:
        parts = tuple(changes.get(c.column, c) for c in super().with_changes(changes).contributions[:-1])
        bare = np.sum([self.log_model_prior, *(c.log_likelihood for c in parts)], axis=0)
        line = replace(self.contributions[-1], log_likelihood=calibrated_by(bare[None], self.calibration)[0])
        return replace(self, contributions=(*parts, line))

    def shifted(self, log_ratio: FloatArray) -> Account:
        return replace(self, log_prior=self.log_prior + log_ratio, log_shift=self.log_shift + log_ratio)

    @property
    def cells(self) -> tuple[str, ...]:
        return self.columns[:-1]

    @property
    def additive(self) -> bool:
        return False

    @property
    def greedy_is_least(self) -> bool:
        return len(self.states) == 2 and self.calibration.rising

    @property
    def column_terms(self) -> FloatArray:
        return np.stack([self.log_model_prior, *(c.log_likelihood for c in self.contributions[:-1])])

    def log_joint_of(self, sums: FloatArray) -> FloatArray:
        return np.asarray(sums + calibrated_by(sums, self.calibration) + self.log_shift)


def calibrated_by(log_joint: FloatArray, calibration: LogMap) -> FloatArray:
    """(n, n_states) what a calibration adds to log joints; a state that is impossible stays so, and gets nothing."""
    possible = log_joint > -np.inf
    live = possible.any(axis=1)
    added = np.zeros(log_joint.shape)
    before = log_posterior(log_joint[live])
    with np.errstate(invalid="ignore"):
        added[live] = np.where(possible[live], calibration.apply_log(before) - before, 0.0)
    return added
