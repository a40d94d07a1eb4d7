"""
From a row to an action
=======================

Two pictures say what this is about: what each column of a case says for a class, and which action is cheapest at the
probability that comes out of it.
"""

from matplotlib import pyplot as plt

import bayeswise as bw

rows = [
    {"history": history, "employed": employed, "repaid": repaid}
    for history, employed, repaid, times in [
        ("clean", "yes", "yes", 60),
        ("clean", "no", "yes", 12),
        ("late", "yes", "yes", 10),
        ("late", "no", "yes", 2),
        ("clean", "yes", "no", 4),
        ("clean", "no", "no", 3),
        ("late", "yes", "no", 6),
        ("late", "no", "no", 5),
    ]
    for _ in range(times)
]
model = bw.fit(rows, target="repaid", model="naive-bayes")
case = {"history": "late", "employed": "yes"}
costs = bw.Costs({"lend": {"yes": -600, "no": 3000}, "refuse": 0, "ask": {"yes": -350, "no": 250}})

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.4), layout="constrained")
model.explain(case).plot(left, state="yes")
costs.plot(right)

# %%
# Why this action, in words:
print(bw.explain_action(model, case, costs).summary())
