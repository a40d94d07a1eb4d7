"""A model whose posteriors are calibrated on rows that were left out: one value, one file, one answer everywhere.

The calibration is a function of the posteriors of learned rows, each under a model that never saw it. Rows that come or
go later change the model and leave the calibration as it was; `age` says what it was fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from bayeswise.explanations.account import Account, CalibratedAccount
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, KindError, SchemaError
from bayeswise.foundation.threads import limit_threads
from bayeswise.models.base.probability_model import ProbabilityModel
from bayeswise.models.base.table_model import (
    Capabilities,
    ModelFacts,
    ScoredRows,
    capabilities_of,
    leaves_rows_out,
    where_rows_are,
)
from bayeswise.models.forgetting import forgotten_by, with_ledger
from bayeswise.models.from_table import Progress
from bayeswise.models.held_out import HeldOut, left_out_or_folded
from bayeswise.posteriors.calibration import checked_method, fit_calibration
from bayeswise.posteriors.calibration_maps import MAPS, AsItIs, Calibration
from bayeswise.posteriors.normalise import log_posterior, normalise
from bayeswise.statistics import fingerprint
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label, Vocabulary


@dataclass(frozen=True, eq=False)
class CalibratedRows(ScoredRows):
    """Rows with their calibrated scores, and those of the model."""

    uncalibrated: ScoredRows | None = None


@dataclass(frozen=True, eq=False)
class CalibratedModel(ProbabilityModel):
    """A fitted model and a map of its posteriors; what is not about posteriors is answered by the model.

    >>> from bayeswise.models.fitting import fit
    >>> rows = [{"wind": w, "wind again": w, "play": p} for w, p in zip("aabb" * 25, "yyny" * 25)]
    >>> model = fit(rows, target="play", model="naive-bayes")
    >>> row = {"wind": "b", "wind again": "b"}  # every second time, said twice
    >>> [each.predict_proba(row).round(2).tolist() for each in (model, calibrated(model, rows, "sigmoid"))]
    [[[0.73, 0.27]], [[0.48, 0.52]]]
    """

    model: Any
    calibration: Calibration
    n_rows: int  # that the calibration was fitted to
    how: str = "leave-one-out"  # or "10 folds"
    method: str = "auto"  # as set by the user
    learned: str = ""  # the fingerprint of what the model had learned then; "" where it keeps no statistics

    def refuse_impossible(self) -> None:
        """A calibration of other states than those of the model, in a file."""
        checked_method(self.method)
        if not isinstance(self.model, ProbabilityModel) or isinstance(self.model, CalibratedModel):
            raise SchemaError("a calibration belongs to a model that answers with probabilities")
        if not isinstance(self.calibration, MAPS) or self.n_rows < 0:
            raise SchemaError("the calibration is not a map of posteriors that was fitted to rows")
        n_states = len(self.model.classes)
        if self.calibration.apply_log(np.full((1, n_states), -np.log(max(n_states, 1)))).shape != (1, n_states):
            raise SchemaError("the calibration is not one of the model's classes")

    # -- what it is -------------------------------------------------------------------------------------------
    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]  # of its model
        """Those of the model, for rows that it has not learned."""
        return replace(capabilities_of(self.model), calibrated=True)

    @property
    def changes(self) -> bool:
        """Whether rows that were left out say that the posterior needs calibration."""
        return not isinstance(self.calibration, AsItIs)

    @property
    def classes(self) -> tuple[Label, ...]:
        found: tuple[Label, ...] = self.model.classes
        return found

    @property
    def rows_learned(self) -> float | None:
        found: float | None = self.model.rows_learned
        return found

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        found: dict[str, Vocabulary] = self.model.vocabularies
        return found

    def facts(self) -> ModelFacts:
        found: ModelFacts = self.model.facts()
        return found

    @property
    def current(self) -> bool:
        """Whether the model has learned the same rows as when it was calibrated."""
        return self.learned == _fingerprint_of(self.model)

    @property
    def age(self) -> str:
        """What the calibration was fitted to, and whether rows have come or gone since, in words."""
        what = self.calibration.name if self.changes else "posteriors stay as they are"
        rows = f"{what}, by {self.n_rows:,} left-out rows ({self.how})"
        if self.current:
            return rows
        now = f"{self.rows_learned:,.10g}" if self.rows_learned is not None else "others"
        return f"{rows}; the model has learned or forgotten rows since ({now} rows now), the calibration has not"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model" not in vars(self):
            raise AttributeError(name)
        return getattr(self.model, name)

    def __repr__(self) -> str:
        return f"CalibratedModel({self.model!r}, {self.age})"

    # -- what it says about rows ------------------------------------------------------------------------------
    def log_relative(self, batch: Batch) -> FloatArray:
        """(n_rows, n_states) the logarithm of the calibrated posterior."""
        if not self.changes:
            return np.asarray(self.model.log_relative(batch))
        return self.calibration.apply_log(log_posterior(self.model.log_relative(batch)))

    def log_joint(self, batch: Batch) -> FloatArray:
        """(n_rows, n_states) log p(row) + log p(state | row), the posterior calibrated."""
        joint = np.asarray(self.model.log_joint(batch))
        return np.asarray(normalise(joint).log_evidence[:, None] + self.calibration.apply_log(log_posterior(joint)))

    def probability(self, batch: Batch) -> FloatArray:
        """(n_rows, n_states) the calibrated posterior of encoded rows."""
        if not self.changes:
            return np.asarray(self.model.probability(batch))
        return np.asarray(np.exp(self.log_relative(batch)))

    def scored(self, batch: Batch) -> ScoredRows:
        """The rows with calibrated scores; the probabilities of the rows are those of the model."""
        rows: ScoredRows = self.model.scored(batch)
        if not self.changes:
            return rows
        return CalibratedRows(batch, self.calibration.apply_log(log_posterior(rows.log_relative)), rows.beyond, rows)

    def log_evidence_of(self, rows: ScoredRows) -> FloatArray:
        """(n_rows,) log p(row) of rows that are scored."""
        inner = rows.uncalibrated if isinstance(rows, CalibratedRows) else rows
        return np.asarray(self.model.log_evidence_of(inner))

    @where_rows_are
    def explain(self, row: Any) -> Account:
        """The account of one row, the calibration as its last line: the sum is the calibrated log-odds."""
        if not self.changes:
            found: Account = self.model.explain(row)
            return found
        return CalibratedAccount.of(self.model.explain(row), self.calibration)

    def leave_one_out(self, table: Any, *, targets: Any = None, weights: Any = None) -> FloatArray:
        """Refused: the rows that were learned have been left out once, for the calibration."""
        raise FitError(
            "a calibrated model has used up the rows it has learned: they were left out to fit the calibration",
            fix="evaluate it on rows that are new to it, or with folds (cv=10), which calibrate again; or leave rows "
            "out of model.model, which is not calibrated",
        )

    # -- rows come and go -------------------------------------------------------------------------------------
    def learn(self, table: Any, *, targets: Any = None, weights: Any = None, threads: int | None = None) -> Self:
        """The model that has seen these rows too, under the same calibration."""
        with limit_threads(threads):
            return self._with(self.model.learn(table, targets=targets, weights=weights))

    def forget(
        self,
        table: Any,
        *,
        targets: Any = None,
        weights: Any = None,
        threads: int | None = None,
        again: bool = False,
    ) -> Self:
        """The model that has never seen these rows, under the same calibration; see `age`."""
        with limit_threads(threads):
            return self._with(self.model.forget(table, targets=targets, weights=weights, again=again))

    def merge(self, other: Any) -> CalibratedModel:
        """The model of both sets of rows; of two calibrations the one that was fitted to more rows stays."""
        if not isinstance(other, CalibratedModel):
            return self._with(self.model.merge(other))
        first = self if self._rank() >= other._rank() else other
        return first._with(self.model.merge(other.model))

    def _rank(self) -> tuple[int, str]:
        return self.n_rows, fingerprint((self.calibration, self.how, self.method, self.learned))

    def changed(self, **settings: Any) -> Self:
        """The same rows under other settings; the calibration stays."""
        return self._with(self.model.changed(**settings))

    @property
    def selected_by_rows(self) -> tuple[str, ...]:
        return (*self.model.selected_by_rows, "calibration")

    def relearned(self, batches: Sequence[Batch]) -> CalibratedModel:
        """The model of these rows alone, calibrated on them."""
        return calibrated(self.model.relearned(batches), list(batches), self.method)

    def _with(self, model: Any) -> Self:
        return with_ledger(replace(self, model=model), forgotten_by(model))


def calibrated(
    model: Any,
    table: Any,
    method: str = "auto",
    *,
    row_weights: Callable[[HeldOut], Any] | None = None,
    progress: Progress | None = None,
) -> CalibratedModel:
    """The model with a calibration fitted to the rows it has learned, each left out, exactly.

    Where the rows have selected something (cuts, a graph, families) and are too many to be left out one by one, it is
    fitted to ten folds, in each of which all of that is selected again. `row_weights` is a function of what was left
    out that says how much each row counts.
    """
    name = checked_method(method)
    bare = model.model if isinstance(model, CalibratedModel) else model
    _refuse_without_rows(bare)
    known = left_out_or_folded(bare, table, progress=progress)
    weights = known.weights if row_weights is None else known.weights * row_weights(known)
    return _with_map(bare, known, name, weights)


def _with_map(model: Any, known: HeldOut, method: str, weights: Any) -> CalibratedModel:
    found = fit_calibration(method, known.posterior, known.truth, weights)
    return CalibratedModel(model, found, len(known.truth), known.how, method, _fingerprint_of(model))


def _refuse_without_rows(model: Any) -> None:
    if not capabilities_of(model).classes:
        raise KindError(
            f"{type(model).__name__} answers with a number, and calibration is of the probabilities of classes",
            fix="leave the calibration out",
        )
    if not leaves_rows_out(model):
        raise FitError(
            f"{type(model).__name__} cannot leave learned rows out, and does not learn the others again",
            fix="leave the calibration out",
        )


def _fingerprint_of(model: Any) -> str:
    return fingerprint(model.statistics) if model.capabilities.forgets else ""
