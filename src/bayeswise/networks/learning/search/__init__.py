"""Score-based structure search.

scores.py               BIC, AIC, MDL, BDeu and K2 of a node with its parents
climbing.py             hill climbing with tabu and restarts, and K2
dynamic_programming.py  the optimal graph, by dynamic programming
orders.py               P(edge | rows) over all orders of few columns, and by chains over orders
miic.py                 MIIC: edges by mutual information and its contributors
chow_liu_tree.py        Chow-Liu trees from the counts of all pairs
"""
