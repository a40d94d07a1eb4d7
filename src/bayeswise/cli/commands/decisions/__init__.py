"""Verbs about costs: what to do, what that costs, and what to find out before.

init_decision.py  a decision.toml to fill in
decide.py         the best action beside each row
check.py          what decisions cost on labelled rows
report.py         the same as a page
thresholds.py     the policy that costs imply
next_test.py      the empty column most worth its price
"""
