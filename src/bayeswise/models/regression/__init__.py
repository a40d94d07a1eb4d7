"""MAP regression: the likelihood chooses the loss, the prior the regulariser.

learning.py          from a table to a regression of classes
linear_learning.py   from a table to a regression of a number
features.py          numbers, and indicators of categories; how much memory they take
row_blocks.py        sweeps in blocks on threads
regression_model.py  what regressions of a number have in common, and why this number
linear.py            Gaussian noise, from exact moments
glm.py               other likelihoods, by iteration
in_passes.py         rows that stay where they are and answer with sums
logistic.py          classes
solving/             how their weights are found
predictive.py        p(y | row)
left_out.py          each row without itself
twins.py             a generative model beside a logistic one
"""
