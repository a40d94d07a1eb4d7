"""From a posterior and costs to the best action.

costs/               what each action costs in each state
posterior_tables.py  a posterior in any form
decide.py            the action of least expected cost
policy/              which action where, why, and how stable
information.py       what knowing more is worth, and which test to make next
number_actions.py    actions that are numbers, and what a cost comes to on average
plots.py             regions of three states
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.decisions.decide import Decisions, decide
from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.decisions.costs.costs import Costs as Costs
    from bayeswise.decisions.costs.number_costs import NumberCosts as NumberCosts
    from bayeswise.decisions.costs.warnings import CostWarning as CostWarning
    from bayeswise.decisions.information import Densities as Densities
    from bayeswise.decisions.information import NextTest as NextTest
    from bayeswise.decisions.information import Outcomes as Outcomes
    from bayeswise.decisions.information import next_test as next_test
    from bayeswise.decisions.information import perfect_information as perfect_information
    from bayeswise.decisions.number_actions import absolute_action as absolute_action
    from bayeswise.decisions.number_actions import best_action as best_action
    from bayeswise.decisions.number_actions import newsvendor as newsvendor
    from bayeswise.decisions.number_actions import pinball_action as pinball_action
    from bayeswise.decisions.number_actions import squared_action as squared_action
    from bayeswise.decisions.number_actions import within_action as within_action
    from bayeswise.decisions.policy.capacity import Limited as Limited
    from bayeswise.decisions.policy.capacity import within_capacity as within_capacity
    from bayeswise.decisions.policy.cautious import Cautious as Cautious
    from bayeswise.decisions.policy.cautious import minimax as minimax
    from bayeswise.decisions.policy.cautious import minimax_regret as minimax_regret
    from bayeswise.decisions.policy.feature_rule import FeatureRule as FeatureRule
    from bayeswise.decisions.policy.feature_rule import ValueRule as ValueRule
    from bayeswise.decisions.policy.rule import Rule as Rule
    from bayeswise.decisions.policy.rule import rule as rule
    from bayeswise.decisions.policy.stability import DecisionStability as DecisionStability
    from bayeswise.decisions.policy.stability import stability_of as stability_of

_late, __getattr__, __dir__ = late_names()
__all__ = ["Decisions", "decide", *_late]
