"""One file for each distribution: likelihood and conjugate prior, estimates, predictive, exponential form.

A family is a small frozen object without data. It says which statistic it needs of rows, and turns that statistic and
a prior into parameters:

    statistic = family.statistic(values)              what was seen, exact and mergeable
    estimate  = family.estimate(statistic)            maximum likelihood, with a report whether it exists
    posterior = family.posterior(statistic, prior)    what was believed, and what was seen
    log_p     = family.log_density(parameters, x)

protocol.py             the contract of a family, and where its values and parameters may lie
distributions.py        parameters of a family as a distribution with quantiles
functions.py            log-likelihood, its derivatives and a(eta) as functions, which all families have
inspection/             likelihoods and beliefs of one sample, and pictures of them
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

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.families.arithmetic.chance import Chance as Chance
    from bayeswise.families.bernoulli import Bernoulli as Bernoulli
    from bayeswise.families.beta import Beta as Beta
    from bayeswise.families.beta import BetaParameters as BetaParameters
    from bayeswise.families.binomial import Binomial as Binomial
    from bayeswise.families.categorical import Categorical as Categorical
    from bayeswise.families.categorical import CategoricalParameters as CategoricalParameters
    from bayeswise.families.distributions import distribution as distribution
    from bayeswise.families.exponential import Exponential as Exponential
    from bayeswise.families.exponential import ExponentialParameters as ExponentialParameters
    from bayeswise.families.functions import NaturalForm as NaturalForm
    from bayeswise.families.gamma import Gamma as Gamma
    from bayeswise.families.gamma import GammaParameters as GammaParameters
    from bayeswise.families.geometric import Geometric as Geometric
    from bayeswise.families.inspection.beliefs import BeliefHistory as BeliefHistory
    from bayeswise.families.inspection.likelihood import Likelihood as Likelihood
    from bayeswise.families.laplace import Laplace as Laplace
    from bayeswise.families.laplace import LaplaceParameters as LaplaceParameters
    from bayeswise.families.log_normal import LogNormal as LogNormal
    from bayeswise.families.log_normal import LogNormalParameters as LogNormalParameters
    from bayeswise.families.multinomial import Multinomial as Multinomial
    from bayeswise.families.multivariate_normal import MultivariateNormal as MultivariateNormal
    from bayeswise.families.multivariate_normal import MultivariateNormalParameters as MultivariateNormalParameters
    from bayeswise.families.multivariate_normal import NormalInverseWishart as NormalInverseWishart
    from bayeswise.families.normal import Normal as Normal
    from bayeswise.families.normal import NormalInverseGamma as NormalInverseGamma
    from bayeswise.families.normal import NormalParameters as NormalParameters
    from bayeswise.families.normal_mean import NormalMean as NormalMean
    from bayeswise.families.normal_mean import NormalPrior as NormalPrior
    from bayeswise.families.poisson import Poisson as Poisson
    from bayeswise.families.poisson import PoissonParameters as PoissonParameters
    from bayeswise.families.priors import BetaPrior as BetaPrior
    from bayeswise.families.priors import Dirichlet as Dirichlet
    from bayeswise.families.priors import GammaPrior as GammaPrior
    from bayeswise.families.protocol import Estimate as Estimate
    from bayeswise.families.protocol import ExponentialForm as ExponentialForm
    from bayeswise.families.protocol import Family as Family
    from bayeswise.families.student_t import StudentT as StudentT
    from bayeswise.families.student_t import StudentTParameters as StudentTParameters

_LATE = {
    "bayeswise.families.arithmetic.chance": "Chance",
    "bayeswise.families.inspection.beliefs": "BeliefHistory",
    "bayeswise.families.bernoulli": "Bernoulli",
    "bayeswise.families.beta": "Beta BetaParameters",
    "bayeswise.families.binomial": "Binomial",
    "bayeswise.families.categorical": "Categorical CategoricalParameters",
    "bayeswise.families.distributions": "distribution",
    "bayeswise.families.exponential": "Exponential ExponentialParameters",
    "bayeswise.families.functions": "NaturalForm",
    "bayeswise.families.gamma": "Gamma GammaParameters",
    "bayeswise.families.geometric": "Geometric",
    "bayeswise.families.laplace": "Laplace LaplaceParameters",
    "bayeswise.families.inspection.likelihood": "Likelihood",
    "bayeswise.families.log_normal": "LogNormal LogNormalParameters",
    "bayeswise.families.multinomial": "Multinomial",
    "bayeswise.families.multivariate_normal": "MultivariateNormal MultivariateNormalParameters NormalInverseWishart",
    "bayeswise.families.normal": "Normal NormalInverseGamma NormalParameters",
    "bayeswise.families.normal_mean": "NormalMean NormalPrior",
    "bayeswise.families.poisson": "Poisson PoissonParameters",
    "bayeswise.families.priors": "BetaPrior Dirichlet GammaPrior",
    "bayeswise.families.protocol": "Estimate ExponentialForm Family",
    "bayeswise.families.student_t": "StudentT StudentTParameters",
}
__all__ = [*" ".join(_LATE.values()).split()]
__getattr__, __dir__ = late_names(__name__, _LATE)
