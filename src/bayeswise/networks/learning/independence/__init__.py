"""Graphs by what is independent of what.

tests.py  what is asked of a test, and the G test of counts
pc.py     PC-stable: edges by tests of independence
"""
