"""What every model does that answers with the probability of each class."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeswise.engines.local import over_ranges
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NoSuchAnswerError
from bayeswise.foundation.logspace import log
from bayeswise.models.base.table_model import ScoredRows, TableModel, where_rows_are
from bayeswise.posteriors.normalise import Posterior, log_posterior, shares_of
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.render.plain import Tabular
from bayeswise.render.terminal import aligned
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state

if TYPE_CHECKING:
    from bayeswise.explanations.class_plane import ClassPlane
    from bayeswise.explanations.plots import RegionDisplay


class Gaussians(NamedTuple):
    """Gaussian classes on some columns, and their log joint up to a number for each row."""

    mean: FloatArray  # (n_states, n_columns)
    covariance: FloatArray  # (n_states, n_columns, n_columns)
    log_relative: Callable[[FloatArray], FloatArray]  # (n_rows, n_columns) -> (n_rows, n_states)


def shares_in_ranges(log_relative: FloatArray, out: FloatArray) -> FloatArray:
    """(n_rows, n_states) the posterior of scores, written to `out`, which may be where the scores are."""

    def divide(rows: slice) -> None:
        shares_of(log_relative[rows], out=out[rows], first_row=rows.start)

    over_ranges(divide, len(log_relative))
    return out


class ProbabilityModel(TableModel):
    """A model that answers with the probability of each class."""

    settings: Any

    # -- what each model says for itself ----------------------------------------------------------------------
    @property
    @abstractmethod
    def classes(self) -> tuple[Label, ...]:
        """The states, in the declared order or else by value."""

    @abstractmethod
    def log_relative(self, batch: Batch) -> FloatArray:
        """(n_rows, n_states) the log joint up to a number for each row."""

    # -- a prior that is given, of models that have the setting -----------------------------------------------
    @property
    def log_class_prior(self) -> FloatArray | None:
        """(n_states,) the logarithm of `class_prior`; None where it is not given."""
        given = self.settings.class_prior
        return None if given is None else log(prior_by_state(given, self.classes))

    def check_prior(self, *, more_to_come: bool = False) -> None:
        """Refuse a `class_prior` that does not name the classes; with more rows to come it may name others too."""
        given = self.settings.class_prior
        if given is None:
            return
        states = self.classes
        if more_to_come:
            states = Vocabulary.in_order((*states, *given), Vocabulary(states)).labels
        prior_by_state(given, states)

    # -- what it says about rows ------------------------------------------------------------------------------
    def probability(self, batch: Batch) -> FloatArray:
        """(n_rows, n_states) the posterior of encoded rows."""
        return shares_of(self.log_relative(batch))

    def recoded(self, batch: Batch) -> Batch:
        """The rows with their levels as positions in those that the model knows; others are unseen."""
        return batch.recode([self.vocabularies[name] for name in self.schema.categories])

    def scored(self, batch: Batch) -> ScoredRows:
        """The rows with their scores, for callers that need more than one answer about them."""
        return ScoredRows(batch, self.log_relative(batch))

    def probability_of(self, rows: ScoredRows) -> FloatArray:
        """(n_rows, n_states) the posterior of rows that are scored; the same numbers as `predict_proba`."""
        return shares_in_ranges(rows.log_relative, np.empty(rows.log_relative.shape))

    def posterior(self, table: Any) -> Posterior:
        """The posterior and the log-evidence of each row, which only a model of whole rows has."""
        if not self.capabilities.row_probability:
            raise NoSuchAnswerError(
                f"{type(self).__name__} does not say how probable rows are, so that it has no posterior with evidence",
                fix="use model.predict_proba(rows)",
            )
        parts = [self.scored(batch) for batch in self.batches(table)]
        evidence = [self.log_evidence_of(rows) for rows in parts]
        shares = [self.probability_of(rows) for rows in parts]
        none = np.zeros((0, len(self.classes)))
        return Posterior(np.concatenate([none, *shares]), np.concatenate([np.zeros(0), *evidence]))

    def log_evidence_of(self, rows: ScoredRows) -> FloatArray:
        """(n_rows,) log p(row) of rows that are scored; only a model of whole rows has it."""
        raise NotImplementedError

    def state(self, label: Any) -> int:
        """The position of a class."""
        return find_state(label, self.classes)

    @where_rows_are
    def predict_proba(self, table: Any) -> FloatArray:
        """(n_rows, n_states) the posterior of each row, states in the order of `classes`; one dict is one row."""
        return self.over(table, self.probability, (len(self.classes),))

    @where_rows_are
    def predict_log_proba(self, table: Any) -> FloatArray:
        """(n_rows, n_states) the logarithm of the posterior, exact in the tails."""
        return self.over(table, lambda batch: log_posterior(self.log_relative(batch)), (len(self.classes),))

    @where_rows_are
    def predict(self, table: Any) -> list[Label]:
        """The most probable state of each row; the first one of `classes` where several are."""
        best = self.over(table, lambda batch: np.argmax(self.log_relative(batch), axis=1), ())
        return [self.classes[int(state)] for state in best]

    def log_odds(self, table: Any, state: Any, against: Any) -> FloatArray:
        """(n_rows,) log p(state | row) - log p(against | row), without leaving log space."""
        one, other = self.state(state), self.state(against)

        def odds(batch: Batch) -> FloatArray:
            relative = self.log_relative(batch)
            return np.asarray(relative[:, one] - relative[:, other])

        return self.over(table, odds, ())

    @property
    def selected_by_rows(self) -> tuple[str, ...]:
        """What learning selected by looking at rows and the statistics do not hold: "cuts", "graph", "families".

        Where there is nothing of the kind, to forget rows is the same as to learn without them.
        """
        return ()

    # -- two columns ------------------------------------------------------------------------------------------
    def class_plane(
        self,
        columns: Sequence[str] | None = None,
        rows: Any = None,
        *,
        at: Mapping[str, Any] | None = None,
        costs: Any = None,
        points: int = 161,
    ) -> ClassPlane:
        """The classes over two number columns, with rows of a table on top; the only two need no names.

        Columns that are not drawn have the values `at`, and are missing otherwise: a model of whole rows integrates
        them out. With `costs` the regions are those of actions.
        """
        from bayeswise.models.base.planes import plane_of

        plane = plane_of(self, columns, rows, dict(at or {}), points)
        return plane if costs is None else plane.deciding(costs)

    def plot_regions(
        self,
        columns: Sequence[str] | None = None,
        ax: Any = None,
        *,
        rows: Any = None,
        at: Mapping[str, Any] | None = None,
        costs: Any = None,
        equal: bool | None = None,
        title: str = "",
    ) -> RegionDisplay:
        """Draw which class is the most probable over two columns, or under costs which action is best."""
        return self.class_plane(columns, rows, at=at, costs=costs).plot(ax, equal=equal, title=title)

    def gaussians_on(self, names: Sequence[str]) -> Gaussians | None:
        """The classes on these columns, where they are Gaussian there."""
        return None


# -- how many parameters --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ParameterCounts(Tabular):
    """One number for each reading.

    free        those that can be chosen: probabilities that sum to 1 have one fewer, a given prior has none
    written     every number that is written down, such as the prior of each class and p(value | class) of each value
    tables      |values| x |classes| of each column, without the prior
    full_joint  |classes| x the product of |values|: all combinations of a table without any assumption; None where
                a column is a number
    """

    free: int
    written: int
    tables: dict[str, int]
    n_classes: int
    full_joint: int | None

    @property
    def full_joint_free(self) -> int | None:
        """One fewer, since the probabilities sum to 1."""
        return None if self.full_joint is None else self.full_joint - 1

    def to_columns(self) -> dict[str, list[Any]]:
        """reading and parameters."""
        found: dict[str, int | None] = {"free": self.free, "written": self.written}
        found |= {f"table of {name}": count for name, count in self.tables.items()}
        found |= {"full joint": self.full_joint, "full joint, free": self.full_joint_free}
        return {"reading": list(found), "parameters": list(found.values())}

    def __str__(self) -> str:
        columns = self.to_columns()
        rows = zip(columns["reading"], columns["parameters"], strict=True)
        return "\n".join(aligned([[name, "-" if count is None else f"{count:,}"] for name, count in rows]))


def parameter_counts(model: Any, per_class: dict[str, int], levels: dict[str, int]) -> ParameterCounts:
    """The counts for a model with `per_class` numbers in each column and class, and `levels` of its categories."""
    n = len(model.classes)
    tables = {name: count * n for name, count in per_class.items()}
    whole = n * math.prod(levels.values()) if set(levels) == set(per_class) else None
    return ParameterCounts(model.n_free_parameters(), n + sum(tables.values()), tables, n, whole)
