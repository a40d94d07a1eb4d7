"""How the weights of regressions are found, each with a certificate or exactly.

normal_equations.py     least squares from exact moments, the lasso, the scale of the prior by evidence
exact_solve.py          linear equations with exact coefficients
robust.py               noise with heavy tails, by EM
logistic_fit.py         from rows to the weights of a logistic regression
softmax.py              its loss and derivatives, and whether a maximum without a prior exists
exact_sums.py           what a step of Newton's method needs of many rows, as exact sums
newton.py               Newton's method with a certificate, and minus the log of a prior
conjugate_gradients.py  the same without writing the Hessian down
folds.py                the scale of the prior, by rows left out
wide.py                 more columns than rows
many_columns.py         logistic regression without a Hessian of all columns
sparse_matrix.py        the same of a sparse matrix, its zeros not written out
"""
