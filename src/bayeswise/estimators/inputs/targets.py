"""y, its classes and their prior, and the weights of rows, as scikit-learn users bring them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import DataError, ParameterError, PriorError, listed, row_number
from bayeswise.tables.encoding.row_weights import checked_weights, refuse_all_zero
from bayeswise.tables.schema.inference import MOST_CODES
from bayeswise.tables.schema.labels import Label, Vocabulary


@dataclass(frozen=True)
class Labels:
    """y as codes into classes in canonical order."""

    codes: CodeArray  # (n_rows,)
    classes: Vocabulary


def class_column(y: Any, X: Any) -> Any:
    """y as one column of classes, as long as X."""
    _refuse_none(y, "give a class for each row")
    values = column_or_1d(y, warn=True)
    if values.dtype.kind not in "iub":
        as_given = values.dtype.kind == "U" and isinstance(y, list | tuple) and len(y) == len(values)
        _refuse_missing_classes(y if as_given else values)  # which numpy would have called "nan" or "None"
    if values.dtype.kind not in "iub":  # which are classes, whatever their number: a million need not be sorted
        check_classification_targets(values)
    n_rows = n_rows_of(X)
    if len(values) != n_rows:
        raise DataError(f"X and y have inconsistent numbers of rows: {n_rows} and {len(values)}")
    return values


def _refuse_missing_classes(values: Any) -> None:
    """None, NaN and NA are no classes, nor is infinity."""
    kind = values.dtype.kind if isinstance(values, np.ndarray) else "O"
    if kind not in "Of":
        return
    missing = ~np.isfinite(values) if kind == "f" else np.array([_is_missing(each) for each in values], dtype=np.bool_)
    if missing.any():
        row = int(np.argmax(missing))
        n_missing = int(np.count_nonzero(missing))
        what = "infinity" if kind == "f" and np.isinf(values[row]) else "NaN or None"
        more = f" and {n_missing - 1:,} more" * (n_missing > 1)
        raise DataError(f"y contains {what} in row {row_number(row)}{more}", fix="leave out the rows without a class")


def _is_missing(cell: Any) -> bool:
    """None, NaN, or a missing value of pandas, which is neither equal to itself nor different."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)


def number_column(y: Any) -> FloatArray:
    """y as one column of numbers, all of them finite."""
    _refuse_none(y, "give a number for each row")
    target = np.asarray(column_or_1d(y, warn=True), dtype=np.float64)
    wrong = ~np.isfinite(target)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"y is {target[row]} (NaN or inf) in row {row_number(row)}", fix="leave out the rows without a target"
        )
    return target


def row_weights(X: Any, sample_weight: Any) -> FloatArray | None:
    """One finite weight from 0 on for each row, or None; a number stands for all rows."""
    if sample_weight is None:
        return None
    n_rows = n_rows_of(X)
    given = np.full(n_rows, sample_weight) if isinstance(sample_weight, Real) else column_or_1d(sample_weight)
    check_consistent_length(X, given)
    weights = np.ascontiguousarray(given, dtype=np.float64)
    checked_weights(weights, 0, "sample_weight")
    refuse_all_zero(float(weights.max(initial=0.0)), n_rows, "sample_weight")
    return weights


def weights_of_classes(
    class_weight: Any, labels: Labels, weights: FloatArray | None, *, more_to_come: bool = False
) -> dict[Label, float]:
    """The weight of each class that y has: given by name, or for "balanced" such that all classes weigh the same.

    >>> weights_of_classes("balanced", Labels(np.array([0, 0, 0, 1]), Vocabulary(["ham", "spam"])), None)
    {'ham': 0.6666666666666666, 'spam': 2.0}
    """
    classes = list(labels.classes)
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in classes]
        if unknown and not more_to_come:
            raise ParameterError(
                f"class_weight names the class {unknown[0]!r}, which y does not have", fix="name the classes of y"
            )
        return {label: _number(class_weight.get(label, 1.0)) for label in classes}
    if not isinstance(class_weight, str) or class_weight != "balanced":
        raise ParameterError(
            f"class_weight is {class_weight!r}", fix="give 'balanced', or a number for each class by its name"
        )
    if more_to_come:
        raise ParameterError(
            "class_weight='balanced' needs all rows at once, and partial_fit sees some of them",
            fix="give the weight of each class by its name, or call fit",
        )
    counts = np.bincount(labels.codes, weights=weights, minlength=len(classes))
    of_class = np.where(counts > 0, counts.sum() / (len(classes) * np.where(counts > 0, counts, 1.0)), 0.0)
    return dict(zip(classes, of_class.tolist(), strict=True))


def _number(weight: Any) -> float:
    if isinstance(weight, Real):
        return float(weight)
    raise ParameterError(f"class_weight holds {weight!r}, which is not a number", fix="give a number from 0 on")


def times_class_weights(of_class: Mapping[Label, float], labels: Labels, weights: FloatArray | None) -> FloatArray:
    """The weights of rows, times those of their classes; a class that is not named has the weight 1."""
    by = np.array([of_class.get(label, 1.0) for label in labels.classes])[labels.codes]
    both = checked_weights(by if weights is None else by * weights, 0, "class_weight")
    refuse_all_zero(float(both.max(initial=0.0)), len(both), "class_weight")
    return both


def n_rows_of(X: Any) -> int:
    return int(X.shape[0] if hasattr(X, "shape") else len(X))


def class_labels(y: Any, X: Any) -> Labels:
    """y as codes, one for each row of X; a warning where it is rather a measurement, as in scikit-learn."""
    values = class_column(y, X)
    labels = labels_of(values)
    n_classes, n_rows = len(labels.classes), len(values)
    mostly = values.dtype.kind == "i" and n_rows > 20 and n_classes > round(0.5 * n_rows)
    if mostly or (values.dtype.kind in "iuf" and n_classes > MOST_CODES):
        warnings.warn(
            f"y has {n_classes} different numbers in {n_rows} rows, and each becomes a class: it could represent a "
            "regression problem, not a classification problem. Fix: predict it by LinearRegression, or cut it into "
            "classes; classes that have numbers for names are named by text, y.astype(str)",
            UserWarning,
            stacklevel=5,
        )
    return labels


def labels_of(values: Any) -> Labels:
    """y as codes; integers of a small range without sorting a million of them."""
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * len(values) + 1024:
            seen = np.bincount(values - low, minlength=high - low + 1) > 0
            codes = (
                (values - low).astype(np.int32) if seen.all() else (np.cumsum(seen) - 1).astype(np.int32)[values - low]
            )
            return Labels(codes, Vocabulary((np.flatnonzero(seen) + low).tolist()))
    classes, codes = np.unique(values, return_inverse=True)
    return Labels(codes.astype(np.int32), Vocabulary(classes.tolist()))


def as_array(classes: tuple[Any, ...], dtype: Any) -> Any:
    """The classes as an array of the type that y had."""
    if dtype.kind == "O" or len({type(label) for label in classes}) > 1:
        array = np.empty(len(classes), dtype=object)
        array[:] = classes
        return array
    return np.array(classes, dtype=None if dtype.kind in "US" else dtype)


def _refuse_none(y: Any, fix: str) -> None:
    if y is None:
        raise ParameterError("requires y to be passed, but the target y is None", fix=fix)


# -- classes that are declared, and their prior -------------------------------------------------------------------
def declared_classes(classes: Any) -> Vocabulary:
    """The argument `classes` of `partial_fit`, each once and in order."""
    found = np.unique(column_or_1d(classes))
    if not len(found):
        raise ParameterError("classes names no class", fix="name all classes, or leave it out")
    return Vocabulary(found.tolist())


def refuse_undeclared(found: Vocabulary, declared: Vocabulary | None) -> None:
    """Where the first call of `partial_fit` declared the classes, y holds no others."""
    unknown = [label for label in found if declared is not None and label not in declared]
    if unknown:
        raise DataError(
            f"y has the class {unknown[0]!r}, which the first call of partial_fit did not declare: "
            f"{listed(map(repr, declared or ()))}",
            fix="declare it there, or leave classes out",
        )


def refuse_other_classes(given: Vocabulary, known: Sequence[Label]) -> None:
    """Later calls of `partial_fit` may repeat the classes, and not change them."""
    if given != Vocabulary(known):
        raise ParameterError(
            f"classes is {listed(map(repr, given))}; at the last call of partial_fit the classes were "
            f"{listed(map(repr, known))}",
            fix="leave it out after the first call",
        )


def prior_by_name(prior: Any, classes: Sequence[Label] | None) -> Mapping[Any, float] | None:
    """A prior given by name, or as an array in the order of the classes; None as long as these are not known.

    >>> prior_by_name([0.25, 0.75], ["ham", "spam"])
    {'ham': 0.25, 'spam': 0.75}
    """
    if prior is None or isinstance(prior, Mapping):
        return prior
    shares = np.asarray(prior)
    if shares.ndim != 1 or shares.dtype.kind not in "biuf":
        raise PriorError(
            f"class_prior is {prior!r}", fix="give one probability for each of classes_, or {class: probability, ...}"
        )
    if classes is None:
        return None
    if len(shares) != len(classes):
        raise PriorError(
            f"class_prior has {len(shares)} probabilities for {len(classes)} classes: {listed(map(repr, classes))}",
            fix="give one for each of classes_, in their order",
        )
    return dict(zip(classes, shares.tolist(), strict=True))
