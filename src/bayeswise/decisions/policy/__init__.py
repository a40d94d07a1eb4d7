"""Which action where: policies in words and regions, under limits and without a trusted prior.

rule.py            the policy in words, thresholds exact
envelope.py        which of many lines is lowest where
feature_rule.py    decisions on one feature: regions of a number, an action for each value that is counted or named
cautious.py        minimax and minimax regret
capacity.py        at most N rows in an action
stability.py       how probably a decision is the best one
action_account.py  why this action and not that one
action_change.py   what would change it
"""
