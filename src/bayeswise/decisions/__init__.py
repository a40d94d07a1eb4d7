"""From a posterior and costs to the best action.

expressions.py        costs that depend on the row, as formulas over its columns
costs.py              actions x states, named and checked      cost_tables.py  from frames and files
cost_cells.py         errors that name the cell
cost_doubts.py        actions that are never best, and other things that are probably not meant
posterior_tables.py   a posterior in any form                  decide.py       the action of least expected cost
envelope.py           which line is lowest where               rule.py         the policy in words, thresholds exact
displays/             regions of three states
feature_rule.py       regions of one measured number, and the error that no rule avoids
value_rule.py         the same for a feature that is counted or named
expectation.py        what a cost comes to on average          number_actions.py  actions that are numbers
number_costs.py       the same for a table and a file             decision_file.py  one file for a decision
cautious.py           no trusted prior: minimax and minimax regret
capacity.py           at most so many rows in an action        places.py       which rows get the places
doubt.py              how sure the decision itself is
stakes.py             how much a mistake can cost in each row
information.py        what knowing more is worth, and which test to make next
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
