"""Rows with missing cells and hidden nodes, all of which are used.

incomplete.py     rows with missing values, by pattern
fitted_tables.py  tables by EM and gradient ascent, the best of several starts
structural.py     graphs from rows with missing cells
noisy.py          noisy maxima by EM
sequences.py      tables of two slices of time, by EM along sequences
"""
