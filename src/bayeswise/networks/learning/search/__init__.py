"""Graphs by a score of each node with its parents.

scores.py               BIC, AIC, MDL, BDeu and K2 of a node with its parents
climbing.py             hill climbing with tabu and restarts, and K2
dynamic_programming.py  the best graph of all, by dynamic programming
orders.py               P(edge | rows) over all orders of few columns, and by chains over orders
miic.py                 MIIC: edges by mutual information and what contributes to it
chow_liu_tree.py        Chow-Liu trees from the counts of all pairs
"""
