"""From a diagram to its optimal policies.

ordering.py   the order of decisions, and the requisite part of their pasts
remaining.py  the utilities and nodes that remain as decisions are settled
solver.py     the optimal policy of each decision, from the last to the first, by variable elimination
limited.py    policies of decisions that forget (LIMIDs), and whether they are proven to be optimal
products.py   best responses under exponential utility, where utilities multiply
bounded.py    policies of limited recall where tables would be too large, with an upper bound of the utility
policy.py     policies, deterministic or stochastic
solve.py      from a diagram to its solution by the solver that fits, or advice for one that is too large
solution.py   policies, their expected utility, and their regret
"""
