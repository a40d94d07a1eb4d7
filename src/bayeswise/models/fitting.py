"""`bw.fit`: from any table to a model of any kind."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.threads import limit_threads
from bayeswise.models.files import inner_of
from bayeswise.models.registry import EARLIER, kind_of_name
from bayeswise.models.table_model import capabilities_of
from bayeswise.posteriors.calibration import checked_method

if TYPE_CHECKING:
    from bayeswise.families.multivariate_normal import NormalInverseWishart
    from bayeswise.models.naive_bayes.choices import Families
    from bayeswise.models.naive_bayes.settings import MEstimate
    from bayeswise.tables.encoding.encoder import Report
    from bayeswise.tables.schema.labels import Label
    from bayeswise.tables.schema.schema import Schema


class _ModelsOwn:
    """What stands for a prior that is not given: None is one, the flat prior of a regression."""

    def __repr__(self) -> str:
        return "<the model's own>"


MODELS_OWN = _ModelsOwn()

_APART = ("table", "target", "model", "calibrate", "earlier")  # of the parameters of `fit` those that are not settings


def fit(
    table: Any,
    target: str | None = None,
    *,
    model: str = "naive-bayes",
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    calibrate: Literal["auto", "sigmoid", "isotonic", "dirichlet", "temperature", "none"] | None = None,
    # columns
    schema: Schema | None = None,
    kinds: Mapping[str, str] | None = None,
    levels: Mapping[str, Sequence[Label]] | None = None,
    ignore: Sequence[str] | None = None,
    weight: str | None = None,
    missing: str | Mapping[str, str] | None = None,
    unseen: str | Mapping[str, str] | None = None,
    # several models
    smoothing: float | MEstimate | None = None,
    class_prior: Mapping[Any, float] | None = None,
    prior: str | NormalInverseWishart | _ModelsOwn | None = MODELS_OWN,
    variance_divisor: Literal["n", "n-1", "n-K"] | None = None,
    variance_floor: float | None = None,
    # naive-bayes, averaged
    families: Families | None = None,
    convention: str | None = None,
    prior_smoothing: float | None = None,
    denominator: Literal["levels", "classes"] | None = None,
    shared_variance: bool | None = None,
    variance_rule: Literal["floor", "added"] | None = None,
    # averaged
    relevance: float | Mapping[str, float] | None = None,
    n_relevant: Literal["uniform"] | tuple[float, float] | Mapping[int, float] | None = None,
    temper: float | Literal["auto", "pairs"] | None = None,
    # gaussian
    covariance: Literal["per-class", "shared", "diagonal", "shared-diagonal", "spherical"] | None = None,
    shrinkage: float | Literal["auto"] | None = None,
    predictive: Literal["plug-in", "student-t"] | None = None,
    # logistic, linear
    likelihood: Literal["gaussian", "student-t", "laplace", "poisson", "exponential"] | None = None,
    scale: float | Literal["auto", "evidence", "cv"] | None = None,
    df: float | None = None,
    marginalize: bool | None = None,
    fit_intercept: bool | None = None,
    standardise: bool | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    # tan, aode, k-dependence, markov-blanket
    cuts: Mapping[str, Sequence[float]] | None = None,
    k: int | None = None,
    min_frequency: float | None = None,
    criterion: Literal["bic", "aic", "mdl", "bdeu", "k2"] | None = None,
    max_parents: int | None = None,
    **earlier: Any,
) -> Any:
    """Learn from any table with the target inside: a path, `-`, a dataframe, an array, a list of dicts.

    A setting that is left out is the model's own; one that the model does not have is an error.

    Common
        model            "naive-bayes", "averaged", "gaussian", "logistic", "linear", "tan", "aode", "k-dependence" or
                         "markov-blanket"
        threads          the maximum number of threads
        progress         called with the number of rows of each batch
        calibrate        a map of posteriors, fitted to left-out rows and saved with the model: "sigmoid", "isotonic",
                         "dirichlet", "temperature", or "auto": the simplest that left-out rows ask for, or none
    Columns
        schema           what all columns mean, in place of the next six
        kinds            {"zip": "category"}: number, count, category, binary, text or ignored
        levels           {"size": ["S", "M", "L"]}: all levels of a column, in order
        ignore           columns to leave out
        weight           the column with the weight of each row
        missing          missing values: "ignore", "level" or "error", for all or by column; networks also "em";
                         regressions "error" or "mean"
        unseen           levels that were never seen: "smooth", "ignore" or "error", for all or by column
    Several models
        smoothing        pseudo-counts of each level, or an MEstimate; networks: a number, see `prior`
        class_prior      {class: probability}, in place of the shares of the rows
        prior            regressions: of the weights, "gaussian", "laplace", "student-t" (logistic) or None (flat);
                         networks: what `smoothing` counts, "laplace" (each cell), "m-estimate" (each row of a table) or
                         "bdeu" (each table); gaussian: a NormalInverseWishart
        variance_divisor "n", "n-1" or, gaussian only, "n-K" with K classes
        variance_floor   the smallest variance, as a share of the column's
    naive-bayes; the first three also averaged
        families         "auto", "select", one family for all numbers, or {"visits": "poisson"}
        convention       a preset: "laplace", "exact", "weka", "scikit-learn", ...
        prior_smoothing  pseudo-counts of each class
        denominator      smoothing adds below the fraction for each of the "levels" or, as some lecture notes print it,
                         of the "classes"
        shared_variance  one variance for all classes, so that log-odds are linear
        variance_rule    variance_floor is the "floor" of a variance, or "added" to it
    averaged
        relevance        the prior probability that a column is relevant, for all or by column
        n_relevant       instead, a prior of the number of relevant columns
        temper           discount columns that say the same: "auto", "pairs" or an exponent
    gaussian
        covariance       "per-class", "shared", "diagonal", "shared-diagonal" or "spherical"
        shrinkage        of correlations, from 0 to 1, or "auto"
        predictive       "plug-in", or "student-t": parameters integrated out
    logistic, linear
        likelihood       linear: "gaussian", "student-t", "laplace", "poisson" or "exponential"
        scale            of the prior, in standard deviations of a column; or "evidence" or "cv"
        df               degrees of freedom of a student-t
        marginalize      logistic: average probabilities over the posterior of the weights
        fit_intercept    whether there is an intercept
        standardise      whether the prior is about standardised columns
        tol, max_iter    logistic: the gradient at which iterations end, and the most iterations
    tan, aode, k-dependence, markov-blanket
        cuts             {"age": [30, 50]}: where to cut number columns
        k                k-dependence: the most columns that a column depends on
        min_frequency    aode: the rows that make a level a superparent
        criterion        markov-blanket: the score of the search, "bic", "aic", "mdl", "bdeu" or "k2"
        max_parents      markov-blanket: the most parents of a node

    Names of earlier versions (freedom, moderated, divisor, strength) are still taken, with a DeprecationWarning.

    >>> rows = [{"wind": "weak", "play": "yes"}, {"wind": "strong", "play": "no"}, {"wind": "weak", "play": "yes"}]
    >>> fit(rows, target="play")
    NaiveBayesModel(play: {'no': 1, 'yes': 2}, 1 columns, laplace)
    >>> fit([{"x": 0.0, "y": 1.0}, {"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 5.0}], "y", model="linear", prior=None)
    LinearModel(y: 3 rows, 1 weights, gaussian likelihood, flat prior)
    """
    given = {name: value for name, value in locals().items() if name not in _APART}
    kind = kind_of_name(model)
    named = checked_target(target)
    settings = {name: value for name, value in given.items() if value is not None and name != "prior"}
    if not isinstance(prior, _ModelsOwn):
        settings["prior"] = prior
    settings |= _named_today(earlier, settings)
    if calibrate is not None:
        checked_method(calibrate)
    found = learned(table, named, model=kind.name, **kind.fields(settings))[0]
    return with_calibration(found, table, calibrate)


def checked_target(target: Any) -> str:
    """Refuse what is not the name of a column: above all y, which estimators take."""
    if target is None:
        raise ParameterError("there is no target", fix="name the column to predict: target='...'")
    if not isinstance(target, str) and hasattr(target, "__len__"):
        raise ParameterError(
            f"the target is the name of a column of the table; found a {type(target).__name__} of {len(target)} values",
            fix="say fit(X.assign(y=y), 'y'), or take an estimator: bw.NaiveBayes().fit(X, y)",
        )
    return str(target)


def _named_today(earlier: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the names of earlier versions under those of today; other names pass, to be refused."""
    for name in earlier:
        if name in EARLIER:
            if EARLIER[name] in settings:
                raise ParameterError(f"{name} and {EARLIER[name]} are one setting", fix=f"give {EARLIER[name]}")
            message = f"the setting {name} is now called {EARLIER[name]}; the earlier name will go"
            warnings.warn(message, DeprecationWarning, stacklevel=3)
    return {EARLIER.get(name, name): value for name, value in earlier.items()}


def learned(
    table: Any, target: str, *, model: str = "naive-bayes", threads: int | None = None, **overrides: Any
) -> tuple[Any, Report]:
    """What `fit` learns, and what it met on its way: invalid values, rows without a target."""
    with limit_threads(threads):
        answer: tuple[Any, Report] = kind_of_name(model).learner()(table, target, **overrides)
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
    model = inner_of(model)
    if hasattr(model, "learned_like"):
        found: tuple[Any, Report] = model.learned_like(table)
        return found
    if hasattr(model, "request"):
        from bayeswise.models.naive_bayes.learning import learned_like as counted_like

        return counted_like(model, table)
    from bayeswise.models.regression.learning import linear_of, logistic_of
    from bayeswise.tables.schema.null_words import open_like

    route: Any = logistic_of if hasattr(model, "classes") else linear_of
    answer: tuple[Any, Report] = route(open_like(table, model.schema), model.schema, model.settings)
    return answer
