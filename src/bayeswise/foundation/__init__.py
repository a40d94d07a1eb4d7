"""The ground: errors, array types, log space, exact sums and files that are written whole.

errors.py          everything that can go wrong, as a tree
arguments.py       numbers that calls are given, checked
arrays.py          array types named by what they hold
logspace.py        sums and logarithms of probabilities without leaving log space
exact.py           arrays of exact sums, an abelian group to the last bit
sparse.py          tables of exact sums that are mostly zero
dyadic.py          exact arithmetic on dyadic rationals, so that derived quantities round once
directed_graph.py  an order without cycles, ancestors, blankets, separation
atomic.py          files that are there whole or not at all
special.py         special functions and Cholesky factors of scipy, loaded when they are called; quantiles without scipy
file_bytes.py      bytes of files, and of pipes that give them once
threads.py         one pool of threads, and a limit on all of them
process_limit.py   what is done, and said, where a machine allows too few threads or processes
dataclass.py       data classes whose methods are compiled when they are first used
late.py            names of a package or class that are imported when they are first used
earlier_names.py   names of earlier versions, which are still accepted with a warning
progress.py        a bar on stderr when work takes long
"""
