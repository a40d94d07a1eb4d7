"""Answers of a network: exact by junction trees, with error bars by sampling.

engine.py        junction trees, compiled once for each question
distribution.py  what an answer is
rows.py          the posterior of a node for every row of a table
jeffrey.py       evidence that is a distribution
sampling.py      rows drawn from a network, with weights where there is evidence
propagation.py   loopy belief propagation
importance.py    likelihood weighting, and importance sampling adapted to the evidence
gibbs.py         Gibbs sampling by many chains
estimate.py      the choice between exact and sampled answers
"""
