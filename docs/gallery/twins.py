"""
A generative model and its logistic twin
========================================

Naive Bayes with shared variances and logistic regression both draw a line. Where rows are they agree; far away only the
generative one knows that it has never seen anything like it.
"""

import numpy as np

import bayeswise as bw

rng = np.random.default_rng(3)
y = np.repeat(["left", "right"], 200)
X = rng.standard_normal((400, 2)) + np.where(y[:, None] == "right", 1.0, -1.0)
rows = np.vstack([X[::8], [[6.0, 5.0], [-6.0, 4.0]]])
twins = bw.compare_twins(bw.NaiveBayes(shared_variance=True).fit(X, y), bw.LogisticRegression().fit(X, y), rows)
twins.plot()

# %%
# Rows for which logistic regression is confident although the generative model would hardly ever draw them:
print(rows[twins.overconfident].round(1).tolist())
