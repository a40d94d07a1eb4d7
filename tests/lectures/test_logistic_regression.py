"""Generative against discriminative: what logistic regression knows, and what it cannot know."""

from __future__ import annotations

import numpy as np

import bayeswise as bw


def gaussian_classes(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    classes = np.repeat([0, 1], n // 2)
    return generator.standard_normal((n, 2)) + np.where(classes[:, None] == 1, 1.0, -1.0), classes


def test_logistic_regression_is_map_with_a_gaussian_prior() -> None:
    # d/dw [sum log(1 + e^s) - y s + w^2 / (2 scale^2)] = 0 at the weights, one row at x = 1 and one at x = -1
    model = bw.LogisticRegression(scale=1.0, standardise=False).fit([[1.0], [-1.0]], [1, 0])
    w = model.coef_[0, 0]
    assert np.isclose(2 / (1 + np.exp(w)), w, rtol=1e-12)


def test_the_posterior_of_gaussian_classes_is_a_sigmoid_and_logistic_regression_finds_nearly_the_same_weights() -> None:
    X, y = gaussian_classes(40_000)
    twins = bw.compare_twins(
        bw.NaiveBayes(shared_variance=True).fit(X, y), bw.LogisticRegression(scale=100.0).fit(X, y), X[:2_000]
    )
    assert np.allclose(twins.w_generative, [2.0, 2.0], atol=0.1)  # (mean+ - mean-) / variance
    assert np.allclose(twins.w_generative, twins.w_discriminative, atol=0.15)
    assert len(twins.disagree) < 20


def test_logistic_regression_is_sure_of_an_outlier_that_p_of_x_detects() -> None:
    X, y = gaussian_classes()
    logistic = bw.LogisticRegression().fit(X, y)
    rows = np.array([[0.0, 0.0], [1.0, 1.0], [30.0, 30.0]])
    twins = bw.compare_twins(bw.NaiveBayes(shared_variance=True).fit(X, y), logistic, rows)
    assert logistic.predict_proba(rows)[2, 1] > 0.999999
    assert twins.overconfident.tolist() == [2]


def test_the_twin_may_be_a_gaussian_with_correlated_columns() -> None:
    X, y = gaussian_classes()
    X = X @ np.array([[1.0, 0.8], [0.0, 0.6]])
    twins = bw.compare_twins(
        bw.GaussianBayes(covariance="shared").fit(X, y), bw.LogisticRegression(scale=100.0).fit(X, y), X
    )
    assert np.allclose(twins.w_generative, twins.w_discriminative, rtol=0.5)
    assert len(twins.disagree) <= 8


def test_marginalized_probabilities_go_back_towards_even_where_little_is_known() -> None:
    # The outlier figure: along a direction that the rows say little about, the plug-in answer goes to 1 and the
    # marginalized one does not.
    generator = np.random.default_rng(0)
    X = np.column_stack([np.repeat([-1.0, 1.0], 20), 0.1 * generator.standard_normal(40)])
    X[:, 0] += 0.8 * generator.standard_normal(40)
    y = np.repeat(["a", "b"], 20)
    far = np.array([[0.0, 40.0]])
    plug_in = bw.LogisticRegression(standardise=False).fit(X, y)
    marginalized = bw.LogisticRegression(standardise=False, marginalize=True).fit(X, y)
    assert plug_in.predict_proba(far).max() > 0.99
    assert marginalized.predict_proba(far).max() < 0.75
    near = X[:1]
    assert abs(plug_in.predict_proba(near) - marginalized.predict_proba(near)).max() < 0.05


def test_the_marginalized_answer_never_changes_the_decision_between_two_classes() -> None:
    X, y = gaussian_classes()
    rows = 10.0 * np.random.default_rng(1).standard_normal((500, 2))
    answers = [bw.LogisticRegression(marginalize=m).fit(X, y).predict(rows).tolist() for m in (False, True)]
    assert answers[0] == answers[1]


def test_the_hyper_parameter_is_chosen_by_evidence_and_by_folds() -> None:
    generator = np.random.default_rng(5)
    X = generator.standard_normal((300, 10))
    useless = generator.integers(0, 2, 300)
    useful = (X @ np.full(10, 2.0) + generator.logistic(size=300) > 0).astype(int)
    for scale in ("evidence", "cv"):
        weak, strong = (bw.LogisticRegression(scale=scale).fit(X, y).scale_ for y in (useless, useful))
        assert weak < 0.3 < 1.0 < strong
