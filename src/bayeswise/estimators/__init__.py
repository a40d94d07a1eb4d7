"""Models and decisions as scikit-learn estimators; the only layer that imports scikit-learn.

base.py                     what the estimators share: a frozen model inside, as `model_`
inputs/                     X and y as scikit-learn users bring them, checked, as a schema and batches
auto.py                     `AutoClassifier`
naive_bayes.py              `NaiveBayes`
averaged_naive_bayes.py     `AveragedNaiveBayes`
gaussian_bayes.py           `GaussianBayes`
linear_regression.py        `LinearRegression`
logistic_regression.py      `LogisticRegression`
network_classifier.py       `NetworkClassifier`
concept.py                  conjunctive concepts
description_length_tree.py  a decision tree pruned by bits
decision_maker.py           any classifier and costs: predictions are actions
cost_scorer.py              costs as a score for searches
"""

from bayeswise.estimators.cost_scorer import expected_cost_scorer
from bayeswise.estimators.decision_maker import DecisionMaker
from bayeswise.estimators.gaussian_bayes import GaussianBayes
from bayeswise.estimators.naive_bayes import NaiveBayes

__all__ = ["DecisionMaker", "GaussianBayes", "NaiveBayes", "expected_cost_scorer"]
