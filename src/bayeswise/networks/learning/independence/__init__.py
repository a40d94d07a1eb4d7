"""Graphs by what is independent of what.

tests.py  what is asked of a test, and the G test of counts
pc.py     PC-stable: edges by tests of independence
miic.py   MIIC: edges by mutual information and what contributes to it
"""
