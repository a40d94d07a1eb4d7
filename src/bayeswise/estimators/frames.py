"""Estimators of frames of Dask or Spark: y names a column, and rows are learned and answered where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeswise.estimators.checking import refuse_spread
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.fitting import learned
from bayeswise.models.settings.declaration import Setting
from bayeswise.tables.sources.opening import spread


def learned_where_rows_are(
    estimator: Any, kind: str, declared: list[Setting], X: Any, y: Any, sample_weight: Any
) -> bool:
    """Whether X is such a frame, from which the estimator has then learned as `bw.fit(X, y)` does.

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
    if hasattr(estimator.model_, "classes"):
        estimator._dtype_of_y = np.array(list(estimator.model_.classes)).dtype
    return True
