"""MAP regression: the likelihood chooses the loss, the prior the regulariser.

learning.py          from a table to a model                    design.py      complete rows as a matrix
target_rows.py       rows with a number to be predicted         settings.py    likelihood, prior, scale
features.py          numbers, and indicators of categories      predictive.py  p(y | row)
regression_model.py  what regressions of a number do alike      score_account.py  why this number
linear.py            Gaussian noise, from exact moments         evidence.py    the scale of its prior
normal_equations.py  weights from moments, exactly              left_out.py    each row without itself
glm.py, robust.py    other likelihoods, by iteration            rows.py        sweeps in blocks on threads
logistic.py          classes: the model                         softmax.py     how it is learned
newton.py            Newton's method with a certificate         penalties.py   minus the log of a prior
twins.py             a generative model beside a logistic one   separation.py  why there is no maximum likelihood
wide.py              more columns than rows                     room.py        how much memory that takes
folds.py             the scale of a prior by rows left out
"""
