"""From a posterior and costs to the best action.

costs/               what each action costs in each state
posterior_tables.py  a posterior in any form
decide.py            the action of least expected cost
policy/              which action where, why, and how stable
information.py       what knowing more is worth, and which test to make next
number_actions.py    actions that are numbers, and what a cost comes to on average
plots.py             regions of three states
"""

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.costs.number_costs import NumberCosts
from bayeswise.decisions.costs.warnings import CostWarning
from bayeswise.decisions.decide import Decisions, decide
from bayeswise.decisions.information import Densities, NextTest, Outcomes, next_test, perfect_information
from bayeswise.decisions.number_actions import (
    absolute_action,
    best_action,
    newsvendor,
    pinball_action,
    squared_action,
    within_action,
)
from bayeswise.decisions.policy.capacity import Limited, within_capacity
from bayeswise.decisions.policy.cautious import Cautious, minimax, minimax_regret
from bayeswise.decisions.policy.feature_rule import FeatureRule
from bayeswise.decisions.policy.rule import Rule, rule
from bayeswise.decisions.policy.stability import DecisionStability, stability_of
from bayeswise.decisions.policy.value_rule import ValueRule

__all__ = [
    "Cautious",
    "CostWarning",
    "Costs",
    "DecisionStability",
    "Decisions",
    "Densities",
    "FeatureRule",
    "Limited",
    "NextTest",
    "NumberCosts",
    "Outcomes",
    "Rule",
    "ValueRule",
    "absolute_action",
    "best_action",
    "decide",
    "minimax",
    "minimax_regret",
    "newsvendor",
    "next_test",
    "perfect_information",
    "pinball_action",
    "rule",
    "squared_action",
    "stability_of",
    "within_action",
    "within_capacity",
]
