"""
Belief, datum by datum
======================

A coin is fair, or falls on heads three times of four, or always. Each throw moves belief; one tail rules the last
hypothesis out for good.
"""

import bayeswise as bw

throws = {
    "heads": {"fair": 0.5, "bent": 0.75, "two heads": 1.0},
    "tails": {"fair": 0.5, "bent": 0.25, "two heads": 0.0},
}
space = bw.HypothesisSpace({"fair": 0.9, "bent": 0.09, "two heads": 0.01}, throws)
space = space.observe(*["heads"] * 6, "tails", "heads", "heads")
space.plot()
