"""What every model over a table does alike: encode rows, answer for all of them, be saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.atomic import write_bytes
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, NoSuchAnswerError, ParameterError
from bayeswise.tables.batch import MISSING, Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.labels import Label, Vocabulary, label_of
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.sources.opening import spread

if TYPE_CHECKING:
    from bayeswise.tables.encoding.one_row import RowEncoder

_MOST_SHOWN = 40  # columns on a page


@dataclass(frozen=True)
class Capabilities:
    """What a kind of model can do beyond an answer for each row; callers that need more check it here."""

    classes: bool = False
    """Answers with the probability of each class: `classes`, `predict_proba`, `log_prior`, `class_weight`."""
    row_probability: bool = False
    """Knows how probable rows are: `log_evidence`, `sample`."""
    forgets: bool = False
    """Keeps exact statistics of its rows: `learn`, `forget`, `merge`; with classes also `has_learned_exactly`."""
    leave_one_out: bool = False
    """Keeps them by class, so that a row is subtracted: `leave_one_out`, `leave_one_out_evidence`."""
    relearns: bool = False
    """Cannot subtract rows by class, but learn encoded rows again from the start: `relearned`, `recoded`."""
    alternatives: bool = False
    """Columns contribute one by one: `alternatives` says what a column could say instead."""
    changes: bool = False
    """Columns go together, and accounts let the model evaluate rows with other cells (`AnsweredAccount`)."""
    level_counts: bool = False
    """Counts the levels of every column: `level_counts`."""
    distances: bool = False
    """Classes have a mean and a covariance: `mahalanobis`, `covariances`."""
    relevance: bool = False
    """Averages over structures: `relevance` of each column, and `temper`."""
    weights: bool = False
    """Has a weight for each column: `weights`, `references`, `regression_facts`."""
    questions: bool = False
    """Is a tree of questions: `described`, `plot`, `leaf_of`."""
    members: bool = False
    """Is a mixture of models: `members`, `weight_of_member`, `scores`, `notes`, `age`."""
    calibrated: bool = False
    """The posterior is corrected by rows that were left out."""


def leaves_rows_out(model: Any) -> bool:
    """Whether learned rows can be left out: by subtraction, or by learning the others again."""
    found = capabilities_of(model)
    return found.leave_one_out or found.relearns


def capabilities_of(model: Any) -> Capabilities:
    """Those of a model of a table; an object of any other kind, such as an estimator, has none of them."""
    found: Capabilities = getattr(model, "capabilities", Capabilities())
    return found


def classes_of(model: Any) -> tuple[Label, ...]:
    """The classes of a model, or of a fitted classifier of any library, which has them as `classes_`."""
    found = getattr(model, "classes", None if isinstance(model, TableModel) else getattr(model, "classes_", None))
    if found is None:
        raise ParameterError(f"{type(model).__name__} has no classes", fix="give a fitted classifier")
    return tuple(label_of(label) for label in found)


@dataclass(frozen=True)
class ModelFacts:
    """What `fit` and `inspect` show of every model."""

    families: Mapping[str, str]  # of each column that is used; what a column is to a regression
    relevance: Mapping[str, float] = field(default_factory=dict)  # p(column relevant | rows)
    temper: float | None = None  # the exponent of what normal columns say


# What models say about encoded rows; `TableModel` lets users ask about any table.
_ABOUT_ROWS = ("log_joint", "log_relative", "probability")
# What some kinds of models say about rows and others do not, with what to type instead.
_OF_CLASSES = (
    *("predict_proba", "predict_log_proba", "log_odds", "classes"),
    *("posterior", "log_joint", "log_relative", "probability", "scored"),
)
_OF_ROWS = ("log_joint", "log_evidence", "posterior", "sample")


class TableModel:
    """A frozen value with a schema; wherever it takes a table, an encoded batch will do, and the other way round."""

    schema: Schema
    capabilities: ClassVar[Capabilities] = Capabilities()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in _ABOUT_ROWS:
            if name in vars(cls) and not getattr(vars(cls)[name], "__isabstractmethod__", False):
                setattr(cls, name, _of_any_table(vars(cls)[name]))
        if "scored" in vars(cls):
            setattr(cls, "scored", _of_one_batch(vars(cls)["scored"]))  # noqa: B010  # as the others

    def __getattr__(self, name: str) -> Any:
        """What this kind of model does not say: which other method does. `hasattr` says no, as it should."""
        kind = type(self).__name__
        if name in _OF_CLASSES and not self.capabilities.classes:
            raise NoSuchAnswerError(
                f"{kind} answers with a number, so that it has no {name}",
                fix="use model.predict(rows), or model.predictive(rows) for its distribution",
            )
        if name in _OF_ROWS and not self.capabilities.row_probability:
            raise NoSuchAnswerError(
                f"{kind} does not say how probable rows are, so that it has no {name}",
                fix="use model.predict_proba(rows) or model.predict_log_proba(rows)",
            )
        if name == "predictive" and self.capabilities.classes:
            raise NoSuchAnswerError(f"{kind} has no predictive", fix="use model.predict_proba(rows)")
        if name == "nomogram":
            raise NoSuchAnswerError(
                f"{kind} is not a sum over columns, and a nomogram adds up their points",
                fix='draw that of an additive model: model="naive-bayes" or "logistic"',
            )
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        """Equal models have the same file, byte for byte."""
        if type(self) is not type(other):
            return NotImplemented
        return self is other or self._file() == other._file()

    def __hash__(self) -> int:
        return hash(self._file())

    def _file(self) -> bytes:
        from bayeswise.models.files import bytes_of

        return bytes_of(self)

    def facts(self) -> ModelFacts:
        """What to show of the model beside its schema and settings."""
        return ModelFacts({})

    @property
    def rows_learned(self) -> float | None:
        """The weight of the rows that were learned; None where the model does not keep it."""
        return None

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The levels and words that the model knows, by column."""
        return {}

    def batches(self, table: Any) -> Iterator[Batch]:
        """A table to be predicted, encoded; a mapping or Series of cells is one row, a batch passes as it is."""
        if isinstance(table, Batch):
            return iter([table])
        from bayeswise.tables.encoding.one_row import row_in, swept_for  # late: nobody learns from one row

        row = row_in(table, self.schema.used)
        if row is not None:
            batch = None if self._row_encoder is None else self._row_encoder.encode(row)
            if batch is not None:
                return iter([batch])
            table = swept_for(table, row)
        encoder = Encoder(self.schema, learning=False, vocabularies=self.vocabularies)
        return encoder.batches(open_like(table, self.schema))

    @cached_property
    def _row_encoder(self) -> RowEncoder | None:
        """How one row is encoded, made once for all rows."""
        from bayeswise.tables.encoding.one_row import RowEncoder

        return RowEncoder.of(self.schema, self.vocabularies)

    def over(self, table: Any, answer: Callable[[Batch], Any], shape: tuple[int, ...]) -> FloatArray:
        """The answers to all batches of a table, one below the other."""
        parts = [answer(batch) for batch in self.batches(table)]
        if len(parts) == 1:
            return np.asarray(parts[0])
        return np.concatenate(parts) if parts else np.zeros((0, *shape))

    def row_of(self, row: Any) -> Batch:
        """One row, encoded: a mapping by column, a table of one row, or a batch of one."""
        batch = next(self.batches(row), None)
        if batch is None or batch.n_rows != 1:
            found = 0 if batch is None else batch.n_rows
            raise FitError(f"explain takes one row; found {found}", fix="pick a row first")
        return batch

    def shown_cell(self, name: str, batch: Batch, missing: str, unseen: str) -> tuple[Any, str]:
        """The cell of a batch's first row as a reader would write it, with a note where it is missing or unseen."""
        if name in self.schema.numbers:
            value = float(batch.values[0, self.schema.numbers.index(name)])
            return (None, missing) if np.isnan(value) else (value, "")
        if name in self.schema.texts:
            return f"{int(batch.texts[self.schema.texts.index(name)].counts[[0]].sum())} words", ""
        position = self.schema.categories.index(name)
        code = int(batch.codes[0, position])
        if code >= 0:
            return batch.vocabularies[position][code], ""
        return (None, missing) if code == MISSING else ("(unseen)", unseen)

    def _repr_html_(self) -> str:
        from bayeswise.render.page import fragment, label, table, text_block

        families, used = self.facts().families, self.schema.used
        rows = [[name, self.schema[name].kind, families.get(name, "")] for name in used[:_MOST_SHOWN]]
        more = f"<p>and {len(used) - len(rows):,} more columns</p>" if len(used) > len(rows) else ""
        target = f" of {label(self.schema.target.name)}" if self.schema.target is not None else ""
        heading = f"<h3>{type(self).__name__.removesuffix('Model')} model{target}</h3>"
        return fragment(heading, text_block(repr(self)), table(["column", "kind", "family"], rows, left=3), more)

    def extended(self, table: Any, answer: Callable[[Any, Any], Any], storages: Mapping[str, Any]) -> Any:
        """A lazy frame of Dask or Spark with what a function of this model and some rows says of each row."""
        from bayeswise.models.base.spread_rows import answered

        source = spread(table)
        if source is None:
            raise ParameterError("these rows are on one machine", fix="give a frame of Dask or Spark")
        return answered(self, source, answer, storages)

    def to_sql(
        self,
        dialect: str,
        costs: Any = None,
        *,
        table: str | Sequence[str] = "rows",
        columns: Sequence[str] | None = None,
    ) -> str:
        """One SELECT that answers as the model does: "duckdb", "sqlite", "postgres", "spark", "snowflake", "bigquery".

        It gives back `columns` of the table (by default those that the model reads), the answer and p_CLASS; with
        costs, as `bw.decide` takes them, action and expected_cost instead of the answer.
        """
        return str(_exports("sql").to_sql(self, dialect, costs=costs, table=table, columns=columns))

    def to_onnx(self, path: str | os.PathLike[str] | None = None, costs: Any = None) -> bytes:
        """An ONNX graph that answers as the model does, also written to `path`; the same model gives the same bytes."""
        made: bytes = _exports("onnx_graph").to_onnx(self, costs=costs)
        if path is not None:
            write_bytes(path, made)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: whole or not at all, the same bytes for the same model."""
        from bayeswise.models.files import save_model

        save_model(self, path)


def _exports(back_end: str) -> Any:
    """A back-end of exports/, a layer above: loaded when a model is exported."""
    return import_module(f"bayeswise.exports.{back_end}")


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Encoded rows with their scores: classes, posterior and evidence follow without scoring them again."""

    batch: Batch
    log_relative: FloatArray  # (n_rows, n_states)
    beyond: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # rows whose log p(row) is -inf


def _of_any_table(answer: Callable[[Any, Batch], FloatArray]) -> Callable[[Any, Any], FloatArray]:
    """The answer about encoded rows, for any table."""

    @wraps(answer)
    def about(self: Any, table: Any) -> FloatArray:
        if isinstance(table, Batch):
            return answer(self, table)
        return self.over(table, lambda batch: answer(self, batch), (len(self.classes),))  # type: ignore[no-any-return]

    return about


def _of_one_batch(answer: Callable[[Any, Batch], ScoredRows]) -> Callable[[Any, Any], ScoredRows]:
    """Scores of encoded rows, also for a table that is encoded as one batch."""

    @wraps(answer)
    def about(self: Any, table: Any) -> ScoredRows:
        batches = [table] if isinstance(table, Batch) else list(self.batches(table))
        if len(batches) != 1:
            raise ParameterError(
                f"scored rows are those of one batch, and the table has {len(batches)}",
                fix="use predict_proba or log_joint, which take tables of any length",
            )
        return answer(self, batches[0])

    return about


Method = TypeVar("Method", bound=Callable[..., Any])


def where_rows_are(method: Method) -> Method:
    """The method, whose answer about a frame of Dask or Spark is a lazy frame of the same library with more columns."""

    @wraps(method)
    def about(self: Any, table: Any) -> Any:
        source = spread(table)
        if source is None:
            return method(self, table)
        from bayeswise.models.base.spread_rows import frame_with

        return frame_with(self, method.__name__, source)

    return cast(Method, about)
