"""Learning from rows with missing cells, all of which are used, and with hidden nodes.

incomplete.py     rows with missing values, by pattern
fitted_tables.py  tables by EM and gradient ascent, the best of several starts
structural.py     graphs by structural EM
noisy.py          noisy maxima by EM
sequences.py      tables of two time slices, by EM along sequences
"""
