"""The reasons for an answer.

account.py        the weight of each finding, conflicts, and what to observe next, in bits
account_views.py  the account in a terminal and as a page
findings.py       conflict of findings, the paths by which one moves a belief, and how far each edge carries
sensitivity.py    how an answer depends on one entry of a table
"""
