"""What every classifier that is a function of exact statistics does alike: learn, forget, merge."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeswise.engines import Request, of_no_rows, summarise
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import (
    BayeswiseError,
    FitError,
    KindError,
    NoSuchAnswerError,
    NotFittedError,
    NotMergedError,
    SchemaError,
    listed,
)
from bayeswise.foundation.logspace import log, log_sum_exp
from bayeswise.foundation.threads import limit_threads
from bayeswise.models.base.probability_model import ProbabilityModel
from bayeswise.models.base.table_model import Capabilities, ScoredRows, capabilities_of
from bayeswise.models.forgetting import (
    forgotten_by,
    having_learned,
    history_with,
    refuse_other_parts,
    refuse_other_settings,
    refusing_unlearned,
    with_ledger,
)
from bayeswise.models.from_table import swept
from bayeswise.posteriors.normalise import log_posterior, normalise
from bayeswise.statistics import Grouped, Product, fingerprint
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import open_source

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account
    from bayeswise.explanations.class_densities import ClassDensities
    from bayeswise.explanations.plots import BayesErrorDisplay, ClassDensityDisplay
    from bayeswise.explanations.steps import Steps


@dataclass(frozen=True, eq=False)
class Classifier(ProbabilityModel):
    """A frozen value (schema, settings, statistics): `learn`, `forget`, `merge` and `changed` give new ones."""

    schema: Schema
    settings: Any
    statistics: Grouped[Product]
    capabilities: ClassVar[Capabilities] = Capabilities(
        classes=True, row_probability=True, forgets=True, leave_one_out=True
    )

    def refuse_impossible(self) -> None:
        """Refuse statistics that do not match the columns and the settings."""
        if self.schema.target is None:
            raise SchemaError("a classifier has a target")
        expected, found = of_no_rows(self.encoded_schema, self.request()).zero(), self.statistics.zero()
        same_classes = fingerprint((expected.labels, expected.declared)) == fingerprint((found.labels, found.declared))
        if not same_classes or not expected.part.same_columns(found.part):
            raise SchemaError("the statistics are not those of the columns and the settings")

    @property
    def encoded_schema(self) -> Schema:
        """The columns of the batches that the statistics are made of."""
        return self.schema

    # -- what each model says for itself ----------------------------------------------------------------------
    @abstractmethod
    def request(self) -> Request:
        """What the model needs of rows."""

    @abstractmethod
    def log_joint(self, batch: Batch) -> FloatArray:
        """(n_rows, n_states) log p(state) + log p(row | state)."""

    def log_evidence_of(self, rows: ScoredRows) -> FloatArray:
        """(n_rows,) log p(row) of rows that are scored; the same numbers as `log_evidence`."""
        found = normalise(rows.log_relative).log_evidence
        found[rows.beyond] = -np.inf
        return found

    # -- what it is -------------------------------------------------------------------------------------------
    @property
    def classes(self) -> tuple[Label, ...]:
        """The states, in the declared order or else by value."""
        return self.statistics.labels.labels

    @cached_property
    def class_weight(self) -> FloatArray:
        """(n_states,) the weight of the rows of each class."""
        return self.statistics.weight_of_rows.to_floats()

    @property
    def rows_learned(self) -> float:
        return float(self.class_weight.sum())

    @cached_property
    def log_prior(self) -> FloatArray:
        """(n_states,) counted, or as given by `class_prior`."""
        with np.errstate(invalid="ignore"):  # 0 / 0 where declared classes have no rows
            found = self.log_prior_of(self.class_weight)
        if np.isnan(found).any():
            raise NotFittedError("the model has learned no rows", fix="fit it to a table with a target")
        return found

    def log_prior_of(self, class_weight: FloatArray) -> FloatArray:
        """(..., n_states) the prior that goes with weights of the classes."""
        given = self.log_class_prior
        if given is not None:
            return np.broadcast_to(given, class_weight.shape)
        return np.asarray(log(class_weight) - log(class_weight.sum(axis=-1, keepdims=True)))

    def __repr__(self) -> str:
        shares = listed((f"{c!r}: {w:g}" for c, w in zip(self.classes, self.class_weight, strict=True)), 6)
        inside = f"{self.schema.target_name}: {{{shares}}}, {len(self.schema.used)} columns, {self.settings}"
        return f"{type(self).__name__}({inside})"

    def warn(self) -> None:
        """Warnings about what the rows do not determine."""

    def steps(self, row: Any) -> Steps:
        """The calculation for one row with every factor: P(value | class), the joint, the evidence, the posterior.

        Naive Bayes gives fractions where it has counted: 2/9 · 3/9 · 3/9 · 3/9 · 9/14 = 1/189.
        """
        from bayeswise.explanations.steps import Steps

        account = self.explain(row)
        if not account.additive:
            raise NoSuchAnswerError(f"{type(self).__name__} does not multiply factors", fix="use model.explain(row)")
        return Steps.of(account)

    @abstractmethod
    def explain(self, row: Any) -> Account:
        """Why: the prior and what each column adds, for one row."""

    def sample(self, n: int, seed: int | np.random.Generator = 0) -> dict[str, list[Any]]:
        """n rows drawn from the model, the state first and then the row given the state, as columns."""
        generator = np.random.default_rng(seed)
        states = generator.choice(len(self.classes), size=n, p=np.exp(self.log_prior)).astype(np.int32)
        drawn = self._drawn(states, generator)
        columns = {name: list(drawn[name]) for name in self.schema.used}
        return columns | {self.schema.target_name: [self.classes[s] for s in states]}

    def _drawn(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        """The cells of each column, drawn for rows of these states; a network draws whole rows instead."""
        raise NotImplementedError

    # -- one column -------------------------------------------------------------------------------------------
    def class_densities(self, column: str | None = None) -> ClassDensities:
        """p(x | class) and p(class) along one column, the others integrated out; the only column needs no name."""
        raise NoSuchAnswerError(
            f"{type(self).__name__} has no density of one column alone",
            fix='fit a model="naive-bayes" or "gaussian-bayes"',
        )

    def plot_densities(
        self, column: str | None = None, ax: Any = None, *, panels: Sequence[str] | None = None, title: str = ""
    ) -> ClassDensityDisplay:
        """Draw p(x | class), p(class) p(x | class) and p(class | x) over one column, and the regions below."""
        return self.class_densities(column).plot(ax, panels=panels, title=title)

    def plot_bayes_error(
        self,
        boundary: float | Sequence[float] | None = None,
        ax: Any = None,
        *,
        column: str | None = None,
        states: Sequence[Any] | None = None,
    ) -> BayesErrorDisplay:
        """Draw the error of the best rule on one column, or that of boundaries chosen by hand."""
        return self.class_densities(column).plot_error(boundary, ax, states=states)

    # -- rows come and go -------------------------------------------------------------------------------------
    def learn(self, table: Any, *, targets: Any = None, weights: Any = None, threads: int | None = None) -> Self:
        """The model that has seen these rows too; new classes are added unless classes were declared."""
        with limit_threads(threads):
            found = self._summary(table, targets, weights, True)
        return having_learned(self, replace(self, statistics=self.statistics.merge(found)), found)

    def forget(
        self,
        table: Any,
        *,
        targets: Any = None,
        weights: Any = None,
        threads: int | None = None,
        again: bool = False,
    ) -> Self:
        """The model that has never seen these rows, to the last byte; `again`: though they were forgotten before."""
        with limit_threads(threads):
            gone = self._summary(table, targets, weights, False)
        history = forgotten_by(self) if again else history_with(self, gone)
        with refusing_unlearned():
            left = self.statistics.subtract(gone)
        return with_ledger(replace(self, statistics=left), history)

    def learned_like(self, table: Any) -> tuple[Self, Report]:
        """The table under the same columns, families and settings, so that both can be merged; and its report."""
        found, report = swept(open_like(table, self.schema), self.schema, self.request(), None)
        return replace(self, statistics=found), report

    def has_learned_exactly(self, table: Any) -> bool:
        """Whether these are the rows that the model has learned, all of them and no others, in any order.

        Statistics are exact, so those of the same rows are the same, and those of others hardly ever are.
        """
        try:
            found = self._summary(table, None, None, False)
        except BayeswiseError:  # rows that could not have been learned
            return False
        return fingerprint(found) == fingerprint(self.statistics)

    def refuse_other_parts(self, gone: Any, remaining: Any, *, again: bool = False) -> None:
        """Refuse two tables that are not together the rows that the model has learned."""
        refuse_other_parts(self, gone, remaining, again=again)

    def merge(self, other: Self) -> Self:
        """The model of both sets of rows; schema and settings must be the same."""
        refuse_calibrated(other)
        refuse_other_settings(self, other)
        return self._with_rows_of(other)

    def _with_rows_of(self, other: Self) -> Self:
        both = replace(self, statistics=self.statistics.merge(other.statistics))
        return having_learned(self, both, other.statistics, forgotten_by(other))

    def changed(self, **settings: Any) -> Self:
        """The same rows under other settings; no second pass."""
        found = with_ledger(replace(self, settings=self.settings.changed(**settings)), forgotten_by(self))
        if "class_prior" in settings and self.classes:
            found.check_prior()
        return found

    # -- rows left out ----------------------------------------------------------------------------------------
    @abstractmethod
    def log_relative_left_out(self, batch: Batch) -> FloatArray:
        """(n_rows, n_states) the log joint of learned rows, each left out, up to a number for each row."""

    def log_evidence_left_out(self, batch: Batch) -> FloatArray:
        """(n_rows,) log p(row) of learned rows, each left out; minus infinity where no other row is left."""
        return log_sum_exp(self.log_relative_left_out(batch))

    def leave_one_out(self, table: Any, *, targets: Any = None, weights: Any = None) -> FloatArray:
        """(n_rows, n_states) the posterior of each row under the model that never saw it.

        The table must hold rows that were learned; rows without a target or weight are left out of the answer too.
        Where learning has selected something by the rows (families, cuts, a graph), the table must hold all of them: it
        is selected again without each, by a fit for every different row; a table that is too large for that raises
        TooLargeError.
        """
        parts = [normalise(joint, undefined="uniform").probability for joint in self._left_out(table, targets, weights)]
        return np.concatenate([np.zeros((0, len(self.classes))), *parts])

    def leave_one_out_log_proba(self, table: Any, *, targets: Any = None, weights: Any = None) -> FloatArray:
        """(n_rows, n_states) the logarithm of `leave_one_out`, also where a share is too small for a number."""
        parts = [log_posterior(joint, undefined="uniform") for joint in self._left_out(table, targets, weights)]
        return np.concatenate([np.zeros((0, len(self.classes))), *parts])

    def leave_one_out_evidence(self, table: Any, *, targets: Any = None, weights: Any = None) -> FloatArray:
        """(n_rows,) log p(row) of each learned row under the model that never saw it."""
        if self.selected_by_rows:
            parts = [log_sum_exp(joint) for joint in self._left_out(table, targets, weights)]
        else:
            parts = [self.log_evidence_left_out(batch) for batch in self._known(table, targets, weights)]
        return np.concatenate([np.zeros(0), *parts])

    def _left_out(self, table: Any, targets: Any, weights: Any) -> Iterator[FloatArray]:
        """The log joint of rows that are left out: by subtraction where the statistics say everything."""
        if not self.selected_by_rows:
            yield from map(self.log_relative_left_out, self._known(table, targets, weights))
            return
        from bayeswise.models.relearning import log_joint_relearned

        joint = log_joint_relearned(self, list(self._known(table, targets, weights)))
        if len(joint):
            yield joint

    def _known(self, table: Any, targets: Any, weights: Any) -> Iterator[Batch]:
        """Rows that the model has learned."""
        return self.learned(table, targets, weights)

    @property
    def rows_left_out_at_once(self) -> int | None:
        """How many rows are a step of a progress bar, where leaving them out takes long; None where it does not."""
        return None

    @property
    def cells_per_row(self) -> int:
        """How many cells a fit reads of each row, for the estimate of what it takes."""
        return max(1, len(self.schema.used))

    def relearned(self, batches: Sequence[Batch]) -> Self:
        """The model of these rows alone, everything that rows select selected again; schema and settings stay."""
        return replace(self, statistics=summarise(batches, self.schema, self.request()).statistics)

    # -- encoding ---------------------------------------------------------------------------------------------
    def learned(self, table: Any, targets: Any = None, weights: Any = None, check: bool = False) -> Iterator[Batch]:
        """Rows with their target, encoded; a batch, or a list of batches, passes as it is."""
        return with_targets(table, self.schema, targets, weights, check=check)

    def groups_of(self, batch: Batch) -> CodeArray:
        """(n_rows,) the class of each row of a batch, by its position; all must be known."""
        if batch.groups is None:
            raise FitError("the rows have no target", fix="give a table with the target column")
        groups = batch.groups_in(self.statistics.labels)
        if (groups < 0).any():
            raise NotMergedError("a row has a class that the model never learned", fix="leave out learned rows only")
        return groups

    def _summary(self, table: Any, targets: Any, weights: Any, check: bool) -> Grouped[Product]:
        rows = self.learned(table, targets, weights, check)
        return summarise(rows, self.schema, self.request()).statistics


def only_column(column: str | None, columns: Sequence[str]) -> str:
    """The column of that name; without one, the only column that there is."""
    if column is not None:
        return find_name(column, columns, where="the model")
    if len(columns) != 1:
        raise FitError(f"the model has {len(columns)} columns, not one", fix="name one of them")
    return columns[0]


def refuse_calibrated(other: Any) -> None:
    """A model with a calibration, in a merge with one that has none: the calibration would be lost."""
    if capabilities_of(other).calibrated:
        raise KindError("the other model is calibrated, and this one is not", fix="call other.merge(this)")


def are_batches(table: Any) -> bool:
    """Whether rows are encoded already: a batch, or a list of them."""
    some = table if isinstance(table, list) else [table]
    return bool(some) and all(isinstance(each, Batch) for each in some)


def with_targets(
    table: Any,
    schema: Schema,
    targets: Any = None,
    weights: Any = None,
    *,
    check: bool = False,
    known: dict[str, Vocabulary] | None = None,
) -> Iterator[Batch]:
    """Rows with their target, encoded, `known` levels first; a batch, or a list of batches, passes as it is."""
    if are_batches(table):
        return iter([table] if isinstance(table, Batch) else table)
    if targets is not None:
        values = targets if isinstance(targets, (list, np.ndarray)) else list(targets)
        targets = open_source({"target": values})
    encoder = Encoder(schema, learning=True, vocabularies=known, check_invalid=check)
    return encoder.batches(open_like(table, schema), targets=targets, weights=weights)
