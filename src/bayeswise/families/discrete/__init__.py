"""Families of levels, flags and counts: one file for each distribution.

bernoulli.py    a value that is 0 or 1
binomial.py     successes in a known number of trials
geometric.py    failures before the first success
categorical.py  levels of a column
multinomial.py  word counts of a text
poisson.py      a count
"""
