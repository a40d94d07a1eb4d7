"""Explanations of a posterior.

account.py        the weight of each finding, conflict, and what to observe next, in bits
account_views.py  the account in a terminal and as a page
findings.py       conflict of findings, active paths from a finding to the query, strength of influence of edges
sensitivity.py    a posterior as a function of one table entry
"""
