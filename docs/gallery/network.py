"""
A belief network
================

Something is heard, and beliefs change everywhere. The picture has the probability of each state in its node; what was
observed is marked.
"""

import bayeswise as bw
from bayeswise.networks import Node

yes_no = ["yes", "no"]
network = bw.BeliefNetwork(
    [
        Node("burglary", yes_no, 0.01),
        Node("earthquake", yes_no, 0.02),
        Node("alarm", yes_no, [0.95, 0.94, 0.29, 0.001], ["burglary", "earthquake"]),
        Node("call", yes_no, {"yes": 0.9, "no": 0.05}, ["alarm"]),
        Node("radio", yes_no, {"yes": 0.8, "no": 0.01}, ["earthquake"]),
    ]
)
network.plot({"call": "yes"})

# %%
# The radio reports an earthquake: it explains the alarm, and a burglary is improbable again.
network.plot({"call": "yes", "radio": "yes"})

# %%
# What each finding says about the burglary, alone and beside the other.
network.explain("burglary", {"call": "yes", "radio": "yes"}).plot()
