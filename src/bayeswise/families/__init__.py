"""One file for each distribution: likelihood and conjugate prior, estimates, predictive, exponential form.

A family is a small frozen object without data. It names the statistic it needs of rows, and turns that statistic and
a prior into parameters:

    statistic = family.statistic(values)              what was seen, exact and mergeable
    estimate  = family.estimate(statistic)            maximum likelihood, with a report whether it exists
    posterior = family.posterior(statistic, prior)    the prior updated by what was seen
    log_p     = family.log_density(parameters, x)

protocol.py        the contract of a family, and where its values and parameters may lie
distributions.py   parameters of a family as a distribution with quantiles
functions.py       log-likelihood, its derivatives and a(eta) as functions, which all families have
likelihood.py      the log-likelihood of a sample: maximum, gradient, curvature
belief_history.py  a conjugate prior updated datum by datum
plots.py           pictures of both
priors.py          conjugate priors that several families share, and a chance with all its digits
arithmetic/        densities and evidence without cancellation
discrete/          levels, flags and counts: Bernoulli, binomial, geometric, categorical, multinomial, Poisson
continuous/        numbers: exponential, gamma, beta, normal, log-normal, Laplace, Student's t
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.families.belief_history import BeliefHistory as BeliefHistory
    from bayeswise.families.continuous.beta import Beta as Beta
    from bayeswise.families.continuous.beta import BetaParameters as BetaParameters
    from bayeswise.families.continuous.exponential import Exponential as Exponential
    from bayeswise.families.continuous.exponential import ExponentialParameters as ExponentialParameters
    from bayeswise.families.continuous.gamma import Gamma as Gamma
    from bayeswise.families.continuous.gamma import GammaParameters as GammaParameters
    from bayeswise.families.continuous.laplace import Laplace as Laplace
    from bayeswise.families.continuous.laplace import LaplaceParameters as LaplaceParameters
    from bayeswise.families.continuous.log_normal import LogNormal as LogNormal
    from bayeswise.families.continuous.log_normal import LogNormalParameters as LogNormalParameters
    from bayeswise.families.continuous.multivariate_normal import MultivariateNormal as MultivariateNormal
    from bayeswise.families.continuous.multivariate_normal import (
        MultivariateNormalParameters as MultivariateNormalParameters,
    )
    from bayeswise.families.continuous.normal import Normal as Normal
    from bayeswise.families.continuous.normal import NormalInverseGamma as NormalInverseGamma
    from bayeswise.families.continuous.normal import NormalParameters as NormalParameters
    from bayeswise.families.continuous.normal_inverse_wishart import NormalInverseWishart as NormalInverseWishart
    from bayeswise.families.continuous.normal_mean import NormalMean as NormalMean
    from bayeswise.families.continuous.normal_mean import NormalPrior as NormalPrior
    from bayeswise.families.continuous.student_t import StudentT as StudentT
    from bayeswise.families.continuous.student_t import StudentTParameters as StudentTParameters
    from bayeswise.families.discrete.bernoulli import Bernoulli as Bernoulli
    from bayeswise.families.discrete.binomial import Binomial as Binomial
    from bayeswise.families.discrete.categorical import Categorical as Categorical
    from bayeswise.families.discrete.categorical import CategoricalParameters as CategoricalParameters
    from bayeswise.families.discrete.geometric import Geometric as Geometric
    from bayeswise.families.discrete.multinomial import Multinomial as Multinomial
    from bayeswise.families.discrete.poisson import Poisson as Poisson
    from bayeswise.families.discrete.poisson import PoissonParameters as PoissonParameters
    from bayeswise.families.distributions import distribution as distribution
    from bayeswise.families.functions import NaturalForm as NaturalForm
    from bayeswise.families.likelihood import Likelihood as Likelihood
    from bayeswise.families.priors import BetaPrior as BetaPrior
    from bayeswise.families.priors import Chance as Chance
    from bayeswise.families.priors import Dirichlet as Dirichlet
    from bayeswise.families.priors import GammaPrior as GammaPrior
    from bayeswise.families.protocol import Estimate as Estimate
    from bayeswise.families.protocol import ExponentialForm as ExponentialForm
    from bayeswise.families.protocol import Family as Family

__all__, __getattr__, __dir__ = late_names()
