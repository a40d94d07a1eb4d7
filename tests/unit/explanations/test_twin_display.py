"""The picture of twins."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot as plt

import bayeswise as bw
from bayeswise.explanations.plots.twins import TwinDisplay


def test_the_outlier_is_named_and_stands_left_of_the_line() -> None:
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [-3.0], [3.0]]), ["a", "a", "b", "b", "a", "b"]
    gaussian, logistic = bw.NaiveBayes(shared_variance=True).fit(X, y), bw.LogisticRegression().fit(X, y)
    twins = bw.compare_twins(gaussian, logistic, [[0.5], [40.0]])
    display = TwinDisplay(twins).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["◄ 1 farther", "row 2"]
    assert twins.log_evidence[1] < twins.outlier_below < twins.log_evidence[0]
    plt.close(display.figure_)
    with pytest.warns(DeprecationWarning, match="sure is now called confidence"):
        strict = bw.compare_twins(gaussian, logistic, [[0.5], [40.0]], sure=0.999999)
    with pytest.warns(DeprecationWarning, match="sure is now called confidence"):
        assert strict.sure == strict.confidence == 0.999999
