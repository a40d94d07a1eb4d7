"""Saving and loading of fitted models: which types a model file may hold, for each kind of model."""

from __future__ import annotations

import os
from typing import Any

from bayeswise import families, statistics
from bayeswise.families.normal_inverse_wishart import NormalInverseWishart
from bayeswise.models.averaged_naive_bayes.model import AveragedNaiveBayesModel
from bayeswise.models.averaged_naive_bayes.settings import AveragedSettings
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel
from bayeswise.models.gaussian_bayes.settings import GaussianBayesSettings
from bayeswise.models.naive_bayes.categories import Categories
from bayeswise.models.naive_bayes.counted_columns import CountedColumns
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.naive_bayes.numbers import Numbers
from bayeswise.models.naive_bayes.others import Others
from bayeswise.models.naive_bayes.settings import MEstimate, NaiveBayesSettings
from bayeswise.models.naive_bayes.words import Words
from bayeswise.models.regression.glm import IteratedModel
from bayeswise.models.regression.linear import LinearModel
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.regression.newton import Certificate
from bayeswise.models.regression.settings import LinearSettings, LogisticSettings
from bayeswise.store.document import pack
from bayeswise.store.file import model_bytes, read_value, write_value
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.schema import Column, Schema, Target

_KINDS: dict[type, str] = {
    NaiveBayesModel: "naive-bayes",
    AveragedNaiveBayesModel: "averaged-naive-bayes",
    GaussianBayesModel: "gaussian-bayes",
    LinearModel: "linear-regression",
    IteratedModel: "iterated-regression",
    LogisticModel: "logistic-regression",
}

_TABLES = (Vocabulary, Column, Target, Schema)
_STATISTICS = tuple(
    kind for kind in (getattr(statistics, name) for name in statistics.__all__) if isinstance(kind, type)
)
_FAMILIES = tuple(
    kind
    for kind in (getattr(families, name) for name in families.__all__)
    if isinstance(kind, type) and hasattr(kind, "log_density")
)
_TYPES: dict[str, tuple[type, ...]] = {
    "naive-bayes": (
        NaiveBayesModel,
        NaiveBayesSettings,
        MEstimate,
        Categories,
        Numbers,
        Others,
        Words,
        CountedColumns,
        *_TABLES,
        *_STATISTICS,
        *_FAMILIES,
    ),
    "averaged-naive-bayes": (
        AveragedNaiveBayesModel,
        AveragedSettings,
        MEstimate,
        Categories,
        Numbers,
        Others,
        *_TABLES,
        *_STATISTICS,
        *_FAMILIES,
    ),
    "gaussian-bayes": (
        GaussianBayesModel,
        GaussianBayesSettings,
        NormalInverseWishart,
        *_TABLES,
        *_STATISTICS,
    ),
    "linear-regression": (LinearModel, LinearSettings, *_TABLES, *_STATISTICS),
    "iterated-regression": (IteratedModel, LinearSettings, Certificate, *_TABLES),
    "logistic-regression": (LogisticModel, LogisticSettings, Certificate, *_TABLES),
}


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the model file: whole or not at all."""
    write_value(path, model, _KINDS[type(model)])


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file; it is data, loading it runs no code."""
    return read_value(path, _TYPES)[1]


def bytes_of(model: Any) -> bytes:
    """The bytes of the model file: equal exactly for equal models."""
    return model_bytes(pack(model), _KINDS[type(model)])
