"""Saving and loading of fitted models: which types a model file may hold, for each kind of model.

Types are named and imported when a file of their kind is read, so that a model of counts does not wait for regressions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

from bayeswise.foundation.atomic import write_bytes
from bayeswise.foundation.errors import StoreError
from bayeswise.models.forgetting import (
    forgotten_by,
    read_ledger,
    settle_ledger,
    with_ledger,
    with_unknown_ledger,
    write_ledger,
)
from bayeswise.models.registry import MODELS
from bayeswise.store.container import RESTORE
from bayeswise.store.document import pack
from bayeswise.store.fields import by_stored_name, stored_name
from bayeswise.store.file import contents, model_bytes, read_value

_FACTORS = (
    "models.settings.naive_bayes.MEstimate",
    "models.naive_bayes.categories.Categories",
    "models.naive_bayes.normal_columns.Numbers",
    "models.naive_bayes.others.Others",
)
# The model of each kind first, then what it may be made of besides its settings; .* means all types of a package.
_NAMES: dict[str, tuple[str, ...]] = {
    "naive-bayes": (
        "models.naive_bayes.model.NaiveBayesModel",
        "models.naive_bayes.words.Words",
        "models.naive_bayes.counted_columns.CountedColumns",
        *_FACTORS,
        "statistics.*",
        "families.*",
    ),
    "averaged-naive-bayes": (
        "models.averaged_naive_bayes.model.AveragedNaiveBayesModel",
        "models.averaged_naive_bayes.category_pairs.PairedNumbers",
        "models.averaged_naive_bayes.category_pairs.CategoryPairs",
        "models.naive_bayes.words.Words",
        "statistics.numbers.scatter.PairSums",
        *_FACTORS,
        "statistics.*",
        "families.*",
    ),
    "gaussian-bayes": (
        "models.gaussian_bayes.model.GaussianBayesModel",
        "families.continuous.normal_inverse_wishart.NormalInverseWishart",
        "statistics.*",
    ),
    "network-classifier": (
        "networks.classifiers.model.NetworkClassifierModel",
        "statistics.*",
    ),
    "description-length-tree": ("models.tree.model.TreeModel",),
    "linear-regression": (
        "models.regression.linear.LinearModel",
        "statistics.*",
    ),
    "iterated-regression": (
        "models.regression.glm.IteratedModel",
        "models.regression.solving.newton.Certificate",
    ),
    "wide-regression": ("models.regression.solving.wide.WideModel",),
    "logistic-regression": (
        "models.regression.logistic.LogisticModel",
        "models.regression.solving.newton.Certificate",
    ),
    "belief-network": ("networks.network.BeliefNetwork",),
    "mixed-network": ("networks.mixed.network.MixedNetwork",),
    "family-counts": ("networks.learning.family_counts.FamilyCounts", "statistics.*"),
}


_MEMBERS = ("naive-bayes", "averaged-naive-bayes", "gaussian-bayes", "logistic-regression", "network-classifier")
_SETTINGS = {file: kind.settings.removeprefix("bayeswise.") for kind in MODELS for file in kind.files}
_NAMES["auto"] = (
    "models.auto.model.AutoModel",
    "models.auto.model.CandidateScore",
    "models.auto.candidates.Member",
    "models.auto.inputs.AsNumbers",
    "models.auto.inputs.Crossing",
    "models.auto.boosted_trees.AsTrees",
    "models.auto.boosted_trees.Trees",
    "models.auto.inputs.WithoutTexts",
    "models.auto.pooling.LogLinear",
    "posteriors.calibration_maps.*",
    *dict.fromkeys(name for kind in _MEMBERS for name in (*_NAMES[kind], _SETTINGS[kind])),
)


_SCHEMA = (
    "tables.schema.labels.Vocabulary",
    *(f"tables.schema.columns.{name}" for name in ("Column", "Columns")),
    *(f"tables.schema.schema.{name}" for name in ("Target", "Schema")),
)
CALIBRATED = "calibrated-"  # before the kind of the model inside
_CALIBRATION = ("models.calibrated.CalibratedModel", "posteriors.calibration_maps.*")


class Kinds(Mapping[str, "Types"]):
    """The types of each kind of model; every kind has a calibrated one, which is not listed."""

    def __getitem__(self, kind: str) -> Types:
        inner = kind.removeprefix(CALIBRATED)
        around = () if inner == kind else _CALIBRATION
        settings = [_SETTINGS[inner]] if inner in _SETTINGS else []
        return Types((*around, *_NAMES[inner], *settings, *_SCHEMA))

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


class Types(Mapping[str, type]):
    """Types by the names that files call them, imported when a file that holds one of them is read."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._met: dict[str, type] = {}

    @property
    def model(self) -> type:
        """The type of the model itself."""
        return next(_types(self._names[0]))

    def __getitem__(self, name: str) -> type:
        if name not in self._met:
            self._met[name] = self._named(name)
        return self._met[name]

    def _named(self, name: str) -> type:
        for path in self._names:
            home, _, last = path.rpartition(".")
            if last == name or (last == "*" and name in import_module(f"bayeswise.{home}").__all__):
                found = next(_types(f"{home}.{name}"), None)
                if found is not None and stored_name(found) == name:
                    return found
        return self._all[name]

    @cached_property
    def _all(self) -> dict[str, type]:
        return by_stored_name(each for name in self._names for each in _types(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def _types(name: str) -> Iterator[type]:
    """The type of a path; of a path that ends in * all types of its package."""
    home, _, last = f"bayeswise.{name}".rpartition(".")
    package = import_module(home)
    for member in package.__all__ if last == "*" else [last]:
        kind = getattr(package, member)
        # of the families those with a density: priors and parameters are not part of a model
        if isinstance(kind, type) and (home != "bayeswise.families" or hasattr(kind, "log_density")):
            yield kind


def kind_of(model: Any) -> str:
    """The kind of file that a model is saved as."""
    name = f"{type(model).__module__}.{type(model).__qualname__}".removeprefix("bayeswise.")
    if name == _CALIBRATION[0]:
        return f"{CALIBRATED}{kind_of(model.model)}"
    return next(kind for kind, names in _NAMES.items() if names[0] == name)


def inner_of(model: Any) -> Any:
    """The model inside a calibrated one; any other as it is."""
    return model.model if kind_of(model).startswith(CALIBRATED) else model


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the model file, whole or not at all, and beside it the ledger of what the model has forgotten."""
    data = bytes_of(model)
    write_ledger(path, data, forgotten_by(model))
    write_bytes(path, data)
    settle_ledger(path, forgotten_by(model))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file; it is data, loading it runs no code."""
    return load_contents(path, contents(path))


def load_contents(path: str | os.PathLike[str], data: bytes) -> Any:
    """The model in the contents of a file, which have been read already."""
    kind, model = read_value(path, Kinds(), data=data)
    expected = Kinds()[kind].model
    if not isinstance(model, expected):
        found = f"a {type(model).__name__} where a {expected.__name__} belongs"
        raise StoreError(f"cannot load {os.fspath(path)!r}: it holds {found}", fix=RESTORE)
    try:
        return with_ledger(model, read_ledger(path))
    except StoreError as error:  # it predicts all the same; only forgetting raises it
        return with_unknown_ledger(model, error)


def bytes_of(model: Any) -> bytes:
    """The bytes of the model file: equal exactly for equal models."""
    return model_bytes(pack(model), kind_of(model))
