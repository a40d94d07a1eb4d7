"""The kinds of models that `fit` learns: one entry says all that the rest of the package needs to know of a kind.

Modules are named and imported on demand, so that names cost nothing. A new kind of model is one entry here, its folder,
its settings in settings/, its overload in fitting.py, and the types of its file in files.py.

>>> [kind.name for kind in MODELS]
['naive-bayes', 'averaged', 'gaussian', 'logistic', 'linear', 'tan', 'aode', 'k-dependence', ..., 'tree', 'auto']
>>> kind_of_name("naive").settings
'bayeswise.models.settings.naive_bayes.NaiveBayesSettings'
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.labels import guess, with_article

if TYPE_CHECKING:
    from bayeswise.models.settings.declaration import Setting

Group = Literal["naive-bayes", "gaussian", "regression", "network", "tree", "auto"]
_SETTINGS = "bayeswise.models.settings"


@dataclass(frozen=True)
class ModelKind:
    """One kind of model.

    name      what `model=` and `--model` say; `aliases` mean the same
    learn     the function (table, target, **settings) -> (model, report), as a dotted path
    settings  the dataclass of the settings that its models keep, as a dotted path
    options   the dataclass of all that `fit` takes for it, as a dotted path
    files     the kinds of files that its models are saved as
    encoded   the function (batches, schema, settings) -> model, as a dotted path; empty for a model of a number
    calibrates  whether a calibration is one of its settings, and not put around it
    """

    name: str
    aliases: tuple[str, ...]
    group: Group
    learn: str
    settings: str
    options: str
    files: tuple[str, ...]
    encoded: str = ""
    calibrates: bool = False

    def learner(self) -> Any:
        """The function that learns a model of this kind, imported now."""
        return _imported(self.learn)

    def learner_of_batches(self) -> Any:
        """The function that learns a model of this kind from rows that are encoded, imported now."""
        return _imported(self.encoded)

    def settings_type(self) -> Any:
        """The dataclass of its settings, imported now."""
        return _imported(self.settings)

    def options_type(self) -> Any:
        """The dataclass of all that `fit` takes for it, imported now."""
        return _imported(self.options)

    def declared(self) -> dict[str, Setting]:
        """All settings that `fit` takes for it, by name.

        >>> list(kind_of_name("tan").declared())[-4:]
        ['cuts', 'prior', 'smoothing', 'class_prior']
        """
        from bayeswise.models.settings.declaration import declared

        return declared(self.options_type())

    def given(self, settings: Mapping[str, Any], *, stacklevel: int = 3) -> dict[str, Any]:
        """Settings under their current names; None leaves one out, unless None is a value of it.

        >>> kind_of_name("linear").given({"df": 3.0, "weight": None, "prior": None})
        {'df': 3.0, 'prior': None}
        >>> kind_of_name("linear").given({"smoothing": 3.0})
        Traceback (most recent call last):
        bayeswise.foundation.errors.ParameterError: smoothing is not a setting of a linear model. Fix: leave it out, ...
        """
        from bayeswise.foundation.arrays import plain
        from bayeswise.models.settings.declaration import current_names

        own = self.declared()
        every = [each for kind in MODELS for each in kind.declared().values()]
        named = current_names(settings, every, stacklevel=stacklevel + 1)
        named = {name: value for name, value in named.items() if value is not None or _means_none(own.get(name))}
        for name, value in named.items():
            if name not in own:
                raise self._refused(name)
            if name in self._only_learned_with():
                own[name].check(plain(value))
        return named

    def _only_learned_with(self) -> set[str]:
        """The settings of learning, which a model does not keep and so does not check."""
        from bayeswise.models.settings.common import ColumnOptions
        from bayeswise.models.settings.declaration import declared

        return set(self.declared()) - set(declared(self.settings_type())) - set(declared(ColumnOptions))

    def _refused(self, name: str) -> ParameterError:
        others = [kind.name for kind in MODELS if name in kind.declared()]
        one = with_article(f"{self.name} model")
        if not others:
            return ParameterError(f"there is no setting {name!r} of {one}", fix=guess(name, tuple(self.declared())))
        return ParameterError(
            f"{name} is not a setting of {one}",
            fix=f"leave it out, or choose model={' or '.join(map(repr, others))}",
        )


def _means_none(declared: Setting | None) -> bool:
    return declared is not None and declared.default is not None and None in declared.choices


@cache
def _imported(path: str) -> Any:
    home, _, name = path.rpartition(".")
    return getattr(import_module(home), name)


def _network(name: str, learn: str, options: str) -> ModelKind:
    return ModelKind(
        name,
        (),
        "network",
        f"bayeswise.networks.classifiers.learning.{learn}",
        f"{_SETTINGS}.network.NetworkSettings",
        f"{_SETTINGS}.network.{options}",
        ("network-classifier",),
        "bayeswise.networks.classifiers.learning.of_batches",
    )


MODELS: tuple[ModelKind, ...] = (
    ModelKind(
        "naive-bayes",
        ("naive",),
        "naive-bayes",
        "bayeswise.models.naive_bayes.learning.learned",
        f"{_SETTINGS}.naive_bayes.NaiveBayesSettings",
        f"{_SETTINGS}.naive_bayes.NaiveBayesOptions",
        ("naive-bayes",),
        "bayeswise.models.naive_bayes.learning.of_batches",
    ),
    ModelKind(
        "averaged",
        ("averaged-naive-bayes",),
        "naive-bayes",
        "bayeswise.models.averaged_naive_bayes.model.learned_averaged",
        f"{_SETTINGS}.averaged.AveragedSettings",
        f"{_SETTINGS}.averaged.AveragedOptions",
        ("averaged-naive-bayes",),
        "bayeswise.models.averaged_naive_bayes.model.averaged_of_batches",
    ),
    ModelKind(
        "gaussian",
        ("gaussian-bayes",),
        "gaussian",
        "bayeswise.models.gaussian_bayes.learning.learned",
        f"{_SETTINGS}.gaussian.GaussianBayesSettings",
        f"{_SETTINGS}.gaussian.GaussianOptions",
        ("gaussian-bayes",),
        "bayeswise.models.gaussian_bayes.learning.of_batches",
    ),
    ModelKind(
        "logistic",
        ("logistic-regression",),
        "regression",
        "bayeswise.models.regression.learning.learned_logistic",
        f"{_SETTINGS}.regression.LogisticSettings",
        f"{_SETTINGS}.regression.LogisticOptions",
        ("logistic-regression",),
        "bayeswise.models.regression.learning.logistic_of_batches",
    ),
    ModelKind(
        "linear",
        ("linear-regression",),
        "regression",
        "bayeswise.models.regression.linear_learning.learned_linear",
        f"{_SETTINGS}.regression.LinearSettings",
        f"{_SETTINGS}.regression.LinearOptions",
        ("linear-regression", "iterated-regression", "wide-regression"),
    ),
    _network("tan", "learned_tan", "TanOptions"),
    _network("aode", "learned_aode", "AodeOptions"),
    _network("k-dependence", "learned_k_dependence", "KDependenceOptions"),
    _network("markov-blanket", "learned_markov_blanket", "MarkovBlanketOptions"),
    ModelKind(
        "tree",
        ("description-length-tree",),
        "tree",
        "bayeswise.models.tree.growing.learned",
        f"{_SETTINGS}.tree.TreeSettings",
        f"{_SETTINGS}.tree.TreeOptions",
        ("description-length-tree",),
        "bayeswise.models.tree.growing.of_batches",
    ),
    ModelKind(
        "auto",
        (),
        "auto",
        "bayeswise.models.auto.learning.learned",
        f"{_SETTINGS}.auto.AutoSettings",
        f"{_SETTINGS}.auto.AutoOptions",
        ("auto",),
        calibrates=True,
    ),
)

DEFAULT = "auto"
"""What `fit` learns where no model is named."""

NAMES: dict[str, ModelKind] = {name: kind for kind in MODELS for name in (kind.name, *kind.aliases)}


def kind_of_name(name: str) -> ModelKind:
    """The kind of model that a name or an alias means.

    >>> kind_of_name("gaussian-bayes").name, kind_of_name("logistic").name
    ('gaussian', 'logistic')
    """
    if not isinstance(name, str) or name not in NAMES:
        raise ParameterError(f"there is no model {name!r}", fix=guess(str(name), [kind.name for kind in MODELS]))
    return NAMES[name]


def kinds_with(name: str) -> tuple[ModelKind, ...]:
    """The kinds that have a setting, by its current name or an earlier one.

    >>> [kind.name for kind in kinds_with("families")]
    ['naive-bayes', 'averaged']
    """
    found = tuple(
        kind for kind in MODELS if any(name in (each.name, each.earlier) for each in kind.declared().values())
    )
    if not found:
        every = dict.fromkeys(known for kind in MODELS for known in kind.declared())
        raise ParameterError(f"there is no setting {name!r}", fix=guess(name, tuple(every)))
    return found


def kind_by_settings(having: Mapping[str, Collection[ModelKind]]) -> ModelKind:
    """The kind to learn where none is named, by the kinds that have each setting that is given.

    It is auto where auto has them all, else naive Bayes where that has them, else the only kind that does.

    >>> kind_by_settings({"smoothing": kinds_with("smoothing")}).name
    'naive-bayes'
    >>> kind_by_settings({"covariance": kinds_with("covariance")}).name
    'gaussian'
    >>> kind_by_settings({"cuts": kinds_with("cuts")})
    Traceback (most recent call last):
    bayeswise.foundation.errors.ParameterError: cuts: a setting of several models, ... Fix: choose model='tan' or ...
    """
    kinds = [kind for kind in MODELS if all(kind in each for each in having.values())]
    first = next((kind for name in (DEFAULT, "naive-bayes") for kind in kinds if kind.name == name), None)
    if first is not None or len(kinds) == 1:
        return first or kinds[0]
    shown = " and ".join(name for name, each in having.items() if NAMES[DEFAULT] not in each)
    if not kinds:
        raise ParameterError(f"{shown}: no model has all of these settings", fix="leave one out")
    raise ParameterError(
        f"{shown}: a setting of several models, none of which is {DEFAULT}, the default",
        fix=f"choose model={' or model='.join(repr(kind.name) for kind in kinds)}",
    )


def names_in(*groups: Group) -> tuple[str, ...]:
    """The names of the kinds of some groups.

    >>> names_in("regression")
    ('logistic', 'linear')
    """
    return tuple(kind.name for kind in MODELS if kind.group in groups)
