"""Analysis of a solved diagram.

information.py  value of information and of control
risk.py         the distribution of the utility, and its scenarios
entries.py      one entry of a table
sensitivity.py  the maximum expected utility as a function of one entry
tornado.py      tornado charts: which entry matters most
"""
