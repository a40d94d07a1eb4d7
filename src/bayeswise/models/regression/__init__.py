"""MAP regression: the likelihood chooses the loss, the prior the regulariser.

features.py          numbers, and indicators of categories      settings.py    likelihood, prior, scale
linear.py            Gaussian noise, from exact moments         evidence.py    the scale of its prior
normal_equations.py  weights from moments, exactly              left_out.py    each row without itself
glm.py, robust.py    other likelihoods, by iteration            predictive.py  p(y | row)
logistic.py          classes: the model                         softmax.py     how it is learned
newton.py            Newton's method with a certificate         penalties.py   minus the log of a prior
twins.py             a generative model beside a logistic one
"""
