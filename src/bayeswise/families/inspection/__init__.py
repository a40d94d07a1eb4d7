"""What a family says of one sample, to look at.

likelihood.py      the log-likelihood of a sample: maximum, gradient, curvature
belief_history.py  a conjugate prior and what becomes of it datum by datum
plots.py           pictures of both
"""
