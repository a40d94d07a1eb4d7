"""Which suites of scikit-learn are run, and which of their tests do not apply to us, each with its reason."""

from __future__ import annotations

SUITES = [
    "tests/test_naive_bayes.py",
    "tests/test_discriminant_analysis.py",
    "tests/test_calibration.py",
    "tests/test_pipeline.py",
    "tests/test_multiclass.py",
    "linear_model/tests/test_logistic.py",
    "linear_model/tests/test_ridge.py",
    "linear_model/tests/test_base.py",
    "ensemble/tests/test_bagging.py",
    "ensemble/tests/test_voting.py",
    "ensemble/tests/test_stacking.py",
    "ensemble/tests/test_weight_boosting.py",
    "model_selection/tests/test_classification_threshold.py",
    "model_selection/tests/test_search.py",
    "model_selection/tests/test_validation.py",
    "feature_selection/tests/test_from_model.py",
    "feature_selection/tests/test_rfe.py",
    "feature_selection/tests/test_sequential.py",
    "tests/test_multioutput.py",
]

OTHER_CLASSES = [
    "linear_model/tests/test_logistic.py::*cv*",
    "linear_model/tests/test_logistic.py::*CV*",
    "linear_model/tests/test_logistic.py::*path*",
    "linear_model/tests/test_logistic.py::*elastic*",
    "linear_model/tests/test_logistic.py::*warm_start*",
    "linear_model/tests/test_logistic.py::*callback*",
    "linear_model/tests/test_logistic.py::test_saga_vs_liblinear*",
    "linear_model/tests/test_ridge.py::*cv*",
    "linear_model/tests/test_ridge.py::*CV*",
    "linear_model/tests/test_ridge.py::*gcv*",
    "linear_model/tests/test_ridge.py::*classifier*",
    "linear_model/tests/test_ridge.py::*positive*",
    "linear_model/tests/test_ridge.py::*solver*",
    "*array_api*",
]
"""Tests that are not run: about cross-validating classes, elastic nets, solvers and array libraries, and slow."""

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
_SPARSE = "linear regression takes dense rows; sparse ones are for logistic regression and naive Bayes"
_SPARSIFY = "weights are dense: there is no sparsify()"
_INDICES = "about solvers that refuse 64-bit indices; ours takes them"
_SEVERAL = "one target at a time: scikit-learn's MultiOutputRegressor puts several together"
_READ_ONLY = "what was learned is a value; attributes cannot be written into"
_ITERATIONS = "about the iterations of a solver; ours ends where no slope is left, and certifies it"
_SEPARABLE = "separable classes have no finite weights without a prior, which is an error here"
_NO_VECTOR = "one scale of the prior counts for all columns"
_LEAST_NORM = "columns that depend on each other are named in a warning and get no weight, instead of the least norm"
_BATCHES = "linear regression learns in batches, so that there is a partial_fit"
_DIGITS = "the digits that are expected are those of L-BFGS at its tolerance; its own tol=1e-12 gives ours"

NOT_APPLICABLE: dict[str, str] = {
    # -- naive Bayes
    "tests/test_naive_bayes.py::test_gnb_check_update_with_no_data": _INNER,
    "tests/test_naive_bayes.py::test_NB_partial_fit_no_first_classes*": _WORDS,
    "tests/test_naive_bayes.py::test_discretenb_provide_prior[[]*": _WORDS,
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
    # -- calibration, pipelines, several classes, ensembles
    "ensemble/tests/test_stacking.py::test_stacking_*_sparse_passthrough*": _SPARSE,
    # -- logistic regression
    "linear_model/tests/test_logistic.py::test_check_solver_option*": _SOLVER,
    "linear_model/tests/test_logistic.py::test_dtype_match*": _DOUBLES,
    "linear_model/tests/test_logistic.py::test_liblinear_*": _SOLVER,
    "linear_model/tests/test_logistic.py::test_logreg_predict_proba_multinomial*": _INNER,
    "linear_model/tests/test_logistic.py::test_max_iter*": _ITERATIONS,
    "linear_model/tests/test_logistic.py::test_n_iter*": _ITERATIONS,
    "linear_model/tests/test_logistic.py::test_zero_max_iter*": _ITERATIONS,
    "linear_model/tests/test_logistic.py::test_sparsify*": _SPARSIFY,
    "linear_model/tests/test_logistic.py::test_large_sparse_matrix*": _INDICES,
    "linear_model/tests/test_logistic.py::test_write_parameters": _READ_ONLY,
    "linear_model/tests/test_logistic.py::test_*deprecated*": _SOLVER,
    "linear_model/tests/test_logistic.py::test_*warns*": _SOLVER,
    "linear_model/tests/test_logistic.py::test_lr_penalty_l1ratio_incompatible*": _SOLVER,
    "linear_model/tests/test_logistic.py::test_newton_cholesky_fallback_to_lbfgs*": _SOLVER,
    "linear_model/tests/test_logistic.py::test_penalty_none*": _SOLVER,
    "linear_model/tests/test_logistic.py::test_c_inf_no_warning*": _SEPARABLE,
    # -- ridge and linear regression
    "linear_model/tests/test_base.py::test_inplace_data_preprocessing*None[]]": _SEVERAL,
    "linear_model/tests/test_base.py::test_inplace_data_preprocessing*": _SPARSE,
    "linear_model/tests/test_base.py::test_linear_regression_sample_weights*cs[rc]_*": _SPARSE,
    "linear_model/tests/test_base.py::test_linear_regression_sparse*": _SPARSE,
    "linear_model/tests/test_ridge.py::test_dense_sparse*multi_ridge*": _SEVERAL,
    "linear_model/tests/test_ridge.py::test_dense_sparse*": _SPARSE,
    "linear_model/tests/test_ridge.py::test_regularization_limits_ridge*asarray-wide*zero_alpha*": _LEAST_NORM,
    "linear_model/tests/test_ridge.py::test_regularization_limits_ridge*cs[rc]_*": _SPARSE,
    "linear_model/tests/test_ridge.py::test_ridge_fit_intercept_sparse*": _SPARSE,
    "linear_model/tests/test_ridge.py::test_ridge_regression_sample_weights*cs[rc]_*": _SPARSE,
    "linear_model/tests/test_ridge.py::test_ridge_sample_weight_consistency*cs[rc]_*": _SPARSE,
    "linear_model/tests/test_ridge.py::test_sparse_design_with_sample_weights*": _SPARSE,
    "linear_model/tests/test_base.py::test_linear_regression_multiple_outcome*": _SEVERAL,
    "linear_model/tests/test_base.py::test_linear_regression_positive*": _SOLVER,
    "linear_model/tests/test_ridge.py::test_dtype_match*": _DOUBLES,
    "linear_model/tests/test_ridge.py::test_n_iter": _ITERATIONS,
    "linear_model/tests/test_ridge.py::test_raises_value_error_if_sample_weights_greater_than_1d": _SEVERAL,
    "linear_model/tests/test_ridge.py::test_ridge_individual_penalties": _NO_VECTOR,
    "linear_model/tests/test_ridge.py::test_ridge_intercept": _SEVERAL,
    "linear_model/tests/test_ridge.py::test_ridge_regression[[]*": _INNER,
    "linear_model/tests/test_ridge.py::test_ridge_regression_unpenalized*": _LEAST_NORM,
    "linear_model/tests/test_ridge.py::test_ridge_shapes_type": _SEVERAL,
    # -- searches, selection of columns, several targets
    "model_selection/tests/test_validation.py::test_cross_validate[[]cs[rc]_*-True]": _SPARSE,
    "model_selection/tests/test_validation.py::test_cross_val_predict*[[]coo_*": _SPARSE,
    "feature_selection/tests/test_from_model.py::test_from_model_estimator_attribute_error": _BATCHES,
    "feature_selection/tests/test_from_model.py::test_feature_importance_sparse*": _SPARSIFY,
    "feature_selection/tests/test_rfe.py::test_rfe_sparse_coef*": _SPARSIFY,
    "feature_selection/tests/test_sequential.py::test_n_features_to_select_stopping_criterion*forward]": _LEAST_NORM,
    "feature_selection/tests/test_sequential.py::test_sparse_support*": _SPARSE,
    "tests/test_multioutput.py::test_multiclass_multioutput_estimator_predict_proba": _DIGITS,
    "tests/test_multioutput.py::test_base_chain_fit_and_predict_with_sparse_data_and_cv*": _SPARSE,
    "tests/test_multioutput.py::test_multioutput_regressor_has_partial_fit": _BATCHES,
}
