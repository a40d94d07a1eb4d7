"""Verbs that show how an answer comes about, step by step, for small problems.

bayes.py       Bayes' rule, step by step
likelihood.py  the log-likelihood of a sample, its maximum and curvature
beliefs.py     a belief in a parameter, datum by datum
concept.py     combinations of levels that make up a class
densities.py   classes along one column
"""
