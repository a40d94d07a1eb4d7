"""X as scikit-learn users bring it, behind its checks: an array, a CSR matrix or a table with names.

Whatever can be read only once is read, a relation of DuckDB is checked as a frame is, and a frame that comes to a model
of an array goes by position. Of a frame of Dask or Spark y names a column, and rows are learned where they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import (
    KindError,
    MissingCellError,
    MissingColumnError,
    NonFiniteError,
    ParameterError,
    SourceError,
    listed,
    row_number,
)
from bayeswise.models.fitting import learned
from bayeswise.models.settings.declaration import Setting
from bayeswise.tables.encoding.one_row import series_as_frame
from bayeswise.tables.sources.opening import spread

WORDS = "words"  # what the block of a sparse matrix is called


def is_frame(X: Any) -> bool:
    """Whether X has named columns."""
    return hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__")


def checked(estimator: Any, X: Any, *, reset: bool, integers: bool = False, sparse: bool = False) -> Any:
    """X after scikit-learn's own checks of shape, names and number of columns; frames and text pass as they are.

    Numbers become doubles, unless `integers` keeps integers as they are. A frame that comes to a model of an
    array goes by position, with scikit-learn's warning. A sparse matrix is refused in its words unless it is taken.
    """
    if not reset and _is_ready(estimator, X):
        return X
    refuse_spread(X)
    if issparse(X):
        taken = "csr" if sparse else False
        return _without_duplicates(
            validate_data(estimator, X, accept_sparse=taken, reset=reset, ensure_all_finite=False)
        )
    X = in_memory(one_row_as_frame(estimator, X, reset=reset))
    if is_frame(X) or is_text(X):
        if is_relation(X):
            _check_relation(estimator, X, reset=reset)
        else:
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X if reset else _by_position(estimator, X)
    kept = None if integers and getattr(getattr(X, "dtype", None), "kind", "") in "iu" else [np.float64, np.float32]
    return validate_data(estimator, X, reset=reset, ensure_all_finite=False, dtype=kept)


def one_row_as_frame(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A Series that is one row of the frame of `fit`, as a frame; another Series of pandas is refused."""
    names = None if reset else getattr(estimator, "feature_names_in_", None)
    X = series_as_frame(X, names)
    if type(X).__name__ == "Series" and hasattr(X, "to_frame"):
        raise ParameterError(
            f"X is a Series of {len(X):,} cells, and not a table",
            fix="give a table: X.iloc[[0]] is one row of a frame, X[['name']] one column",
        )
    return X


def refuse_spread(X: Any) -> None:
    """A frame of Dask or Spark has no order of rows that a y beside it could follow."""
    if spread(X) is not None:
        raise KindError(
            f"a {type(X).__name__} of {type(X).__module__.split('.')[0]} is spread over several machines, and has no "
            "order of rows that a y or weights beside it could follow",
            fix="name the column of the target, and that of the weights, in the frame: fit(frame, 'class'); or say "
            "bw.fit(frame, target='class')",
        )


def _is_ready(estimator: Any, X: Any) -> bool:
    """A matrix of doubles as wide as that of fit: scikit-learn's checks change nothing, and cost more than a row."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or len(X) == 0:
        return False
    return X.shape[1] == getattr(estimator, "n_features_in_", 0) and not hasattr(estimator, "feature_names_in_")


def in_memory(X: Any) -> Any:
    """What can be read only once, or has no length yet, as a table; lists of rows with text as an array of objects."""
    kind = f"{type(X).__module__.split('.')[0]}.{type(X).__name__}"
    if kind.startswith("narwhals."):
        return in_memory(X.to_native())
    if kind == "polars.LazyFrame":
        return X.collect()
    if kind == "pyarrow.RecordBatchReader":
        return X.read_all()
    if kind == "pyarrow.RecordBatch":
        import pyarrow

        return pyarrow.Table.from_batches([X])
    if isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        raise SourceError(
            f"X is a {'list of dicts' if isinstance(X, list) else type(X).__name__}, which scikit-learn does not take",
            fix="make a dataframe of it, as in pandas.DataFrame(X); bayeswise.fit takes it as it is",
        )
    return _array_of_rows(X) if isinstance(X, list | tuple) else X


def _array_of_rows(X: Any) -> Any:
    """A list of rows as an array, its text kept as text and its numbers as numbers; others are left to scikit-learn."""
    try:
        found = np.asarray(X)
    except ValueError:  # rows of different lengths
        return X
    if found.dtype.kind not in "UO" or found.ndim != 2:
        return X if found.ndim != 2 else found
    cells = np.empty(found.shape, dtype=object)
    for row, given in zip(cells, X, strict=True):
        row[:] = given
    return cells


def is_relation(X: Any) -> bool:
    """Whether X is a relation of DuckDB."""
    return type(X).__name__ == "DuckDBPyRelation"


def _check_relation(estimator: Any, X: Any, *, reset: bool) -> None:
    """Names and number of the columns of a DuckDB relation, which scikit-learn does not know."""
    names = np.array(list(map(str, X.columns)), dtype=object)
    if reset:
        estimator.feature_names_in_, estimator.n_features_in_ = names, len(names)
    elif len(names) != estimator.n_features_in_ or (
        hasattr(estimator, "feature_names_in_") and not np.array_equal(estimator.feature_names_in_, names)
    ):
        known = getattr(estimator, "feature_names_in_", [f"x{k}" for k in range(estimator.n_features_in_)])
        raise MissingColumnError(
            f"X has the columns {listed(map(repr, names))}; the model was fitted with {listed(map(repr, known))}",
            fix="select these columns in this order",
        )
    elif not hasattr(estimator, "feature_names_in_"):
        what = type(estimator).__name__
        warnings.warn(f"X has feature names, but {what} was fitted without feature names", UserWarning, stacklevel=4)


def _by_position(estimator: Any, X: Any) -> Any:
    """A frame as the model of an array knows it: its columns are x0, x1, ... whatever their names."""
    check_is_fitted(estimator)
    schema = estimator.model_.schema
    known = list(schema.names[: len(schema.columns)])
    if hasattr(estimator, "feature_names_in_") or not is_frame(X):
        return X
    if known == [WORDS]:
        return validate_data(estimator, X, reset=False, ensure_all_finite=False, dtype=[np.float64, np.float32])
    frame = nw.from_native(X)
    names = frame.columns if isinstance(frame, nw.DataFrame) else list(X.columns)
    if known != [f"x{k}" for k in range(len(names))] or list(map(str, names)) == known:
        return X
    return frame.rename(dict(zip(names, known, strict=True))).to_native()


def _without_duplicates(X: Any) -> Any:
    """Each cell of a sparse matrix once; cells that were given in parts are added up, in a copy."""
    if X.has_canonical_format:
        return X
    own = X.copy()
    own.sum_duplicates()
    return own


def is_text(X: Any) -> bool:
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in "UT" and kind:
        return True
    return kind == "O" and any(isinstance(cell, str) for cell in np.asarray(X).ravel())


def stored_cell(X: Any, cell: int) -> tuple[int, int, Any]:
    """Row, column and value of a stored cell of a CSR matrix."""
    return int(np.searchsorted(X.indptr, cell, "right")) - 1, int(X.indices[cell]), X.data[cell]


def sparse_numbers(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A sparse matrix as CSR of finite doubles, each cell once and in order."""
    matrix = validate_data(estimator, X, accept_sparse="csr", reset=reset, ensure_all_finite=False, dtype=np.float64)
    matrix = _without_duplicates(csr_array(matrix))
    wrong = ~np.isfinite(matrix.data)
    if wrong.any():
        row, column, value = stored_cell(matrix, int(np.argmax(wrong)))
        if np.isinf(value):
            raise NonFiniteError(row=row, column=f"x{column}")
        raise MissingCellError(
            f"column 'x{column}' is missing (NaN) in row {row_number(row)}",
            fix="fill the cell in, or leave the row out",
        )
    return matrix


def present(X: Any, y: Any, weights: FloatArray | None) -> tuple[Any, Any, FloatArray | None]:
    """The rows of weight above 0: the others are absent, their levels and classes too."""
    if weights is None or (weights > 0).all():
        return X, y, weights
    kept = np.flatnonzero(weights > 0)
    return _safe_indexing(X, kept), y[kept], weights[kept]


def learned_where_rows_are(
    estimator: Any, kind: str, declared: list[Setting], X: Any, y: Any, sample_weight: Any
) -> bool:
    """Whether X is a frame of Dask or Spark, from which the estimator has then learned as `bw.fit(X, y)` does.

    `sample_weight` is the name of a column, too.
    """
    source = spread(X)
    if source is None:
        return False
    if not isinstance(y, str) or not isinstance(sample_weight, str | None):
        refuse_spread(X)
    if getattr(estimator, "class_weight", None) is not None:
        raise ParameterError(
            "class_weight needs the classes of all rows before they are learned, and these are spread over machines",
            fix="put the weights into a column of the frame: fit(frame, 'class', sample_weight='weight')",
        )
    values = {each: getattr(estimator, each.name) for each in declared}
    given = {each.name: value for each, value in values.items() if value is not each.default and value != each.default}
    if sample_weight is not None:
        given["weight"] = sample_weight
    estimator.model_ = learned(source, y, model=kind, **given)[0]
    names = [column.name for column in source.columns if column.name not in (y, sample_weight)]
    estimator.feature_names_in_, estimator.n_features_in_ = np.array(names, dtype=object), len(names)
    if estimator.model_.capabilities.classes:
        estimator._dtype_of_y = np.array(list(estimator.model_.classes)).dtype
    return True
