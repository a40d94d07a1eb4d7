"""Graphs by what is independent of what.

pc.py  PC-stable: edges by tests of independence
"""
