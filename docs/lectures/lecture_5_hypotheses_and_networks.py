r"""
5. Hypotheses, description length, networks
===========================================

Learning as belief in hypotheses: which is most probable, why that one alone is not the best answer, and how belief
spreads in a network.
"""

import numpy as np

import bayeswise as bw
from bayeswise.models.hypotheses import learn_concept
from bayeswise.networks import Node

# %%
# The likely and the probable hypothesis
# --------------------------------------
# A test for a rare cancer is positive. The likelihood says cancer (the ML hypothesis), the posterior says healthy
# (the MAP one).
test = {"+": {"cancer": 0.98, "healthy": 0.03}, "-": {"cancer": 0.02, "healthy": 0.97}}
space = bw.HypothesisSpace({"cancer": 0.008, "healthy": 0.992}, test).observe("+")
space.plot()
print({h: round(p, 5) for h, p in space.posterior.items()}, "ML:", space.ml, "MAP:", space.map)

# %%
# Belief as data arrive
# ---------------------
# Ten hypotheses "x is at least k", no noise, all equally probable before. A datum rules some out; the others share:
# 1 over the size of the version space.
bounds = {k: (lambda x, k=k: x >= k) for k in range(10)}
believed = bw.HypothesisSpace.of_classifiers(bounds, exact=True).observe((7, True), (3, False))
believed.plot()
print(believed.version_space, believed.posterior[5])

# %%
# A learner that mentions no prior has one all the same. FIND-S is the most probable concept where special concepts
# are believed in more than general ones:
rows = [
    {"sky": "sunny", "air": "warm", "wind": "strong", "enjoy": "yes"},
    {"sky": "sunny", "air": "warm", "wind": "weak", "enjoy": "yes"},
    {"sky": "rainy", "air": "cold", "wind": "strong", "enjoy": "no"},
]
silent = learn_concept(rows, "enjoy")
print(silent.named(silent.most_specific))
print(learn_concept(rows, "enjoy", prior="specific").map)

# %%
# The best answer is not that of the best hypothesis
# --------------------------------------------------
# Three hypotheses, .4, .3 and .3. The first says +, the others say -. Together - has .6.
three = bw.HypothesisSpace({"h1": 0.4, "h2": 0.3, "h3": 0.3}, {}, exact=True)
said = three.combine({"h1": "+", "h2": "-", "h3": "-"})
print("most probable hypothesis:", said.by_map)
print("together:", said.answer, {label: float(p) for label, p in said.probability.items()})

# %%
# Bits
# ----
# The shortest description is the most probable hypothesis if, and only if, codes have the length -log2 P; another
# code is another prior. A tree pays for its splits and for the rows it gets wrong, and is pruned by the sum.
x = np.arange(40.0)[:, None]
noisy = (x[:, 0] > 20).astype(int)
noisy[[5, 33]] = 1 - noisy[[5, 33]]
tree = bw.DescriptionLengthTree().fit(x, noisy)
print(tree.n_leaves_, "leaves;", tree.description_length())

# %%
# A network
# ---------
# A directed graph and a table for each node given its parents; their product is the joint distribution. The table of
# CampFire is that of the lecture, the others are made up.
yes_no = ["yes", "no"]
camp_fire = {("yes", "yes"): 0.4, ("yes", "no"): 0.1, ("no", "yes"): 0.8, ("no", "no"): 0.2}
forest = bw.BeliefNetwork(
    [
        Node("Storm", yes_no, 0.2),
        Node("BusTourGroup", yes_no, 0.5),
        Node("Lightning", yes_no, {"yes": 0.7, "no": 0.01}, ["Storm"]),
        Node("CampFire", yes_no, camp_fire, ["Storm", "BusTourGroup"]),
        Node("Thunder", yes_no, {"yes": 0.9, "no": 0.05}, ["Lightning"]),
        Node("ForestFire", yes_no, [0.7, 0.6, 0.2, 0.5, 0.4, 0.1, 0.3, 0.01], ["Storm", "Lightning", "CampFire"]),
    ]
)
forest.plot({"Thunder": "yes"})

# %%
# Any node can be queried given any others; what was heard may itself be uncertain.
print(forest.query("CampFire", {"Storm": "yes", "BusTourGroup": "no"}))
print(forest.query("Storm", {"Thunder": "yes"}))
print(forest.query("Storm", soft={"Thunder": {"yes": 3.0, "no": 1.0}}))

# %%
# Learning a network
# ------------------
# With the graph known and every cell there, tables are counts. With cells missing, EM; with the graph unknown, a
# search by a score.
drawn = forest.sample(4000, seed=1)
found = bw.BeliefNetwork.learn(drawn, score="bdeu")
for parent, child in sorted(found.edges):
    print(parent, "->", child)
