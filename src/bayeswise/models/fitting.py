"""`bw.fit`: from any table to a model of any kind."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.threads import limit_threads
from bayeswise.models.base.table_model import capabilities_of
from bayeswise.models.files import inner_of
from bayeswise.models.registry import DEFAULT, ModelKind, kind_by_settings, kind_of_name, kinds_with
from bayeswise.models.settings.help_text import spelled_out
from bayeswise.posteriors.calibration import checked_method
from bayeswise.tables.partitions import NearSource
from bayeswise.tables.sources.opening import long_file, spread

if TYPE_CHECKING:
    from bayeswise.models.auto.model import AutoModel
    from bayeswise.models.averaged_naive_bayes.model import AveragedNaiveBayesModel
    from bayeswise.models.gaussian_bayes.model import GaussianBayesModel
    from bayeswise.models.naive_bayes.model import NaiveBayesModel
    from bayeswise.models.regression.glm import IteratedModel
    from bayeswise.models.regression.linear import LinearModel
    from bayeswise.models.regression.logistic import LogisticModel
    from bayeswise.models.regression.solving.wide import WideModel
    from bayeswise.models.settings import auto, averaged, common, gaussian, naive_bayes, network, regression, tree
    from bayeswise.models.tree.model import TreeModel
    from bayeswise.networks.classifiers.model import NetworkClassifierModel
    from bayeswise.tables.encoding.encoder import Report

    Options = ParamSpec("Options")
    Model = TypeVar("Model")

    def _taking(options: Callable[Options, Any]) -> Callable[[Callable[[], Model]], Callable[Options, Model]]: ...


# What type checkers and editors know of `fit`: the fields of the options of each model are its keywords (see ADR 16).
if TYPE_CHECKING:

    @overload
    @_taking(auto.AutoOptions)
    def fit() -> AutoModel: ...
    @overload
    @_taking(naive_bayes.NaiveBayesOptions)
    def fit() -> NaiveBayesModel: ...
    @overload
    @_taking(averaged.AveragedOptions)
    def fit() -> AveragedNaiveBayesModel: ...
    @overload
    @_taking(gaussian.GaussianOptions)
    def fit() -> GaussianBayesModel: ...
    @overload
    @_taking(regression.LogisticOptions)
    def fit() -> LogisticModel: ...
    @overload
    @_taking(regression.LinearOptions)
    def fit() -> LinearModel | IteratedModel | WideModel: ...
    @overload
    @_taking(network.TanOptions)
    def fit() -> NetworkClassifierModel: ...
    @overload
    @_taking(network.AodeOptions)
    def fit() -> NetworkClassifierModel: ...
    @overload
    @_taking(network.KDependenceOptions)
    def fit() -> NetworkClassifierModel: ...
    @overload
    @_taking(network.MarkovBlanketOptions)
    def fit() -> NetworkClassifierModel: ...
    @overload
    @_taking(tree.TreeOptions)
    def fit() -> TreeModel: ...
    @overload
    @_taking(common.AnyModelOptions)
    def fit() -> Any: ...


@spelled_out
def fit(table: Any, target: str | None = None, *, model: str | None = None, **settings: Any) -> Any:
    """Learn from any table with the target inside: a path, `-`, a dataframe, an array, a list of dicts.

    The default model is auto: all models that apply, weighted by their predictions of left-out rows. A setting that
    auto does not have selects the model that has it, with a warning: naive-bayes, or the only one.

    Settings that are left out have the model's defaults; one that the model does not have is an error.

    Settings are listed by help(bw.fit), with the models that have them.

    Names of earlier versions (freedom, moderated, divisor, strength, criterion) are still accepted, with a
    DeprecationWarning.

    >>> rows = [{"wind": "weak", "play": "yes"}, {"wind": "strong", "play": "no"}, {"wind": "weak", "play": "yes"}]
    >>> fit(rows, target="play", model="naive-bayes")
    NaiveBayesModel(play: {'no': 1, 'yes': 2}, 1 columns, laplace)
    >>> fit([{"x": 0.0, "y": 1.0}, {"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 5.0}], "y", model="linear", prior=None)
    LinearModel(y: 3 rows, 1 weights, gaussian likelihood, flat prior)
    """
    kind, named = _chosen(model, settings), checked_target(target, table)
    given = kind.given(settings)
    calibrate = given.pop("calibrate", None)
    if calibrate is not None:
        checked_method(calibrate)
        if kind.calibrates:
            given["calibrate"], calibrate = calibrate, None
    found = learned(table, named, model=kind.name, **given)[0]
    if capabilities_of(found).classes and len(found.classes) == 1:
        warnings.warn(
            f"there is only the class {found.classes[0]!r}, so every answer will be this one. "
            "Fix: add rows of another class",
            UserWarning,
            stacklevel=2,
        )
    return with_calibration(found, table, calibrate)


def _chosen(model: str | None, settings: Mapping[str, Any]) -> ModelKind:
    """The kind that is named; without a name, the kind that has these settings, and a warning if that is not auto."""
    if model is not None:
        return kind_of_name(model)
    having = {name: kinds_with(name) for name, value in settings.items() if value is not None}
    kind = kind_by_settings(having)
    if kind.name != DEFAULT:
        shown = " and ".join(name for name, kinds in having.items() if kind_of_name(DEFAULT) not in kinds)
        warnings.warn(
            f"{shown}: not for {DEFAULT}, the default; this is a {kind.name} model. Fix: say model={kind.name!r}",
            UserWarning,
            stacklevel=3,
        )
    return kind


def checked_target(target: Any, table: Any = None) -> str:
    """Refuse what is not the name of a column of the table: above all y, which estimators take."""
    if target is None:
        raise ParameterError("there is no target", fix="name the column to predict: target='...'")
    if not isinstance(target, str) and hasattr(target, "__len__"):
        in_table = "call fit(X.assign(y=y), 'y')" if hasattr(table, "assign") else "add y to the table as a column"
        raise ParameterError(
            f"the target is the name of a column of the table; found a {type(target).__name__} of {len(target)} values",
            fix=f"{in_table}, or use an estimator: bw.NaiveBayes().fit(X, y)",
        )
    return str(target)


def learned(table: Any, target: str, *, model: str, threads: int | None = None, **overrides: Any) -> tuple[Any, Report]:
    """What `fit` learns, and its report: invalid values, rows without a target."""
    learner = kind_of_name(model).learner()
    with limit_threads(threads):
        source: Any = spread(table) or (long_file(table) if overrides.get("schema") is None else None)
        quietly = {name: value for name, value in overrides.items() if name != "progress"}
        if isinstance(source, NearSource):
            from bayeswise.engines.one_pass import foresee_near

            source = foresee_near(source, lambda rows: learner(rows, target, **quietly), overrides.get("progress"))
        elif source is not None:
            from bayeswise.engines.one_pass import foresee

            foresee(source, lambda rows: learner(rows, target, **quietly))
        answer: tuple[Any, Report] = learner(table if source is None else source, target, **overrides)
    return answer


def with_calibration(model: Any, table: Any, method: str | None, like: Any = None) -> Any:
    """The model calibrated on the rows that it has learned; by default as the model that it is like, or not at all."""
    if method is None and like is not None and capabilities_of(like).calibrated:
        method = like.method
    if method is None or method == "none":
        return model
    from bayeswise.models.calibrated import calibrated

    return calibrated(model, table, method)


def learned_like(model: Any, table: Any) -> tuple[Any, Report]:
    """The table under the columns and settings of a model; where models merge, both can be merged."""
    found: tuple[Any, Report] = inner_of(model).learned_like(table)
    return found
