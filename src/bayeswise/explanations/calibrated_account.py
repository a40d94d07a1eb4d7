"""The account of a calibrated posterior: its last line is what the calibration adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from bayeswise.explanations.account import Account, Contribution
from bayeswise.foundation.arrays import FloatArray
from bayeswise.posteriors.normalise import log_posterior


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
