r"""
4. Decide: actions, costs, numbers, questions
=============================================

A posterior is not yet an action. The best action has the least expected cost, and need not be one of the classes.

.. math:: a^* = \arg\min_a \sum_y P(y \mid x) \, C(y, a)
"""

import numpy as np
from scipy.stats import norm

import bayeswise as bw
from bayeswise.decisions import pinball_action, squared_action

# %%
# Three actions for two classes
# -----------------------------
# Mail is spam or not, and one can also ask. Each action is a line over P(spam); the lowest one wins.
mail = bw.Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})
mail.plot()
print(mail.rule())

# %%
# Two classes, unequal costs: decide + from cFP / (cFP + cFN) on. A missed fire that costs 99 false alarms rings at
# one percent.
print(bw.Costs(cFP=1, cFN=99, states=["fire", "none"]).rule())

# %%
# A number as an action
# ---------------------
# Squared loss asks for the mean, :math:`E[y \mid x] = \int y \, p(y \mid x) \, dy` (the y belongs under the
# integral). If one unit too little costs 9 and one too much costs 1, the action is the quantile 9 / (9 + 1):
# :math:`a^* = f(x) + \sigma \Phi^{-1}(0.9)`, where :math:`\Phi` integrates the normal density up to its argument.
demand = norm(100, 20)
print(f"mean {squared_action(demand):.2f}, order {pinball_action(demand, under=9, over=1):.2f}")

# %%
# A line from normal classes
# --------------------------
# Naive Bayes with a variance shared by the classes has linear log-odds,
# :math:`w_i = (\mu^+_i - \mu^-_i) / \sigma_i^2`; logistic regression looks for the same line directly. The twins
# agree where rows are, and differ far away.
rng = np.random.default_rng(3)
y = np.repeat([0, 1], 200)
X = rng.standard_normal((400, 2)) + np.where(y[:, None] == 1, 1.0, -1.0)
generative = bw.NaiveBayes(shared_variance=True).fit(X, y)
logistic = bw.LogisticRegression().fit(X, y)
rows = np.vstack([X[::8], [[6.0, 5.0], [-6.0, 4.0]]])
twins = bw.compare_twins(generative, logistic, rows)
twins.plot()
print("generative", twins.w_generative.round(2), "logistic", twins.w_discriminative.round(2))

# %%
# Only the generative one knows p(x), and so that some rows, above all the last two, are unlike the others; logistic
# regression is sure of them.
print("sure of outliers:", twins.overconfident.tolist())

# %%
# Correlated columns are counted twice
# ------------------------------------
# The same column ten times makes naive Bayes ten times too sure. Where a miss costs twelve false alarms, that is
# expensive; a calibration on rows left out takes it back.
z = rng.integers(0, 2, 2000)
copies = np.repeat(rng.normal(size=(2000, 1)) + z[:, None], 10, axis=1)
alarm = bw.Costs(cFP=1, cFN=12, states=[1, 0])
for calibrate in (None, "temperature"):
    maker = bw.DecisionMaker(bw.NaiveBayes(), alarm, calibrate=calibrate).fit(copies[:1000], z[:1000])
    print(calibrate, "cost per case", round(-maker.score(copies[1000:], z[1000:]), 3))

# %%
# Asking for labels
# -----------------
# A pool of rows without labels. Uncertainty sampling takes the row of *greatest* entropy (a printed arg min asks
# about the row that is known best), and with an empty set of labels it needs a prior to begin with. Queried rows are
# no longer drawn like the others, so some are drawn at random.
pool = [{"u": float(u), "v": float(v), "class": "ab"[k]} for (u, v), k in zip(X, y, strict=True)]
curves = bw.learning_curves(
    pool, "class", strategies=("entropy", "random"), n_labels=30, n_seeds=4, kinds={"u": "number", "v": "number"}
)
curves.plot()
