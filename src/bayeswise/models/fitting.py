"""`bw.fit`: from any table to a model of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from bayeswise.foundation.errors import ParameterError
from bayeswise.models.registry import kind_of_name

if TYPE_CHECKING:
    from bayeswise.models.averaged_naive_bayes import AveragedNaiveBayesModel
    from bayeswise.models.gaussian_bayes import GaussianBayesModel
    from bayeswise.models.naive_bayes import NaiveBayesModel
    from bayeswise.models.regression.glm import IteratedModel
    from bayeswise.models.regression.linear import LinearModel
    from bayeswise.models.regression.logistic import LogisticModel
    from bayeswise.tables.encoding.sweep import Report


@overload
def fit(
    table: Any, target: str, *, model: Literal["naive-bayes", "naive"] = ..., **overrides: Any
) -> NaiveBayesModel: ...
@overload
def fit(table: Any, target: str, *, model: Literal["averaged"], **overrides: Any) -> AveragedNaiveBayesModel: ...
@overload
def fit(table: Any, target: str, *, model: Literal["gaussian"], **overrides: Any) -> GaussianBayesModel: ...
@overload
def fit(table: Any, target: str, *, model: Literal["logistic"], **overrides: Any) -> LogisticModel: ...
@overload
def fit(table: Any, target: str, *, model: Literal["linear"], **overrides: Any) -> LinearModel | IteratedModel: ...
@overload
def fit(
    table: Any, target: str, *, model: Literal["tan", "aode", "k-dependence", "markov-blanket"], **overrides: Any
) -> Any: ...
def fit(table: Any, target: str, *, model: str = "naive-bayes", **overrides: Any) -> Any:
    """Learn from any table with the target inside: a path, `-`, a dataframe, an array, a list of dicts.

    model           overrides about beliefs
    "naive-bayes"   families, convention, smoothing, class_prior, prior_smoothing, variance_divisor, ...
    "averaged"      the same, relevance, n_relevant and temper: over all subsets of relevant columns
    "gaussian"      covariance, divisor, shrinkage, prior, predictive, class_prior
    "logistic"      prior, scale, freedom, moderated, fit_intercept, standardise, missing="error" | "mean"
    "linear"        likelihood, prior, scale, freedom, fit_intercept, standardise, missing="error" | "mean"
    "tan", "aode", "k-dependence", "markov-blanket"
                    prior, strength, class_prior, cuts, k, min_frequency, criterion, max_parents

    Overrides about columns: kinds={"zip": "category"}, levels={"size": ["S", "M", "L"]}, ignore=["id"], weight="n",
    missing="ignore" | "level" | "error" (not for regressions), unseen="smooth" | "ignore" | "error".

    >>> rows = [{"wind": "weak", "play": "yes"}, {"wind": "strong", "play": "no"}, {"wind": "weak", "play": "yes"}]
    >>> fit(rows, target="play")
    NaiveBayesModel(play: {'no': 1, 'yes': 2}, 1 columns, laplace)
    >>> fit([{"x": 0.0, "y": 1.0}, {"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 5.0}], "y", model="linear", prior=None)
    LinearModel(y: 3 rows, 1 weights, gaussian likelihood, flat prior)
    """
    kind = kind_of_name(model)
    if target is None:
        raise ParameterError("there is no target", fix="name the column to predict: target='...'")
    return learned(table, target, model=kind.name, **overrides)[0]


def learned(table: Any, target: str, *, model: str = "naive-bayes", **overrides: Any) -> tuple[Any, Report]:
    """What `fit` learns, and what it met on its way: invalid values, rows without a target."""
    answer: tuple[Any, Report] = kind_of_name(model).learner()(table, target, **overrides)
    return answer


def learned_like(model: Any, table: Any, *, threads: int | None = None) -> tuple[Any, Report]:
    """The table under the columns and settings of a model; where models merge, both can be merged."""
    if hasattr(model, "learned_like"):
        found: tuple[Any, Report] = model.learned_like(table, threads=threads)
        return found
    if hasattr(model, "request"):
        from bayeswise.models.naive_bayes.learning import learned_like as counted_like

        return counted_like(model, table, threads=threads)
    from bayeswise.models.regression.learning import linear_of, logistic_of
    from bayeswise.tables.schema.null_words import open_like

    route: Any = logistic_of if hasattr(model, "classes") else linear_of
    answer: tuple[Any, Report] = route(open_like(table, model.schema), model.schema, model.settings)
    return answer
