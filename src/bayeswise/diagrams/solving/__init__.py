"""From a diagram to its best policies.

ordering.py   which decision comes first, and what of the past matters
remaining.py  what is left to be gained, and what matters for it, as decisions are settled
solver.py     the best policy of each decision, from the last to the first, by sums over all other variables
limited.py    policies of decisions that forget, and whether they are proven to be the best
products.py   best responses under exponential utility, where utilities multiply
bounded.py    policies that recall less where tables would be too large, and what no policies exceed
policy.py     what a decision does in each case, for certain or by chance
solve.py      from a diagram to its solution, in the way that fits it, or what to do about one that is too large
solution.py   policies, what they lead to, and what they lose to the best
"""
