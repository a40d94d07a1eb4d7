"""Our estimators under the names and parameters of scikit-learn's, for its own test suites.

Each class is one of ours; its constructor takes scikit-learn's parameters, and properties say what they mean here. What
has no equivalent (solvers, copies, seeds) is accepted and not used; the tests about it are in `not_applicable.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import bayeswise as bw
from bayeswise.estimators.inputs.targets import prior_by_name
from bayeswise.models.settings.gaussian import GaussianBayesSettings

USED: set[str] = set()
"""The adapters that were fitted since it was last emptied: a test that fits none says nothing about us."""


class _Counted:
    """Notes that a test fitted one of ours."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        USED.add(type(self).__name__)
        return super().fit(X, y, sample_weight)  # type: ignore[misc]


class _CountedInBatches(_Counted):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Any:
        USED.add(type(self).__name__)
        return super().partial_fit(X, y, classes, sample_weight)  # type: ignore[misc]


class _NaiveBayes(_CountedInBatches, bw.NaiveBayes):
    """The parameters that scikit-learn's classes do not have, at our defaults."""

    prior_smoothing, variance_divisor, shared_variance, variance_floor = 0.0, "n", False, 1e-9
    missing, unseen = "error", "smooth"
    convention = kinds = levels = None
    word_weight = 1.0

    def _of_classes(self, settings: Any, classes: Any) -> Any:
        """An even prior where `fit_prior=False`."""
        if getattr(self, "fit_prior", True) or self.class_prior is not None:
            return super()._of_classes(settings, classes)
        return settings.changed(class_prior=dict.fromkeys(classes, 1.0 / len(classes)))


class GaussianNB(_NaiveBayes):
    families, smoothing, convention = "normal", 1.0, "scikit-learn"
    class_prior = property(lambda self: self.priors)
    variance_floor = property(lambda self: self.var_smoothing)
    epsilon_ = property(lambda self: self.var_smoothing * self._spread())

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _spread(self) -> float:
        return float(self._model.statistics.part["normal"].pooled().variance("n").max())


class _OfWords(_NaiveBayes):
    smoothing = property(lambda self: self.alpha)


class MultinomialNB(_OfWords):
    families = "multinomial"

    def __init__(
        self, *, alpha: float = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class ComplementNB(_OfWords):
    families = "complement"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm


class BernoulliNB(_OfWords):
    families = "bernoulli"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = super()._checked(X, reset=reset)
        return X if self.binarize is None else (self.binarize < X).astype(np.float64)


class CategoricalNB(_OfWords):
    families = "categorical"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories


class _GaussianBayes(_CountedInBatches, bw.GaussianBayes):
    divisor, prior, predictive, variance_floor, missing = "n", None, "plug-in", 1e-9, "error"
    class_prior = property(lambda self: self.priors)

    def _settings(self) -> Any:
        share = 0.0 if self.shrinkage is None else self.shrinkage
        prior = prior_by_name(self.class_prior, None)
        return GaussianBayesSettings(covariance=self.covariance, shrinkage=share, class_prior=prior)


class LinearDiscriminantAnalysis(_GaussianBayes):
    covariance = "shared"

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator


class QuadraticDiscriminantAnalysis(_GaussianBayes):
    covariance, n_components = "per-class", None

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator


class LogisticRegression(_Counted, bw.LogisticRegression):
    df, marginalize, standardise, missing, kinds, levels = 4.0, False, False, "error", None, None
    scale = property(lambda self: 1.0 if np.isinf(self.C) else self.C if self.prior == "laplace" else np.sqrt(self.C))

    @property
    def prior(self) -> str | None:
        if np.isinf(self.C) or self.penalty is None:
            return None
        return "laplace" if self.penalty == "l1" or self.l1_ratio == 1 else "gaussian"

    def _settings(self) -> Any:
        """`tol` and `max_iter` are about other algorithms; ours ends where no slope is left."""
        return super()._settings().changed(tol=1e-8, max_iter=200)

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: Any = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: Any = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs


class _LinearRegression(_Counted, bw.LinearRegression):
    likelihood, df, standardise, missing, kinds, levels = "gaussian", 4.0, False, "error", None, None


class Ridge(_LinearRegression):
    prior = property(lambda self: None if np.ndim(self.alpha) == 0 and self.alpha == 0 else "gaussian")
    scale = property(lambda self: 1.0 if self.prior is None else 1.0 / np.sqrt(self.alpha))

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: Any = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state


class LinearRegression(_LinearRegression):
    prior, scale = None, 1.0

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: Any = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive


ADAPTERS: dict[str, list[type]] = {
    "sklearn.naive_bayes": [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB],
    "sklearn.discriminant_analysis": [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis],
    "sklearn.linear_model": [LogisticRegression, Ridge, LinearRegression],
    "sklearn.linear_model._logistic": [LogisticRegression],
}
"""What takes the place of what, by the modules from which tests import it."""
