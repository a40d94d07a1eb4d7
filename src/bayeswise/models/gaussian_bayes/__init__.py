"""Gaussian Bayes, from QDA to LDA: p(state | row) is proportional to p(state) Normal(row; mean, covariance).

settings.py       what is believed: form of the covariance, divisor, shrinkage, priors
moments.py        weight, mean and scatter of each class, from the exact statistic     em.py   with missing cells
spread.py         one covariance: its rank, its repair, its whitening
building.py       moments and settings become densities                                densities.py
accounts.py       why: what each column adds, given those before it
left_out.py       each row under the model that never saw it                           left_out_entries.py
                  ... where cells are missing: left_out_cells.py for variances, left_out_completed.py for EM
discriminants.py  w and w0, quadratic forms, Fisher's projection
thresholds.py     regions of one column                                                bayes_error.py
model.py          the fitted model                                                     learning.py
"""

from bayeswise.models.gaussian_bayes.learning import fit
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel, SingularWarning
from bayeswise.models.gaussian_bayes.settings import GaussianBayesSettings

__all__ = ["GaussianBayesModel", "GaussianBayesSettings", "SingularWarning", "fit"]
