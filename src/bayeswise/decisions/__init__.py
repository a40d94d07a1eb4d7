"""From a posterior and costs to the best action.

    expressions.py        costs that depend on the row, as formulas over its columns
    costs.py              actions x states, named and checked      cost_tables.py  from frames and files
    cost_doubts.py        actions that are never best, and other things that are probably not meant
    posterior_tables.py   a posterior in any form                  decide.py       the action of least expected cost
"""

from bayeswise.decisions.costs import Costs, CostWarning
from bayeswise.decisions.decide import Decisions, decide

__all__ = ["CostWarning", "Costs", "Decisions", "decide"]
