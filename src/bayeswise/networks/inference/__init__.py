"""Answers of a network: exact by junction trees, with error bars by sampling.

engine.py          junction trees, compiled once for each question
distribution.py    what an answer is; the k most probable explanations
row_posteriors.py  the posterior of a node for every row of a table
sampling.py        rows drawn from a network; likelihood weighting and importance sampling
propagation.py     loopy belief propagation
gibbs.py           Gibbs sampling by many chains
estimate.py        the choice between exact and sampled answers
"""
