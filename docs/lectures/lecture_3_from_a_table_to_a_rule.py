r"""
3. From a table to a rule
=========================

Sums and quotients of a joint table, a test for a rare disease, thresholds, several classes, and when to give no
answer.
"""

import numpy as np
from scipy.stats import norm

import bayeswise as bw
from bayeswise.decisions import FeatureRule

# %%
# The sum rule and the product rule
# ---------------------------------
# All that is to be known about weather and temperature. Marginals are sums, conditionals are quotients, and the chain
# rule multiplies them back. The two are not independent: knowing one changes the other.
weather = bw.JointTable(
    ["weather", "temperature"],
    {("sun", "hot"): ".4", ("rain", "hot"): ".1", ("sun", "cold"): ".2", ("rain", "cold"): ".3"},
)
print(weather.marginal("weather"))
print(weather.given({"temperature": "hot"}))
print(weather.given({"temperature": "cold"}))
print(weather.chain(temperature="hot", weather="sun"))
print(weather.independent("weather", "temperature"))

# %%
# A rare disease
# --------------
# One in 250 is ill; the test finds 80 % of the ill and is wrong in 10 % of the healthy. After a positive test the
# disease is still improbable: 0.0032 / 0.1028.
test = {"positive": {"disease": ".8", "healthy": ".1"}}
answer = bw.bayes(prior={"disease": ".004"}, likelihood=test, observe="positive")
print(answer)
print("exactly:", answer.exact.posterior["disease"])

# %%
# One threshold, or two
# ---------------------
# One person in twenty plays basketball. How tall must somebody be to be taken for a player? As tall as where the
# weighted densities cross.
heights = {"player": norm(200, 8), "other": norm(175, 8)}
prior = {"player": 0.05, "other": 0.95}
print(FeatureRule.of(heights, prior, bw.Costs.zero_one(["player", "other"])))
bw.ClassDensities.of(heights, prior, column="height").plot()

# %%
# The limits of the error integrals follow from the regions: "from minus infinity to the threshold" belongs to the
# class whose region is on the left, here *other*. With unequal spreads there are two thresholds, and the wider class
# wins on both sides:
spreads = {"narrow": norm(0, 1), "wide": norm(0, 3)}
print(FeatureRule.of(spreads, {"narrow": 0.5, "wide": 0.5}, bw.Costs.zero_one(["narrow", "wide"])))

# %%
# Giving no answer
# ----------------
# If refusing costs 0.4 and a mistake 1, a class is named from a posterior of 0.6 on. Refusing can only win below
# 1 - 1/K, with K classes; with three of them the rule is a picture in the triangle of all posteriors, the simplex.
three = bw.Costs.zero_one(["a", "b", "c"]).with_reject(0.4)
three.plot()

# %%
# A tie goes to the action that was named first. "Answer from 0.75 on" and "refuse up to 0.75" differ on the boundary
# only:
for first in (False, True):
    costs = bw.Costs.zero_one(["a", "b"]).with_reject(0.25, first=first)
    print(bw.decide({"a": 0.75, "b": 0.25}, costs).action[0])

# %%
# How many parameters?
# --------------------
# Three classes, one normal column: three means, three spreads, three priors. Notes count nine; but the last prior
# follows from the others, so that eight are free.
rng = np.random.default_rng(3)
sizes = np.repeat(["small", "medium", "large"], 40)
print(bw.NaiveBayes().fit(rng.normal(size=(120, 1)), sizes).model_.n_free_parameters())

# %%
# What it is worth on new rows
# ----------------------------
# Rows that the model has not seen tell how good it is; the confusion matrix says where it errs. Leave-one-out gives
# every row a model that never saw it, by subtraction.
y = np.repeat(["+", "-"], 100)
X = rng.normal(size=(200, 2)) + 1.2 * (y == "+")[:, None]
table = [{"u": u, "v": v, "class": c} for (u, v), c in zip(X.tolist(), y, strict=True)]
fitted = bw.fit(table, target="class", model="naive-bayes", kinds={"u": "number", "v": "number"})
bw.evaluate(fitted, table, cv="loo").plot_confusion()
