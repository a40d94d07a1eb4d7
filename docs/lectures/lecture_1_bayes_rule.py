r"""
1. Bayes' rule, errors and naive Bayes
======================================

A class is recognised from a value: how likely the value is in each class, and how frequent the classes are. This
notebook goes from two letters and their black pixels to a table of 14 days, by counting.

.. math:: P(C \mid x) = \frac{p(x \mid C) \, P(C)}{p(x)}, \qquad p(x) = \sum_k p(x \mid C_k) \, P(C_k)
"""

import warnings

import bayeswise as bw

# %%
# Likelihood times prior
# ----------------------
# The letter *a* has 15 black pixels on average, *b* has 25; three letters of four are *a*. From top to bottom: how
# likely a number of pixels is in each letter, the same weighted by the prior, and the posterior.
letters = bw.ClassDensities.of(
    {"a": {"mean": 15, "stddev": 3}, "b": {"mean": 25, "stddev": 4}},
    {"a": 0.75, "b": 0.25},
    family="normal",
    column="black pixels",
)
letters.plot()

# %%
# Where printed notes go wrong: :math:`p(x \mid C)` need not lie between 0 and 1. It is a density; only its integral
# is 1. And two normals of unequal spread cross twice, so that there are two thresholds and not one:
print(letters.regions)

# %%
# The error that nobody avoids
# ----------------------------
# Deciding for the larger weighted density errs least. What remains is *irreducible*; a boundary somewhere else adds
# a *reducible* part.
letters.plot_error(24.0)
print(letters.error)
print(letters.error_of(24.0))

# %%
# Unequal losses
# --------------
# If mistakes cost differently, the likelihood ratio is compared with a ratio of losses times a ratio of priors,
#
# .. math::
#    \frac{p(x \mid C_1)}{p(x \mid C_2)} \ge \frac{l_{12} - l_{22}}{l_{21} - l_{11}} \cdot \frac{P(C_2)}{P(C_1)}
#
# here (8 - 1) / (2 - 0) times 3.
losses = bw.Costs({"C1": {"C1": 0, "C2": 8}, "C2": {"C1": 2, "C2": 1}})
print(losses.rule().likelihood_ratio({"C1": 0.25, "C2": 0.75}))

# %%
# The division needs :math:`l_{12} > l_{22}` and :math:`l_{21} > l_{11}`: the same *true* state, a wrong and a right
# decision. Some notes state it with the same decision instead. Where a difference is not positive the inequality
# turns round, and only the general rule, the least expected loss, is always right (a warning calls such a table odd):
with warnings.catch_warnings(record=True) as odd:
    turned = bw.Costs({"C1": {"C1": 5, "C2": 0}, "C2": {"C1": 1, "C2": 2}})
print(turned.rule())
print("warning:", odd[0].message)

# %%
# Naive Bayes by counting
# -----------------------
# The product of one factor for each column needs *mutual* independence, given the class. Pairwise is not enough, as
# two coins show, and whether they fell alike: each pair is independent, all three are not.
coins = bw.JointTable.experiment(one="HT", two="HT")
alike = bw.JointTable(["one", "two", "alike"], {(a, b, a == b): p for (a, b), p in coins.exact.items()})
print("pairwise:", bool(alike.independent("one", "alike")), "mutually:", bool(alike.independent("one", "two", "alike")))

# %%
# Fourteen days, and whether golf was played.
columns = ("outlook", "temperature", "humidity", "wind", "play")
golf = """sunny hot high weak no
sunny hot high strong no
overcast hot high weak yes
rainy mild high weak yes
rainy cool normal weak yes
rainy cool normal strong no
overcast cool normal strong yes
sunny mild high weak no
sunny cool normal weak yes
rainy mild normal weak yes
sunny mild normal strong yes
overcast mild high strong yes
overcast hot normal weak yes
rainy mild high strong no"""
rows = [dict(zip(columns, line.split(), strict=True)) for line in golf.splitlines()]
day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}

exact = bw.fit(rows, target="play", model="naive-bayes", convention="exact")
account = exact.explain(day)
account.plot_panels()

# %%
# With fractions there is no rounding at all: 125/611 and 486/611. The joint of *yes* is 1/189 = 0.0053; it is not a
# posterior, which comes only after the division by the evidence.
print(exact.steps(day))

# %%
# Smoothing
# ---------
# A level that was never seen with a class has the count 0, and one 0 decides the whole product. Laplace adds one
# pseudo-count to each level: (n + 1) / (N + number of *values* of the column). Printed notes add the number of
# *classes*; then the probabilities of a column do not sum to 1 (Outlook: 12/11 given yes). Both can be had by name,
# and each has its own P(no):
conventions = ("exact", "laplace", "smoothed-prior", "as-printed", "as-printed-smoothed-prior")
for name in conventions:
    model = bw.fit(rows, target="play", model="naive-bayes", convention=name)
    print(f"{name:26} {model.predict_proba([day])[0, 0]:.4f}")

# %%
# Without smoothing, a level that no class has seen is 0/0: undefined, and an error that says so.
try:
    exact.predict_proba([{**day, "outlook": "foggy"}])
except bw.BayeswiseError as error:
    print(error)
