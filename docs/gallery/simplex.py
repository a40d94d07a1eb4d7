"""
Three states: the simplex
=========================

All posteriors of three states are a triangle. A cost table cuts it into regions, one for each action; each corner is a
state that is certain.
"""

import numpy as np

import bayeswise as bw

mushroom = bw.Costs(
    {
        "eat": {"edible": -1, "bitter": 2, "deadly": 200},
        "leave": {"edible": 0, "bitter": 0, "deadly": 0},
        "ask": {"edible": -0.4, "bitter": 0.1, "deadly": 0.1},
    }
)
mushroom.plot()

# %%
# Decisions are points in it.
posterior = np.random.default_rng(0).dirichlet([4, 2, 0.2], 60)
answer = bw.decide(posterior, mushroom, states=["edible", "bitter", "deadly"])
answer.plot()
