"""
Decisions in sequence
=====================

Take an umbrella? The forecast is known when that is decided, the weather is not.
"""

import bayeswise as bw
from bayeswise.diagrams import Chance, Decision, Utility

# %%
# A chance node, what is heard of it, a decision that knows it, and what is gained.
diagram = bw.InfluenceDiagram(
    [
        Chance("weather", ["rain", "sun"], 0.3),
        Chance("forecast", ["bad", "good"], {"rain": 0.8, "sun": 0.1}, parents=["weather"]),
        Decision("umbrella", ["take", "leave"], knows=["forecast"]),
        Utility(
            "comfort",
            {"take": {"rain": 70, "sun": 20}, "leave": {"rain": 0, "sun": 100}},
            parents=["umbrella", "weather"],
        ),
    ]
)
solution = diagram.solve()
solution.plot()
print(solution)

# %%
# What matters most: how far the expected utility moves as each number moves by a tenth.
diagram.tornado().plot()

# %%
# What can happen, if the policy is followed.
solution.risk().plot()
