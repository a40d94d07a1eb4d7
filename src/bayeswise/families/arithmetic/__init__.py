"""What several families compute, arranged so that large terms do not cancel.

stable_functions.py  special functions of large parameters
evidence.py          the evidence of conjugate families, and the terms of beta and binomial densities
covariance.py        standard deviations, correlations, rank, Cholesky factor
gaussian_moments.py  natural parameters and moments of a normal distribution of vectors
"""
