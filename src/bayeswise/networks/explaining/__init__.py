"""Why a network answers as it does.

account.py        the weight of each finding, conflicts, and what to ask next, in bits
account_views.py  the account in a terminal and as a page
findings.py       conflict of findings, the paths by which one moves a belief, and how far each edge carries
sensitivity.py    how an answer depends on one entry of a table
"""
