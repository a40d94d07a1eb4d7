"""One file for each distribution: likelihood and conjugate prior, estimates, predictive, exponential form.

A family is a small frozen object without data. It says which statistic it needs of rows, and turns that statistic and
a prior into parameters:

    statistic = family.statistic(values)              what was seen, exact and mergeable
    estimate  = family.estimate(statistic)            maximum likelihood, with a report whether it exists
    posterior = family.posterior(statistic, prior)    what was believed, and what was seen
    log_p     = family.log_density(parameters, x)

protocol.py             the contract of a family, and where its values and parameters may lie
distributions.py        parameters of a family as a distribution with quantiles
functions.py            log-likelihood and a(eta) as functions, which all families have
derivatives.py          gradient and second derivative of the log-likelihood
likelihood.py           the log-likelihood of a sample: maximum, gradient, curvature
beliefs.py              a conjugate prior and what becomes of it datum by datum
plots.py                pictures of both
natural.py              natural parameters back to ordinary ones
priors.py               conjugate priors that several families share
arithmetic/             densities and evidence without cancellation
bernoulli.py            a value that is 0 or 1
binomial.py             successes in a known number of trials
geometric.py            failures before the first success
categorical.py          levels of a column
multinomial.py          word counts of a text
poisson.py              a count
exponential.py          a waiting time
gamma.py                a positive number
beta.py                 a number between 0 and 1
normal.py               a number
normal_mean.py          a number with a known standard deviation
multivariate_normal.py  a vector of numbers
log_normal.py           a positive number whose logarithm is normal
laplace.py              a number, around its median
student_t.py            a number with heavy tails
"""

from bayeswise.families.arithmetic.chance import Chance
from bayeswise.families.beliefs import BeliefHistory
from bayeswise.families.bernoulli import Bernoulli
from bayeswise.families.beta import Beta, BetaParameters
from bayeswise.families.binomial import Binomial
from bayeswise.families.categorical import Categorical, CategoricalParameters
from bayeswise.families.distributions import distribution
from bayeswise.families.exponential import Exponential, ExponentialParameters
from bayeswise.families.functions import NaturalForm
from bayeswise.families.gamma import Gamma, GammaParameters
from bayeswise.families.geometric import Geometric
from bayeswise.families.laplace import Laplace, LaplaceParameters
from bayeswise.families.likelihood import Likelihood
from bayeswise.families.log_normal import LogNormal, LogNormalParameters
from bayeswise.families.multinomial import Multinomial
from bayeswise.families.multivariate_normal import (
    MultivariateNormal,
    MultivariateNormalParameters,
    NormalInverseWishart,
)
from bayeswise.families.normal import Normal, NormalInverseGamma, NormalParameters
from bayeswise.families.normal_mean import NormalMean, NormalPrior
from bayeswise.families.poisson import Poisson, PoissonParameters
from bayeswise.families.priors import BetaPrior, Dirichlet, GammaPrior
from bayeswise.families.protocol import Estimate, ExponentialForm, Family
from bayeswise.families.student_t import StudentT, StudentTParameters

__all__ = [
    "BeliefHistory",
    "Bernoulli",
    "Beta",
    "BetaParameters",
    "BetaPrior",
    "Binomial",
    "Categorical",
    "CategoricalParameters",
    "Chance",
    "Dirichlet",
    "Estimate",
    "Exponential",
    "ExponentialForm",
    "ExponentialParameters",
    "Family",
    "Gamma",
    "GammaParameters",
    "GammaPrior",
    "Geometric",
    "Laplace",
    "LaplaceParameters",
    "Likelihood",
    "LogNormal",
    "LogNormalParameters",
    "Multinomial",
    "MultivariateNormal",
    "MultivariateNormalParameters",
    "NaturalForm",
    "Normal",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "NormalMean",
    "NormalParameters",
    "NormalPrior",
    "Poisson",
    "PoissonParameters",
    "StudentT",
    "StudentTParameters",
    "distribution",
]
