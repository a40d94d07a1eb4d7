"""The scikit-learn faces of models and decisions; the only layer that imports scikit-learn."""

from bayeswise.estimators.cost_scorer import expected_cost_scorer
from bayeswise.estimators.decision_maker import DecisionMaker
from bayeswise.estimators.gaussian_bayes import GaussianBayes
from bayeswise.estimators.naive_bayes import NaiveBayes

__all__ = ["DecisionMaker", "GaussianBayes", "NaiveBayes", "expected_cost_scorer"]
