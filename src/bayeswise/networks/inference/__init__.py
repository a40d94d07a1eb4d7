"""Inference: exact by junction trees, with error bars by sampling.

engine.py          junction trees, compiled once for each query
distribution.py    posterior distributions; the k most probable explanations
row_posteriors.py  the posterior of a node for every row of a table
sampling.py        forward sampling; likelihood weighting and importance sampling
propagation.py     loopy belief propagation
gibbs.py           Gibbs sampling by many chains
estimate.py        estimates with error bars, and the choice between exact and sampled ones
"""
