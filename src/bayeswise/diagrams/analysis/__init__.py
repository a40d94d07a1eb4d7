"""What a solved diagram depends on.

information.py  the value of knowing or setting a node
risk.py         the distribution of the utility, and where it comes from
entries.py      one entry of a table
sensitivity.py  the utility as one entry moves
tornado.py      which entry matters most
"""
