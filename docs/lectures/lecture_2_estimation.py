r"""
2. Estimating the parts
=======================

Where do likelihoods and priors come from? From rows, by the parameters that make them most probable; and for most
families that needs only a few sums.
"""

import numpy as np
from matplotlib import pyplot as plt

import bayeswise as bw
from bayeswise import families

# %%
# Maximum likelihood
# ------------------
# Seven heads in ten throws. The log-likelihood :math:`k \log\theta + (N-k) \log(1-\theta)` is greatest at
# k/N = 0.7: its slope is 0 there, and its curvature :math:`-N / (\theta (1-\theta))` negative.
coin = families.Likelihood(families.Bernoulli(), [1, 1, 0, 1, 1, 0, 1, 1, 0, 1])
coin.plot()
print(coin.check())

# %%
# A normal distribution
# ---------------------
# Mean and mean square deviation. Dividing by N is the maximum of the likelihood but too small on average; N - 1 is
# right on average.
#
# .. math:: \hat\mu = \frac{1}{N} \sum x, \qquad \hat\sigma^2 = \frac{1}{N} \sum (x - \hat\mu)^2
normal = families.Normal()
kept = normal.statistic([2.0, 4, 4, 4, 5, 5, 7, 9])  # n, sum x, sum x^2: exact, and all that is needed
print(normal.estimate(kept).parameters, families.Normal(variance_divisor="n-1").estimate(kept).parameters)

# %%
# The log-likelihood over both parameters has its maximum where both derivatives are 0.
families.Likelihood(normal, [2.0, 4, 4, 4, 5, 5, 7, 9]).plot()

# %%
# The statistic is exact, so rows can be taken back: what is left is the statistic that never saw them.
typo = normal.statistic([1e200])
print(kept.merge(typo).subtract(typo) == kept)

# %%
# Several columns
# ---------------
# The contours of a normal in the plane are ellipses along the axes of its covariance: circles, stretched, leaning to
# the right, leaning to the left.
covariances = ([[1, 0], [0, 1]], [[2, 0], [0, 0.5]], [[1, 0.7], [0.7, 1]], [[1, -0.7], [-0.7, 1]])
grid = np.linspace(-3, 3, 80)
points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(1, 4, figsize=(10, 2.8), sharey=True)
for ax, covariance in zip(axes, covariances, strict=True):
    shape = families.MultivariateNormalParameters.of([0.0, 0.0], covariance)
    height = families.MultivariateNormal().log_density(shape, points)[:, 0].reshape(80, 80)
    ax.contour(grid, grid, np.exp(height), 5)
    ax.set_title(str(covariance), fontsize=9)
    ax.set_aspect("equal")

# %%
# A covariance for each class makes the boundary a curve, a shared one a line. Words matter: *naive* means that the
# covariance is diagonal. A full one for each class is quadratic discriminant analysis (QDA), a shared one is linear
# (LDA); notes that call the full one naive mix them up.
rng = np.random.default_rng(1)
y = np.repeat(["no", "yes"], 80)
X = rng.normal(size=(160, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
X[80:] = 1.6 * X[80:] + [2.0, 1.0]
curve = bw.GaussianBayes().fit(X, y).model_
line = curve.changed(covariance="shared")
curve.plot_regions(["x0", "x1"])
line.plot_regions(["x0", "x1"])
print("free parameters:", curve.n_free_parameters(), "and", line.n_free_parameters())

# %%
# The exponential family
# ----------------------
# Bernoulli, normal, Poisson and many others have one form, :math:`p(x) = h(x) \exp(\eta \cdot T(x) - a(\eta))`. The
# derivatives of :math:`a` are the mean and the variance of T(x).
forms = {
    "Bernoulli(0.8)": families.Bernoulli().exponential_form(families.Chance.of(0.8)),
    "Normal(1.5, 1)": families.Normal().exponential_form(families.NormalParameters(1.5, 1.0)),
    "Poisson(3)": families.Poisson().exponential_form(families.PoissonParameters(3.0)),
    "Exponential(4)": families.Exponential().exponential_form(families.ExponentialParameters(4.0)),
}
for name, form in forms.items():
    print(f"{name:15} eta = {np.round(form.natural, 4)}, a = {float(form.log_partition):.4f}")

# %%
# Of T(x), and not of x, as some notes say: for a normal with unknown variance T = (x, x^2), and the second mean is
# that of the square.
form = families.Normal().exponential_form(families.NormalParameters(3.0, 2.0))
print(f"mean of x {form.mean_of_sufficient[0]}, mean of x^2 {form.mean_of_sufficient[1]} = 3^2 + 2^2")
