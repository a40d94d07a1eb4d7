"""Gaussian Bayes, from QDA to LDA: p(state | row) is proportional to p(state) Normal(row; mean, covariance).

learning.py          from a table to a model
model.py             the fitted model, and its accounts
class_moments.py     weight, mean and scatter of each class, from the exact statistic
em.py                the same with missing cells
building.py          moments and settings become densities
covariance.py        one covariance: its rank, its repair, its whitening
densities.py         densities of rows under each class
left_out_rows.py     each row under the model that never saw it
left_out_entries.py  the same for variances, shrunk covariances, and where EM completed the rows
discriminants.py     w and w0, quadratic forms, Fisher's projection; regions of a column, errors
"""

from functools import partial

from bayeswise.models import fitting
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel, SingularWarning
from bayeswise.models.settings.gaussian import GaussianBayesSettings

fit = partial(fitting.fit, model="gaussian")

__all__ = ["GaussianBayesModel", "GaussianBayesSettings", "SingularWarning", "fit"]
