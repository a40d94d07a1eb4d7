"""Which suites of scikit-learn are run, and which of their tests do not apply to us, each with its reason."""

from __future__ import annotations

SUITES = [
    "tests/test_naive_bayes.py",
    "tests/test_discriminant_analysis.py",
    "tests/test_calibration.py",
    "tests/test_pipeline.py",
    "tests/test_multiclass.py",
    "tests/test_multioutput.py",
    "linear_model/tests/test_logistic.py",
    "linear_model/tests/test_ridge.py",
    "linear_model/tests/test_base.py",
    "ensemble/tests/test_bagging.py",
    "ensemble/tests/test_voting.py",
    "ensemble/tests/test_stacking.py",
    "ensemble/tests/test_weight_boosting.py",
    "model_selection/tests/test_search.py",
    "model_selection/tests/test_validation.py",
    "model_selection/tests/test_classification_threshold.py",
    "feature_selection/tests/test_from_model.py",
    "feature_selection/tests/test_rfe.py",
    "feature_selection/tests/test_sequential.py",
    "semi_supervised/tests/test_self_training.py",
    "inspection/tests/test_permutation_importance.py",
    "metrics/tests/test_score_objects.py",
]

_WORDS = "a class is welcome in any batch, so that `classes` need not be given, and naming one twice names it once"
_INNER = "about a private function or an internal attribute of scikit-learn"
_SOLVER = "about solvers, warm starts, copies or seeds; ours has one exact algorithm for each prior"
_ANSWER = "an answer with a warning instead of an error: a singular covariance rests on a documented floor"
_LEVELS = "levels are those that rows show or `levels=` declares, not 0 to the largest integer"
_ZERO = "smoothing=0 means 0; scikit-learn puts 1e-10 in its place, and one smoothing counts for all columns"
_TAGS = "our estimators take categories and text in every family, and their tags say so"
_DOUBLES = "answers are doubles whatever X is, as sums are exact"
_SHRINK = "shrinkage goes towards the diagonal, not a multiple of the identity; 'auto' is oracle approximating"
_STORED = "the covariance is a function of the statistic, so that there is nothing to store or not to store"
_NO_SUM = "a prior that does not sum to 1 is an error, and is not divided by its sum"

NOT_APPLICABLE: dict[str, str] = {
    # -- naive Bayes
    "tests/test_naive_bayes.py::test_gnb": _WORDS,
    "tests/test_naive_bayes.py::test_gnb_check_update_with_no_data": _INNER,
    "tests/test_naive_bayes.py::test_NB_partial_fit_no_first_classes*": _WORDS,
    "tests/test_naive_bayes.py::test_discretenb_provide_prior[[]*": _WORDS,
    "tests/test_naive_bayes.py::test_mnnb*": _WORDS,
    "tests/test_naive_bayes.py::test_cnb": _INNER,
    "tests/test_naive_bayes.py::test_categoricalnb[[]*": _LEVELS,
    "tests/test_naive_bayes.py::test_categoricalnb_with_min_categories*": _LEVELS,
    "tests/test_naive_bayes.py::test_categoricalnb_min_categories_errors*": _LEVELS,
    "tests/test_naive_bayes.py::test_alpha[[]*": _ZERO,
    "tests/test_naive_bayes.py::test_alpha_vector": _ZERO,
    "tests/test_naive_bayes.py::test_check_alpha": _INNER,
    "tests/test_naive_bayes.py::test_categorical_input_tag*": _TAGS,
    # -- discriminant analysis
    "tests/test_discriminant_analysis.py::test_lda_predict": _SOLVER,
    "tests/test_discriminant_analysis.py::test_lda_priors": _NO_SUM,
    "tests/test_discriminant_analysis.py::test_lda_transform": _SOLVER,
    "tests/test_discriminant_analysis.py::test_lda_store_covariance": _STORED,
    "tests/test_discriminant_analysis.py::test_lda_shrinkage*": _SHRINK,
    "tests/test_discriminant_analysis.py::test_lda_ledoitwolf": _SHRINK,
    "tests/test_discriminant_analysis.py::test_lda_dtype_match*": _DOUBLES,
    "tests/test_discriminant_analysis.py::test_qda[[]*": _ANSWER,
    "tests/test_discriminant_analysis.py::test_qda_covariance_estimator": _SOLVER,
    "tests/test_discriminant_analysis.py::test_qda_ledoitwolf*": _SHRINK,
    "tests/test_discriminant_analysis.py::test_qda_coefs*": _INNER,
    "tests/test_discriminant_analysis.py::test_qda_store_covariance*": _STORED,
    "tests/test_discriminant_analysis.py::test_qda_regularization*": _ANSWER,
    "tests/test_discriminant_analysis.py::test_raises_value_error_on_*": _ANSWER,
}
