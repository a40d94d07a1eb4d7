"""
Costs and thresholds
====================

What an action costs in each state makes a rule before any data are seen: expected cost is a line over the probability,
and the lowest line wins.
"""

import bayeswise as bw

mail = bw.Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})
mail.rule()

# %%
# The thresholds are where lines cross. Between them it is cheaper to ask than to be wrong.
mail.plot()
