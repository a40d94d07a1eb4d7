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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # editors show its settings
    from bayeswise.models.fitting import fit as fit

__version__ = "0.1.0"

_ERRORS = "bayeswise.foundation.errors"

# Public name -> the module that defines it; a name that ends a module's own path is the module itself.
_HOMES = {
    "LinearRegression": "bayeswise.estimators.linear_regression",
    "LogisticRegression": "bayeswise.estimators.logistic_regression",
    "compare_twins": "bayeswise.models.regression.twins",
    "AutoClassifier": "bayeswise.estimators.auto",
    "NaiveBayes": "bayeswise.estimators",
    "GaussianBayes": "bayeswise.estimators",
    "HypothesisSpace": "bayeswise.models.hypotheses",
    "ActiveLearner": "bayeswise.acquisition",
    "learning_curves": "bayeswise.acquisition",
    "rows_to_ask": "bayeswise.acquisition",
    "DescriptionLengthTree": "bayeswise.estimators.description_length_tree",
    "average": "bayeswise.models.averaging",
    "AveragedNaiveBayes": "bayeswise.estimators.averaged_naive_bayes",
    "ConceptClassifier": "bayeswise.estimators.concept",
    "MEstimate": "bayeswise.models.settings.naive_bayes",
    "BeliefNetwork": "bayeswise.networks",
    "DynamicNetwork": "bayeswise.networks.dynamic",
    "MixedNetwork": "bayeswise.networks.mixed",
    "NetworkClassifier": "bayeswise.estimators.network_classifier",
    "InfluenceDiagram": "bayeswise.diagrams",
    "ClassDensities": "bayeswise.explanations.class_densities",
    "ClassPlane": "bayeswise.explanations.class_plane",
    "Costs": "bayeswise.decisions.costs.costs",
    "DecisionMaker": "bayeswise.estimators",
    "expected_cost_scorer": "bayeswise.estimators",
    "decide": "bayeswise.decisions.decide",
    "explain_action": "bayeswise.decisions.policy.action_account",
    "evaluate": "bayeswise.evaluation.evaluate",
    "JointTable": "bayeswise.posteriors.joint_table",
    "bayes": "bayeswise.posteriors.bayes_rule",
    "families": "bayeswise.families",
    "fit": "bayeswise.models.fitting",
    "load": "bayeswise.models.files",
    "limit_threads": "bayeswise.foundation.threads",
    "BayeswiseError": _ERRORS,
    "CheckFailed": _ERRORS,
    "DataError": _ERRORS,
    "FitError": _ERRORS,
    "NotMergedError": _ERRORS,
    "UsageError": _ERRORS,
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bayeswise' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    value = home if _HOMES[name] == f"bayeswise.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
