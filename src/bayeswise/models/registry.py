"""The kinds of models that `fit` learns: one entry says all that the rest of the package needs to know of a kind.

Modules are named and imported on demand, so that names, choices and help texts cost nothing. A new kind of model is one
entry here, its folder, and the types of its file in files.py.

>>> [kind.name for kind in MODELS]
['naive-bayes', 'averaged', 'gaussian', 'logistic', 'linear', 'tan', 'aode', 'k-dependence', 'markov-blanket']
>>> kind_of_name("naive").settings
'bayeswise.models.naive_bayes.settings.NaiveBayesSettings'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from bayeswise.foundation.errors import ParameterError
from bayeswise.render.labels import guess

Group = Literal["naive-bayes", "gaussian", "regression", "network"]


@dataclass(frozen=True)
class ModelKind:
    """One kind of model.

    name      what `model=` and `--model` say; `aliases` mean the same
    learn     the function (table, target, **settings) -> (model, report), as a dotted path
    settings  the dataclass of its settings, as a dotted path
    options   the settings that `fit` takes for it, besides those about columns
    files     the kinds of files that its models are saved as
    """

    name: str
    aliases: tuple[str, ...]
    group: Group
    learn: str
    settings: str
    options: tuple[str, ...]
    files: tuple[str, ...]

    def learner(self) -> Any:
        """The function that learns a model of this kind, imported now."""
        return _imported(self.learn)

    def fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Settings under the names of the fields that hold them; a setting of other kinds of models is refused.

        >>> kind_of_name("linear").fields({"df": 3.0, "weight": "n"})
        {'freedom': 3.0, 'weight': 'n'}
        """
        return {self._field(name): value for name, value in given.items()}

    def _field(self, name: str) -> str:
        if name in COMMON_OPTIONS:
            return name
        if name not in self.options:
            others = [kind.name for kind in MODELS if name in kind.options]
            if not others:
                fix = guess(name, (*self.options, *COMMON_OPTIONS))
                raise ParameterError(f"there is no setting {name!r} of a {self.name} model", fix=fix)
            raise ParameterError(
                f"{name} is not a setting of a {self.name} model",
                fix=f"leave it out, or choose model={' or '.join(map(repr, others))}",
            )
        own = _FIELDS[self.group]
        return own.get(name, name)

    def settings_type(self) -> Any:
        """The dataclass of its settings, imported now."""
        return _imported(self.settings)


def _imported(path: str) -> Any:
    home, _, name = path.rpartition(".")
    return getattr(import_module(home), name)


_COUNTS = ("families", "convention", "smoothing", "class_prior", "prior_smoothing")
_MOMENTS = ("denominator", "variance_divisor", "shared_variance", "variance_rule", "variance_floor")
_WEIGHTS = ("prior", "scale", "df", "fit_intercept", "standardise")
_TABLES = ("prior", "smoothing", "class_prior", "cuts")

# Settings that `fit` takes for every kind of model: about columns, and about how to learn.
COLUMN_OPTIONS = ("kinds", "levels", "ignore", "weight", "missing", "unseen")
COMMON_OPTIONS = ("schema", "threads", "progress", "calibrate", *COLUMN_OPTIONS)

# Names of settings in earlier versions, and the name of today; fields of model files keep the earlier ones.
EARLIER = {
    "freedom": "df",
    "moderated": "marginalize",
    "divisor": "variance_divisor",
    "strength": "smoothing",
    "intercept": "fit_intercept",
    "tolerance": "tol",
    "most_iterations": "max_iter",
}


_FIELDS: dict[Group, dict[str, str]] = {
    "naive-bayes": {},
    "gaussian": {"variance_divisor": "divisor"},
    "regression": {
        "df": "freedom",
        "marginalize": "moderated",
        "fit_intercept": "intercept",
        "tol": "tolerance",
        "max_iter": "most_iterations",
    },
    "network": {"smoothing": "strength"},
}


def _network(name: str, learn: str, *options: str) -> ModelKind:
    return ModelKind(
        name,
        (),
        "network",
        f"bayeswise.networks.classifiers.learning.{learn}",
        "bayeswise.networks.classifiers.settings.NetworkSettings",
        (*_TABLES, *options),
        ("network-classifier",),
    )


MODELS: tuple[ModelKind, ...] = (
    ModelKind(
        "naive-bayes",
        ("naive",),
        "naive-bayes",
        "bayeswise.models.naive_bayes.learning.learned",
        "bayeswise.models.naive_bayes.settings.NaiveBayesSettings",
        (*_COUNTS, *_MOMENTS),
        ("naive-bayes",),
    ),
    ModelKind(
        "averaged",
        ("averaged-naive-bayes",),
        "naive-bayes",
        "bayeswise.models.averaged_naive_bayes.model.learned_averaged",
        "bayeswise.models.averaged_naive_bayes.settings.AveragedSettings",
        (*_COUNTS, "relevance", "n_relevant", "temper"),
        ("averaged-naive-bayes",),
    ),
    ModelKind(
        "gaussian",
        ("gaussian-bayes",),
        "gaussian",
        "bayeswise.models.gaussian_bayes.learning.learned",
        "bayeswise.models.gaussian_bayes.settings.GaussianBayesSettings",
        ("covariance", "variance_divisor", "shrinkage", "prior", "predictive", "class_prior", "variance_floor"),
        ("gaussian-bayes",),
    ),
    ModelKind(
        "logistic",
        ("logistic-regression",),
        "regression",
        "bayeswise.models.regression.learning.learned_logistic",
        "bayeswise.models.regression.settings.LogisticSettings",
        (*_WEIGHTS, "marginalize", "tol", "max_iter"),
        ("logistic-regression",),
    ),
    ModelKind(
        "linear",
        ("linear-regression",),
        "regression",
        "bayeswise.models.regression.learning.learned_linear",
        "bayeswise.models.regression.settings.LinearSettings",
        ("likelihood", *_WEIGHTS),
        ("linear-regression", "iterated-regression", "wide-regression"),
    ),
    _network("tan", "learned_tan"),
    _network("aode", "learned_aode", "min_frequency"),
    _network("k-dependence", "learned_k_dependence", "k"),
    _network("markov-blanket", "learned_markov_blanket", "max_parents", "criterion"),
)

NAMES: dict[str, ModelKind] = {name: kind for kind in MODELS for name in (kind.name, *kind.aliases)}


def kind_of_name(name: str) -> ModelKind:
    """The kind of model that a name or an alias means.

    >>> kind_of_name("gaussian-bayes").name, kind_of_name("logistic").name
    ('gaussian', 'logistic')
    """
    if not isinstance(name, str) or name not in NAMES:
        raise ParameterError(f"there is no model {name!r}", fix=guess(str(name), [kind.name for kind in MODELS]))
    return NAMES[name]


def names_in(*groups: Group) -> tuple[str, ...]:
    """The names of the kinds of some groups.

    >>> names_in("regression")
    ('logistic', 'linear')
    """
    return tuple(kind.name for kind in MODELS if kind.group in groups)
