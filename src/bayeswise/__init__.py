"""bayeswise: from a table to the best decision.

A model is a function of a mergeable summary of rows; a decision is a function of a posterior and a cost.
The folders are layers, here from top to bottom; a layer imports only layers below it:

    cli/           one file per verb
    workbench/     a local page on a folder, and a service of its models
    exports/       models as SQL queries and ONNX graphs
    estimators/    models and decisions as scikit-learn estimators
    evaluation/    what decisions cost, and how good posteriors are
    acquisition/   which row to label next
    diagrams/      influence diagrams: decisions in sequence on what is known of a network
    decisions/     costs by name, and the action of least expected cost
    networks/      belief networks: exact and sampled answers, learning, files
    models/        frozen values made of schema, statistics and settings
    explanations/  weight of evidence as plain data, and ways to show it
    posteriors/    normalising, the one exit from log space
    families/      one file per distribution: likelihood, prior, predictive
    engines/       who sweeps the rows and answers a request with statistics
    statistics/    exact summaries of rows that merge and subtract
    tables/        any source -> schema -> a stream of batches
    store/         the model file: load, save
    render/        labels, numbers, plain data, theme, terminal, drawings: nothing in it knows a model
    foundation/    log space, exact sums, arrays with shapes, errors, progress

The public names below are imported when they are first used, so `import bayeswise` costs next to nothing.

>>> import bayeswise as bw
>>> issubclass(bw.NotMergedError, bw.BayeswiseError)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise import families as families
    from bayeswise.acquisition import ActiveLearner as ActiveLearner
    from bayeswise.acquisition import learning_curves as learning_curves
    from bayeswise.acquisition import rows_to_ask as rows_to_ask
    from bayeswise.decisions.costs.costs import Costs as Costs
    from bayeswise.decisions.decide import decide as decide
    from bayeswise.decisions.policy.action_account import explain_action as explain_action
    from bayeswise.diagrams import InfluenceDiagram as InfluenceDiagram
    from bayeswise.estimators import DecisionMaker as DecisionMaker
    from bayeswise.estimators import GaussianBayes as GaussianBayes
    from bayeswise.estimators import NaiveBayes as NaiveBayes
    from bayeswise.estimators import expected_cost_scorer as expected_cost_scorer
    from bayeswise.estimators.auto import AutoClassifier as AutoClassifier
    from bayeswise.estimators.averaged_naive_bayes import AveragedNaiveBayes as AveragedNaiveBayes
    from bayeswise.estimators.concept import ConceptClassifier as ConceptClassifier
    from bayeswise.estimators.description_length_tree import DescriptionLengthTree as DescriptionLengthTree
    from bayeswise.estimators.linear_regression import LinearRegression as LinearRegression
    from bayeswise.estimators.logistic_regression import LogisticRegression as LogisticRegression
    from bayeswise.estimators.network_classifier import NetworkClassifier as NetworkClassifier
    from bayeswise.evaluation.evaluate import evaluate as evaluate
    from bayeswise.explanations.class_densities import ClassDensities as ClassDensities
    from bayeswise.explanations.class_plane import ClassPlane as ClassPlane
    from bayeswise.foundation.errors import BayeswiseError as BayeswiseError
    from bayeswise.foundation.errors import CheckFailed as CheckFailed
    from bayeswise.foundation.errors import DataError as DataError
    from bayeswise.foundation.errors import FitError as FitError
    from bayeswise.foundation.errors import NotMergedError as NotMergedError
    from bayeswise.foundation.errors import UsageError as UsageError
    from bayeswise.foundation.threads import limit_threads as limit_threads
    from bayeswise.models.averaging import average as average
    from bayeswise.models.files import load as load
    from bayeswise.models.fitting import fit as fit
    from bayeswise.models.hypotheses import HypothesisSpace as HypothesisSpace
    from bayeswise.models.regression.twins import compare_twins as compare_twins
    from bayeswise.models.settings.naive_bayes import MEstimate as MEstimate
    from bayeswise.networks import BeliefNetwork as BeliefNetwork
    from bayeswise.networks.dynamic import DynamicNetwork as DynamicNetwork
    from bayeswise.networks.mixed import MixedNetwork as MixedNetwork
    from bayeswise.posteriors.bayes_rule import bayes as bayes
    from bayeswise.posteriors.joint_table import JointTable as JointTable

__version__ = "0.1.0"

_late, __getattr__, __dir__ = late_names()
__all__ = [*_late, "__version__"]
